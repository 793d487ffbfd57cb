//! Campaigns: the list, creating and editing, the dry run, and the report.

mod detail;
mod edit;
mod form;
mod launch;
mod list;
mod report;

pub use report::{dates, takings};
use serde_json::{Map, Value, json};

use crate::base::zone::Zone;
use crate::engine::api::response::WireTime;
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{PageError, Visit};

/// The pages of this file.
pub const ROUTES: &[Route] = &[
    closed("/{environment}/campaigns").get(|visit| Box::pin(list::show(visit))),
    closed("/{environment}/campaigns/new").get(|visit| Box::pin(edit::new(visit))).post(|visit| Box::pin(edit::create(visit))),
    closed("/{environment}/campaigns/{id}")
        .get(|visit| Box::pin(detail::show(visit)))
        .post(|visit| Box::pin(detail::send(visit))),
    closed("/{environment}/campaigns/{id}/edit")
        .get(|visit| Box::pin(edit::show(visit)))
        .post(|visit| Box::pin(edit::change(visit))),
    closed("/{environment}/campaigns/{id}/launch")
        .get(|visit| Box::pin(launch::show(visit)))
        .post(|visit| Box::pin(launch::send(visit))),
    closed("/{environment}/campaigns/{id}/frame").get(|visit| Box::pin(detail::frame(visit))),
    closed("/{environment}/campaigns/{id}/report").get(|visit| Box::pin(report::show(visit))),
    closed("/{environment}/campaigns/{id}/log").get(|visit| Box::pin(report::log(visit))),
];

/// Returns the base path of this environment's pages.
fn base(visit: &Visit) -> String {
    format!("/{}/campaigns", visit.environment)
}

/// Returns the campaign in the URL.
async fn campaign(visit: &Visit) -> Result<Value, PageError> {
    visit.ask("campaigns.get", json!({ "id": visit.name("id") })).await
}

/// Returns the context of every page of a campaign: the campaign, and its tabs.
fn around(campaign: &Value, tab: &str) -> Map<String, Value> {
    let status = campaign["status"].as_str().unwrap_or_default();
    let mut context = Map::new();
    context.insert("title".into(), campaign["name"].clone());
    context.insert("is_open".into(), matches!(status, "draft" | "pending_review" | "scheduled").into());
    context.insert("has_begun".into(), (!campaign["batchId"].is_null()).into());
    context.insert("tab".into(), tab.into());
    context.insert("wall".into(), wall(campaign).map_or(Value::Null, |(day, time)| format!("{day}, {time}").into()));
    context.insert("campaign".into(), campaign.clone());
    context
}

/// Returns the scheduled local day and time in the campaign's zone, as given.
fn wall(campaign: &Value) -> Option<(String, String)> {
    let WireTime(at) = campaign["scheduledAt"].as_str()?.parse().ok()?;
    let zone = Zone::parse(campaign["scheduledTimezone"].as_str()?).ok()?;
    let shown = zone.shows(at).to_string();
    let (day, time) = shown.split_once('T')?;
    Some((day.to_owned(), time.chars().take(5).collect()))
}

/// Returns the text for a campaign's recipients; null if the user may not read them.
async fn audience(visit: &Visit, campaign: &Value) -> Value {
    let names = json!({ "id": campaign["recipientId"], "projectId": campaign["projectId"] });
    let everyone = campaign["recipientId"] == campaign["projectId"];
    let (kind, asked) = match campaign["recipientType"].as_str() {
        Some("audience") if everyone => return json!({ "kind": "everyone", "name": "All contacts of the brand" }),
        Some("tag") => ("tag", visit.ask("tags.get", names).await),
        _ => ("segment", visit.ask("segments.get", names).await),
    };
    match asked {
        Ok(found) => json!({ "kind": kind, "name": found["name"] }),
        Err(error) if error.status == http::StatusCode::NOT_FOUND => json!({ "kind": kind, "name": "deleted" }),
        Err(_) => json!({ "kind": kind, "name": campaign["recipientId"] }),
    }
}

/// Returns the brand's name; null if the user may not read it.
async fn brand(visit: &Visit, project: &Value) -> Value {
    visit.ask("projects.get", json!({ "projectId": project })).await.map_or(Value::Null, |project| project["name"].clone())
}

/// Returns the items of a list response; none if the user may not read it.
pub fn items(answer: Result<Value, PageError>, name: &str) -> Vec<Value> {
    answer
        .ok()
        .and_then(|mut answer| answer.get_mut(name).map(Value::take))
        .and_then(|list| list.as_array().cloned())
        .unwrap_or_default()
}
