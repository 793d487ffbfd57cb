//! The operations on the suppression list, one file for each.

pub mod create;
pub mod delete;
pub mod list;
