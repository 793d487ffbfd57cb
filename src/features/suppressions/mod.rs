//! The suppression list of an account: the addresses that receive no mail or only transactional mail, and the reasons.
//!
//! The key of a row is a keyed hash of the address, so that an erased contact stays on the list without being identified. The hash key is
//! derived from the master key. Without the master key, a copy of the data cannot be searched for the addresses of erased contacts.
//!
//! Invariant: an address has one row. A row's reason is replaced only by a more serious reason.

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
