//! Plan and limits: the numbers that hold for the account, and how much of them is used.

use serde_json::{Value, json};

use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, Trouble, Visit};

/// The pages of this file.
pub const ROUTES: &[Route] = &[closed("/{environment}/settings/plan").get(|visit| Box::pin(show(visit)))];

/// The plan.
pub async fn show(visit: &Visit) -> Result<Outcome, Trouble> {
    let plan = visit.ask("sending.plan", json!({})).await?;
    let quotas: Vec<Value> = [("Today", "daily"), ("This month", "monthly")]
        .into_iter()
        .map(|(label, name)| {
            let (limit, used) = (plan[name]["limit"].as_u64().unwrap_or(0), plan[name]["used"].as_u64().unwrap_or(0));
            json!({
                "label": label, "limit": limit, "used": used, "remaining": plan[name]["remaining"], "resets_at": plan[name]["resetsAt"],
                "share": if limit == 0 { 1.0 } else { used as f64 / limit as f64 },
            })
        })
        .collect();
    let context = json!({
        "title": "Plan and limits",
        "address": visit.api.0.base_url(),
        "plan": plan,
        "quotas": quotas,
    });
    Ok(Outcome::page("plan.html", context))
}
