//! The operations on the suppression list, one file per operation.

pub mod create;
pub mod delete;
pub mod list;
