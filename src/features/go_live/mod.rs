//! Going live: copies a brand with its emails, segments, topics, tags and settings and, on request, its contacts, from the test environment
//! to the live environment.
//!
//! # Access to both environments
//!
//! Operations usually belong to one environment and use the store of that environment. The operations of this feature use both stores. Like
//! the operations on members and API keys, they belong to the account: API keys cannot call them, and an owner or admin must be signed in.
//! [`Crossing`] reads from snapshots of the test store and writes in transactions of the live store. The features that own the rows receive
//! one transaction at a time (`copy.rs` in each feature), so no other feature has access to both environments.
//!
//! [`copier`] works with any two stores: `features/restores` uses it to copy brands from a restored backup.
//!
//! # Repetition
//!
//! A copy has the ID that [`Id::copied`](crate::vocab::ids::Id::copied) derives from the original's ID, so each ID exists in only one
//! environment. Uploaded files are the exception: they keep their IDs. The IDs of copies are not stored, except the ID of the live project
//! for each test project. The digest of what was copied is stored with the live data: an object that has not changed in the test
//! environment since the last copy is not copied again, even if users have changed its copy. Contacts have no digests. They are merged
//! instead. Objects deleted in the test environment stay in the live environment.

pub mod copier;
mod crossing;
pub mod ops;
mod report;
mod store;

use crossing::Crossing;

pub use report::{CopyCounts, CopyKind, CopyReport, Counter, GoLiveStep, GoLiveView};
pub use store::ROW_CHECKS;
