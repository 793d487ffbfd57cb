//! Customer events: events that customers' systems report about contacts, and the external IDs of contacts. Stored events can be listed,
//! shown to the contact and erased, and filters can find contacts by event and time. `features/events` writes here; this module does not
//! depend on what an event means.

mod store;
mod views;

pub use store::INDEX_ROW_CHECKS;
pub use store::ROW_CHECKS;
pub use store::{
    EventName, EventWriter, NewEvent, count, external_ids, forget, is_behind, merge_backlog, merge_backlog_of, names, of,
    orders_of, sweep, who,
};
pub use views::CustomerEvent;
