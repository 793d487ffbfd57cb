//! The operations on events.

pub mod batch;
pub mod list;
pub mod names;
pub mod record;
