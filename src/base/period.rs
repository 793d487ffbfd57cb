//! A period of time.

use super::clock::Timestamp;

/// A period, including its first moment and excluding its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl Period {
    /// The period that contains every moment.
    pub const ALWAYS: Self = Self { from: Timestamp(i64::MIN), to: Timestamp(i64::MAX) };

    pub fn contains(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }
}
