//! Contacts: the people of a project, their tags, and how they are found.
//!
//! Invariants: an email belongs to one contact of a project, whatever its case; nothing but an explicit change of status makes an
//! unsubscribed or bounced contact subscribed again; sets, counts, times and the search feed change in the transaction of the
//! contact itself.

pub mod activity;
mod batch;
pub mod filter;
mod email_index;
pub mod erasure;
pub mod fields;
pub mod external_ids;
pub mod indexing;
mod write;
pub mod jobs;
pub mod customer_events;
mod model;
mod webhook_events;
pub mod ops;
pub mod profile;
pub mod upsert_by_email;
mod sorted_run;
mod selection;
pub mod subscription;
pub mod store;
pub mod noncontact_clicks;
mod time_buckets;
pub mod tags;
pub mod topics;
mod views;

pub use write::{PersonName, FieldError};
pub use model::{Contact, Status};
pub use webhook_events::Source;
pub use selection::{Filters, SortBy, SortOrder};
pub use store::{Facet, by_number, count, feed_set, find, find_by_email, set, visit_rows};
pub use views::{ContactView, CustomerEvent, Viewer};
