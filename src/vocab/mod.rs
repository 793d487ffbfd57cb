//! The vocabulary that all layers share: tables without logic, input or output.

pub mod codes;
pub mod environment;
pub mod finding;
pub mod ids;
pub mod limits;
pub mod permissions;
pub mod placeholders;
pub mod rates;
pub mod roles;
pub mod settings;
pub mod tables;
pub mod webhook_events;
