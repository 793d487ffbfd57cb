//! The operations on contacts, one file each.

pub mod bulk;
pub mod bulk_change;
pub mod bulk_change_status;
pub mod bulk_delete;
pub mod bulk_status;
pub mod create;
pub mod delete;
pub mod export;
pub mod export_download;
pub mod export_status;
pub mod field_catalog;
pub mod get;
pub mod import;
pub mod import_errors;
pub mod import_preview;
pub mod import_start;
pub mod import_status;
pub mod job;
pub mod job_seen;
pub mod jobs;
pub mod list;
pub mod project;
pub mod set_status;
pub mod unsubscribe;
pub mod update;
