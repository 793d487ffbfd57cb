//! The operations on connected stores, one file per operation.

pub mod authorize;
pub mod complete;
pub mod connect;
pub mod disconnect;
pub mod list;
pub mod receive;
pub mod sync;
