//! Tracking: what recipients do with messages, and what mail servers say of them afterwards.
//!
//! - A visit to a pixel or a link is answered at once, noted in memory and written a moment later: `links`, `visits`. Who came by
//!   (a person, a proxy, a machine) is a table in `model`.
//! - Unsubscribing and choosing topics, by a button, a page or a message: `unsubscribe`. Nothing that follows links changes anything.
//! - Bounces and complaints: `bounces`, by the table in `model`; what refusals mean is said by `engine/mail/inbound`, what comes back by
//!   mail is taken in by `inbound`.
//! - A deleted contact is erased from everything that others keep: `erasure`.
//!
//! Invariants: nothing is believed without a token that only the message holds; everything is told once, however often it comes.

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
pub mod worker;

use crate::vocab::permissions::Permission;

#[cfg(test)]
pub use erasure::step as erase;
pub use inbound::{is_ours, receive};
pub use visits::flush;

/// Either of these lets a key see what became of an email.
const READERS: &[Permission] = &[Permission::EmailRead, Permission::CampaignRead];
