//! The operations on emails, one file per operation.

pub mod brief;
pub mod brief_add;
pub mod check;
pub mod checks;
pub mod create;
pub mod design_html;
pub mod designs;
pub mod document_update;
pub mod edit;
pub mod edit_save;
pub mod edit_status;
pub mod favorite;
pub mod finding_fix;
pub mod finding_ignore;
pub mod generate;
pub mod get;
pub mod html;
pub mod import_html;
pub mod list;
pub mod page;
pub mod references;
pub mod restore;
pub mod status;
pub mod theme_preview;
pub mod versions;
