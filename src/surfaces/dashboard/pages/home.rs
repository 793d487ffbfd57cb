//! Where everybody arrives.

use serde_json::{Value, json};

use crate::surfaces::dashboard::route::{Route, closed, open};
use crate::surfaces::dashboard::visit::{Outcome, Trouble, Visit};

/// Its pages.
pub const ROUTES: &[Route] =
    &[open("/").get(|visit| Box::pin(start(visit))), closed("/{environment}/").get(|visit| Box::pin(show(visit)))];

/// The address without a path: on to the data that was looked at last.
pub async fn start(visit: &Visit) -> Result<Outcome, Trouble> {
    Ok(match visit.who {
        Some(_) => Outcome::go(format!("/{}/", visit.environment)),
        None => Outcome::to_sign_in(None),
    })
}

/// What there is, and the next step.
pub async fn show(visit: &Visit) -> Result<Outcome, Trouble> {
    let session = visit.ask("accounts.session", json!({})).await?;
    // Who may not read brands sees the rest.
    let projects = visit.ask("projects.list", json!({ "limit": 20 })).await.unwrap_or(Value::Null);
    let keys = match session["manages"] == true {
        true => visit.ask("accounts.key_list", json!({})).await?,
        false => Value::Null,
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let context = json!({
        "title": "Home",
        "manages": session["manages"],
        "projects": list(&projects["projects"]),
        "keys": list(&keys["keys"]).len(),
        "base": visit.api.0.base_url(),
    });
    Ok(Outcome::page("home.html", context))
}
