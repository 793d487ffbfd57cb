//! The built-in inbox: its messages as recipients would see them, and their source.

use serde_json::json;

use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};

/// Its pages.
pub const ROUTES: &[Route] = &[
    closed("/{environment}/inbox").get(|visit| Box::pin(list(visit))),
    closed("/{environment}/inbox/{id}").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(delete(visit))),
    closed("/{environment}/inbox/{id}/mail").get(|visit| Box::pin(mail(visit))),
    closed("/{environment}/inbox/{id}/picture").get(|visit| Box::pin(picture(visit))),
    closed("/{environment}/inbox/{id}/source").get(|visit| Box::pin(source(visit))),
];

/// The behavior of simulated recipients.
const SIMULATED: [(&str, &str); 8] = [
    ("delivered", "accepts the message"),
    ("deferred", "defers the message, then accepts it"),
    ("hard-bounce", "does not exist"),
    ("soft-bounce", "accepts the message, then bounces it (mailbox full)"),
    ("complaint", "accepts the message and reports it as spam"),
    ("open", "opens the message"),
    ("click", "opens the message and clicks its first link"),
    ("unsubscribe", "unsubscribes with one click"),
];

/// The messages, newest first.
async fn list(visit: &Visit) -> Result<Outcome, PageError> {
    let query = &visit.query;
    let input = json!({
        "search": query.some("search"),
        "sendId": query.some("send"),
        "page": visit.page(),
        "limit": 50,
    });
    let data = visit.ask("sending.inbox_list", input).await?;
    let kept: Vec<(&str, &str)> =
        ["search", "send"].iter().filter_map(|name| query.some(name).map(|value| (*name, value))).collect();
    let base = serde_urlencoded::to_string(&kept).map(|kept| if kept.is_empty() { kept } else { kept + "&" }).unwrap_or_default();
    let context = json!({
        "title": "Inbox",
        "messages": data["messages"],
        "pagination": data["pagination"],
        "pages": format!("?{base}"),
        "search": query.get("search"),
        "send": query.get("send"),
        "done": query.get("done"),
        "base": visit.api.0.base_url(),
        "simulated": SIMULATED.map(|(name, does)| json!({ "name": name, "does": does })),
    });
    Ok(Outcome::page("inbox.html", context))
}

/// One message.
async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    let data = visit.ask("sending.inbox_get", json!({ "id": visit.name("id") })).await?;
    let view = match visit.query.get("view") {
        word @ ("phone" | "text" | "headers") => word,
        _ if data["html"].is_null() => "text",
        _ => "mail",
    };
    let context = json!({
        "title": match data["message"]["subject"].as_str() {
            Some(subject) if !subject.is_empty() => subject,
            _ => "(no subject)",
        },
        "view": view,
        "images": visit.wants_images(),
        "has_html": !data["html"].is_null(),
        "message": data["message"],
        "envelope_from": data["envelopeFrom"],
        "headers": data["headers"],
        "text": data["text"],
        "links": data["links"],
        "dkim": data["dkim"],
    });
    Ok(Outcome::page("message.html", context))
}

/// Its HTML, as a document for the frame.
async fn mail(visit: &Visit) -> Result<Outcome, PageError> {
    visit.hand_on("sending.inbox_html", json!({ "id": visit.name("id"), "images": visit.wants_images() })).await
}

/// Its screenshot.
async fn picture(visit: &Visit) -> Result<Outcome, PageError> {
    visit.hand_on("sending.inbox_screenshot", json!({ "id": visit.name("id") })).await
}

/// Its source.
async fn source(visit: &Visit) -> Result<Outcome, PageError> {
    visit.hand_on("sending.inbox_raw", json!({ "id": visit.name("id") })).await
}

/// Remove it.
async fn delete(visit: &Visit) -> Result<Outcome, PageError> {
    match visit.form.get("act") {
        "delete" => {
            visit.ask("sending.inbox_delete", json!({ "id": visit.name("id") })).await?;
            Ok(Outcome::go(format!("/{}/inbox?done=deleted", visit.environment)))
        }
        _ => Err(PageError::not_found()),
    }
}
