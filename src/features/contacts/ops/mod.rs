//! The operations on contacts, one file each.

pub mod bulk_delete;
pub mod create;
pub mod delete;
pub mod get;
pub mod list;
pub mod set_status;
pub mod unsubscribe;
pub mod update;
