//! Checks of an email before it is sent: email clients, links, spelling, deliverability and accessibility.
//!
//! A worker process parses the HTML ([`crate::engine::render::inspect`]); this feature decides what its content means for a user, and
//! sends the requests that the checks need. Nothing is stored: results are cached in memory by content.

pub mod accessibility;
pub mod compatibility;
pub mod deliverability;
pub mod links;
pub mod ops;
pub mod report;
mod second_checkers;
pub mod source;
pub mod spelling;
pub mod views;
