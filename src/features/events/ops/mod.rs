//! The operations on events.

pub mod batch;
pub mod list;
pub mod record;
