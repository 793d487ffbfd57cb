//! Infrastructure that is independent of features.

pub mod access;
pub(crate) mod admission;
pub mod api;
pub mod backup;
pub mod clients;
pub mod deliverability;
pub(crate) mod fetch;
pub(crate) mod hold;
pub(crate) mod key_locks;
pub(crate) mod language_model;
pub mod mail;
pub mod outbox;
pub(crate) mod recent_log;
pub mod render;
pub mod runner;
pub mod search;
pub mod settings;
pub mod spelling;
pub mod store;
pub mod tasks;
