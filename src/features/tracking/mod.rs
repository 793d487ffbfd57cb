//! Tracking: what recipients do with messages, and what mail servers report about them afterwards.
//!
//! - A visit to a pixel or a link is answered at once, buffered in memory and written a moment later: `links`, `visits`. A table in
//!   `model` classifies the visitor as a person, a proxy or a bot.
//! - Unsubscribing and choosing topics, by a button, a page or a message: `unsubscribe`. Following a link never changes anything.
//! - Bounces and complaints: `bounces`, by the table in `model`. `engine/mail/inbound` interprets refusals; `inbound` handles returned
//!   mail.
//! - A deleted contact is erased from all features that store data about it: `erasure`.
//!
//! Invariants: nothing is believed without a token that only the message contains; everything is reported once, however often it arrives.

mod bounces;
mod delivery_events;
mod erasure;
mod inbound;
mod link_target;
mod link_visit;
mod links;
mod model;
pub mod ops;
mod pages;
mod recipient;
#[cfg(test)]
mod tests;
mod translations;
mod unsubscribe;
mod visits;

use crate::vocab::permissions::Permission;

pub use delivery_events::step as take_delivery_events;
pub use erasure::step as erase;
pub use inbound::{is_ours, receive};
pub use visits::{flush, step as write_visits};

/// Either of these permissions lets a key read an email's results.
const READERS: &[Permission] = &[Permission::EmailRead, Permission::CampaignRead];
