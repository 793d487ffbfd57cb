//! Contacts: the audience of a project, their tags, and how they are found.
//!
//! Invariants: an email belongs to one contact of a project, ignoring case. Only an explicit status change resubscribes an unsubscribed or
//! bounced contact. Sets, counts, times and the search feed change in the same transaction as the contact.

pub mod activity;
mod batch;
pub mod customer_events;
mod email_index;
pub mod erasure;
pub mod external_ids;
pub mod fields;
pub mod filter;
pub mod indexing;
pub mod jobs;
mod model;
pub mod noncontact_clicks;
pub mod ops;
pub mod profile;
mod selection;
mod sorted_run;
pub mod store;
pub mod subscription;
pub mod tags;
mod time_buckets;
pub mod topics;
pub mod upsert_by_email;
mod views;
mod webhook_events;
mod write;

pub use model::{Contact, Status};
pub use selection::{Filters, SortBy, SortOrder};
pub use store::{Facet, by_number, count, feed_set, find, find_by_email, set, visit_rows};
pub use views::{ContactView, CustomerEvent, Viewer};
pub use webhook_events::Source;
pub use write::{FieldError, PersonName};
