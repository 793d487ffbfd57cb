//! Customer events: events about contacts, such as orders, that the brand's own systems report, for example an online shop.
//!
//! - Events, their limits and their contacts: `input`, `properties`, `ingest`.
//! - Orders and their attribution to emails: the rules are in `attribution`; `reattribution` updates the attribution, even if clicks arrive
//!   after the order that they led to.
//!
//! Invariants: an event never changes whether a contact may be mailed. An order counts once, for at most one email. Until its contact is
//! deleted, an order's attribution depends on the reported events and the clicks, not on the sequence in which they arrived.
//!
//! Customer events and the contacts that they create emit no webhook events, because the system that reports a customer event already knows
//! about it. Customer events are stored in `customer_events`, because filters also use them. Totals are stored in `features/revenue`,
//! because campaigns also show them.

mod attribution;
mod indexing;
mod ingest;
mod input;
pub mod ops;
mod properties;
mod reattribution;
mod reporting;
#[cfg(test)]
mod tests;
mod views;
pub mod worker;

pub use indexing::step as index;
pub use ingest::{check_json, record_json};
pub use reattribution::{step, sweep};
pub use reporting::{Reported, report, report_all};
