//! Customer events: what customers' systems report about contacts, including orders.
//!
//! - Input, its limits, and the contact it is about: `input`, `properties`, `ingest`.
//! - Orders and their attribution to emails: the rules are in `attribution`; `reattribution` keeps them in step, also when clicks arrive
//!   after the order they led to.
//!
//! Invariants: an event never changes whether a contact may be mailed. An order counts once, for at most one email. An order's attribution
//! depends on what was reported and clicked, never on the order in which that arrived.
//!
//! Events, and contacts created by them, emit no webhook events: the API documents the two calls that emit contact events, and the system
//! that reports an event already knows about it. Events are stored in `contacts::customer_events`, because filters use them; totals are in
//! `sending::orders`, because campaigns show them.

mod attribution;
mod indexing;
mod ingest;
mod input;
pub mod ops;
mod properties;
mod reattribution;
#[cfg(test)]
mod tests;
mod views;

pub use indexing::step as index;
pub use reattribution::{step, sweep};
