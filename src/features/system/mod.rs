//! The installation itself: is it well, what can it do, and copies of its data.

pub mod backup;
pub mod doctor;
pub mod ops;
pub mod readiness;
mod store;
