//! The suppression list of an account: the addresses that must not be mailed, with reasons.
//!
//! A row is found by a keyed hash of the address, so that an erased contact stays on the list without being identified. A copy of the data
//! files is not enough to test addresses against the list, because the key is derived from the master key.
//!
//! Invariant: an address has one row. A more serious reason replaces a less serious reason, but not the other way round.

mod model;
pub mod ops;
mod rehash;
mod store;
#[cfg(test)]
mod tests;
pub mod views;

pub use model::{Reason, Source};
pub use rehash::{is_hashed_with, named_by_hash_alone, rehash};
pub use store::{Checker, Digester, add, erase, reason};
