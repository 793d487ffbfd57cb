//! A campaign's results: statistics, charts over time, and the recipient log.

use serde_json::{Value, json};

use super::launch::{reasons, why};
use super::{around, audience, base, campaign};
use crate::surfaces::dashboard::charts::{Chart, Series, Shape};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};

/// The labels of log statuses.
const STATES: [(&str, &str); 10] = [
    ("delivered", "Delivered"),
    ("opened", "Opened"),
    ("clicked", "Clicked"),
    ("bounced", "Bounced"),
    ("complained", "Spam complaint"),
    ("failed", "Rejected"),
    ("unknown", "Delivery uncertain"),
    ("deferred", "Retrying"),
    ("queued", "Queued"),
    ("skipped", "Left out"),
];
const ROWS: usize = 50;

/// Shows the statistics.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    let campaign = campaign(visit).await?;
    let which = json!({ "id": visit.name("id") });
    let stats = visit.ask("campaigns.stats", which.clone()).await?;
    let report = visit.ask("campaigns.report", which).await?;
    let mut context = around(&campaign, "report");
    let charts = [over_time(&report["days"]), revenue(&report["days"], &stats["conversion"])];
    context.insert("here".into(), format!("{}/{}", base(visit), visit.name("id")).into());
    context.insert("audience".into(), audience(visit, &campaign).await);
    context.insert("charts".into(), charts.into_iter().flatten().collect());
    context.insert("links".into(), report["links"].clone());
    context.insert("reasons".into(), reasons(&stats["skippedReasons"]));
    context.insert("has_conversion".into(), stats["conversion"].is_object().into());
    context.insert("stats".into(), stats);
    Ok(Outcome::page("campaign_report.html", Value::Object(context)))
}

/// Opens and clicks by day.
fn over_time(days: &Value) -> Option<Value> {
    let days = days.as_array().filter(|days| !days.is_empty())?;
    let values = |name: &str| days.iter().map(|day| day[name].as_f64().unwrap_or(0.0)).collect();
    let chart = Chart {
        id: "readers",
        title: "Opens and clicks by day",
        unit: "",
        shape: Shape::Lines,
        dates: dates(days),
        series: vec![
            Series { label: "Opened".into(), values: values("opened") },
            Series { label: "Clicked".into(), values: values("clicked") },
        ],
    };
    Some(chart.draw())
}

/// Revenue by day, in the main currency.
fn revenue(days: &Value, conversion: &Value) -> Option<Value> {
    let (days, currency) = (days.as_array()?, conversion["currency"].as_str()?);
    Some(takings(days, currency, "revenue", &format!("Revenue by day in {currency}")))
}

/// Returns the daily revenue in one currency, as bars.
pub fn takings(days: &[Value], currency: &str, id: &str, title: &str) -> Value {
    let of = |day: &Value| {
        let takings = day["takings"].as_array().into_iter().flatten().find(|takings| takings["currency"] == currency);
        takings.and_then(|takings| takings["revenue"].as_f64()).unwrap_or(0.0)
    };
    let series = vec![Series { label: "Revenue".into(), values: days.iter().map(of).collect() }];
    Chart { id, title, unit: currency, shape: Shape::Bars, dates: dates(days), series }.draw()
}

/// Returns the dates of the days.
pub fn dates(days: &[Value]) -> Vec<String> {
    days.iter().map(|day| day["date"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Shows the recipient log.
pub async fn log(visit: &Visit) -> Result<Outcome, PageError> {
    let campaign = campaign(visit).await?;
    let (id, show, cursor) = (visit.name("id"), visit.query.some("show"), visit.query.some("cursor"));
    // Skipped recipients can be filtered by reason: `skipped.unsubscribed`.
    let (status, reason) = match show.map(|show| show.split_once('.').unwrap_or((show, ""))) {
        Some((status, reason)) => (Some(status), Some(reason).filter(|reason| !reason.is_empty())),
        None => (None, None),
    };
    let input = json!({ "id": id, "status": status, "skipReason": reason, "cursor": cursor, "limit": ROWS });
    let part = visit.ask("campaigns.logs", input).await?;
    let stats = visit.ask("campaigns.stats", json!({ "id": id })).await?;
    let mut context = around(&campaign, "log");
    let rows: Vec<Value> = part["emails"].as_array().into_iter().flatten().map(row).collect();
    context.insert("here".into(), format!("{}/{id}", base(visit)).into());
    context.insert("rows".into(), rows.into());
    context.insert("next".into(), part["nextCursor"].clone());
    context.insert("is_first".into(), cursor.is_none().into());
    context.insert("show".into(), show.unwrap_or_default().into());
    context.insert("states".into(), STATES.map(|(word, label)| json!({ "word": word, "label": label })).into_iter().collect());
    context.insert("reasons".into(), reasons(&stats["skippedReasons"]));
    Ok(Outcome::page("campaign_log.html", Value::Object(context)))
}

fn row(row: &Value) -> Value {
    let word = row["status"].as_str().unwrap_or_default();
    let label = STATES.iter().find(|(state, _)| *state == word).map_or(word, |(_, label)| label);
    let reason = row["suppression_type"].as_str().map(why);
    json!({
        "to": row["to_email"], "contact": row["subscriber_id"], "word": word, "label": label, "reason": row["suppression_reason"].as_str().or(reason),
        "sent_at": row["sent_at"], "opened_at": row["opened_at"], "clicked_at": row["clicked_at"], "next_at": row["next_attempt_at"],
        "opens": row["open_count"], "clicks": row["click_count"], "reply": row["reply"],
    })
}
