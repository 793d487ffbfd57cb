//! Language models as accounts use them: every request counts, by brand and month, and stops at the monthly limit.
//!
//! Invariant: the estimated cost of a request is stored before the request is sent, and replaced by the actual usage after the response. A
//! process that is killed in between has counted the request.

mod metered;
pub mod ops;
mod store;
#[cfg(test)]
mod tests;

pub use metered::{MeteredModel, Payer};
