//! The tracking operations.

pub mod click;
pub mod logs;
pub mod metrics;
pub mod open;
pub mod personal_data;
pub mod preferences;
pub mod preferences_page;
pub mod report;
pub mod timeline;
pub mod unsubscribe;
pub mod unsubscribe_page;
pub mod view;
