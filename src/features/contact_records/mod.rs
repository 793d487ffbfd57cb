//! Contacts as they are stored and as the API returns them: rows, custom fields, the index of emails, and recorded activity.
//!
//! Invariants: an email belongs to at most one contact in a project, ignoring case. Sets, counts, times and the search feed change in the
//! same transaction as the contact. Filters and segments read the rows; `features/contacts`, which depends on those features, writes the
//! rows and defines the operations.

pub mod fields;
mod model;
mod store;
mod views;

pub use model::{ChangeOrigin, Contact, ContactRow, merge_fields};
pub use store::ROW_CHECKS;
pub use store::{
    Changes, activity, by_number, change, email_digest, email_digest_of, email_index, find, find_by_email, first_created_at,
    number_by_digest, row_bytes, updated, updates, visit_rows,
};
pub use views::{ContactView, Viewer};
