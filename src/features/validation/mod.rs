//! The operations that check an email on request. They do not store the results. The checks themselves are in [`crate::features::checks`].

pub mod input;
pub mod ops;
