//! Engagement: what recipients do with messages, and statistics about these actions by mailing, email, day, country and link.
//!
//! `sending` and `tracking` write here, and campaigns read the statistics. This feature refers to mailings only by their IDs. Daily
//! statistics have one row per day and measure, regardless of the volume. The recipient rows in `sending` record to whom a message was
//! sent.

mod model;
mod store;

pub use model::{Bounce, DeliveryEvent, Engagement, Measure, StatsMailing, StatsScope};
pub use store::ROW_CHECKS;
pub use store::{
    ClickedLink, EmailDays, EventKey, add, add_clicks, add_country, add_day, add_on, clicks, count, counts_by_day, days,
    due_events, forget, forget_mailing, mailings, note_mailing, of, remove_event, save, schedule_event, visit,
};
