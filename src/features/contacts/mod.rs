//! Contacts: the people of a project, their tags, and how they are found.
//!
//! Invariants: an email belongs to one contact of a project, whatever its case; nothing but an explicit change of status makes an
//! unsubscribed or bounced contact subscribed again; sets, counts, times and the search feed change in the transaction of the
//! contact itself.

pub mod activity;
mod batch;
pub mod condition;
mod emails;
pub mod erasure;
pub mod fields;
pub mod identities;
pub mod indexing;
mod intake;
pub mod jobs;
pub mod journal;
mod model;
mod notices;
pub mod ops;
pub mod profile;
pub mod roll;
mod runs;
mod selection;
pub mod standing;
pub mod store;
pub mod strangers;
mod stretches;
pub mod tags;
pub mod topics;
mod views;

pub use intake::{PersonName, Refusal};
pub use model::{Contact, Status};
pub use notices::Source;
pub use selection::{Filters, SortBy, SortOrder};
pub use store::{Facet, by_number, count, feed_set, find, find_by_email, set, visit_rows};
pub use views::{ContactView, EventView, Viewer};
