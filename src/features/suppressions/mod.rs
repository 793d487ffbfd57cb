//! The suppression list of an account: the addresses that must not be mailed, and why.
//!
//! A row is found by a keyed hash of the address, so that an erased contact stays on the list without being identified. The files alone do
//! not allow testing addresses against the list either, because the key is derived from the master key.
//!
//! Invariant: an address has one row. A graver reason replaces a lighter one, never the other way round.

mod model;
pub mod ops;
mod rehash;
mod store;
#[cfg(test)]
mod tests;
mod views;

pub use model::{Reason, Source};
pub use rehash::{is_hashed_with, named_by_hash_alone, rehash};
pub use store::{Checker, Digester, add, erase, reason};
