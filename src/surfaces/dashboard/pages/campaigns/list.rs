//! The list of campaigns.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{base, items};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};

/// The filters, in the order of a campaign's life: the word in the URL, the label, and the statuses.
const STATES: [(&str, &str, &[&str]); 6] = [
    ("draft", "Drafts", &["draft"]),
    ("scheduled", "Scheduled", &["scheduled"]),
    ("sending", "Sending", &["sending", "throttled", "paused"]),
    ("sent", "Sent", &["sent"]),
    ("attention", "Needs attention", &["pending_review", "failed"]),
    ("cancelled", "Canceled", &["cancelled"]),
];
const PER_PAGE: usize = 25;

/// Shows the newest campaigns, or those that match the search.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    let query = &visit.query;
    let (search, state, brand) = (query.some("q"), query.some("state"), query.some("brand"));
    let is_archive = query.get("archived") == "yes";
    let chosen = STATES.iter().find(|(word, _, _)| Some(*word) == state);
    let input = json!({
        "search": search,
        "status": chosen.map(|(_, _, states)| states.join(",")),
        "projectId": brand,
        "archived": is_archive,
        "before": query.some("before"),
        "limit": PER_PAGE,
    });
    let part = visit.ask("campaigns.overview", input).await?;
    let projects = items(visit.ask("projects.list", json!({ "limit": 100 })).await, "projects");
    let names: HashMap<&str, &Value> =
        projects.iter().filter_map(|project| Some((project["id"].as_str()?, &project["name"]))).collect();
    let line = |line: &Value| {
        let project = line["campaign"]["projectId"].as_str().and_then(|id| names.get(id).copied());
        json!({ "campaign": line["campaign"], "stats": line["stats"], "brand": project })
    };
    let lines: Vec<Value> = part["campaigns"].as_array().into_iter().flatten().map(line).collect();
    let kept = [("q", search), ("state", state), ("brand", brand), ("archived", is_archive.then_some("yes"))];
    let kept: Vec<(&str, &str)> = kept.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let context = json!({
        "title": "Campaigns",
        "base": base(visit),
        "address": visit.api.0.base_url(),
        "lines": lines,
        "next": part["next"],
        "is_first": query.some("before").is_none(),
        "is_filtered": search.is_some() || state.is_some() || brand.is_some(),
        "is_archive": is_archive,
        "kept": serde_urlencoded::to_string(kept).unwrap_or_default(),
        "q": search.unwrap_or_default(),
        "state": state.unwrap_or_default(),
        "states": STATES.map(|(word, label, _)| json!({ "word": word, "label": label })),
        "brand": brand.unwrap_or_default(),
        "brands": projects.iter().map(|project| json!({ "id": project["id"], "name": project["name"] })).collect::<Vec<_>>(),
        "done": query.get("done"),
    });
    Ok(Outcome::page("campaigns.html", context))
}
