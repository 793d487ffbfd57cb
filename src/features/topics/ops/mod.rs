//! The operations on topics, one file for each.

pub mod create;
pub mod delete;
pub mod get;
pub mod list;
pub mod update;
