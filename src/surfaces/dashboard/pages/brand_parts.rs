//! The parts of a brand, a tab for each: theme, images, knowledge base, guidelines.

use serde_json::{Value, json};

use super::brands::{fonts, head, palette, picture_path, rows};
use crate::base::base64;
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};
use crate::vocab::limits;

/// Its pages.
pub const ROUTES: &[Route] = &[
    closed("/{environment}/brands/{id}/look")
        .get(|visit| Box::pin(look(visit)))
        .post(|visit| Box::pin(send_look(visit)))
        .files(limits::DASHBOARD_IMAGE_BYTES_MAX),
    closed("/{environment}/brands/{id}/images")
        .get(|visit| Box::pin(images(visit)))
        .post(|visit| Box::pin(send_images(visit)))
        .files(limits::DASHBOARD_IMAGE_BYTES_MAX),
    closed("/{environment}/brands/{id}/knowledge")
        .get(|visit| Box::pin(knowledge(visit)))
        .post(|visit| Box::pin(send_knowledge(visit)))
        .files(limits::DASHBOARD_TEXT_BYTES_MAX),
    closed("/{environment}/brands/{id}/knowledge/{entry}")
        .get(|visit| Box::pin(entry(visit)))
        .post(|visit| Box::pin(send_entry(visit)))
        .files(limits::DASHBOARD_TEXT_BYTES_MAX),
    closed("/{environment}/brands/{id}/guidelines")
        .get(|visit| Box::pin(guidelines(visit)))
        .post(|visit| Box::pin(send_guidelines(visit))),
];

/// Each image has its own form.
const IMAGES_PER_PAGE: u64 = 12;
const TEXTS_PER_PAGE: u64 = 20;
/// Characters shown of a text in the list.
const TEXT_CHARACTERS: usize = 240;

/// Returns the shared context of a brand's page, with the submitted values of its form and their error.
async fn begun(visit: &Visit, tab: &str, fields: &[&str], error: Option<&PageError>) -> Result<(Value, Value), PageError> {
    let project = visit.ask("projects.get", json!({ "projectId": visit.name("id") })).await?;
    let mut context = head(visit, &project, tab);
    for field in fields {
        context[*field] = visit.form.get(field).into();
    }
    if let Some(error) = error {
        context["wrong"] = error.message.clone().into();
        // For list items, the list is the field of the form.
        context["wrong_field"] = error.field.split('[').next().unwrap_or_default().into();
    }
    Ok((project, context))
}

fn page(template: &'static str, context: Value, error: Option<&PageError>) -> Outcome {
    match error {
        Some(error) => Outcome::again(template, context, error),
        None => Outcome::page(template, context),
    }
}

/// Returns whether the form shows the error itself.
fn is_shown(error: &PageError) -> bool {
    matches!(error.status.as_u16(), 400 | 409 | 413)
}

/// Redirects after a successful form.
fn done(visit: &Visit, word: &str) -> Outcome {
    Outcome::go(format!("{}?done={word}", visit.path))
}

/// Logos, colors and fonts.
async fn look(visit: &Visit) -> Result<Outcome, PageError> {
    draw_look(visit, None).await
}

async fn draw_look(visit: &Visit, error: Option<PageError>) -> Result<Outcome, PageError> {
    let (project, mut context) = begun(visit, "look", &["primary", "secondary", "favicon"], error.as_ref()).await?;
    let given = visit.ask("projects.look", json!({ "projectId": visit.name("id") })).await?;
    let is_sent = visit.form.get("act") == "look";
    let fields = LOOK.map(|(part, name, label)| {
        let (field, own) = (format!("{part}.{name}"), &given["given"][part][name]);
        let value = if is_sent { visit.form.get(&field) } else { own.as_str().map_or("", first_family) };
        let used = given[part][name].as_str().map_or("", first_family);
        json!({ "field": field, "label": label, "value": value, "used": used, "is_font": part == "fonts" })
    });
    context["look_fields"] = fields.into();
    context["contrasts"] = given["contrasts"].clone();
    let brand = &project["brand"];
    let in_use = |url: &str| {
        ["primary", "secondary", "favicon"].into_iter().filter(|place| project["logoUrls"][place] == url).collect::<Vec<_>>()
    };
    let logos = rows(&brand["logos"]).into_iter().map(|logo| {
        let url = logo["url"].as_str().unwrap_or_default();
        json!({
            "url": url,
            "picture": picture_path(visit, visit.name("id"), url),
            "ground": if logo["background"] == "dark" { "dark" } else { "light" },
            "source": source(logo["source"].as_str().unwrap_or_default()),
            "width": logo["width"],
            "height": logo["height"],
            "uses": in_use(url),
        })
    });
    context["logos"] = logos.collect();
    context["palette"] = palette(&brand["palette"]);
    context["fonts"] = fonts(&brand["fonts"]);
    context["corner_radius"] = brand["cornerRadius"].clone();
    Ok(page("brand_look.html", context, error.as_ref()))
}

/// The editable theme values: group and name in the API, and label.
const LOOK: [(&str, &str, &str); 8] = [
    ("palette", "primary", "Primary"),
    ("palette", "accent", "Accent"),
    ("palette", "button", "Button"),
    ("palette", "buttonText", "Button text"),
    ("palette", "background", "Background"),
    ("palette", "text", "Text"),
    ("fonts", "heading", "Heading font"),
    ("fonts", "body", "Text font"),
];

/// Returns a color as it is; of a font stack, the first family.
fn first_family(text: &str) -> &str {
    text.split(',').next().unwrap_or_default().trim().trim_matches(['"', '\''])
}

/// Saves the colors and fonts of the form; an empty field restores the imported value.
async fn give_look(visit: &Visit, id: &str) -> Result<Value, PageError> {
    let mut input = json!({ "projectId": id, "palette": {}, "fonts": {} });
    for (part, name, _) in LOOK {
        input[part][name] = visit.form.some(&format!("{part}.{name}")).into();
    }
    visit.ask("projects.look_update", input).await
}

fn source(word: &str) -> &'static str {
    match word {
        "given" => "added manually",
        "header" => "in the page's header",
        "structuredData" => "in the page's structured data",
        "manifest" => "the web app's icon",
        "iconLink" => "the page's icon",
        "share" => "the page's sharing image",
        _ => "on the website",
    }
}

async fn send_look(visit: &Visit) -> Result<Outcome, PageError> {
    let id = visit.name("id");
    let set = match visit.form.get("act") {
        // One of the logos shown.
        "use" => visit.ask("projects.logos_update", json!({ "projectId": id, (place(visit)?): visit.form.get("url") })).await,
        "unset" => visit.ask("projects.logos_update", json!({ "projectId": id, (place(visit)?): null })).await,
        "give" => give_logo(visit, id).await,
        "look" => {
            return match give_look(visit, id).await {
                Ok(_) => Ok(done(visit, "look")),
                Err(error) if is_shown(&error) => draw_look(visit, Some(error)).await,
                Err(error) => Err(error),
            };
        }
        _ => return Err(PageError::not_found()),
    };
    match set {
        Ok(_) => Ok(done(visit, "logo")),
        Err(error) if is_shown(&error) => draw_look(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

async fn give_logo(visit: &Visit, id: &str) -> Result<Value, PageError> {
    let place = place(visit)?;
    let url = match visit.form.file("file") {
        Some(file) => {
            let upload = json!({ "projectId": id, "file": base64::encode(&file.bytes), "tags": ["logo"] });
            visit.ask("projects.images_upload", upload).await?["url"].take()
        }
        None => visit.form.get("url").into(),
    };
    let set = visit.ask("projects.logos_update", json!({ "projectId": id, (place): url })).await;
    // The form has one URL field for every logo.
    set.map_err(|error| PageError { field: if error.field == place { "url".into() } else { error.field }, ..error })
}

/// Returns which of the brand's logos the form is about.
fn place(visit: &Visit) -> Result<&'static str, PageError> {
    let places = ["primary", "secondary", "favicon"];
    places.into_iter().find(|place| *place == visit.form.get("place")).ok_or_else(PageError::not_found)
}

/// The images.
async fn images(visit: &Visit) -> Result<Outcome, PageError> {
    draw_images(visit, None).await
}

async fn draw_images(visit: &Visit, error: Option<PageError>) -> Result<Outcome, PageError> {
    let id = visit.name("id");
    let (_, mut context) = begun(visit, "images", &["url", "description", "tags"], error.as_ref()).await?;
    let number = visit.page();
    let data = visit.ask("projects.images_list", json!({ "projectId": id, "limit": IMAGES_PER_PAGE, "page": number })).await?;
    let images = rows(&data["images"]).into_iter().map(|mut image| {
        image["picture"] = picture_path(visit, id, image["url"].as_str().unwrap_or_default()).into();
        image["words"] = rows(&image["tags"]).iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ").into();
        image
    });
    context["images"] = images.collect();
    context["pagination"] = data["pagination"].clone();
    Ok(page("brand_images.html", context, error.as_ref()))
}

async fn send_images(visit: &Visit) -> Result<Outcome, PageError> {
    let (id, form) = (visit.name("id"), &visit.form);
    let tags: Vec<&str> = form.get("tags").split(',').map(str::trim).filter(|tag| !tag.is_empty()).collect();
    // If omitted, image analysis fills them in.
    let given_tags = (!tags.is_empty()).then_some(&tags);
    let description = form.some("description");
    let (asked, word) = match (form.get("act"), form.file("file")) {
        ("add", Some(file)) => {
            let input = json!({
                "projectId": id, "file": base64::encode(&file.bytes), "description": description, "tags": given_tags,
            });
            (visit.ask("projects.images_upload", input).await, "added")
        }
        ("add", None) => {
            let input = json!({ "projectId": id, "url": form.get("url"), "description": description, "tags": given_tags });
            (visit.ask("projects.images_add", input).await, "added")
        }
        ("describe", _) => {
            let input = json!({
                "projectId": id, "imageUrl": form.get("image"), "description": description, "tags": given_tags,
            });
            (visit.ask("projects.images_update", input).await, "described")
        }
        ("remove", _) => {
            (visit.ask("projects.images_remove", json!({ "projectId": id, "imageUrl": form.get("image") })).await, "removed")
        }
        _ => return Err(PageError::not_found()),
    };
    match asked {
        Ok(_) => Ok(done(visit, word)),
        Err(error) if is_shown(&error) => draw_images(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// The texts.
async fn knowledge(visit: &Visit) -> Result<Outcome, PageError> {
    draw_knowledge(visit, None).await
}

async fn draw_knowledge(visit: &Visit, error: Option<PageError>) -> Result<Outcome, PageError> {
    let id = visit.name("id");
    // This is not the title of the page.
    let (_, mut context) = begun(visit, "knowledge", &["content"], error.as_ref()).await?;
    context["name"] = visit.form.get("title").into();
    let number = visit.page();
    let data = visit.ask("projects.knowledge_list", json!({ "projectId": id, "limit": TEXTS_PER_PAGE, "page": number })).await?;
    let entries = rows(&data["entries"]).into_iter().map(|entry| {
        // Without heading marks in the excerpt.
        let content = entry["content"].as_str().unwrap_or_default().replace("# ", "").replace('#', "");
        let short: String = content.chars().take(TEXT_CHARACTERS).collect();
        let more = if short.len() < content.len() { "…" } else { "" };
        json!({
            "id": entry["id"],
            "title": entry["title"],
            "content": format!("{short}{more}"),
            "date": entry["date"],
            "origin": origin(entry["referenceOrigin"].as_str().unwrap_or_default()),
            "url": entry["url"],
            "file": entry["sourceFileName"],
        })
    });
    context["entries"] = entries.collect();
    context["pagination"] = data["pagination"].clone();
    Ok(page("brand_knowledge.html", context, error.as_ref()))
}

fn origin(word: &str) -> &'static str {
    match word {
        "website" => "from the website",
        "favorite" => "from a favorite email",
        "upload" => "from a file",
        _ => "added manually",
    }
}

async fn send_knowledge(visit: &Visit) -> Result<Outcome, PageError> {
    let (id, form) = (visit.name("id"), &visit.form);
    let (asked, word) = match form.get("act") {
        "add" => (add_text(visit, id).await, "added"),
        "remove" => {
            (visit.ask("projects.knowledge_remove", json!({ "projectId": id, "entryId": form.get("entry") })).await, "removed")
        }
        _ => return Err(PageError::not_found()),
    };
    match asked {
        Ok(_) => Ok(done(visit, word)),
        Err(error) if is_shown(&error) => draw_knowledge(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// Adds a written text, or the text of a file.
async fn add_text(visit: &Visit, id: &str) -> Result<Value, PageError> {
    let form = &visit.form;
    let Some(file) = form.file("file") else {
        let input = json!({ "projectId": id, "title": form.get("title"), "content": form.get("content") });
        return visit.ask("projects.knowledge_add", input).await;
    };
    let not_text = || PageError {
        field: "file".into(),
        ..PageError::plain(http::StatusCode::BAD_REQUEST, "The file isn't plain text (UTF-8). Save it as .txt or .md.")
    };
    let content = std::str::from_utf8(&file.bytes).map_err(|_| not_text())?;
    let title = form.some("title").unwrap_or(&file.name);
    let input = json!({
        "projectId": id, "title": title, "content": content, "sourceFileName": file.name, "referenceOrigin": "upload",
    });
    visit.ask("projects.knowledge_add", input).await
}

/// One text.
async fn entry(visit: &Visit) -> Result<Outcome, PageError> {
    draw_entry(visit, None).await
}

async fn draw_entry(visit: &Visit, error: Option<PageError>) -> Result<Outcome, PageError> {
    let wanted = json!({ "projectId": visit.name("id"), "entryId": visit.name("entry") });
    let entry = visit.ask("projects.knowledge_get", wanted).await?;
    let (_, mut context) = begun(visit, "knowledge", &[], error.as_ref()).await?;
    let kept = |field: &str| if error.is_some() { visit.form.get(field).into() } else { entry[field].clone() };
    context["name"] = kept("title");
    context["content"] = kept("content");
    context["from_site"] = (entry["referenceOrigin"] == "website").into();
    context["url"] = entry["url"].clone();
    Ok(page("brand_text.html", context, error.as_ref()))
}

async fn send_entry(visit: &Visit) -> Result<Outcome, PageError> {
    let input = json!({
        "projectId": visit.name("id"), "entryId": visit.name("entry"), "title": visit.form.get("title"),
        "content": visit.form.get("content"),
    });
    match visit.ask("projects.knowledge_update", input).await {
        Ok(_) => Ok(Outcome::go(format!("/{}/brands/{}/knowledge?done=changed", visit.environment, visit.name("id")))),
        Err(error) if is_shown(&error) => draw_entry(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// The permanent rules.
async fn guidelines(visit: &Visit) -> Result<Outcome, PageError> {
    draw_guidelines(visit, None).await
}

async fn draw_guidelines(visit: &Visit, error: Option<PageError>) -> Result<Outcome, PageError> {
    let (project, mut context) = begun(visit, "guidelines", &[], error.as_ref()).await?;
    for field in ["designRules", "imageStyle"] {
        let known = project["brand"]["guidelines"][field].as_str().unwrap_or_default();
        context[field] = if error.is_some() { visit.form.get(field) } else { known }.into();
    }
    Ok(page("brand_guidelines.html", context, error.as_ref()))
}

async fn send_guidelines(visit: &Visit) -> Result<Outcome, PageError> {
    let input = json!({
        "projectId": visit.name("id"), "designRules": visit.form.get("designRules"), "imageStyle": visit.form.get("imageStyle"),
    });
    match visit.ask("projects.guidelines_update", input).await {
        Ok(_) => Ok(done(visit, "kept")),
        Err(error) if is_shown(&error) => draw_guidelines(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}
