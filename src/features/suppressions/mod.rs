//! The suppression list of an account: the addresses that get no mail, or only transactional mail, with reasons.
//!
//! The key of a row is a keyed hash of the address, so that an erased contact stays on the list without being identified. The hash key is
//! derived from the master key, so without it, a copy of the data cannot be tested for the addresses of erased contacts.
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
