//! Tracking: what recipients do with messages, and what mail servers report about messages afterward.
//!
//! - Visits: `links` responds immediately when a pixel is loaded or a link is clicked, and buffers the visit in memory; `visits` writes the
//!   visit a moment later. A table in `model` classifies the visitor as a person, a proxy or a bot.
//! - Unsubscribing and choosing topics, with a button, a page or a message: `unsubscribe`. Merely opening a link never changes a choice.
//! - Bounces and complaints: `bounces` applies the table in `model` to rejections (`delivery_events`), to reports that arrive by mail
//!   (`inbound`), and to reports from mail services (`feedback`).
//! - Erasure: `erasure` erases a deleted contact from all features that store data about the contact.
//!
//! Invariants: a visit or report has no effect without a token that only the message contains; a report that arrives repeatedly has an
//! effect only once.

mod bounces;
mod delivery_events;
mod erasure;
mod feedback;
mod inbound;
mod link_target;
mod link_visit;
mod links;
mod model;
pub mod ops;
mod pages;
mod recipient;
mod store;
#[cfg(test)]
mod tests;
mod translations;
mod unsubscribe;
mod visits;
pub mod worker;

use crate::vocab::permissions::Permission;

pub use bounces::SuppressionList;
#[cfg(test)]
pub use erasure::step as erase;
pub use feedback::{Recorded, record_feedback};
pub use inbound::{is_ours, receive};
pub use store::ROW_CHECKS;
pub use visits::flush;

/// The permissions to read an email's results. An API key needs one of these permissions.
const READERS: &[Permission] = &[Permission::EmailRead, Permission::CampaignRead];
