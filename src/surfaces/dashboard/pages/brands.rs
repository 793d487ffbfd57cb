//! Brands: the list, the import of a website with its progress, and the overview of a brand.

use serde_json::{Value, json};

use crate::surfaces::dashboard::layout::may_ask;
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit, entered};
use crate::vocab::permissions::Permission;

/// Its pages.
pub const ROUTES: &[Route] = &[
    closed("/{environment}/brands").get(|visit| Box::pin(list(visit))),
    closed("/{environment}/brands/new").get(|visit| Box::pin(new(visit))).post(|visit| Box::pin(send_new(visit))),
    closed("/{environment}/brands/{id}").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit))),
    closed("/{environment}/brands/{id}/picture").get(|visit| Box::pin(picture(visit))),
];

/// Brands per page of the list: each loads its pictures from here, one request each.
const BRANDS_PER_PAGE: u64 = 18;
/// Products and images on the overview of a brand.
const GLIMPSES: usize = 8;

/// Returns whether the user has this permission.
pub fn may(visit: &Visit, permission: Permission) -> bool {
    visit.may(permission)
}

/// The list.
async fn list(visit: &Visit) -> Result<Outcome, PageError> {
    // A role without access to brands only needs their names to choose from.
    if !may_ask(visit, "projects.get") {
        return Err(PageError::not_allowed());
    }
    let page = visit.page();
    let data = visit.ask("projects.list", json!({ "limit": BRANDS_PER_PAGE, "page": page })).await?;
    let context = json!({
        "title": "Brands",
        "brands": rows(&data["projects"]).iter().map(|brand| card(visit, brand)).collect::<Vec<_>>(),
        "pagination": data["pagination"],
        "may_write": may(visit, Permission::ProjectWrite),
        "base": visit.api.0.base_url(),
    });
    Ok(Outcome::page("brands.html", context))
}

fn card(visit: &Visit, brand: &Value) -> Value {
    let id = brand["id"].as_str().unwrap_or_default();
    let logo = ["primary", "favicon"].iter().find_map(|place| brand["logoUrls"][place].as_str());
    json!({
        "id": id,
        "name": brand["name"],
        "domain": brand["domain"],
        "description": brand["description"],
        "status": brand["status"],
        "logo": logo.map(|url| picture_path(visit, id, url)),
        "palette": palette(&brand["palette"]),
    })
}

/// Returns the items of a list; none if it is not a list.
pub fn rows(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// Returns the existing colors with their labels. Invalid colors are left out.
pub fn palette(palette: &Value) -> Value {
    const ROLES: [(&str, &str); 6] = [
        ("primary", "Primary"),
        ("accent", "Accent"),
        ("button", "Button"),
        ("buttonText", "Button text"),
        ("background", "Background"),
        ("text", "Text"),
    ];
    let is_color =
        |text: &&str| text.len() == 7 && text.starts_with('#') && text[1..].bytes().all(|byte| byte.is_ascii_hexdigit());
    let known = ROLES.iter().filter_map(|(role, label)| {
        let color = palette[role].as_str().filter(is_color)?;
        Some(json!({ "role": role, "label": label, "color": color }))
    });
    known.collect()
}

/// Returns the path of the thumbnail of a brand's picture.
pub fn picture_path(visit: &Visit, brand: &str, url: &str) -> String {
    let query = serde_urlencoded::to_string([("of", url)]).unwrap_or_default();
    format!("/{}/brands/{brand}/picture?{query}", visit.environment)
}

/// The thumbnail of a brand's picture.
async fn picture(visit: &Visit) -> Result<Outcome, PageError> {
    let wanted = json!({ "projectId": visit.name("id"), "imageUrl": visit.query.get("of") });
    visit.hand_on("projects.image_preview", wanted).await
}

/// The form for a new brand.
async fn new(visit: &Visit) -> Result<Outcome, PageError> {
    visit.need(Permission::ProjectWrite)?;
    Ok(form(visit, None))
}

fn form(visit: &Visit, error: Option<PageError>) -> Outcome {
    let mut context = entered(&visit.form, &["urls", "name", "about"], error.as_ref());
    context.insert("title".into(), "Import a brand".into());
    context.insert("base".into(), visit.api.0.base_url().into());
    if error.as_ref().is_some_and(|error| error.field.starts_with("urls")) {
        context.insert("wrong_field".into(), "urls".into());
    }
    match error {
        Some(error) => Outcome::again("brand_new.html", Value::Object(context), &error),
        None => Outcome::page("brand_new.html", Value::Object(context)),
    }
}

/// Handles the form for a new brand.
async fn send_new(visit: &Visit) -> Result<Outcome, PageError> {
    let urls: Vec<String> = visit.form.get("urls").split_whitespace().map(in_full).collect();
    let input = json!({ "urls": urls, "name": visit.form.some("name") });
    let made = match visit.ask("projects.import", input).await {
        Ok(made) => made,
        Err(error) if matches!(error.status.as_u16(), 400 | 409) => return Ok(form(visit, Some(error))),
        Err(error) => return Err(error),
    };
    let id = made["projectId"].as_str().unwrap_or_default();
    if let Some(about) = visit.form.some("about") {
        let text = json!({ "projectId": id, "title": "In our own words", "content": about });
        // The brand exists already; a failure to add the text must not lead to a second import.
        if visit.ask("projects.knowledge_add", text).await.is_err() {
            return Ok(Outcome::go(format!("/{}/brands/{id}?done=without-text", visit.environment)));
        }
    }
    Ok(Outcome::go(format!("/{}/brands/{id}", visit.environment)))
}

/// Adds the scheme that people often leave out.
fn in_full(address: &str) -> String {
    let address = address.trim_matches(',');
    if address.contains("://") { address.to_owned() } else { format!("https://{address}") }
}

/// Shows one brand: the progress of its import, or its overview.
async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    draw(visit, None).await
}

async fn draw(visit: &Visit, error: Option<PageError>) -> Result<Outcome, PageError> {
    let id = visit.name("id");
    let import = visit.ask("projects.import_status", json!({ "projectId": id })).await?;
    let is_running = matches!(import["status"].as_str(), Some("pending" | "processing"));
    let project = visit.ask("projects.get", json!({ "projectId": id })).await?;
    let brand = &project["brand"];
    let description = [&brand["description"], &project["description"]].into_iter().find(|text| text.is_string());
    let mut context = head(visit, &project, "overview");
    context["running"] = is_running.into();
    context["import"] = json!({
        "error": import["error"],
        "percentage": import["progress"]["percentage"],
        "stages": stages(import["progress"]["stage"].as_str().unwrap_or_default()),
        "metrics": import["importMetrics"],
    });
    context["urls"] = project["urls"].clone();
    context["about"] = json!({
        "tagline": brand["tagline"],
        "description": description,
        "languages": brand["languages"],
        "facts": facts(brand),
    });
    context["palette"] = palette(&brand["palette"]);
    context["fonts"] = fonts(&brand["fonts"]);
    context["products"] = glimpses(&brand["products"], |product| {
        let picture = product["image"].as_str().map(|url| picture_path(visit, id, url));
        json!({ "name": product["name"], "price": product["price"], "currency": product["currency"], "picture": picture })
    });
    context["images"] = glimpses(&brand["images"], |image| {
        let description = image["description"].as_str().unwrap_or_default();
        json!({ "description": description, "picture": picture_path(visit, id, image["url"].as_str().unwrap_or_default()) })
    });
    context["social"] = brand["social"].clone();
    context["sender"] = match &error {
        Some(_) => {
            json!({ "from": visit.form.get("from"), "fromName": visit.form.get("from_name"), "replyTo": visit.form.get("reply_to") })
        }
        None => {
            let text = |name: &str| project["defaultSender"][name].as_str().unwrap_or_default().to_owned();
            json!({ "from": text("from"), "fromName": text("fromName"), "replyTo": text("replyTo") })
        }
    };
    if let Some(error) = error {
        context["wrong"] = error.message.clone().into();
        context["wrong_field"] = error.field.clone().into();
        return Ok(Outcome::again("brand_overview.html", context, &error));
    }
    Ok(Outcome::page("brand_overview.html", context))
}

fn glimpses(list: &Value, shape: impl Fn(&Value) -> Value) -> Value {
    rows(list).iter().take(GLIMPSES).map(shape).collect()
}

/// Returns the header of every page of a brand.
pub fn head(visit: &Visit, project: &Value, tab: &str) -> Value {
    json!({
        "title": project["name"],
        "brand": { "id": project["id"], "name": project["name"], "domain": project["domain"], "status": project["status"] },
        "tab": tab,
        "done": visit.query.get("done"),
        "may_write": may(visit, Permission::ProjectWrite),
        "may_email": may(visit, Permission::EmailWrite),
        "base": visit.api.0.base_url(),
        "wrong": "",
        "wrong_field": "",
    })
}

/// Returns the stages of an import, each with its state.
fn stages(now: &str) -> Value {
    const STAGES: [(&str, &str); 4] = [
        ("initializing", "Waiting in the queue"),
        ("fetching", "Reading the pages and style sheets"),
        ("reading", "Finding colors, fonts, text, and products"),
        ("measuring", "Measuring logos and images"),
    ];
    let at = STAGES.iter().position(|(word, _)| *word == now).unwrap_or(STAGES.len());
    let stage = |(place, (_, label)): (usize, &(&str, &str))| {
        let state = match place.cmp(&at) {
            std::cmp::Ordering::Less => "done",
            std::cmp::Ordering::Equal => "now",
            std::cmp::Ordering::Greater => "to come",
        };
        json!({ "label": label, "state": state })
    };
    STAGES.iter().enumerate().map(stage).collect()
}

/// Returns the heading and text fonts, each with its families.
pub fn fonts(fonts: &Value) -> Value {
    let known = [("heading", "Headings"), ("body", "Text")].into_iter().filter_map(|(place, label)| {
        let stack = fonts[place].as_str().filter(|stack| !stack.is_empty())?;
        let first = stack.split(',').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
        Some(json!({ "label": label, "stack": stack, "first": first }))
    });
    known.collect()
}

/// Returns the known facts for email footers and voice, with their labels.
fn facts(brand: &Value) -> Value {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(ToOwned::to_owned);
    let contact = &brand["contact"];
    let voice = &brand["voice"];
    let person = voice["person"].as_str().map(|person| match person {
        "we" => "first person (we)",
        "i" => "first person (I)",
        _ => "third person",
    });
    let formality = voice["formality"].as_str();
    let speaks = [person, formality].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let words = rows(&voice["words"]).iter().filter_map(Value::as_str).take(8).collect::<Vec<_>>().join(", ");
    let all = [
        ("Company", text(&contact["company"])),
        ("Postal address", text(&contact["address"])),
        ("Email", text(&contact["email"])),
        ("Phone", text(&contact["phone"])),
        ("Tone", Some(speaks).filter(|speaks| !speaks.is_empty())),
        ("Typical words", Some(words).filter(|words| !words.is_empty())),
    ];
    all.into_iter().filter_map(|(label, text)| Some(json!({ "label": label, "text": text? }))).collect()
}

/// Reads the websites again.
async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    match visit.form.get("act") {
        "retry" => {
            visit.ask("projects.import_retry", json!({ "projectId": visit.name("id") })).await?;
            Ok(Outcome::go(visit.path.clone()))
        }
        "sender" => {
            let form = &visit.form;
            let input = json!({
                "projectId": visit.name("id"), "from": form.get("from"), "fromName": form.some("from_name"),
                "replyTo": form.some("reply_to"),
            });
            match visit.ask("projects.sender_update", input).await {
                Ok(_) => Ok(Outcome::go(format!("{}?done=sender#sender", visit.path))),
                Err(error) if error.status == http::StatusCode::BAD_REQUEST => draw(visit, Some(error)).await,
                Err(error) => Err(error),
            }
        }
        _ => Err(PageError::not_found()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_without_a_scheme_are_accepted() {
        assert_eq!(in_full("acme.example"), "https://acme.example");
        assert_eq!(in_full("http://acme.example/a,"), "http://acme.example/a");
    }

    #[test]
    fn only_valid_colors_are_shown() {
        let drawn = palette(&json!({ "primary": "#1F6B52", "text": "red\" onload=\"x", "accent": null }));
        assert_eq!(drawn, json!([{ "role": "primary", "label": "Primary", "color": "#1F6B52" }]));
    }

    #[test]
    fn an_import_has_one_active_stage() {
        let states: Vec<String> = rows(&stages("reading")).iter().map(|stage| stage["state"].to_string()).collect();
        assert_eq!(states.join(" "), r#""done" "done" "now" "to come""#);
    }
}
