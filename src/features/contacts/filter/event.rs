//! What a condition asks of the events that were reported of contacts. Who has such events is told by `contacts::customer_events`.

use super::compare::Period;
use crate::base::clock::Timestamp;

/// Events of which name count, and whether and when there must be some.
#[derive(Clone, Debug, PartialEq)]
pub struct EventTest {
    /// Invariant: folded.
    pub name: String,
    pub span: EventSpan,
    /// Whether there must be an event in the span (else none).
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
    /// Whether the answer changes by the mere passing of time.
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
