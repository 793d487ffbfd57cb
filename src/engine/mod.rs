//! Machinery that knows mechanisms, not features.

pub mod access;
pub mod api;
pub mod fetch;
pub mod hold;
pub mod jobs;
pub mod language_model;
pub mod mail;
pub mod outbox;
pub mod recent_log;
pub mod render;
pub mod search;
pub mod settings;
pub mod store;
