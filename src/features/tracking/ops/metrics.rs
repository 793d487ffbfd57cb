//! Returns the results of an email in all its mailings, in total and by day.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::clock::Timestamp;
use crate::base::day;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::features::emails;
use crate::features::engagement::{self, EmailDays, Measure};
use crate::features::revenue::{self, Conversion, Scope};
use crate::features::tracking::READERS;
use crate::vocab::codes::Code;
use crate::vocab::ids::{EmailId, ProjectId};
use crate::vocab::rates::RouteGroup;

pub struct Metrics;

/// The email whose results to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EmailMetricsRequest {
    /// The email's ID.
    pub email_id: EmailId,
    /// If given, the email must belong to the project with this ID.
    pub project_id: Option<ProjectId>,
}

/// The results of an email.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailMetrics {
    pub email_id: EmailId,
    pub summary: EmailMetricsSummary,
    /// The results by UTC day, earliest first. Days without activity are omitted.
    pub time_series: Vec<EmailMetricsDay>,
    /// For each country, the number of recipients who opened the email and have this country in their contact profile; largest number
    /// first.
    pub country_breakdown: Vec<CountryCount>,
    /// The revenue of all campaigns, batches and sends of the email; absent if no order is attributed to them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversion: Option<Conversion>,
    pub last_updated: WireTime,
    /// Whether the numbers come from a cache: always false.
    pub cached: bool,
}

/// The totals of all days. Opens and clicks count each recipient once per mailing, and exclude bots and privacy proxies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailMetricsSummary {
    /// The number of messages that servers accepted, refused permanently, or deferred for too long.
    pub total_emails: u64,
    /// The number of messages that were accepted and did not bounce.
    pub delivered: u64,
    pub opened: u64,
    pub clicked: u64,
    pub bounced: u64,
    pub complained: u64,
    pub unsubscribed: u64,
    /// Delivered messages as a percentage of all messages, with two decimals.
    pub delivered_rate: f64,
    /// Opened messages as a percentage of delivered messages.
    pub opened_rate: f64,
    /// Clicked messages as a percentage of delivered messages.
    pub clicked_rate: f64,
    /// Bounced messages as a percentage of all messages.
    pub bounced_rate: f64,
    /// Complaints as a percentage of delivered messages.
    pub complained_rate: f64,
    /// Unsubscribes as a percentage of delivered messages.
    pub unsubscribed_rate: f64,
}

/// An email's results on one day.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailMetricsDay {
    /// The UTC day, such as 2026-01-31.
    #[schemars(extend("format" = "date"))]
    pub date: String,
    pub sent: u64,
    pub delivered: u64,
    pub opened: u64,
    pub clicked: u64,
    pub bounced: u64,
    pub complained: u64,
}

/// The number of recipients from one country who opened the email.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CountryCount {
    /// The country's ISO 3166-1 alpha-2 code.
    pub country: String,
    pub count: u64,
}

impl Operation for Metrics {
    const SPEC: Spec = Spec::get("tracking.metrics", "/v1/emails/{emailId}/metrics", needs_one(READERS)).client("emails.metrics")
        .summary("Get the metrics of an email")
        .about(
            "Covers all campaigns, batches and direct sends of the email, including test sends. Opens and clicks by security scanners, \
                by clients that prefetch and by Apple's privacy proxy are not counted.",
        )
        .rate(RouteGroup::Emails)
        .fails(&[Code::NotFound]);
    type Input = EmailMetricsRequest;
    type Output = Done<EmailMetrics>;

    fn example() -> (Value, Self::Output) {
        let email_id = EmailId::parse("66f1a2b3d4e5f60718293a4e").expect("the sample ID is valid");
        let day = [(Measure::Sent, 315), (Measure::Failed, 3), (Measure::HardBounces, 1), (Measure::UniqueOpens, 141)];
        let days = EmailDays {
            days: BTreeMap::from([(20_454, BTreeMap::from(day)), (20_455, BTreeMap::from([(Measure::UniqueClicks, 38)]))]),
            countries: BTreeMap::from([("GB".to_owned(), 90), ("CH".to_owned(), 51)]),
        };
        (
            json!({ "emailId": email_id }),
            Done(EmailMetrics { conversion: Some(Conversion::sample()), ..to_answer(email_id, &days, WireTime::sample().0) }),
        )
    }
}

impl Query for Metrics {
    fn run(view: &View<'_>, input: EmailMetricsRequest) -> Result<Self::Output, Failure> {
        emails::require(view.tx, view.caller.account(), input.email_id, input.project_id)?;
        let days = engagement::days(view.tx, input.email_id)?;
        let conversion = Conversion::of(&revenue::totals(view.tx, Scope::Email(input.email_id))?);
        Ok(Done(EmailMetrics { conversion, ..to_answer(input.email_id, &days, view.now) }))
    }
}

fn to_answer(email_id: EmailId, days: &EmailDays, now: Timestamp) -> EmailMetrics {
    let mut sums: BTreeMap<Measure, i64> = BTreeMap::new();
    for day in days.days.values() {
        for (measure, many) in day {
            *sums.entry(*measure).or_default() += many;
        }
    }
    let mut country_breakdown: Vec<CountryCount> = days
        .countries
        .iter()
        .map(|(country, many)| CountryCount { country: country.clone(), count: (*many).max(0) as u64 })
        .collect();
    country_breakdown.sort_by_key(|row| std::cmp::Reverse(row.count));
    EmailMetrics {
        email_id,
        summary: summary(&sums),
        time_series: days.days.iter().map(|(day, sums)| one_day(*day, sums)).collect(),
        country_breakdown,
        conversion: None,
        last_updated: WireTime(now),
        cached: false,
    }
}

fn of(sums: &BTreeMap<Measure, i64>, measure: Measure) -> u64 {
    sums.get(&measure).copied().unwrap_or(0).max(0) as u64
}

/// Returns the number of messages that were accepted and bounced later.
fn returned(sums: &BTreeMap<Measure, i64>) -> u64 {
    of(sums, Measure::HardBounces) + of(sums, Measure::SoftBounces)
}

fn bounced(sums: &BTreeMap<Measure, i64>) -> u64 {
    of(sums, Measure::Failed) + returned(sums)
}

fn delivered(sums: &BTreeMap<Measure, i64>) -> u64 {
    of(sums, Measure::Sent).saturating_sub(returned(sums))
}

fn summary(sums: &BTreeMap<Measure, i64>) -> EmailMetricsSummary {
    let total = of(sums, Measure::Sent) + of(sums, Measure::Failed);
    let (delivered, bounced) = (delivered(sums), bounced(sums));
    let (opened, clicked) = (of(sums, Measure::UniqueOpens), of(sums, Measure::UniqueClicks));
    let (complained, unsubscribed) = (of(sums, Measure::Complaints), of(sums, Measure::Unsubscribes));
    EmailMetricsSummary {
        total_emails: total,
        delivered,
        opened,
        clicked,
        bounced,
        complained,
        unsubscribed,
        delivered_rate: percent(delivered, total),
        opened_rate: percent(opened, delivered),
        clicked_rate: percent(clicked, delivered),
        bounced_rate: percent(bounced, total),
        complained_rate: percent(complained, delivered),
        unsubscribed_rate: percent(unsubscribed, delivered),
    }
}

fn one_day(day: u32, sums: &BTreeMap<Measure, i64>) -> EmailMetricsDay {
    EmailMetricsDay {
        date: day::date(day),
        sent: of(sums, Measure::Sent),
        delivered: delivered(sums),
        opened: of(sums, Measure::UniqueOpens),
        clicked: of(sums, Measure::UniqueClicks),
        bounced: bounced(sums),
        complained: of(sums, Measure::Complaints),
    }
}

/// Returns `part` as a percentage of `whole`, with two decimals and at most 100; 0 if `whole` is 0.
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { ((part as f64 * 10_000.0 / whole as f64).round() / 100.0).min(100.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_one_bounce_and_rates_are_percentages_of_delivered() {
        let sums =
            BTreeMap::from([(Measure::Sent, 8), (Measure::Failed, 2), (Measure::HardBounces, 1), (Measure::UniqueOpens, 7)]);
        let summary = summary(&sums);
        assert_eq!((summary.total_emails, summary.delivered, summary.bounced), (10, 7, 3));
        assert_eq!((summary.opened_rate, summary.bounced_rate, summary.clicked_rate), (100.0, 30.0, 0.0));
    }
}
