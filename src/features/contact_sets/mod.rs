//! The sets of contacts in a project (all contacts, the contacts with each status, and the contacts with each tag) with their sizes, and
//! other counters of a project.
//!
//! `features/contact_records` updates the sets together with its rows. The sets are a separate feature because tags and topics need the
//! sets but cannot depend on the contact records.

mod store;

pub use store::ROW_CHECKS;
pub use store::{Facet, add_count, apply, count, drop_set, feed_runs, feed_set, next_number, projects, set};
