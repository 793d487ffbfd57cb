//! The words all layers share: tables without logic and without input or output.

pub mod environment;
pub mod limits;
pub mod permissions;
pub mod rates;
pub mod settings;
pub mod webhook_events;
