//! Plan and limits: what the account may do, and how much of it is used. Managers of the installation also change plans here.

use serde_json::{Value, json};

use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};

/// The pages of this file.
pub const ROUTES: &[Route] =
    &[closed("/{environment}/settings/plan").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(change(visit)))];

/// The plan.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    let plan = visit.ask("sending.plan", json!({})).await?;
    let quotas: Vec<Value> = [("Today", "daily"), ("This month", "monthly")]
        .into_iter()
        .map(|(label, name)| {
            let (limit, used) = (plan[name]["limit"].as_u64(), plan[name]["used"].as_u64().unwrap_or(0));
            let share = limit.map(|limit| if limit == 0 { 1.0 } else { used as f64 / limit as f64 });
            json!({
                "label": label, "limit": limit, "used": used, "remaining": plan[name]["remaining"], "resets_at": plan[name]["resetsAt"],
                "share": share,
            })
        })
        .collect();
    let may_change = visit.who.as_ref().is_some_and(|who| who.user.role.manages() && who.user.account.is_installations);
    let accounts = if may_change { visit.ask("accounts.account_list", json!({})).await? } else { Value::Null };
    let context = json!({
        "title": "Plan and limits",
        "accounts": accounts,
        "done": visit.query.get("done"),
        "address": visit.api.0.base_url(),
        "plan": plan,
        "quotas": quotas,
    });
    Ok(Outcome::page("plan.html", context))
}

/// Change the plan of an account.
async fn change(visit: &Visit) -> Result<Outcome, PageError> {
    let form = &visit.form;
    visit.ask("accounts.account_plan", json!({ "id": form.get("id"), "plan": form.get("plan") })).await?;
    Ok(Outcome::go(format!("{}?done=plan", visit.path)))
}
