//! The operations on connections, one file per operation.

pub mod authorize;
pub mod complete;
pub mod create;
pub mod delete;
pub mod import;
pub mod list;
pub mod preview;
pub mod sources;
