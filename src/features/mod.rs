//! The product's nouns, in order of dependence. A blank line between them keeps the formatter from sorting them.

pub mod accounts;

pub mod projects;

pub mod domains;

pub mod contacts;

pub mod tags;

pub mod topics;

pub mod segments;

pub mod suppressions;

pub mod emails;

pub mod exports;

pub mod sending;

pub mod campaigns;

pub mod tracking;

pub mod events;

pub mod system;

pub mod webhooks;

pub mod installation;
