//! Going live: copies a brand with its emails, segments, topics, tags and settings, and on request its contacts, from the test
//! environment to the live environment.
//!
//! # Access to both environments
//!
//! An operation of an environment uses the store of that environment. The operations of this feature use both stores. They belong to the
//! account rather than to an environment, like members and API keys: API keys cannot call them, and an owner or admin must be signed in.
//! [`Crossing`] copies: it reads with snapshots of the test store, and writes with transactions of the live store. The features that own
//! the rows get one transaction at a time (`copy.rs` in each feature), so none of them has access to both environments.
//!
//! [`copier`] does not depend on which stores the two are: `features/restores` copies brands from a restored backup with it.
//!
//! # Repetition
//!
//! A copy has the ID that [`Id::copied`](crate::vocab::ids::Id::copied) derives from the original's ID, so an ID still exists in only one
//! environment, and only the live project of a test project needs to be stored. The digest of what was copied is stored with the live data:
//! an object that has not changed in the test environment since the last copy is not copied again, even if users have changed its copy.
//! Contacts have no digests; they are merged. Objects deleted in the test environment stay in the live environment.

pub mod copier;
mod crossing;
pub mod ops;
mod report;
mod store;

use crossing::Crossing;

pub use report::{CopyCounts, CopyKind, CopyReport, Counter, GoLiveStep, GoLiveView};
pub use store::ROW_CHECKS;
