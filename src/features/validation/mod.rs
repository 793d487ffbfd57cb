//! The operations that check an email on request. The checks are in [`crate::features::checks`]. Nothing is stored.

pub mod input;
pub mod ops;
