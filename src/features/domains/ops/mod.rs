//! The operations on sending domains, one file per operation.

pub mod create;
pub mod delete;
pub mod get;
pub mod list;
pub mod rotate;
pub mod setup;
pub mod stream_create;
pub mod update;
pub mod verify;
