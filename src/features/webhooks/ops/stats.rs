//! Returns the delivery statistics of an account's webhooks.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::base::clock::Timestamp;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, NoInput, Operation, Query, Spec, View, needs};
use crate::features::webhooks::model::{Day, DeliveryStatus};
use crate::features::webhooks::store;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Stats;

/// Delivery statistics of all existing webhooks, each since its creation.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatsView {
    pub total_webhooks: usize,
    pub active_webhooks: usize,
    /// The number of active webhooks whose endpoints are paused.
    pub paused_webhooks: usize,
    /// The number of deliveries that have succeeded, have failed, or are pending.
    pub total_deliveries: u64,
    pub successful_deliveries: u64,
    pub failed_deliveries: u64,
    pub pending_deliveries: u64,
    /// Among the deliveries that succeeded or failed, the percentage that succeeded; absent if there are none.
    pub success_rate: Option<f64>,
    /// The number of attempts that have ended.
    pub attempts: u64,
    /// The average duration of attempts with a response, in milliseconds; absent if there are no such attempts.
    pub average_response_time: Option<u64>,
    pub last_triggered_at: Option<WireTime>,
    /// The daily statistics of the last 30 days, without days on which no delivery or attempt ended. Deleted webhooks are included.
    pub days: Vec<DayView>,
}

/// The numbers of deliveries and attempts that ended on one day.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DayView {
    /// The day in UTC, such as `2026-01-31`.
    pub date: String,
    /// The number of deliveries that succeeded.
    pub successful: u64,
    /// The number of deliveries that failed.
    pub failed: u64,
    /// The number of attempts that ended.
    pub attempts: u64,
}

impl Operation for Stats {
    const SPEC: Spec = Spec::get("webhooks.stats", "/v1/webhooks/stats", needs(Permission::WebhookRead))
        .summary("Get delivery statistics")
        .about("A delivery is counted as successful or failed when it ends. Tests are included.");
    type Input = NoInput;
    type Output = Done<StatsView>;

    fn example() -> (Value, Self::Output) {
        let days = vec![day_view((WireTime::sample().0, Day { successes: 1_280, failures: 2, attempts: 1_301 }))];
        let stats = StatsView {
            total_webhooks: 1,
            active_webhooks: 1,
            total_deliveries: 1_282,
            successful_deliveries: 1_280,
            failed_deliveries: 2,
            success_rate: Some(99.84),
            attempts: 1_301,
            average_response_time: Some(84),
            last_triggered_at: Some(WireTime::sample()),
            days,
            ..StatsView::default()
        };
        (json!({}), Done(stats))
    }
}

fn day_view((at, day): (Timestamp, Day)) -> DayView {
    let date = at.to_string().chars().take(10).collect();
    DayView { date, successful: day.successes, failed: day.failures, attempts: day.attempts }
}

impl Query for Stats {
    fn run(view: &View<'_>, _: NoInput) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        let mut stats = StatsView::default();
        let (mut answers, mut answer_ms) = (0, 0);
        let mut last = None;
        for webhook in store::all(view.tx, account)? {
            let state = store::state(view.tx, (account, webhook.id))?;
            stats.total_webhooks += 1;
            stats.active_webhooks += usize::from(webhook.active);
            stats.paused_webhooks += usize::from(webhook.active && state.health.is_paused(view.now));
            stats.successful_deliveries += state.successes;
            stats.failed_deliveries += state.failures;
            stats.pending_deliveries += state.kept(DeliveryStatus::Pending);
            stats.attempts += state.attempts;
            answers += state.answers;
            answer_ms += state.answer_ms;
            last = last.max(state.last_triggered_at);
        }
        let ended = stats.successful_deliveries + stats.failed_deliveries;
        stats.total_deliveries = ended + stats.pending_deliveries;
        let rate = |part: u64| (part as f64 * 10_000.0 / ended as f64).round() / 100.0;
        stats.success_rate = (ended > 0).then(|| rate(stats.successful_deliveries));
        stats.average_response_time = u64::checked_div(answer_ms, answers);
        stats.last_triggered_at = last.map(WireTime);
        let days = store::days(view.tx, account, view.now, limits::WEBHOOK_STATS_DAYS)?;
        stats.days = days.into_iter().map(day_view).collect();
        Ok(Done(stats))
    }
}
