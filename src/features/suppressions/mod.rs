//! The suppression list of an account: the addresses that must not be mailed, with reasons.
//!
//! The key of a row is a keyed hash of the address, so that an erased contact stays on the list without being identified. A stolen copy of
//! the data files cannot be tested for addresses, because the hash key is derived from the master key.
//!
//! Invariant: an address has one row. Only a more serious reason replaces the reason of a row.

mod model;
pub mod ops;
mod rehash;
mod store;
#[cfg(test)]
mod tests;
pub mod views;

pub use model::{Reason, Source};
pub use rehash::{is_hashed_with, named_by_hash_alone, rehash};
pub use store::ROW_CHECKS;
pub use store::{Checker, Digester, add, erase, reason};
