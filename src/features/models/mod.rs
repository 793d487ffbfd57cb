//! The language models that accounts use. Usage is counted by brand, model and month, and a request that could exceed a monthly limit is
//! rejected.
//!
//! Invariant: the estimated cost of a request is stored before the request is sent, and replaced by the actual usage after the response. If
//! the process is killed in between, the request is still counted.

mod metered;
pub mod ops;
mod store;
#[cfg(test)]
mod tests;

pub use metered::{MeteredModel, Payer};
pub use store::ROW_CHECKS;
