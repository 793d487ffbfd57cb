//! Webhooks: endpoints that receive events, their health, and all deliveries.

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit, entered};
use crate::vocab::permissions::Permission;

const HOUR_MS: i64 = 60 * 60 * 1000;
/// Deliveries on a page; each shows its attempts.
const DELIVERIES_SHOWN: u32 = 20;

/// Its pages.
pub const ROUTES: &[Route] = &[
    closed("/{environment}/settings/webhooks").get(|visit| Box::pin(show_all(visit))).post(|visit| Box::pin(create(visit))),
    closed("/{environment}/settings/webhooks/{id}").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit))),
];

/// Shows the list, the statistics and the form for a new one.
pub async fn show_all(visit: &Visit) -> Result<Outcome, PageError> {
    all(visit, Value::Null, None).await
}

async fn all(visit: &Visit, made: Value, error: Option<PageError>) -> Result<Outcome, PageError> {
    let listed = visit.ask("webhooks.list", json!({ "limit": 100 })).await?;
    let mut context = fields(visit, error.as_ref());
    context.insert("title".into(), "Webhooks".into());
    context.insert("webhooks".into(), listed["webhooks"].clone());
    context.insert("stats".into(), visit.ask("webhooks.stats", json!({})).await?);
    context.insert("events".into(), events(visit, &visit.form.all("event")).await?);
    context.insert("made".into(), made);
    context.insert("base".into(), visit.api.0.base_url().into());
    Ok(drawn("webhooks.html", context, error))
}

/// Creates one. Its secret is shown on the next page, and never again.
pub async fn create(visit: &Visit) -> Result<Outcome, PageError> {
    let made = match wanted(visit) {
        Ok(input) => visit.ask("webhooks.create", input).await,
        Err(error) => Err(error),
    };
    match made {
        Ok(made) => all(visit, made, None).await,
        Err(error) if is_to_correct(&error) => all(visit, Value::Null, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// Shows one webhook.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    one(visit, Map::new(), None).await
}

/// Renders the page. `told` is the result of the last action, which only this page shows.
async fn one(visit: &Visit, told: Map<String, Value>, error: Option<PageError>) -> Result<Outcome, PageError> {
    let id = visit.name("id");
    let webhook = visit.ask("webhooks.get", json!({ "webhookId": id })).await?;
    let page = visit.page();
    let status = visit.query.some("status").filter(|word| ["pending", "success", "failed", "cancelled"].contains(word));
    let input = json!({ "webhookId": id, "status": status, "limit": DELIVERIES_SHOWN, "page": page });
    let found = visit.ask("webhooks.deliveries", input).await?;
    let is_pending = |delivery: &Value| delivery["status"] == "pending";
    let moves = found["deliveries"].as_array().is_some_and(|all| all.iter().any(is_pending))
        || webhook["redelivery"]["status"] == "processing";

    let mut context = fields(visit, error.as_ref());
    if visit.form.get("act") != "update" {
        fill(&mut context, &webhook);
    }
    let chosen: Vec<&str> = match visit.form.get("act") {
        "update" => visit.form.all("event"),
        _ => webhook["events"].as_array().map(|all| all.iter().filter_map(Value::as_str).collect()).unwrap_or_default(),
    };
    context.insert("events".into(), events(visit, &chosen).await?);
    let now = visit.api.0.clock.now();
    context
        .insert("from".into(), visit.form.some("from").map_or_else(|| local(now.plus_ms(-24 * HOUR_MS)), str::to_owned).into());
    context.insert("to".into(), visit.form.get("to").into());
    for name in ["made", "tested"] {
        context.insert(name.into(), Value::Null);
    }
    context.extend(told);
    context.insert("title".into(), "Webhook".into());
    context.insert("webhook".into(), webhook);
    context.insert("deliveries".into(), found["deliveries"].clone());
    context.insert("pagination".into(), found["pagination"].clone());
    context.insert("status".into(), status.unwrap_or_default().into());
    context.insert("moves".into(), moves.into());
    Ok(drawn("webhook.html", context, error))
}

/// Handles the forms.
pub async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    let (form, id) = (&visit.form, visit.name("id"));
    let which = json!({ "webhookId": id });
    let act = form.get("act");
    let (asked, shown_as) = match act {
        "update" => (update(visit).await, ""),
        "on" | "off" => (visit.ask("webhooks.update", json!({ "webhookId": id, "active": act == "on" })).await, ""),
        "test" => (visit.ask("webhooks.test", which).await, "tested"),
        "rotate" => (
            visit.ask("webhooks.rotate_secret", json!({ "webhookId": id, "graceHours": hours(form.get("grace")) })).await,
            "made",
        ),
        "retry" => (visit.ask("webhooks.retry", json!({ "webhookId": id, "deliveryId": form.get("delivery") })).await, ""),
        "redeliver" => {
            let to = form.some("to").map(moment);
            let input = json!({ "webhookId": id, "from": moment(form.get("from")), "to": to, "all": form.get("all") == "yes" });
            (visit.ask("webhooks.redeliver", input).await, "")
        }
        "delete" => {
            visit.ask("webhooks.delete", which).await?;
            return Ok(Outcome::go(format!("/{}/settings/webhooks?done=delete", visit.environment)));
        }
        _ => return Err(PageError::not_found()),
    };
    match asked {
        Ok(data) if !shown_as.is_empty() => one(visit, Map::from_iter([(shown_as.to_owned(), data)]), None).await,
        Ok(_) => Ok(Outcome::go(format!("{}?done={act}", visit.path))),
        Err(error) if is_to_correct(&error) => one(visit, Map::new(), Some(error)).await,
        Err(error) => Err(error),
    }
}

async fn update(visit: &Visit) -> Result<Value, PageError> {
    let mut input = wanted(visit)?;
    input["webhookId"] = visit.name("id").into();
    visit.ask("webhooks.update", input).await
}

/// Returns the form of a webhook as input for the operations.
fn wanted(visit: &Visit) -> Result<Value, PageError> {
    let form = &visit.form;
    Ok(json!({
        "url": form.get("url"), "events": form.all("event"), "description": form.some("description"),
        "customHeaders": headers(form.get("headers"))?, "standardSignature": form.get("standard") == "yes",
    }))
}

/// Parses lines like `Name: value`.
fn headers(text: &str) -> Result<Value, PageError> {
    let mut headers = Map::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let Some((name, value)) = line.split_once(':') else {
            let message = "Write each header on its own line, like “X-Shop: 7”.";
            return Err(PageError { field: "customHeaders".into(), ..PageError::plain(StatusCode::BAD_REQUEST, message) });
        };
        headers.insert(name.trim().to_owned(), value.trim().into());
    }
    Ok(Value::Object(headers))
}

/// Returns the submitted values of the form, and their errors.
fn fields(visit: &Visit, error: Option<&PageError>) -> Map<String, Value> {
    let mut context = entered(&visit.form, &["act", "url", "description", "headers", "standard"], error);
    // All headers share one field of the page.
    if error.is_some_and(|error| error.field.starts_with("customHeaders")) {
        context.insert("wrong_field".into(), "customHeaders".into());
    }
    context.insert("done".into(), visit.query.get("done").into());
    let may_write = visit.who.as_ref().is_some_and(|who| who.user.role.permissions().contains(Permission::WebhookWrite));
    context.insert("may_write".into(), may_write.into());
    context
}

/// Fills the form with the webhook's current values.
fn fill(context: &mut Map<String, Value>, webhook: &Value) {
    let lines = |all: &Map<String, Value>| {
        all.iter().map(|(name, value)| format!("{name}: {}", value.as_str().unwrap_or_default())).collect::<Vec<_>>().join("\n")
    };
    context.insert("url".into(), webhook["url"].clone());
    context.insert("description".into(), webhook["description"].as_str().unwrap_or_default().into());
    context.insert("headers".into(), webhook["customHeaders"].as_object().map(lines).unwrap_or_default().into());
    context.insert("standard".into(), if webhook["standardSignature"] == true { "yes" } else { "" }.into());
}

/// Returns every event type, with the selected ones. A subscribed type that is no longer emitted stays, so that saving keeps it.
async fn events(visit: &Visit, chosen: &[&str]) -> Result<Value, PageError> {
    let mut known = visit.ask("webhooks.events", json!({})).await?["events"].take();
    let all = known.as_array_mut().ok_or_else(PageError::not_found)?;
    for event in all.iter_mut() {
        event["chosen"] = event["type"].as_str().is_some_and(|word| chosen.contains(&word)).into();
    }
    for word in chosen {
        if !all.iter().any(|event| event["type"] == *word) {
            all.push(json!({ "type": word, "description": "Never emitted.", "optIn": true, "chosen": true }));
        }
    }
    Ok(known)
}

/// Returns whether the page can show how to correct the error.
fn is_to_correct(error: &PageError) -> bool {
    matches!(error.status, StatusCode::BAD_REQUEST | StatusCode::CONFLICT)
}

fn drawn(template: &'static str, context: Map<String, Value>, error: Option<PageError>) -> Outcome {
    match error {
        Some(error) => Outcome::again(template, Value::Object(context), &error),
        None => Outcome::page(template, Value::Object(context)),
    }
}

/// Returns the hours of grace, or the submitted text if it is not a number, which the operation rejects.
fn hours(text: &str) -> Value {
    text.parse::<u64>().map_or_else(|_| text.into(), Value::from)
}

/// Converts a date and time field, which has no zone, to UTC, as the page says.
fn moment(text: &str) -> String {
    match text.len() {
        16 => format!("{text}:00Z"),
        19 => format!("{text}Z"),
        _ => text.to_owned(),
    }
}

fn local(at: crate::base::clock::Timestamp) -> String {
    at.to_string().chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_parsed_by_line_and_a_line_without_a_colon_is_an_error() {
        assert_eq!(
            headers("X-Shop: 7\r\n\r\n Authorization: Bearer a:b ").ok(),
            Some(json!({ "X-Shop": "7", "Authorization": "Bearer a:b" }))
        );
        let error = headers("X-Shop 7").expect_err("no header");
        assert_eq!((error.status, error.field.as_str()), (StatusCode::BAD_REQUEST, "customHeaders"));
    }

    #[test]
    fn date_time_fields_are_utc() {
        assert_eq!(
            (moment("2026-01-31T10:05").as_str(), moment("2026-01-31T10:05:09").as_str()),
            ("2026-01-31T10:05:00Z", "2026-01-31T10:05:09Z")
        );
        assert_eq!(moment("soon"), "soon");
    }
}
