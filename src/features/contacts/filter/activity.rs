//! What a condition asks of what was sent to contacts and what they did. Who did it is told by `contacts::activity`.

use super::compare::Period;
use super::tree::Action;
use crate::base::clock::Timestamp;
use crate::vocab::ids::CampaignId;

/// Which activity counts, and when it must have been.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivityTest {
    pub action: Action,
    /// Only what belongs to this campaign; `None` counts all.
    pub campaign: Option<CampaignId>,
    pub when: When,
}

/// When activity must have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// In the last so many milliseconds.
    WithinMs(i64),
    /// Longer ago than so many milliseconds.
    BeforeMs(i64),
    Never,
    During(Period),
}

impl ActivityTest {
    /// Whether the answer changes by the mere passing of time.
    pub fn depends_on_now(&self) -> bool {
        matches!(self.when, When::WithinMs(_) | When::BeforeMs(_))
    }

    /// The period in which activity counts, and whether there must be some in it (else none).
    pub fn period(&self, now: Timestamp) -> (Period, bool) {
        match self.when {
            When::WithinMs(ms) => (Period { from: now.plus_ms(-ms), ..Period::ALWAYS }, true),
            When::BeforeMs(ms) => (Period { to: now.plus_ms(-ms), ..Period::ALWAYS }, true),
            When::Never => (Period::ALWAYS, false),
            When::During(period) => (period, true),
        }
    }
}
