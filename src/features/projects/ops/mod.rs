//! The operations on projects, one file for each.

pub mod get;
pub mod guidelines_update;
pub mod image_file;
pub mod image_preview;
pub mod image_remote;
pub mod images_add;
pub mod images_list;
pub mod images_remove;
pub mod images_update;
pub mod images_upload;
pub mod import;
pub mod import_retry;
pub mod import_status;
pub mod knowledge_add;
pub mod knowledge_get;
pub mod knowledge_list;
pub mod knowledge_remove;
pub mod knowledge_update;
pub mod list;
pub mod logos_update;
pub mod sender_update;
pub mod theme;
pub mod theme_update;
