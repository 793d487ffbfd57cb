//! The operations on mail services, one file per operation.

pub mod create;
pub mod delete;
pub mod get;
pub mod list;
pub mod receive;
pub mod test;
pub mod update;
