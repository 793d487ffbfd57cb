//! Conditions on what was sent to contacts and what they did. `contacts::activity` finds the matching contacts.

use super::compare::Period;
use super::tree::Action;
use crate::base::clock::Timestamp;
use crate::vocab::ids::CampaignId;

/// Which activity counts, and when it must have happened.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivityTest {
    pub action: Action,
    /// The campaign to count; `None` counts all.
    pub campaign: Option<CampaignId>,
    pub when: When,
}

/// When the activity must have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Within the last so many milliseconds.
    WithinMs(i64),
    /// More than so many milliseconds ago.
    BeforeMs(i64),
    Never,
    During(Period),
}

impl ActivityTest {
    /// Whether the result can change merely because time passes.
    pub fn depends_on_now(&self) -> bool {
        matches!(self.when, When::WithinMs(_) | When::BeforeMs(_))
    }

    /// The period in which activity counts, and whether it must contain some (`true`) or none (`false`).
    pub fn period(&self, now: Timestamp) -> (Period, bool) {
        match self.when {
            When::WithinMs(ms) => (Period { from: now.plus_ms(-ms), ..Period::ALWAYS }, true),
            When::BeforeMs(ms) => (Period { to: now.plus_ms(-ms), ..Period::ALWAYS }, true),
            When::Never => (Period::ALWAYS, false),
            When::During(period) => (period, true),
        }
    }
}
