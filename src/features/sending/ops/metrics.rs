//! Returns how many emails an account has sent, and how much of its quota remains.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::bounded::Bounded;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::engine::store::Read;
use crate::features::sending::quota::{self, Period, SentCount};
use crate::features::sending::{FOLLOWERS, preflight};
use crate::vocab::ids::AccountId;
use crate::vocab::limits;

pub struct Metrics;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MetricsRange {
    /// The number of earlier months to return. If absent, none are returned.
    pub months: Option<Bounded<0, { limits::METRICS_MONTHS_MAX }>>,
}

/// The number of emails that were sent, and the remaining quota.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendingMetrics {
    /// The current month in UTC, such as `2026-01`.
    pub period: String,
    pub monthly: SendingTotals,
    pub today: SendingToday,
    /// The number of emails per month that the plan allows. `null` means unlimited.
    pub monthly_limit: Option<u64>,
    /// The number of emails that remain in the monthly quota. `null` means unlimited.
    pub remaining_month: Option<u64>,
    /// Totals for earlier months, latest first.
    pub history: Vec<SendingMonth>,
}

/// The numbers of emails in a month, by result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendingTotals {
    /// Emails that the next mail server accepted.
    pub sent: u64,
    /// Emails that were accepted and did not bounce.
    pub delivered: u64,
    /// Emails that were rejected, were deferred for too long, or bounced later.
    pub bounced: u64,
    pub complained: u64,
}

/// The numbers of emails on the current day in UTC, and the daily quota.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendingToday {
    pub sent: u64,
    /// The number of queued emails from direct sends and tests.
    pub reserved: u64,
    /// The number of emails per day that the plan allows. `null` means unlimited.
    pub daily_limit: Option<u64>,
    /// The number of emails that remain in the daily quota. `null` means unlimited.
    pub remaining_today: Option<u64>,
}

/// The results of an earlier month.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendingMonth {
    /// The month in UTC, such as `2026-01`.
    pub period: String,
    pub sent: u64,
    pub delivered: u64,
    pub bounced: u64,
    pub complained: u64,
}

impl Operation for Metrics {
    const SPEC: Spec = Spec::get("sending.metrics", "/v1/metrics/sending", needs_one(FOLLOWERS))
        .client("metrics.sending")
        .summary("Get sending totals")
        .about(
            "Returns the totals for the key's environment. With a test key, the totals cover the messages in the built-in inbox.",
        );
    type Input = MetricsRange;
    type Output = Done<SendingMetrics>;

    fn example() -> (Value, Self::Output) {
        let metrics = SendingMetrics {
            period: "2026-01".into(),
            monthly: SendingTotals { sent: 1_200, delivered: 1_188, bounced: 12, complained: 0 },
            today: SendingToday { sent: 200, reserved: 0, daily_limit: Some(50_000), remaining_today: Some(49_800) },
            monthly_limit: Some(1_000_000),
            remaining_month: Some(998_800),
            history: vec![SendingMonth { period: "2025-12".into(), sent: 900, delivered: 897, bounced: 3, complained: 1 }],
        };
        (json!({ "months": 1 }), Done(metrics))
    }
}

impl Query for Metrics {
    fn run(view: &View<'_>, input: MetricsRange) -> Result<Self::Output, Failure> {
        let (tx, account, now) = (view.tx, view.caller.account(), view.now);
        let plan = preflight::plan(&view.caller.engine, account);
        let (day, month) = (Period::day(now), Period::month(now));
        let taken_today = quota::counted(tx, account, SentCount::Taken, day)?;
        let taken = quota::counted(tx, account, SentCount::Taken, month)?;
        let months = u32::try_from(input.months.map_or(0, Bounded::get)).unwrap_or(0);
        let mut history = Vec::new();
        for back in 1..=months {
            let period = Period::month_before(now, back);
            let SendingTotals { sent, delivered, bounced, complained } = totals(tx, account, period)?;
            history.push(SendingMonth { period: period.month_text(), sent, delivered, bounced, complained });
        }
        Ok(Done(SendingMetrics {
            period: month.month_text(),
            monthly: totals(tx, account, month)?,
            today: SendingToday {
                sent: quota::counted(tx, account, SentCount::Sent, day)?,
                reserved: quota::waiting(tx, account)?,
                daily_limit: plan.daily,
                remaining_today: plan.daily.map(|limit| limit.saturating_sub(taken_today)),
            },
            monthly_limit: plan.monthly,
            remaining_month: plan.monthly.map(|limit| limit.saturating_sub(taken)),
            history,
        }))
    }
}

fn totals(tx: &impl Read, account: AccountId, period: Period) -> Result<SendingTotals, Failure> {
    let many = |tally| quota::counted(tx, account, tally, period);
    let (sent, returned) = (many(SentCount::Sent)?, many(SentCount::Returned)?);
    let bounced = many(SentCount::Refused)? + returned;
    Ok(SendingTotals { sent, delivered: sent.saturating_sub(returned), bounced, complained: many(SentCount::Complained)? })
}
