//! The operations on previews and devices.

pub mod create;
pub mod device;
pub mod devices;
pub mod get;
pub mod status;
