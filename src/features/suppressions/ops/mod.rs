//! The operations on the suppression list, one file each.

pub mod create;
pub mod delete;
pub mod list;
