//! The operations that check an email on request. They store nothing. The checks themselves are in [`crate::features::checks`].

pub mod input;
pub mod ops;
