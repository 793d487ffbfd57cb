//! Contacts: the people of a project, their tags, and how they are found.
//!
//! Invariants: an email belongs to one contact of a project, whatever its case; nothing but an explicit change of status makes an
//! unsubscribed or bounced contact subscribed again; sets, counts, times and the search feed change in the transaction of the
//! contact itself.

mod batch;
pub mod condition;
mod emails;
pub mod fields;
pub mod indexing;
mod intake;
pub mod jobs;
mod model;
mod notices;
pub mod ops;
mod selection;
pub mod store;
pub mod tags;
mod views;

pub use model::{Contact, Status};
pub use selection::{Filters, SortBy, SortOrder};
pub use store::{Facet, count, feed_set, find, set};
pub use views::ContactView;
