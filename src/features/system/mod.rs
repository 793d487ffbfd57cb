//! The installation: its health, its configuration, backups of its data, the API keys that its operator manages,
//! and the packages of the API clients.

pub mod backup;
mod clients;
pub mod continuous;
pub mod doctor;
pub mod ops;
pub mod readiness;
mod store;
pub mod worker;
