//! An agent asks for a key: enter its code, look at what it wants, grant less or all of it, or nothing.

use serde_json::{Value, json};

use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, Trouble, Visit};

/// Its pages.
pub const ROUTES: &[Route] = &[closed("/agent").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(decide(visit)))];

fn page(code: &str, details: Value, trouble: Option<&Trouble>, state: &str) -> Outcome {
    let context = json!({
        "title": "An agent asks for access",
        "state": state,
        "code": code,
        "back": format!("/agent?{}", serde_urlencoded::to_string([("code", code)]).unwrap_or_default()),
        "details": details,
        "wrong": trouble.map_or("", |trouble| &trouble.message),
    });
    match trouble {
        Some(trouble) => Outcome::again("agent.html", context, trouble),
        None => Outcome::page("agent.html", context),
    }
}

/// The form for the code, or what the agent with this code asks for.
pub async fn show(visit: &Visit) -> Result<Outcome, Trouble> {
    look(visit, visit.query.get("code"), None).await
}

async fn look(visit: &Visit, code: &str, wrong: Option<Trouble>) -> Result<Outcome, Trouble> {
    if code.is_empty() {
        return Ok(page("", Value::Null, wrong.as_ref(), "code"));
    }
    match visit.ask("accounts.approval_look", json!({ "code": code })).await {
        Ok(details) => Ok(page(code, details, wrong.as_ref(), "review")),
        Err(trouble) if trouble.code == "NOT_SIGNED_IN" => Err(trouble),
        Err(trouble) => Ok(page(code, Value::Null, Some(&trouble), "code")),
    }
}

/// What was decided.
pub async fn decide(visit: &Visit) -> Result<Outcome, Trouble> {
    let form = &visit.form;
    let code = form.get("code");
    let done = match form.get("act") {
        "grant" => {
            let permissions = form.all("permission");
            let input = json!({ "code": code, "permissions": permissions, "environment": form.get("environment") });
            visit.ask("accounts.approval_grant", input).await
        }
        "deny" => visit.ask("accounts.approval_deny", json!({ "id": form.get("id") })).await,
        _ => return look(visit, code, None).await,
    };
    match done {
        Ok(approval) => Ok(page(code, json!({ "approval": approval }), None, "done")),
        // Prove who you are, then come back to this request.
        Err(trouble) if matches!(trouble.code.as_str(), "NOT_SIGNED_IN" | "FRESH_SIGN_IN_REQUIRED") => Err(trouble),
        Err(trouble) => look(visit, code, Some(trouble)).await,
    }
}
