//! The pages with a campaign's results: statistics, charts over time, and the recipient log.

use serde::Serialize;
use serde_json::{Value, json};

use super::launch::{LeftOut, reasons, why};
use super::{CampaignHead, campaign};
use crate::engine::api::Done;
use crate::engine::api::response::WireTime;
use crate::features::campaigns;
use crate::features::campaigns::logs::CampaignLog;
use crate::features::campaigns::ops::report::CampaignLink;
use crate::features::campaigns::stats::CampaignStats;
use crate::surfaces::dashboard::charts::{Chart, Series, Shape};
use crate::surfaces::dashboard::template::{self, page_context};
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::ids::ContactId;

/// The filters of the recipient log, each with its value in the URL and its label.
const STATES: [(&str, &str); 10] = [
    ("delivered", "Delivered"),
    ("opened", "Opened"),
    ("clicked", "Clicked"),
    ("bounced", "Bounced"),
    ("complained", "Spam complaint"),
    ("failed", "Failed"),
    ("unknown", "Delivery uncertain"),
    ("deferred", "Delayed"),
    ("queued", "Queued"),
    ("skipped", "Left out"),
];
const ROWS: usize = 50;

#[derive(Serialize)]
pub struct ReportPage {
    #[serde(flatten)]
    head: CampaignHead,
    charts: Vec<Value>,
    links: Vec<CampaignLink>,
    reasons: Vec<LeftOut>,
    has_conversion: bool,
    stats: CampaignStats,
}

page_context!(ReportPage, "campaign_report.html", {
    use crate::engine::api::Operation;
    use crate::features::campaigns::model::CampaignStatus;
    use crate::features::campaigns::views::CampaignView;

    let report = || campaigns::ops::report::Report::example().1.0;
    let page = |stats: CampaignStats, has_started| Self {
        head: CampaignHead { has_started, ..CampaignHead::sample(CampaignView::sample_in(CampaignStatus::Sent), "report") },
        charts: over_time(&template::context(&report().days)).into_iter().collect(),
        links: report().links,
        reasons: reasons(&stats.skipped_reasons),
        has_conversion: stats.conversion.is_some(),
        stats,
    };
    let bare = CampaignStats { conversion: None, ..CampaignStats::sample() };
    let none = Self { links: Vec::new(), charts: Vec::new(), reasons: Vec::new(), ..page(bare, true) };
    vec![page(CampaignStats::sample(), true), none, page(CampaignStats::sample(), false)]
});

#[derive(Serialize)]
pub struct LogPage {
    #[serde(flatten)]
    head: CampaignHead,
    rows: Vec<LogRow>,
    next: Option<String>,
    is_first: bool,
    show: String,
    states: &'static [(&'static str, &'static str)],
    reasons: Vec<LeftOut>,
}

#[derive(Serialize)]
struct LogRow {
    to: Option<String>,
    contact: Option<ContactId>,
    word: String,
    label: String,
    reason: Option<String>,
    sent_at: Option<WireTime>,
    opened_at: Option<WireTime>,
    clicked_at: Option<WireTime>,
    next_at: Option<WireTime>,
    opens: u32,
    clicks: u32,
    reply: Option<String>,
}

page_context!(LogPage, "campaign_log.html", {
    use crate::engine::api::Operation;
    use crate::features::campaigns::model::CampaignStatus;
    use crate::features::campaigns::views::CampaignView;

    let rows = || campaigns::ops::logs::Logs::example().1.0.emails.into_iter().map(row);
    let erased = |row| LogRow { to: None, contact: None, sent_at: None, opened_at: None, clicked_at: None, ..row };
    let page = |rows, next: Option<&str>, show: &str| Self {
        head: CampaignHead::sample(CampaignView::sample_in(CampaignStatus::Sent), "log"),
        rows,
        next: next.map(str::to_owned),
        is_first: next.is_none(),
        show: show.into(),
        states: &STATES,
        reasons: reasons(&CampaignStats::sample().skipped_reasons),
    };
    vec![
        page(rows().collect(), Some("0123"), "unknown"),
        page(rows().map(erased).collect(), None, ""),
        page(Vec::new(), Some("0123"), ""),
        page(Vec::new(), None, "failed"),
        page(Vec::new(), None, ""),
    ]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let campaign = campaign(visit).await?;
    let which = json!({ "id": visit.path_parameter("id") });
    let Done(stats) = visit.ask::<campaigns::ops::stats::Stats>(which.clone()).await?;
    let Done(report) = visit.ask::<campaigns::ops::report::Report>(which).await?;
    let days = template::context(&report.days);
    let charts = [over_time(&days), revenue(&days, &template::context(&stats.conversion))];
    let context = ReportPage {
        head: CampaignHead::of(visit, campaign, "report"),
        charts: charts.into_iter().flatten().collect(),
        links: report.links,
        reasons: reasons(&stats.skipped_reasons),
        has_conversion: stats.conversion.is_some(),
        stats,
    };
    Ok(PageResponse::draw(&context))
}

/// Returns a line chart of daily opens and clicks; `None` if there are no days.
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

/// Returns a chart of daily revenue in the campaign's conversion currency; `None` if no currency is known.
fn revenue(days: &Value, conversion: &Value) -> Option<Value> {
    let (days, currency) = (days.as_array()?, conversion["currency"].as_str()?);
    Some(revenue_chart(days, currency, "revenue", &format!("Revenue by day in {currency}")))
}

/// Returns a bar chart of daily revenue in `currency`.
pub fn revenue_chart(days: &[Value], currency: &str, id: &str, title: &str) -> Value {
    let of = |day: &Value| {
        let entry = day["revenue"].as_array().into_iter().flatten().find(|entry| entry["currency"] == currency);
        entry.and_then(|entry| entry["revenue"].as_f64()).unwrap_or(0.0)
    };
    let series = vec![Series { label: "Revenue".into(), values: days.iter().map(of).collect() }];
    Chart { id, title, unit: currency, shape: Shape::Bars, dates: dates(days), series }.draw()
}

/// Returns the `date` of each day, for the axis of a chart.
pub fn dates(days: &[Value]) -> Vec<String> {
    days.iter().map(|day| day["date"].as_str().unwrap_or_default().to_owned()).collect()
}

pub async fn log(visit: &Visit) -> Result<PageResponse, PageError> {
    let campaign = campaign(visit).await?;
    let (id, show, cursor) = (visit.path_parameter("id"), visit.query.some("show"), visit.query.some("cursor"));
    // The filter `skipped.unsubscribed`, for example, selects the recipients skipped for that reason.
    let (status, reason) = match show.map(|show| show.split_once('.').unwrap_or((show, ""))) {
        Some((status, reason)) => (Some(status), Some(reason).filter(|reason| !reason.is_empty())),
        None => (None, None),
    };
    let input = json!({ "id": id, "status": status, "skipReason": reason, "cursor": cursor, "limit": ROWS });
    let Done(part) = visit.ask::<campaigns::ops::logs::Logs>(input).await?;
    let Done(stats) = visit.ask::<campaigns::ops::stats::Stats>(json!({ "id": id })).await?;
    let context = LogPage {
        head: CampaignHead::of(visit, campaign, "log"),
        rows: part.emails.into_iter().map(row).collect(),
        next: part.next_cursor,
        is_first: cursor.is_none(),
        show: show.unwrap_or_default().to_owned(),
        states: &STATES,
        reasons: reasons(&stats.skipped_reasons),
    };
    Ok(PageResponse::draw(&context))
}

fn row(row: CampaignLog) -> LogRow {
    let status = template::context(&row.status);
    let word = status.as_str().unwrap_or_default();
    let label = STATES.iter().find(|(state, _)| *state == word).map_or(word, |(_, label)| label);
    LogRow {
        to: row.to_email,
        contact: row.subscriber_id,
        word: word.to_owned(),
        label: label.to_owned(),
        reason: row.suppression_reason.or_else(|| row.suppression_type.map(|reason| why(reason).to_owned())),
        sent_at: row.sent_at,
        opened_at: row.opened_at,
        clicked_at: row.clicked_at,
        next_at: row.next_attempt_at,
        opens: row.open_count,
        clicks: row.click_count,
        reply: row.reply,
    }
}
