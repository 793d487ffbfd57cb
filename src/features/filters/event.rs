//! Conditions on customer events. `customer_events` finds the contacts that have matching events.

use crate::base::clock::Timestamp;
use crate::base::period::Period;

/// A condition on customer events: the name of the events, and whether and when they must have occurred.
#[derive(Clone, Debug, PartialEq)]
pub struct EventTest {
    /// The name of the events. Invariant: folded.
    pub name: String,
    pub span: EventSpan,
    /// Whether the span must contain an event (`true`) or must not (`false`).
    pub wanted: bool,
}

/// The period that must contain or must not contain events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventSpan {
    /// The given number of milliseconds before now.
    LastMs(i64),
    During(Period),
}

impl EventTest {
    /// Returns whether the result can change merely because time passes.
    pub fn depends_on_now(&self) -> bool {
        matches!(self.span, EventSpan::LastMs(_))
    }

    /// Returns the period that must contain or must not contain events.
    pub fn period(&self, now: Timestamp) -> Period {
        match self.span {
            EventSpan::LastMs(ms) => Period { from: now.plus_ms(-ms), ..Period::ALWAYS },
            EventSpan::During(period) => period,
        }
    }
}
