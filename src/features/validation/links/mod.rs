//! The links of an email: which of them work, and what readers and spam filters notice about them.
//!
//! `check` requests each URL once through [`crate::engine::fetch`], which checks the addresses of every redirect. `model` decides what a
//! URL itself shows, and which URLs never get a GET request, because opening them could change a subscription.

pub mod check;
pub mod findings;
pub mod model;
#[cfg(test)]
mod tests;
pub mod views;
