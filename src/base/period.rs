//! A half-open period of time.

use super::clock::Timestamp;

/// The time from `from` (inclusive) to `to` (exclusive).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl Period {
    /// The period that contains all times.
    pub const ALWAYS: Self = Self { from: Timestamp(i64::MIN), to: Timestamp(i64::MAX) };

    pub fn contains(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }
}
