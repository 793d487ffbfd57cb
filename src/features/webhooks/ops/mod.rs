//! The operations on webhooks, one file per operation.

pub mod create;
pub mod delete;
pub mod deliveries;
pub mod delivery;
pub mod events;
pub mod get;
pub mod list;
pub mod redeliver;
pub mod retry;
pub mod rotate_secret;
pub mod stats;
pub mod test;
pub mod update;
