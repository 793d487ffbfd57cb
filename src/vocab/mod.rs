//! The vocabulary that all layers share: names, limits and tables, with the functions that parse and format them. Nothing here performs
//! I/O.

pub(crate) mod codes;
pub mod contact_fields;
pub mod contact_status;
pub mod environment;
pub(crate) mod finding;
pub mod ids;
pub mod limits;
pub mod mail_services;
pub mod permissions;
pub(crate) mod placeholders;
pub mod providers;
pub mod rates;
pub(crate) mod roles;
pub mod settings;
pub mod storefronts;
pub mod tables;
pub mod webhook_events;
