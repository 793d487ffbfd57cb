//! Conditions on what was sent to contacts and what they did in response. `contact_records::activity` finds the matching contacts.

use crate::base::clock::Timestamp;
use crate::base::period::Period;
use crate::features::contact_records::activity::Action;
use crate::vocab::ids::CampaignId;

/// A condition on activity: the kind of activity and when it must have happened.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivityTest {
    pub action: Action,
    /// The campaign that the activity must belong to; `None` for any campaign.
    pub campaign: Option<CampaignId>,
    pub when: When,
}

/// When the activity must have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Within the given number of milliseconds before now.
    WithinMs(i64),
    /// More than the given number of milliseconds before now.
    BeforeMs(i64),
    Never,
    During(Period),
}

impl ActivityTest {
    /// Returns whether the result can change just because time passes.
    pub fn depends_on_now(&self) -> bool {
        matches!(self.when, When::WithinMs(_) | When::BeforeMs(_))
    }

    /// Returns the period to check and whether activity must (`true`) or must not (`false`) occur in it.
    pub fn period(&self, now: Timestamp) -> (Period, bool) {
        match self.when {
            When::WithinMs(ms) => (Period { from: now.plus_ms(-ms), ..Period::ALWAYS }, true),
            When::BeforeMs(ms) => (Period { to: now.plus_ms(-ms), ..Period::ALWAYS }, true),
            When::Never => (Period::ALWAYS, false),
            When::During(period) => (period, true),
        }
    }
}
