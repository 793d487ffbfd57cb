//! Get an account's daily sending statistics.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::bounded::Bounded;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::features::sending::READERS;
use crate::features::sending::daily_stats::{self, TimelineDay};
use crate::vocab::limits;

/// `sending.timeline`
pub struct Timeline;

/// The days to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TimelineRange {
    /// The number of days, including today; 30 if absent.
    pub days: Option<Bounded<1, { limits::TIMELINE_DAYS_MAX }>>,
}

/// Daily statistics and their totals.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendingTimeline {
    /// Every day, earliest first, in UTC.
    pub days: Vec<TimelineDay>,
    pub summary: SendingTimelineSummary,
    pub last_updated: WireTime,
}

/// The totals of all days.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendingTimelineSummary {
    pub sent: u64,
    /// Sent messages that did not bounce.
    pub delivered: u64,
    pub bounced: u64,
    pub complained: u64,
    pub opened: u64,
    pub clicked: u64,
    pub unsubscribed: u64,
    /// Delivered messages in percent of those sent or rejected, with two decimals; absent if nothing was sent.
    pub delivered_rate: Option<f64>,
    /// In percent of messages sent or rejected.
    pub bounce_rate: Option<f64>,
    /// In percent of messages sent.
    pub complaint_rate: Option<f64>,
}

impl Operation for Timeline {
    const SPEC: Spec =
        Spec::get("sending.timeline", "/v1/metrics/timeline", needs_one(READERS)).summary("Get daily sending statistics").about(
            "Covers all brands: campaigns, batches, direct sends and test sends in the key's environment. An open counts on the \
                day it happens, not on the day of the message. Opens and clicks by bots are left out.",
        );
    type Input = TimelineRange;
    type Output = Done<SendingTimeline>;

    fn example() -> (Value, Self::Output) {
        let days = vec![TimelineDay::sample()];
        (json!({ "days": 1 }), Done(SendingTimeline { summary: summary(&days), days, last_updated: WireTime::sample() }))
    }
}

impl Query for Timeline {
    fn run(view: &View<'_>, input: TimelineRange) -> Result<Self::Output, Failure> {
        let many = u32::try_from(input.days.map_or(limits::TIMELINE_DAYS, Bounded::get)).unwrap_or(1);
        let today = daily_stats::of(view.now);
        let days = daily_stats::of_account(view.tx, view.caller.account(), today.saturating_sub(many - 1), today)?;
        Ok(Done(SendingTimeline { summary: summary(&days), days, last_updated: WireTime(view.now) }))
    }
}

fn summary(days: &[TimelineDay]) -> SendingTimelineSummary {
    let sum = |of: fn(&TimelineDay) -> u64| days.iter().map(of).sum::<u64>();
    let (sent, bounced, complained) = (sum(|day| day.sent), sum(|day| day.bounced), sum(|day| day.complained));
    // Messages rejected immediately are not among the sent ones; later bounces are.
    let all = sent + sum(|day| day.failed);
    SendingTimelineSummary {
        sent,
        delivered: all.saturating_sub(bounced),
        bounced,
        complained,
        opened: sum(|day| day.opened),
        clicked: sum(|day| day.clicked),
        unsubscribed: sum(|day| day.unsubscribed),
        delivered_rate: percent(all.saturating_sub(bounced), all),
        bounce_rate: percent(bounced, all),
        complaint_rate: percent(complained, sent),
    }
}

/// Returns the percentage with two decimals; `None` if `whole` is 0.
fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| ((part as f64 * 10_000.0 / whole as f64).round() / 100.0).min(100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_cover_all_days_and_are_absent_for_nothing() {
        assert_eq!(summary(&[]).bounce_rate, None);
        let day = TimelineDay { sent: 990, failed: 10, bounced: 20, complained: 1, ..TimelineDay::default() };
        let told = summary(&[day.clone(), day]);
        assert_eq!((told.delivered, told.bounce_rate, told.complaint_rate), (1_960, Some(2.0), Some(0.1)));
    }
}
