//! The home page: notices that need attention, sending health, the latest campaigns, and the first steps.

mod attention;
mod steps;

use std::collections::BTreeMap;

use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

use super::campaigns::report::{dates, revenue_chart};
use crate::base::clock::Timestamp;
use crate::engine::api::Operation;
use crate::features::{campaigns, contacts, domains, projects, sending, system, webhooks};
use crate::surfaces::dashboard::charts::{Chart, Series, Shape};
use crate::surfaces::dashboard::page::spec;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

/// The number of recent campaigns that are checked for problems.
const CAMPAIGNS_EXAMINED: usize = 20;
/// The number of recent campaigns that the home page lists.
const CAMPAIGNS_SHOWN: usize = 5;

/// Redirects from `/` to the home page of the current environment or, without a session, to the sign-in page.
pub async fn start(visit: &Visit) -> Result<PageResponse, PageError> {
    Ok(match visit.session {
        Some(_) => PageResponse::redirect(format!("/{}/", visit.environment)),
        None => PageResponse::to_sign_in(None),
    })
}

/// The data for the home page. A part that the user may not read is null or empty.
struct AccountOverview {
    projects: Vec<Value>,
    domains: Vec<Value>,
    webhooks: Vec<Value>,
    /// The imports, exports and bulk changes of contacts, newest first.
    jobs: Vec<Value>,
    campaigns: Vec<Value>,
    timeline: Value,
    plan: Value,
    /// The status of the service, such as whether it is read-only.
    service: Value,
    /// The first failure while reading the data, other than a missing permission.
    error: Option<String>,
    /// The status of the continuous backup; null if none is configured or the user may not read it.
    backup: Value,
    /// Why sending is on hold; `None` if it is not on hold.
    hold: Option<String>,
    /// Whether live mail requires a verified sending domain.
    needs_verified_domain: bool,
    now: Timestamp,
}

impl AccountOverview {
    /// Reads all parts of the overview. A part that the user may not read does not affect the others.
    async fn of(visit: &Visit) -> Self {
        let mut error = None;
        let error = &mut error;
        let list = |of: &Value| of.as_array().cloned().unwrap_or_default();
        let campaigns = json!({ "limit": CAMPAIGNS_EXAMINED, "archived": false });
        Self {
            projects: match visit.may_ask(spec::<projects::ops::get::Get>()) {
                true => list(&part::<projects::ops::list::List>(visit, json!({ "limit": 100 }), error).await["projects"]),
                false => Vec::new(),
            },
            domains: list(&part::<domains::ops::list::List>(visit, json!({}), error).await),
            webhooks: list(&part::<webhooks::ops::list::List>(visit, json!({ "limit": 100 }), error).await["webhooks"]),
            jobs: list(&part::<contacts::ops::jobs::Jobs>(visit, json!({ "limit": 100 }), error).await["jobs"]),
            campaigns: list(&part::<campaigns::ops::overview::Overview>(visit, campaigns, error).await["campaigns"]),
            timeline: part::<sending::ops::timeline::Timeline>(visit, json!({}), error).await,
            plan: part::<sending::ops::plan::Plan>(visit, json!({}), error).await,
            service: part::<system::ops::health::Health>(visit, json!({}), error).await,
            backup: match visit.api.0.backup.is_some() && visit.may_ask(spec::<system::ops::status::Status>()) {
                true => part::<system::ops::status::Status>(visit, json!({}), error).await["continuousBackup"].take(),
                false => Value::Null,
            },
            error: error.take(),
            hold: visit.api.0.hold.current().map(|hold| hold.cause.to_string()),
            needs_verified_domain: visit.api.0.settings.mail.require_verified_domain,
            now: visit.api.0.clock.now(),
        }
    }
}

#[derive(Serialize)]
pub struct HomePage {
    base: String,
    steps: Value,
    /// Why some data could not be read; `None` if all data was read.
    trouble: Option<String>,
    attention: Vec<Value>,
    health: Value,
    charts: Vec<Value>,
    /// The items of `campaigns.overview`.
    campaigns: Vec<Value>,
    /// The status of the continuous backup; null if none is configured or the user may not read it.
    backup: Value,
}

page_context!(HomePage, "home.html", {
    use crate::features::campaigns::model::CampaignStatus;
    use crate::features::campaigns::ops::overview::CampaignLine;
    use crate::features::campaigns::stats::CampaignStats;
    use crate::features::campaigns::views::CampaignView;
    use crate::surfaces::dashboard::template::context;

    let timeline = context(&sending::ops::timeline::Timeline::example().1.0);
    let days = timeline["days"].as_array().cloned().unwrap_or_default();
    let line = |campaign, stats| context(&CampaignLine { campaign, stats });
    let page = || Self {
        base: "/test".into(),
        steps: steps::sample(),
        trouble: Some("The search index is not ready.".into()),
        attention: attention::samples(),
        health: health(&timeline["summary"]),
        charts: charts(&days),
        campaigns: vec![
            line(CampaignView::sample(), CampaignStats::sample()),
            line(CampaignView::sample_in(CampaignStatus::Sent), CampaignStats::sample()),
            line(CampaignView::sample_in(CampaignStatus::Sent), CampaignStats { conversion: None, ..CampaignStats::sample() }),
        ],
        backup: context(&system::ops::status::Status::example().1.0)["continuousBackup"].clone(),
    };
    let nothing = Self {
        steps: Value::Null,
        trouble: None,
        attention: Vec::new(),
        health: Value::Null,
        charts: Vec::new(),
        campaigns: Vec::new(),
        backup: Value::Null,
        ..page()
    };
    vec![page(), nothing]
});

/// Calls an operation for a part of the overview and returns its data; null on failure. The first failure other than a missing
/// permission is stored in `error`.
async fn part<T: Operation>(visit: &Visit, input: Value, error: &mut Option<String>) -> Value {
    match visit.json::<T>(input).await {
        Ok(value) => value,
        Err(refused) => {
            if refused.status != StatusCode::FORBIDDEN {
                error.get_or_insert(refused.message);
            }
            Value::Null
        }
    }
}

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let known = AccountOverview::of(visit).await;
    let steps = steps::of(visit, &known).await;
    let days = known.timeline["days"].as_array().map_or(&[][..], Vec::as_slice);
    let context = HomePage {
        base: format!("/{}", visit.environment),
        steps,
        attention: attention::of(visit.environment, &known),
        health: health(&known.timeline["summary"]),
        charts: charts(days),
        campaigns: known.campaigns.iter().take(CAMPAIGNS_SHOWN).cloned().collect(),
        trouble: known.error,
        backup: known.backup,
    };
    Ok(PageResponse::draw(&context))
}

/// Dismisses the notice about a failed contact job.
pub async fn seen(visit: &Visit) -> Result<PageResponse, PageError> {
    visit.ask::<contacts::ops::job_seen::JobSeen>(json!({ "id": visit.form.get("job") })).await?;
    Ok(PageResponse::redirect(format!("/{}/", visit.environment)))
}

/// Returns the sending health; null if no email was sent or the user may not read the statistics.
fn health(summary: &Value) -> Value {
    let rate = |name: &str| summary[name].as_f64();
    let (Some(delivered), Some(bounces)) = (rate("deliveredRate"), rate("bounceRate")) else { return Value::Null };
    let complaints = rate("complaintRate").unwrap_or(0.0);
    let judged = |value: f64, warn: f64, bad: f64| match value {
        _ if value >= bad => "bad",
        _ if value >= warn => "warn",
        _ => "good",
    };
    let many = |name: &str| summary[name].as_u64().unwrap_or(0);
    json!({
        // The rates of delivered and bounced messages are fractions of this sum, which includes the messages that mail servers rejected
        // immediately.
        "sent": many("delivered") + many("bounced"),
        "delivered": { "many": summary["delivered"], "share": delivered / 100.0 },
        "bounced": {
            "many": summary["bounced"], "share": bounces / 100.0,
            "judged": judged(bounces, attention::BOUNCES_WARN, attention::BOUNCES_BAD),
        },
        "complained": {
            "many": summary["complained"], "share": complaints / 100.0,
            "judged": judged(complaints, attention::COMPLAINTS_WARN, attention::COMPLAINTS_BAD),
        },
        "opened": summary["opened"],
        "clicked": summary["clicked"],
        "unsubscribed": summary["unsubscribed"],
    })
}

/// Returns two charts: one of opens and clicks, and one of revenue or, without revenue, of sent emails. Returns no charts if there are no
/// days.
fn charts(days: &[Value]) -> Vec<Value> {
    if days.is_empty() {
        return Vec::new();
    }
    let values = |name: &str| days.iter().map(|day| day[name].as_f64().unwrap_or(0.0)).collect::<Vec<f64>>();
    let series = |label: &str, name: &str| Series { label: label.into(), values: values(name) };
    let readers = Chart {
        id: "readers",
        title: "Opens and clicks by day",
        unit: "",
        shape: Shape::Lines,
        dates: dates(days),
        series: vec![series("Opened", "opened"), series("Clicked", "clicked")],
    };
    let second = match main_currency(days) {
        Some(currency) => revenue_chart(days, &currency, "revenue", &format!("Revenue by day in {currency}")),
        None => {
            let series = vec![series("Sent", "sent")];
            let title = "Emails sent by day";
            Chart { id: "sent", title, unit: "", shape: Shape::Bars, dates: dates(days), series }.draw()
        }
    };
    vec![readers.draw(), second]
}

/// Returns the currency with the most orders.
fn main_currency(days: &[Value]) -> Option<String> {
    let mut orders: BTreeMap<&str, i64> = BTreeMap::new();
    for entry in days.iter().flat_map(|day| day["revenue"].as_array().into_iter().flatten()) {
        *orders.entry(entry["currency"].as_str()?).or_default() += entry["conversions"].as_i64().unwrap_or(0);
    }
    let most = orders.into_iter().rev().max_by_key(|(_, many)| *many);
    most.map(|(currency, _)| currency.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_currency_with_most_orders_is_shown() {
        let day = |revenue: Value| json!({ "date": "2026-01-31", "revenue": revenue });
        let days = [
            day(json!([{ "currency": "EUR", "conversions": 1, "revenue": 900 }])),
            day(
                json!([{ "currency": "EUR", "conversions": 1, "revenue": 5 }, { "currency": "USD", "conversions": 3, "revenue": 1 }]),
            ),
        ];
        assert_eq!(main_currency(&days).as_deref(), Some("USD"));
        assert_eq!(main_currency(&[day(json!([]))]), None);
    }

    #[test]
    fn health_follows_the_limits_of_mailbox_providers() {
        let judged = |bounces: f64, complaints: f64| {
            let rates = health(&json!({ "deliveredRate": 98.0, "bounceRate": bounces, "complaintRate": complaints }));
            (
                rates["bounced"]["judged"].as_str().map(ToOwned::to_owned),
                rates["complained"]["judged"].as_str().map(ToOwned::to_owned),
            )
        };
        let words = |left: &str, right: &str| (Some(left.to_owned()), Some(right.to_owned()));
        assert_eq!(judged(0.5, 0.05), words("good", "good"));
        assert_eq!(judged(2.0, 0.1), words("warn", "warn"));
        assert_eq!(judged(5.0, 0.3), words("bad", "bad"));
        assert_eq!(health(&json!({ "deliveredRate": null })), Value::Null);
    }
}
