//! The operations on saved blocks, one file each.

pub mod create;
pub mod delete;
pub mod list;
pub mod update;
