//! Emails: the list, generating new ones, importing existing ones, and the emails of one request side by side.

use serde_json::{Map, Value, json};

use super::brands::{may, rows};
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit, entered};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

/// Its pages.
pub const ROUTES: &[Route] = &[
    closed("/{environment}/emails").get(|visit| Box::pin(list(visit))),
    closed("/{environment}/emails/new").get(|visit| Box::pin(new(visit))).post(|visit| Box::pin(send_new(visit))),
    closed("/{environment}/emails/import")
        .get(|visit| Box::pin(import(visit)))
        .post(|visit| Box::pin(send_import(visit)))
        .files(limits::DASHBOARD_EMAIL_BYTES_MAX),
    closed("/{environment}/emails/series/{conversation}").get(|visit| Box::pin(series(visit))),
];

/// The built-in composer.
const COMPOSER: &str = "composer";
const CONVERSATIONS_PER_PAGE: u64 = 24;
/// References to choose from: the newest favorites.
const PATTERNS: u64 = 50;

/// Lists the emails of one brand.
async fn list(visit: &Visit) -> Result<Outcome, PageError> {
    let (brands, brand) = brands(visit, visit.query.get("brand")).await?;
    let query = &visit.query;
    let favorite = query.some("favorite").is_some();
    let data = match brand.is_empty() {
        true => Value::Null,
        false => {
            let wanted = json!({
                "projectId": brand, "search": query.some("search"), "status": query.some("status"), "favorite": favorite,
                "limit": CONVERSATIONS_PER_PAGE, "page": visit.page(),
            });
            visit.ask("emails.list", wanted).await?
        }
    };
    let conversations = rows(&data["emails"]).into_iter().map(|mut one| {
        one["thumbnail"] = own(visit, &one["thumbnailUrl"]);
        one
    });
    let filters = [("brand", brand.as_str()), ("search", query.get("search")), ("status", query.get("status"))];
    let mut kept: Vec<(&str, &str)> = filters.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    if favorite {
        kept.push(("favorite", "1"));
    }
    let context = json!({
        "title": "Emails",
        "brands": brands,
        "brand": brand,
        "search": query.get("search"),
        "status": query.get("status"),
        "favorite": favorite,
        "is_filtered": favorite || query.some("search").is_some() || query.some("status").is_some(),
        "conversations": conversations.collect::<Vec<_>>(),
        "pagination": data["pagination"],
        "pages_base": format!("?{}&", serde_urlencoded::to_string(kept).unwrap_or_default()),
        "may_write": may(visit, Permission::EmailWrite),
        "base": visit.api.0.base_url(),
    });
    Ok(Outcome::page("emails.html", context))
}

/// Returns the brands, each with whether it is selected, and the id of the selected one: by default the newest usable one.
pub async fn brands(visit: &Visit, wanted: &str) -> Result<(Value, String), PageError> {
    let data = visit.ask("projects.list", json!({ "limit": limits::PAGE_LIMIT_MAX })).await?;
    let mut all = rows(&data["projects"]);
    if !wanted.is_empty() && !all.iter().any(|brand| brand["id"] == wanted) {
        // An older brand than those listed; the operation fails if it does not exist.
        all.push(visit.ask("projects.get", json!({ "projectId": wanted })).await?);
    }
    let usable = all.iter().find(|brand| brand["status"] == "active").or(all.first());
    let chosen = match wanted {
        "" => usable.and_then(|brand| brand["id"].as_str()).unwrap_or_default().to_owned(),
        wanted => wanted.to_owned(),
    };
    let brands = all.iter().map(|brand| {
        json!({ "id": brand["id"], "name": brand["name"], "status": brand["status"], "chosen": brand["id"] == chosen.as_str() })
    });
    Ok((brands.collect(), chosen))
}

/// Returns a link to one of our files as a path: the browser may use another host name, and pages load nothing from other hosts.
pub fn own(visit: &Visit, link: &Value) -> Value {
    let link = link.as_str().unwrap_or_default();
    link.strip_prefix(visit.api.0.base_url()).filter(|path| path.starts_with('/')).into()
}

/// The form for new emails.
async fn new(visit: &Visit) -> Result<Outcome, PageError> {
    visit.need(Permission::EmailWrite)?;
    draw_new(visit, None).await
}

const FIELDS: [&str; 9] = ["prompt", "count", "languages", "images", "reference", "visibility", "model", "name", "instruction"];

async fn draw_new(visit: &Visit, error: Option<PageError>) -> Result<Outcome, PageError> {
    let (mut context, brand) = begun(visit, "New email", error.as_ref()).await?;
    context.insert("no_web".into(), visit.form.some("no-web").is_some().into());
    if error.is_none() {
        context.insert("prompt".into(), visit.query.get("prompt").into());
        context.insert("reference".into(), visit.query.get("reference").into());
        // Prefills the form from an existing request.
        if let Some(from) = visit.query.some("from") {
            let before = visit.ask("emails.status", json!({ "conversationId": from })).await?;
            context.insert("prompt".into(), before["prompt"].clone());
        }
    }
    let favorites = match brand.is_empty() {
        true => Value::Null,
        false => visit.ask("emails.list", json!({ "projectId": brand, "favorite": true, "limit": PATTERNS })).await?,
    };
    context.insert("patterns".into(), rows(&favorites["emails"]).into());
    context.insert("count_max".into(), limits::EMAILS_PER_SERIES_MAX.into());
    context.insert("prompt_max".into(), limits::PROMPT_CHARACTERS_MAX.into());
    let language_model = visit.api.0.language_model.as_ref().map(|client| client.model().to_owned());
    context.insert("language_model".into(), language_model.into());
    Ok(page("email_new.html", context, error))
}

/// Returns the context that both email forms share: the brands and the submitted values.
async fn begun(visit: &Visit, title: &str, error: Option<&PageError>) -> Result<(Map<String, Value>, String), PageError> {
    let wanted = visit.form.some("brand").unwrap_or(visit.query.get("brand"));
    let (brands, brand) = brands(visit, wanted).await?;
    let mut context = entered(&visit.form, &FIELDS, error);
    // For lists and objects, the list or object is the field of the form.
    let field = error.map(|error| error.field.split(['[', '.']).next().unwrap_or_default());
    let field = match field.unwrap_or_default() {
        "referenceId" => "reference",
        "html" | "htmls" => "source",
        other => other,
    };
    context.insert("wrong_field".into(), field.into());
    context.insert("title".into(), title.into());
    context.insert("brands".into(), brands);
    context.insert("brand".into(), brand.clone().into());
    context.insert("base".into(), visit.api.0.base_url().into());
    Ok((context, brand))
}

fn page(template: &'static str, context: Map<String, Value>, error: Option<PageError>) -> Outcome {
    match error {
        Some(error) => Outcome::again(template, Value::Object(context), &error),
        None => Outcome::page(template, Value::Object(context)),
    }
}

async fn send_new(visit: &Visit) -> Result<Outcome, PageError> {
    let form = &visit.form;
    let images = form.get("images").split_whitespace().map(|url| json!({ "source": { "type": "url", "url": url } }));
    let input = json!({
        "projectId": form.get("brand"),
        "prompt": form.get("prompt"),
        "count": form.some("count").map(|count| count.parse::<u64>().map_or_else(|_| count.into(), Value::from)),
        "languages": parts(form.get("languages")),
        "images": images.collect::<Vec<_>>(),
        "referenceId": form.some("reference"),
        "visibility": form.some("visibility").unwrap_or("private"),
        "model": form.some("model"),
        "webMode": form.some("no-web").is_none(),
    });
    match visit.ask("emails.generate", input).await {
        Ok(begun) => Ok(to_series(visit, &begun)),
        // The favorite belongs to another brand.
        Err(error) if error.status == http::StatusCode::NOT_FOUND && form.some("reference").is_some() => {
            let message = "This favorite belongs to another brand. Choose one of this brand.".to_owned();
            draw_new(visit, Some(PageError { field: "reference".into(), message, ..error })).await
        }
        Err(error) if is_shown(&error) => draw_new(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

fn to_series(visit: &Visit, begun: &Value) -> Outcome {
    let id = begun["conversationId"].as_str().unwrap_or_default();
    Outcome::go(format!("/{}/emails/series/{id}", visit.environment))
}

fn is_shown(error: &PageError) -> bool {
    matches!(error.status.as_u16(), 400 | 409 | 413)
}

/// Splits at commas or spaces.
fn parts(text: &str) -> Vec<&str> {
    text.split([',', ' ', ';']).filter(|part| !part.is_empty()).collect()
}

/// Imports existing emails.
async fn import(visit: &Visit) -> Result<Outcome, PageError> {
    visit.need(Permission::EmailWrite)?;
    draw_import(visit, None).await
}

async fn draw_import(visit: &Visit, error: Option<PageError>) -> Result<Outcome, PageError> {
    let (mut context, _) = begun(visit, "Import an email", error.as_ref()).await?;
    context.insert("source".into(), visit.form.get("source").into());
    Ok(page("email_import.html", context, error))
}

async fn send_import(visit: &Visit) -> Result<Outcome, PageError> {
    let form = &visit.form;
    let (name, source) = match form.file("file") {
        Some(file) => (form.some("name").unwrap_or(&file.name), String::from_utf8_lossy(&file.bytes).into_owned()),
        None => (form.get("name"), form.get("source").to_owned()),
    };
    if source.trim().is_empty() {
        let nothing = PageError::plain(http::StatusCode::BAD_REQUEST, "Choose a file, or paste the email's HTML.");
        return draw_import(visit, Some(PageError { field: "html".into(), ..nothing })).await;
    }
    let input = json!({
        "projectId": form.get("brand"), "htmls": [{ "name": name, "source": source }], "instruction": form.some("instruction"),
    });
    match visit.ask("emails.import_html", input).await {
        Ok(begun) => Ok(to_series(visit, &begun)),
        Err(error) if is_shown(&error) => draw_import(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// Shows the emails of one request: the progress, then all side by side.
async fn series(visit: &Visit) -> Result<Outcome, PageError> {
    let status = visit.ask("emails.status", json!({ "conversationId": visit.name("conversation") })).await?;
    let emails = rows(&status["result"]["emails"]);
    // A single email has its own page, also when it was just finished.
    if let ([email], "completed") = (emails.as_slice(), status["status"].as_str().unwrap_or_default()) {
        let id = email["id"].as_str().unwrap_or_default();
        return Ok(Outcome::go(format!("/{}/emails/{id}", visit.environment)));
    }
    // The composer has its own stage names.
    let is_told = status["model"] != COMPOSER;
    let slots = if is_told { rows(&status["result"]["seriesPlan"]["slots"]) } else { Vec::new() };
    let card = |email: &Value| {
        let slot = &email["slotIdx"];
        let planned = slots.iter().find(|planned| planned["slotIdx"] == *slot);
        json!({
            "id": email["id"], "slot": email["slot"], "language": email["language"], "status": email["status"],
            "subject": email["subject"], "preheader": email["preheader"], "error": email["error"], "favorite": email["favorite"],
            "days": email["sendOffsetDays"], "purpose": planned.map(|planned| planned["purpose"].clone()),
            "screenshot": own(visit, &email["screenshotUrl"]),
        })
    };
    let stage = status["progress"]["stage"].as_str().unwrap_or_default();
    let context = json!({
        "title": status["title"].as_str().filter(|title| !title.is_empty()).unwrap_or("Emails"),
        "conversation": status["conversationId"],
        "brand": status["projectId"],
        "prompt": status["prompt"],
        "status": status["status"],
        "running": matches!(status["status"].as_str(), Some("pending" | "processing")),
        "error": status["error"],
        "percentage": status["progress"]["percentage"],
        "stage": stage_words(stage),
        "emails": emails.iter().map(card).collect::<Vec<_>>(),
        "count": emails.len(),
        "languages": rows(&status["result"]["languages"]).len(),
        "may_write": may(visit, Permission::EmailWrite),
    });
    Ok(Outcome::page("email_series.html", context))
}

/// Returns the text for a stage.
fn stage_words(stage: &str) -> &'static str {
    match stage {
        "waiting" => "Waiting in the queue, or for the brand import",
        "writing" => "Writing",
        "rendering" => "Rendering the emails",
        "completed" => "Done",
        _ => "Stopped",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_accepted_with_or_without_commas() {
        assert_eq!(parts("en, de;fr  pt-BR"), ["en", "de", "fr", "pt-BR"]);
        assert!(parts(" ").is_empty());
    }
}
