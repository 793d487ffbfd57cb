//! Conditions on customer events. `contacts::customer_events` finds the contacts that have them.

use super::compare::Period;
use crate::base::clock::Timestamp;

/// The name of the events that count, and whether and when they must have occurred.
#[derive(Clone, Debug, PartialEq)]
pub struct EventTest {
    /// Invariant: folded.
    pub name: String,
    pub span: EventSpan,
    /// Whether the span must contain an event (`true`) or none (`false`).
    pub wanted: bool,
}

/// The time that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventSpan {
    /// The last so many milliseconds.
    LastMs(i64),
    During(Period),
}

impl EventTest {
    /// Whether the result can change merely because time passes.
    pub fn depends_on_now(&self) -> bool {
        matches!(self.span, EventSpan::LastMs(_))
    }

    /// The period in which events count.
    pub fn period(&self, now: Timestamp) -> Period {
        match self.span {
            EventSpan::LastMs(ms) => Period { from: now.plus_ms(-ms), ..Period::ALWAYS },
            EventSpan::During(period) => period,
        }
    }
}
