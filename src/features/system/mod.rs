//! The installation: its health, its configuration, backups of its data, and the API keys that its operator manages.

pub mod backup;
pub mod doctor;
pub mod ops;
pub mod readiness;
mod store;
