//! The operations on projects, one file each.

pub mod get;
pub mod import;
pub mod import_status;
pub mod list;
