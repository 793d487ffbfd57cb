//! Revenue: orders, the emails they are credited to, and totals by email, mailing, account and day.
//!
//! The `events` feature stores the orders and implements the attribution rules. The `campaigns` feature shows the totals, and the
//! `tracking` feature exports and erases a contact's orders. This feature refers to mailings only by their IDs.

mod model;
mod store;
mod views;

pub use model::{Credit, Order, PaymentFact, Revenue, Scope};
pub use store::ROW_CHECKS;
pub use store::{Place, find, forget, last_credit, save, totals, totals_by_day, unpaid};
pub use views::{Conversion, RevenueView};
