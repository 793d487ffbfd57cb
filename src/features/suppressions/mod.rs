//! The suppression list of an account: who must not be mailed, and why.
//!
//! A row is found by a keyed hash of the address, so that somebody whose data was erased stays on the list without being named by it.
//! Whoever has only the files cannot try addresses on it either: the key is derived from the master key.
//!
//! Invariant: an address has one row; a graver reason takes the place of a lighter one, never the other way round.

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
