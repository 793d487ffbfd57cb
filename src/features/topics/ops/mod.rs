//! The operations on topics, one file each.

pub mod choices;
pub mod create;
pub mod delete;
pub mod get;
pub mod list;
pub mod subscribe;
pub mod unsubscribe;
pub mod update;
