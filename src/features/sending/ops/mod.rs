//! The operations on sending and on the built-in inbox.

pub mod batch;
pub mod batch_cancel;
pub mod batch_resend_unknown;
pub mod get;
pub mod inbox_delete;
pub mod inbox_get;
pub mod inbox_html;
pub mod inbox_list;
pub mod inbox_raw;
pub mod inbox_screenshot;
pub mod metrics;
pub mod plan;
pub mod send;
pub mod test;
pub mod timeline;
