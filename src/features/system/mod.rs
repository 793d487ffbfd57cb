//! The installation itself: its health, its capabilities, and backups of its data.

pub mod backup;
pub mod doctor;
pub mod ops;
pub mod readiness;
mod store;
