//! Events: what customers' systems report of people, and the orders among it.
//!
//! - What comes in, its limits and whom it is about: `input`, `properties`, `ingest`.
//! - Orders and the email that is credited with each: rules in `attribution`, kept in step by `reattribution`, also when clicks arrive after
//!   the order they led to.
//!
//! Invariants: an event never changes whether a contact may be mailed; an order counts once, for one email at most; what an order is
//! credited to depends on what was reported and clicked, never on the order in which that arrived.
//!
//! Events and contacts made by them are told to no webhook: the interface names the two calls that tell of contacts, and whoever
//! reports an event knows of it already. Where events are kept is `contacts::customer_events`, since conditions ask for them; totals stand in
//! `sending::orders`, since campaigns show them.

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
pub mod worker;

pub use indexing::step as index;
pub use reattribution::{step, sweep};
