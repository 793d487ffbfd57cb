//! The operations on segments, one file for each.

pub mod create;
pub mod delete;
pub mod get;
pub mod list;
pub mod preview;
pub mod project;
pub mod update;
