//! The audit log.

use serde_json::{Value, json};

use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};

/// Its pages.
pub const ROUTES: &[Route] = &[closed("/{environment}/settings/audit").get(|visit| Box::pin(show(visit)))];

/// Shows what was done with the account, or with the selected environment's data.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    let is_data = visit.query.get("in") == "data";
    let part = is_data.then(|| visit.environment.word());
    let before = visit.query.some("before");
    let mut data = visit.ask("accounts.audit_list", json!({ "in": part, "limit": 50, "before": before })).await?;
    for entry in data["entries"].as_array_mut().into_iter().flatten() {
        entry["does"] = does(visit, &entry["operation"]).into();
    }
    let context = json!({
        "title": "Audit log",
        "is_data": is_data,
        "entries": data["entries"],
        "next": data["next"],
        "first": before.is_none(),
    });
    Ok(Outcome::page("audit.html", context))
}

/// Returns an operation's summary, or its id if it no longer exists.
fn does(visit: &Visit, id: &Value) -> String {
    let id = id.as_str().unwrap_or_default();
    let entry = visit.api.0.operations.iter().find(|entry| entry.spec.id == id);
    entry.map_or(id, |entry| entry.spec.summary).to_owned()
}
