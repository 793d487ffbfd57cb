//! Conditions on customer events. `customer_events` finds the contacts that have matching events.

use crate::base::clock::Timestamp;
use crate::base::period::Period;

/// A condition on customer events: the event name, and whether and when such events must have occurred.
#[derive(Clone, Debug, PartialEq)]
pub struct EventTest {
    /// The event name. Invariant: folded.
    pub name: String,
    pub span: EventSpan,
    /// Whether an event must (`true`) or must not (`false`) occur in the span.
    pub wanted: bool,
}

/// The period in which events must or must not occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventSpan {
    /// The given number of milliseconds up to now.
    LastMs(i64),
    During(Period),
}

impl EventTest {
    /// Returns whether the result can change just because time passes.
    pub fn depends_on_now(&self) -> bool {
        matches!(self.span, EventSpan::LastMs(_))
    }

    /// Returns the period in which events must or must not occur.
    pub fn period(&self, now: Timestamp) -> Period {
        match self.span {
            EventSpan::LastMs(ms) => Period { from: now.plus_ms(-ms), ..Period::ALWAYS },
            EventSpan::During(period) => period,
        }
    }
}
