//! Returns an account's daily sending statistics.

use crate::base::day;
use crate::features::sending::READERS;
use crate::features::sending::timeline::{self, TimelineDay};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::bounded::Bounded;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::vocab::limits;

pub struct Timeline;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TimelineRange {
    /// The number of days, including today. The default is 30.
    pub days: Option<Bounded<1, { limits::TIMELINE_DAYS_MAX }>>,
}

/// Daily statistics and their totals.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendingTimeline {
    /// The statistics of each day in UTC, earliest first, including days without messages.
    pub days: Vec<TimelineDay>,
    pub summary: SendingTimelineSummary,
    pub last_updated: WireTime,
}

/// The totals of the days in the response.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendingTimelineSummary {
    pub sent: u64,
    /// Messages that were sent and did not bounce.
    pub delivered: u64,
    pub bounced: u64,
    pub complained: u64,
    pub opened: u64,
    pub clicked: u64,
    pub unsubscribed: u64,
    /// Delivered messages as a percentage of all messages that were sent, rejected or deferred for too long, with two decimals. Absent if
    /// there are none.
    pub delivered_rate: Option<f64>,
    /// Bounced messages as a percentage of all messages that were sent, rejected or deferred for too long.
    pub bounce_rate: Option<f64>,
    /// Complaints as a percentage of messages sent.
    pub complaint_rate: Option<f64>,
}

impl Operation for Timeline {
    const SPEC: Spec =
        Spec::get("sending.timeline", "/v1/metrics/timeline", needs_one(READERS)).client("metrics.timeline").summary("Get daily sending statistics").about(
            "Returns the statistics of all campaigns, batches, direct sends and test sends of all brands in the key's environment. An open is counted on the \
                day of the open, not on the day the message was sent. Opens and clicks by bots are excluded.",
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
        let today = day::of(view.now);
        let days = timeline::of_account(view.tx, view.caller.account(), today.saturating_sub(many - 1), today)?;
        Ok(Done(SendingTimeline { summary: summary(&days), days, last_updated: WireTime(view.now) }))
    }
}

fn summary(days: &[TimelineDay]) -> SendingTimelineSummary {
    let sum = |of: fn(&TimelineDay) -> u64| days.iter().map(of).sum::<u64>();
    let (sent, bounced, complained) = (sum(|day| day.sent), sum(|day| day.bounced), sum(|day| day.complained));
    // The rates refer to all messages with a final result: `sent` includes messages that bounced later, but excludes messages that were
    // rejected or deferred for too long.
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

/// Returns a percentage with two decimals, or `None` if `whole` is 0.
fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| ((part as f64 * 10_000.0 / whole as f64).round() / 100.0).min(100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_cover_all_days_and_are_absent_without_messages() {
        assert_eq!(summary(&[]).bounce_rate, None);
        let day = TimelineDay { sent: 990, failed: 10, bounced: 20, complained: 1, ..TimelineDay::default() };
        let sums = summary(&[day.clone(), day]);
        assert_eq!((sums.delivered, sums.bounce_rate, sums.complaint_rate), (1_960, Some(2.0), Some(0.1)));
    }
}
