//! Contacts: the audience of a project. This feature adds, changes, imports, exports, searches and deletes contacts.
//!
//! `contact_records` stores the contacts. Invariant: only an explicit status change or the contact's own choice resubscribes an
//! unsubscribed or bounced contact.

mod batch;
pub mod copy;
pub mod deletion;
mod from_json;
pub mod indexing;
pub mod jobs;
pub mod ops;
pub mod profile;
mod selection;
mod store;
pub mod subscription;
pub mod upsert_by_email;
mod webhook_events;
pub mod worker;
mod write;

pub use from_json::{UpsertSettings, Upserted, check_json, upsert_json};
pub use selection::{Filters, SortBy};
pub use store::jobs::ROW_CHECKS as JOB_ROW_CHECKS;
pub use store::{erasure, noncontact_clicks};
pub use webhook_events::Source;
pub use write::FieldError;
