//! One email: preview, document and text; AI edits, versions, exports and a test send.

use serde_json::{Value, json};

use super::brands::{may, rows};
use super::emails::own;
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};
use crate::vocab::environment::Environment;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

/// Its pages.
pub const ROUTES: &[Route] = &[
    closed("/{environment}/emails/{id}").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit))),
    closed("/{environment}/emails/{id}/frame").get(|visit| Box::pin(frame(visit))),
    closed("/{environment}/emails/{id}/document").get(|visit| Box::pin(document(visit))),
    closed("/{environment}/emails/{id}/text").get(|visit| Box::pin(text(visit))),
    closed("/{environment}/emails/{id}/versions")
        .get(|visit| Box::pin(versions(visit)))
        .post(|visit| Box::pin(send_version(visit))),
    closed("/{environment}/emails/{id}/exports").get(|visit| Box::pin(exports(visit))),
    closed("/{environment}/emails/{id}/try").get(|visit| Box::pin(trial(visit))).post(|visit| Box::pin(send_trial(visit))),
];

const VERSIONS_PER_PAGE: u64 = 20;
/// Characters shown of a prompt in the list of versions.
const PROMPT_CHARACTERS: usize = 300;
/// The query parameter with the edit to show.
const EDITED: &str = "edit";

async fn email(visit: &Visit) -> Result<Value, PageError> {
    visit.ask("emails.get", json!({ "emailId": visit.name("id") })).await
}

/// Returns the header of every page of an email.
fn head(visit: &Visit, email: &Value, tab: &str) -> Value {
    let place = email["slot"].as_u64().unwrap_or(1);
    let series: Vec<Value> = rows(&email["series"])
        .into_iter()
        .map(|mut other| {
            other["here"] = (other["emailId"] == email["id"]).into();
            other
        })
        .collect();
    let is_one_language = series.iter().all(|other| other["language"] == email["language"]);
    let subject = email["subject"].as_str().filter(|subject| !subject.is_empty()).unwrap_or("Email");
    json!({
        "title": subject,
        "email": {
            "id": email["id"], "subject": subject, "preheader": email["preheader"], "status": email["status"],
            "favorite": email["favorite"], "version": email["version"], "conversation": email["conversationId"],
            "brand": email["projectId"], "language": email["language"], "slot": place, "days": email["sendOffsetDays"],
            "error": email["error"], "warnings": email["warnings"], "share": email["shareUrl"],
        },
        "series": series,
        "is_one_language": is_one_language,
        "tab": tab,
        "done": visit.query.get("done"),
        "may_write": may(visit, Permission::EmailWrite),
        "may_send": may(visit, Permission::EmailSend),
        "may_campaign": may(visit, Permission::CampaignWrite),
        "base": visit.api.0.base_url(),
        "wrong": "",
        "wrong_field": "",
    })
}

/// Shows the preview, and the box for AI edits.
async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    draw(visit, None).await
}

async fn draw(visit: &Visit, error: Option<PageError>) -> Result<Outcome, PageError> {
    let email = email(visit).await?;
    let mut context = head(visit, &email, "preview");
    context["images"] = visit.wants_images().into();
    context["phone"] = (visit.query.get("width") == "phone").into();
    context["prompt"] = visit.form.get("prompt").into();
    context["prompt_max"] = limits::PROMPT_CHARACTERS_MAX.into();
    context["screenshot"] = own(visit, &email["screenshotUrl"]);
    context["edit"] = match visit.query.some(EDITED) {
        Some(edit) => {
            let wanted = json!({ "emailId": visit.name("id"), "editId": edit });
            let edit = visit.ask("emails.edit_status", wanted).await?;
            json!({ "status": edit["status"], "error": edit["error"], "done": edit["done"] })
        }
        None => Value::Null,
    };
    context["editing"] = matches!(context["edit"]["status"].as_str(), Some("pending" | "processing")).into();
    Ok(finish("email_preview.html", context, error))
}

fn finish(template: &'static str, mut context: Value, error: Option<PageError>) -> Outcome {
    match error {
        Some(error) => {
            context["wrong"] = error.message.clone().into();
            context["wrong_field"] = error.field.clone().into();
            Outcome::again(template, context, &error)
        }
        None => Outcome::page(template, context),
    }
}

fn is_shown(error: &PageError) -> bool {
    matches!(error.status.as_u16(), 400 | 409)
}

/// Handles an edit, or marks a favorite.
async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    let (id, form) = (visit.name("id"), &visit.form);
    match form.get("act") {
        "edit" => {
            let label = form.some("label");
            let input = json!({ "emailId": id, "prompt": form.get("prompt"), "label": label, "async": true });
            match visit.ask("emails.edit", input).await {
                Ok(begun) => {
                    let edit = begun["editId"].as_str().unwrap_or_default();
                    Ok(Outcome::go(format!("{}?{EDITED}={edit}", visit.path)))
                }
                Err(error) if is_shown(&error) => draw(visit, Some(error)).await,
                Err(error) => Err(error),
            }
        }
        act @ ("mark" | "unmark") => {
            visit.ask("emails.favorite", json!({ "emailId": id, "favorite": act == "mark" })).await?;
            Ok(Outcome::go(visit.path.clone()))
        }
        _ => Err(PageError::not_found()),
    }
}

/// Returns the email for the preview frame, with sample merge data.
async fn frame(visit: &Visit) -> Result<Outcome, PageError> {
    visit.hand_on("emails.html", json!({ "emailId": visit.name("id"), "images": visit.wants_images() })).await
}

/// Shows its document as text.
async fn document(visit: &Visit) -> Result<Outcome, PageError> {
    let email = email(visit).await?;
    let mut context = head(visit, &email, "document");
    context["has_document"] = email["document"].is_object().into();
    context["purpose"] = email["document"]["purpose"].as_str().map(spaced).into();
    context["blocks"] = rows(&email["document"]["blocks"]).iter().map(outline).collect();
    Ok(Outcome::page("email_document.html", context))
}

/// Returns the outline of a block: its kind, its texts in order, and its link targets.
fn outline(block: &Value) -> Value {
    let mut lines = Vec::new();
    collect(block, &mut lines);
    json!({ "kind": block["type"].as_str().map(spaced), "lines": lines })
}

/// Fields that define the design, not the content.
const SILENT: [&str; 12] =
    ["id", "type", "level", "align", "width", "height", "ratio", "style", "currency", "network", "layout", "ordered"];

fn collect(value: &Value, lines: &mut Vec<Value>) {
    let Value::Object(fields) = value else { return };
    for (name, value) in fields.iter().filter(|(name, _)| !SILENT.contains(&name.as_str())) {
        match value {
            Value::String(text) if !text.is_empty() => {
                let kind = match name.as_str() {
                    "href" | "url" => "link",
                    "src" | "logo" => "picture",
                    "title" | "heading" => "title",
                    _ => "text",
                };
                lines.push(json!({ "kind": kind, "name": spaced(name), "text": text }));
            }
            Value::Array(items) => {
                for item in items {
                    match item {
                        Value::String(text) => lines.push(json!({ "kind": "text", "name": spaced(name), "text": text })),
                        // Rows of a table.
                        Value::Array(cells) => {
                            let text = cells.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" · ");
                            lines.push(json!({ "kind": "text", "name": "row", "text": text }));
                        }
                        other => collect(other, lines),
                    }
                }
            }
            other => collect(other, lines),
        }
    }
}

/// `winBack` → `win back`
fn spaced(word: &str) -> String {
    let mut out = String::with_capacity(word.len() + 4);
    for c in word.chars() {
        if c.is_uppercase() {
            out.push(' ');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// The plain-text part.
async fn text(visit: &Visit) -> Result<Outcome, PageError> {
    let email = email(visit).await?;
    let mut context = head(visit, &email, "text");
    context["text"] = email["text"].clone();
    Ok(Outcome::page("email_text.html", context))
}

/// Lists its versions.
async fn versions(visit: &Visit) -> Result<Outcome, PageError> {
    let email = email(visit).await?;
    let mut context = head(visit, &email, "versions");
    let number = visit.page();
    let wanted = json!({ "emailId": visit.name("id"), "limit": VERSIONS_PER_PAGE, "page": number });
    let data = visit.ask("emails.versions", wanted).await?;
    let versions = rows(&data["versions"]).into_iter().map(|version| {
        let prompt = version["prompt"].as_str().map(|prompt| prompt.chars().take(PROMPT_CHARACTERS).collect::<String>());
        json!({
            "version": version["version"], "origin": version["origin"], "prompt": prompt, "label": version["label"],
            "restored": version["restoredVersion"], "subject": version["subject"], "current": version["current"],
            "at": version["createdAt"], "thumbnail": own(visit, &version["thumbnailUrl"]),
            "screenshot": own(visit, &version["screenshotUrl"]),
        })
    });
    context["versions"] = versions.collect();
    context["pagination"] = data["pagination"].clone();
    Ok(Outcome::page("email_versions.html", context))
}

/// Restores an earlier version.
async fn send_version(visit: &Visit) -> Result<Outcome, PageError> {
    let version = visit.form.get("version").parse::<u64>().map_err(|_| PageError::not_found())?;
    visit.ask("emails.restore", json!({ "emailId": visit.name("id"), "version": version })).await?;
    Ok(Outcome::go(format!("/{}/emails/{}?done=restored", visit.environment, visit.name("id"))))
}

/// Lists the export formats and the files just created.
async fn exports(visit: &Visit) -> Result<Outcome, PageError> {
    let email = email(visit).await?;
    let mut context = head(visit, &email, "exports");
    let wanted = json!({ "conversationId": email["conversationId"], "emailId": email["id"] });
    let able = visit.ask("exports.status", wanted.clone()).await?;
    let known = visit.ask("exports.formats", json!({})).await?;
    let mut formats = Vec::new();
    for format in rows(&known["formats"]) {
        let name = format["name"].as_str().unwrap_or_default();
        let is_platform = format["type"] == "complex";
        let why_not = match is_platform {
            // The export itself reports whether an account is connected.
            true => visit.ask(&format!("exports.{name}"), wanted.clone()).await.err().map(|error| error.message),
            false if rows(&able["availableFormats"]).iter().any(|word| *word == name) => None,
            false => Some(able["reason"].as_str().unwrap_or_default().to_owned()),
        };
        let label = name.to_uppercase().replace("PLATFORM_", "Platform ");
        let about = &format["description"];
        formats.push(json!({ "name": name, "label": label, "about": about, "why_not": why_not, "platform": is_platform }));
    }
    let chosen =
        formats.iter().filter(|format| format["why_not"].is_null()).find(|format| format["name"] == visit.query.get("format"));
    let made = match chosen {
        Some(format) => {
            // All emails of its request, or only this one.
            let wanted =
                if visit.query.some("all").is_some() { json!({ "conversationId": email["conversationId"] }) } else { wanted };
            Some(visit.ask(&format!("exports.{}", format["name"].as_str().unwrap_or_default()), wanted).await)
        }
        None => None,
    };
    let (files, error) = match made {
        Some(Ok(made)) => (made["files"].clone(), None),
        Some(Err(error)) if is_shown(&error) || error.status == http::StatusCode::SERVICE_UNAVAILABLE => {
            (Value::Null, Some(error))
        }
        Some(Err(error)) => return Err(error),
        None => (Value::Null, None),
    };
    context["formats"] = formats.into();
    context["files"] = rows(&files)
        .into_iter()
        .map(|file| json!({ "name": file["filename"], "path": own(visit, &file["url"]), "expires": file["expiresAt"] }))
        .collect();
    Ok(finish("email_exports.html", context, error))
}

/// The form for a test send.
async fn trial(visit: &Visit) -> Result<Outcome, PageError> {
    draw_trial(visit, None).await
}

async fn draw_trial(visit: &Visit, error: Option<PageError>) -> Result<Outcome, PageError> {
    let email = email(visit).await?;
    let mut context = head(visit, &email, "try");
    let own_address = visit.who.as_ref().map(|who| who.user.email.clone()).unwrap_or_default();
    context["to"] = visit.form.some("to").map_or(own_address, ToOwned::to_owned).into();
    let project = visit.ask("projects.get", json!({ "projectId": email["projectId"] })).await.unwrap_or_default();
    let sender = |name: &str| project["defaultSender"][name].as_str().unwrap_or_default().to_owned();
    let is_sent = error.is_some();
    context["from"] = if is_sent { visit.form.get("from").to_owned() } else { sender("from") }.into();
    context["from_name"] = if is_sent { visit.form.get("from_name").to_owned() } else { sender("fromName") }.into();
    context["is_live"] = (visit.environment == Environment::Live).into();
    Ok(finish("email_test.html", context, error))
}

async fn send_trial(visit: &Visit) -> Result<Outcome, PageError> {
    let form = &visit.form;
    let input = json!({
        "emailId": visit.name("id"), "to": form.get("to"), "from": form.some("from"), "fromName": form.some("from_name"),
    });
    match visit.ask("sending.test", input).await {
        Ok(_) => Ok(Outcome::go(format!("{}?done=sent", visit.path))),
        Err(error) if is_shown(&error) || error.status == http::StatusCode::UNPROCESSABLE_ENTITY => {
            draw_trial(visit, Some(error)).await
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_a_text_outline() {
        let block = json!({
            "type": "hero", "id": "hero", "eyebrow": "New", "title": "Spring", "level": "title",
            "button": { "label": "Look", "href": "https://acme.example/" }, "items": ["a", { "text": "b" }], "rows": [["x", "y"]],
        });
        let told = outline(&block);
        let lines: Vec<String> = rows(&told["lines"])
            .iter()
            .map(|line| format!("{}:{}", line["kind"].as_str().unwrap_or(""), line["text"].as_str().unwrap_or("")))
            .collect();
        assert_eq!(told["kind"], "hero");
        let mut sorted = lines.clone();
        sorted.sort();
        assert_eq!(
            sorted,
            ["link:https://acme.example/", "text:Look", "text:New", "text:a", "text:b", "text:x · y", "title:Spring"]
        );
        assert_eq!(spaced("winBack"), "win back");
    }
}
