//! One contact: its profile, subscriptions and timeline.

use http::header::{CONTENT_DISPOSITION, HeaderValue};
use serde_json::{Map, Value, json};

use super::audience::{self, Audience};
use super::contacts::{PROFILE, STATUSES};
use crate::surfaces::dashboard::forms::Fields;
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};

/// Its pages.
pub const ROUTES: &[Route] = &[
    closed("/{environment}/contacts/{id}").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit))),
    closed("/{environment}/contacts/{id}/data").get(|visit| Box::pin(data(visit))),
];

/// Timeline entries per page.
const ENTRIES: u64 = 30;
/// Empty rows for new custom fields.
const SPARE_ROWS: usize = 2;
/// The number of suggested custom fields of other contacts.
const OFFERED: usize = 8;
/// The newest contacts that are searched for suggestions, which takes a few milliseconds.
const LOOKED_AT: u64 = 1_000;

/// The page.
async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::having(visit, "contacts.project").await? else { return Err(PageError::not_found()) };
    page(visit, &audience, None).await
}

fn asked(visit: &Visit, audience: &Audience) -> Value {
    json!({ "id": visit.name("id"), "projectId": audience.id })
}

async fn page(visit: &Visit, audience: &Audience, error: Option<&PageError>) -> Result<Outcome, PageError> {
    let project = &audience.id;
    let contact = visit.ask("contacts.get", asked(visit, audience)).await?;
    let topics = visit.ask("topics.choices", asked(visit, audience)).await?;
    let email = contact["email"].as_str().unwrap_or_default().to_owned();
    let mut part = asked(visit, audience);
    (part["limit"], part["cursor"]) = (ENTRIES.into(), json!(visit.query.some("cursor")));
    let timeline = visit.ask("tracking.timeline", part).await?;
    let mut context = audience.context(visit, &email);
    let saving = error.is_some() && visit.form.get("act") == "save";
    for name in PROFILE {
        let value = if saving { json!(visit.form.get(name)) } else { contact[name].clone() };
        context.insert(name.into(), json!(value.as_str().unwrap_or_default()));
    }
    let custom = custom_rows(visit, project, &contact["customFields"]).await?;
    context.insert("custom".into(), custom);
    context.insert("saving".into(), saving.into());
    context.insert("more".into(), timeline["nextCursor"].clone());
    context.insert("older".into(), (!visit.query.get("cursor").is_empty()).into());
    context.insert("entries".into(), timeline["entries"].as_array().into_iter().flatten().map(entry).collect::<Vec<_>>().into());
    context.insert("contact".into(), contact);
    context.insert("topics".into(), topics["topics"].clone());
    context.insert("statuses".into(), json!(STATUSES));
    context.insert("tag_names".into(), audience::tag_names(visit, project).await?.0.into());
    context.insert("tag".into(), visit.form.get("tag").into());
    Ok(audience.page(visit, "contact.html", context, error))
}

/// Returns the text of a timeline entry.
fn entry(entry: &Value) -> Value {
    let event = &entry["event"];
    let text = match entry["kind"].as_str().unwrap_or_default() {
        "created" => "Added",
        "sent" => "Sent",
        "opened" => "Opened",
        "clicked" => "Clicked a link in",
        "bounced" => "Bounced",
        "complained" => "Reported as spam",
        "unsubscribed" => "Unsubscribed",
        _ => event["name"].as_str().unwrap_or_default(),
    };
    let properties = event["properties"].as_object();
    let first = |names: &[&str]| names.iter().find_map(|name| properties?.get(*name)).cloned().unwrap_or_default();
    let is_shown = |name: &str| !["value", "total", "amount", "currency"].contains(&name);
    let plain = |(name, value): (&String, &Value)| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        is_shown(name).then(|| json!({ "name": name, "value": text.chars().take(200).collect::<String>() }))
    };
    let facts: Vec<Value> = properties.into_iter().flatten().filter_map(plain).take(6).collect();
    json!({
        "at": entry["at"], "kind": entry["kind"], "text": text, "subject": entry["subject"], "detail": entry["detail"],
        "campaign": entry["campaignId"], "order": event["identifiers"]["externalOrderId"], "facts": facts,
        "value": first(&["value", "total", "amount"]), "currency": first(&["currency"]).as_str().unwrap_or_default(),
    })
}

/// Handles the forms.
async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    match act(visit, &audience).await {
        Ok(()) if visit.form.get("act") == "erase" => {
            let list = format!("/{}/contacts", visit.environment);
            Ok(Outcome::go(audience.path(&list, &[("done", "erase"), ("changed", "1")])))
        }
        Ok(()) => Ok(Outcome::go(audience.path(&visit.path, &[("done", visit.form.get("act"))]))),
        Err(error) if audience::can_correct(&error) => page(visit, &audience, Some(&error)).await,
        Err(error) => Err(error),
    }
}

async fn act(visit: &Visit, audience: &Audience) -> Result<(), PageError> {
    let (form, mut input) = (&visit.form, asked(visit, audience));
    let changed = |what: &str, value: Value| json!({ "projectId": audience.id, "ids": [visit.name("id")], what: value });
    match form.get("act") {
        "save" => {
            let contact = visit.ask("contacts.get", input.clone()).await?;
            for name in PROFILE {
                input[name] = json!(form.some(name));
            }
            let custom = custom_sent(form, &contact["customFields"])?;
            if !custom.is_empty() {
                input["customFields"] = custom.into();
            }
            visit.ask("contacts.update", input).await?;
        }
        "status" => {
            input["status"] = form.get("status").into();
            visit.ask("contacts.update", input).await?;
        }
        "tag" => {
            let names = audience::names(form.get("tag"));
            if names.is_empty() {
                let error = PageError::plain(http::StatusCode::BAD_REQUEST, "Enter a tag first.");
                return Err(PageError { field: "tag".into(), ..error });
            }
            let done = visit.ask("contacts.bulk_change", changed("addTags", json!(names))).await?;
            if let Some(error) = done["result"]["errors"][0]["error"].as_str() {
                return Err(PageError { field: "tag".into(), ..PageError::plain(http::StatusCode::BAD_REQUEST, error) });
            }
        }
        "untag" => {
            visit.ask("contacts.bulk_change", changed("removeTags", json!([form.get("name")]))).await?;
        }
        "topic-on" | "topic-off" => {
            let id = if form.get("act") == "topic-on" { "topics.subscribe" } else { "topics.unsubscribe" };
            let choice = json!({ "id": form.get("topic"), "subscriberId": visit.name("id"), "projectId": audience.id });
            visit.ask(id, choice).await?;
        }
        "erase" if form.get("sure").is_empty() => {
            let message = "To erase the contact, select “Yes, erase everything”. You can't undo this.";
            return Err(PageError { field: "sure".into(), ..PageError::plain(http::StatusCode::BAD_REQUEST, message) });
        }
        "erase" => {
            visit.ask("contacts.delete", input).await?;
        }
        _ => return Err(PageError::not_found()),
    }
    Ok(())
}

/// Returns all stored data of the contact as a file.
async fn data(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::having(visit, "contacts.project").await? else { return Err(PageError::not_found()) };
    let mut outcome = visit.hand_on("tracking.personal_data", asked(visit, &audience)).await?;
    if let Outcome::HandedOn(reply) = &mut outcome {
        let id: String = visit.name("id").chars().filter(char::is_ascii_alphanumeric).collect();
        let name = HeaderValue::from_str(&format!("attachment; filename=\"contact-{id}.json\""));
        reply.headers.insert(CONTENT_DISPOSITION, name.expect("letters and digits"));
    }
    Ok(outcome)
}

/// Returns rows for custom fields: the contact's own, those of other contacts, and some empty ones. Submitted values are kept.
pub async fn custom_rows(visit: &Visit, project: &str, known: &Value) -> Result<Value, PageError> {
    let row = |name: &str, value: String, fixed: bool| json!({ "name": name, "value": value, "fixed": fixed });
    let known: Vec<(&String, &Value)> = known.as_object().into_iter().flatten().collect();
    let is_known = |name: &str| known.iter().any(|(other, _)| *other == name);
    if !visit.form.all("field").is_empty() {
        let sent = visit.form.all("field").into_iter().zip(visit.form.all("value"));
        return Ok(sent.map(|(name, value)| row(name, value.to_owned(), is_known(name))).collect());
    }
    let mut rows: Vec<Value> = known.iter().map(|(name, value)| row(name, written(value), true)).collect();
    let catalog = visit.ask("contacts.field_catalog", json!({ "projectId": project, "examine": LOOKED_AT })).await?;
    let others = catalog["entries"].as_array().into_iter().flatten().filter(|entry| entry["auto"] == false);
    let others = others.filter_map(|entry| entry["key"].as_str()).filter(|name| !is_known(name)).take(OFFERED);
    rows.extend(others.map(|name| row(name, String::new(), true)));
    rows.extend((0..SPARE_ROWS).map(|_| row("", String::new(), false)));
    Ok(rows.into())
}

/// Formats a custom field for editing.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Returns the custom fields that a form changes. A value keeps its type: a number stays a number, a list is entered as JSON.
pub fn custom_sent(form: &Fields, known: &Value) -> Result<Map<String, Value>, PageError> {
    let mut changed = Map::new();
    for (name, text) in form.all("field").into_iter().zip(form.all("value")) {
        let (name, text) = (name.trim(), text.trim());
        let before = known.get(name).unwrap_or(&Value::Null);
        if name.is_empty() && !text.is_empty() {
            let error = PageError::plain(http::StatusCode::BAD_REQUEST, "Enter a name for the field.");
            return Err(PageError { field: "customFields".into(), ..error });
        }
        if name.is_empty() || written(before) == text {
            continue;
        }
        let value = match before {
            _ if text.is_empty() => Value::Null,
            Value::Number(_) | Value::Bool(_) => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
            Value::Array(_) | Value::Object(_) => serde_json::from_str(text).map_err(|_| {
                let message = format!("“{name}” is a list or an object. Enter it as JSON, or leave it empty to remove it.");
                PageError { field: "customFields".into(), ..PageError::plain(http::StatusCode::BAD_REQUEST, &message) }
            })?,
            Value::String(_) | Value::Null => text.into(),
        };
        changed.insert(name.to_owned(), value);
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(form: &str, known: Value) -> Result<Map<String, Value>, PageError> {
        custom_sent(&Fields::read(form.as_bytes()), &known)
    }

    #[test]
    fn a_custom_field_keeps_its_type_and_unchanged_ones_are_not_sent() {
        let known = json!({ "age": 31, "vip": true, "plan": "pro", "list": [1, 2] });
        let form =
            "field=age&value=32&field=vip&value=true&field=plan&value=&field=list&value=[1]&field=new&value=7&field=&value=";
        let expected = json!({ "age": 32, "plan": null, "list": [1], "new": "7" });
        assert_eq!(Value::Object(sent(form, known.clone()).expect("right")), expected);
        assert_eq!(sent("field=&value=x", json!({})).expect_err("no name").field, "customFields");
        assert!(sent("field=list&value=x", known).is_err());
    }
}
