//! The operations on tags, one file per operation.

pub mod create;
pub mod delete;
pub mod get;
pub mod list;
pub mod update;
