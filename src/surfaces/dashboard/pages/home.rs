//! The home page: what needs attention, sending health, the latest campaigns, and the first steps.

mod attention;
mod steps;

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Value, json};

use super::brands::may;
use super::campaigns::{dates, takings};
use crate::base::clock::Timestamp;
use crate::surfaces::dashboard::charts::{Chart, Series, Shape};
use crate::surfaces::dashboard::layout::may_ask;
use crate::surfaces::dashboard::route::{Route, closed, open};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};
use crate::vocab::permissions::Permission;

/// Its pages.
pub const ROUTES: &[Route] = &[
    open("/").get(|visit| Box::pin(start(visit))),
    closed("/{environment}/").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(seen(visit))),
];

/// Campaigns that are checked for what needs attention.
const CAMPAIGNS_LOOKED_AT: usize = 20;
/// Campaigns that are shown.
const CAMPAIGNS_SHOWN: usize = 5;

/// The root path: redirects to the last environment.
pub async fn start(visit: &Visit) -> Result<Outcome, PageError> {
    Ok(match visit.who {
        Some(_) => Outcome::go(format!("/{}/", visit.environment)),
        None => Outcome::to_sign_in(None),
    })
}

/// The data of the account, each part null if the user may not read it.
struct AccountOverview {
    projects: Vec<Value>,
    domains: Vec<Value>,
    webhooks: Vec<Value>,
    /// Imports, exports and changes of contacts, newest first.
    jobs: Vec<Value>,
    campaigns: Vec<Value>,
    timeline: Value,
    plan: Value,
    /// The status of the service.
    service: Value,
    /// Why a part could not be read, other than for lack of permission.
    error: Option<String>,
    /// Why sending is on hold, if it is.
    hold: Option<String>,
    now: Timestamp,
}

impl AccountOverview {
    /// Reads all of it. A user who may not read a part sees the rest.
    async fn of(visit: &Visit) -> Self {
        let mut error = None;
        let mut part = async |id: &str, input: Value| match visit.ask(id, input).await {
            Ok(value) => value,
            Err(refused) => {
                if refused.status != StatusCode::FORBIDDEN {
                    error.get_or_insert(refused.message);
                }
                Value::Null
            }
        };
        let list = |of: &Value| of.as_array().cloned().unwrap_or_default();
        let campaigns = json!({ "limit": CAMPAIGNS_LOOKED_AT, "archived": false });
        Self {
            projects: match may_ask(visit, "projects.get") {
                true => list(&part("projects.list", json!({ "limit": 100 })).await["projects"]),
                false => Vec::new(),
            },
            domains: list(&part("domains.list", json!({})).await),
            webhooks: list(&part("webhooks.list", json!({ "limit": 100 })).await["webhooks"]),
            jobs: list(&part("contacts.jobs", json!({ "limit": 100 })).await["jobs"]),
            campaigns: list(&part("campaigns.overview", campaigns).await["campaigns"]),
            timeline: part("sending.timeline", json!({})).await,
            plan: part("sending.plan", json!({})).await,
            service: part("system.health", json!({})).await,
            error,
            hold: visit.api.0.hold.current().map(|hold| hold.cause.to_string()),
            now: visit.api.0.clock.now(),
        }
    }
}

/// The page.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    let known = AccountOverview::of(visit).await;
    let steps = steps::of(visit, &known).await;
    let days = known.timeline["days"].as_array().map_or(&[][..], Vec::as_slice);
    let context = json!({
        "title": "Home",
        "base": format!("/{}", visit.environment),
        "steps": steps,
        "trouble": known.error,
        "attention": attention::of(visit.environment, &known),
        "may_note": may(visit, Permission::AudienceWrite),
        "health": health(&known.timeline["summary"]),
        "charts": charts(days),
        "campaigns": known.campaigns.iter().take(CAMPAIGNS_SHOWN).collect::<Vec<_>>(),
    });
    Ok(Outcome::page("home.html", context))
}

/// Dismisses a failure.
async fn seen(visit: &Visit) -> Result<Outcome, PageError> {
    visit.ask("contacts.job_seen", json!({ "id": visit.form.get("job") })).await?;
    Ok(Outcome::go(format!("/{}/", visit.environment)))
}

/// Returns the sending health; null if nothing was sent, or if the user may not read it.
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
        // Includes immediate rejections, because rates are based on both.
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

/// Returns the charts: opens and clicks, and revenue, or emails sent if there is no revenue.
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
        Some(currency) => takings(days, &currency, "revenue", &format!("Revenue by day in {currency}")),
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
    for takings in days.iter().flat_map(|day| day["takings"].as_array().into_iter().flatten()) {
        *orders.entry(takings["currency"].as_str()?).or_default() += takings["conversions"].as_i64().unwrap_or(0);
    }
    let most = orders.into_iter().rev().max_by_key(|(_, many)| *many);
    most.map(|(currency, _)| currency.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_currency_with_most_orders_is_shown() {
        let day = |takings: Value| json!({ "date": "2026-01-31", "takings": takings });
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
            let told = health(&json!({ "deliveredRate": 98.0, "bounceRate": bounces, "complaintRate": complaints }));
            (
                told["bounced"]["judged"].as_str().map(ToOwned::to_owned),
                told["complained"]["judged"].as_str().map(ToOwned::to_owned),
            )
        };
        let words = |left: &str, right: &str| (Some(left.to_owned()), Some(right.to_owned()));
        assert_eq!(judged(0.5, 0.05), words("good", "good"));
        assert_eq!(judged(2.0, 0.1), words("warn", "warn"));
        assert_eq!(judged(5.0, 0.3), words("bad", "bad"));
        assert_eq!(health(&json!({ "deliveredRate": null })), Value::Null);
    }
}
