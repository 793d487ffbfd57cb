//! The suppression list: addresses that are never mailed, for all brands.

use serde_json::json;

use super::audience;
use super::brands::may;
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};
use crate::vocab::permissions::Permission;

/// Its pages.
pub const ROUTES: &[Route] =
    &[closed("/{environment}/suppressions").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit)))];

const PER_PAGE: u64 = 50;
/// Reasons, with their labels, and whether users can choose them.
const REASONS: [(&str, &str, bool); 5] = [
    ("manual", "Added manually", true),
    ("unsubscribe", "Unsubscribed", true),
    ("bounce_hard", "Hard bounce", true),
    ("complaint", "Spam complaint", true),
    ("erased", "Erased", false),
];

/// The list and the form.
async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    page(visit, None).await
}

async fn page(visit: &Visit, error: Option<&PageError>) -> Result<Outcome, PageError> {
    let (reason, search) = (visit.query.get("reason"), visit.query.get("search"));
    let mut input =
        json!({ "reason": visit.query.some("reason"), "limit": PER_PAGE, "offset": audience::offset(visit, PER_PAGE) });
    // Addresses are stored so that only complete ones can be found.
    if search.contains('@') {
        input["email"] = search.into();
    }
    let (found, unfinished) = match visit.ask("suppressions.list", input).await {
        Ok(found) => (found, !search.is_empty() && !search.contains('@')),
        // The address is incomplete.
        Err(error) if error.field == "email" => (json!({ "suppressions": [], "pagination": {} }), true),
        Err(error) => return Err(error),
    };
    let base = serde_urlencoded::to_string([("reason", reason), ("search", search)]).unwrap_or_default();
    let mut context = json!({
        "title": "Suppressions", "base": visit.api.0.base_url(), "root": format!("/{}", visit.environment), "reason": reason,
        "search": search, "unfinished": unfinished, "reasons": REASONS, "done": visit.query.get("done"),
        "pages_base": format!("{}?{base}&", visit.path),
        "suppressions": found["suppressions"], "pagination": found["pagination"],
        "may_write": may(visit, Permission::AudienceWrite), "wrong": "", "wrong_field": "", "email": "", "note": "", "given": "",
    });
    let Some(error) = error else { return Ok(Outcome::page("suppressions.html", context)) };
    (context["wrong"], context["wrong_field"]) = (error.message.as_str().into(), error.field.as_str().into());
    for (name, field) in [("email", "email"), ("note", "note"), ("given", "given")] {
        context[name] = visit.form.get(field).into();
    }
    Ok(Outcome::again("suppressions.html", context, error))
}

/// Adds or removes an address.
async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    let form = &visit.form;
    let asked = match form.get("act") {
        "add" => {
            let reason = form.some("given").unwrap_or("manual");
            let input = json!({ "email": form.get("email"), "reason": reason, "note": form.some("note") });
            visit.ask("suppressions.create", input).await
        }
        "remove" => visit.ask("suppressions.delete", json!({ "email": form.get("email") })).await,
        _ => return Err(PageError::not_found()),
    };
    match asked {
        Ok(_) => Ok(Outcome::go(format!("{}?done={}", visit.path, form.get("act")))),
        Err(error) if audience::can_correct(&error) => page(visit, Some(&error)).await,
        Err(error) => Err(error),
    }
}
