//! The requests of agents, and revoking granted keys.

use serde_json::json;

use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};

/// Its pages.
pub const ROUTES: &[Route] =
    &[closed("/{environment}/settings/approvals").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit)))];

/// The list.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    let data = visit.ask("accounts.approvals_list", json!({})).await?;
    let context = json!({ "title": "Agent requests", "approvals": data["approvals"], "done": visit.query.get("done") });
    Ok(Outcome::page("approvals.html", context))
}

/// Handles a button of the list.
pub async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    let (id, done) = match visit.form.get("act") {
        "deny" => ("accounts.approval_deny", "denied"),
        "revoke" => ("accounts.approval_revoke", "revoked"),
        _ => return Err(PageError::not_found()),
    };
    visit.ask(id, json!({ "id": visit.form.get("id") })).await?;
    Ok(Outcome::go(format!("{}?done={done}", visit.path)))
}
