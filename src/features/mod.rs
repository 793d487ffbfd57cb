//! The product's nouns, in order of dependence. A blank line between them keeps the formatter from sorting them.

pub(crate) mod accounts;

pub mod projects;

pub(crate) mod domains;

pub mod suppressions;

pub mod contacts;

pub(crate) mod tags;

pub(crate) mod topics;

pub(crate) mod segments;

pub mod emails;

pub(crate) mod exports;

pub mod sending;

pub(crate) mod campaigns;

pub(crate) mod tracking;

pub mod events;

pub(crate) mod system;

pub mod webhooks;

pub mod installation;
