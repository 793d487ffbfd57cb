//! The email editor: a form for each block, and the data and endpoints for the script that replaces these forms.

mod fields;
mod forms;
mod image_uploads;

use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::brands::{picture_path, rows};
use super::super::emails::own;
use super::{EmailHead, email};
use crate::base::locale::LanguageTag;
use crate::base::optional::remove_nulls;
use crate::engine::api::Failure;
use crate::features::emails::composer;
use crate::features::emails::document::ViolationKind;
use crate::features::emails::ops::document_update::DocumentUpdate;
use crate::features::emails::views::EmailDetails;
use crate::features::projects::brand::Brand;
use crate::features::projects::images_through_here;
use crate::features::projects::ops::{get::Get as ProjectGet, images_list::ImagesList};
use crate::features::projects::views::ProjectImageView;
use crate::features::saved_blocks::ops as saved_blocks;
use crate::features::saved_blocks::views::SavedBlockView;
use crate::surfaces::dashboard::files::files;
use crate::surfaces::dashboard::page::spec;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::contact_fields::ProfileField;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use fields::{BlockKind, KINDS, STYLE, kind_of, new_block};
use forms::{BlockForm, FieldForm, problem_text};

/// The maximum number of brand images that the editor offers: as many as one request can return.
const IMAGES: u64 = limits::PAGE_LIMIT_MAX;

/// The prefix of the names of saved blocks in the palette. The block's ID follows it.
const SAVED: &str = "saved:";

#[derive(Serialize)]
pub struct EditorPage {
    #[serde(flatten)]
    head: EmailHead,
    has_document: bool,
    /// The version of the email that the forms show.
    based_on: u64,
    subject: String,
    preheader: String,
    subject_max: usize,
    preheader_max: usize,
    style: Vec<FieldForm>,
    blocks: Vec<BlockForm>,
    palette: Vec<Choice>,
    images: Vec<Picture>,
    /// The shapes to which an image can be cropped.
    shapes: &'static [(&'static str, &'static str)],
    /// The focus points around which an image can be cropped.
    focus_points: &'static [(&'static str, &'static str)],
    /// The ID of the block with the error; empty if there is none.
    error_block: String,
    #[serde(flatten)]
    files: EditorFiles,
}

#[derive(Serialize)]
struct EditorFiles {
    editor_style: String,
    editor_script: String,
    /// The path of ProseMirror, the library for rich text.
    prosemirror: String,
}

impl EditorFiles {
    fn new() -> Self {
        let files = files();
        Self {
            editor_style: files.editor_style.path.clone(),
            editor_script: files.editor_script.path.clone(),
            prosemirror: files.prosemirror.path.clone(),
        }
    }
}

#[derive(Serialize)]
struct Choice {
    name: String,
    label: String,
    in_columns: bool,
}

#[derive(Clone, Serialize)]
struct Picture {
    url: String,
    about: String,
    /// The path of a smaller copy of the image.
    preview: String,
    width: Option<u32>,
    height: Option<u32>,
}

page_context!(EditorPage, "email_editor.html", {
    use crate::features::emails::document::Email;

    let document = Email::sample().to_json();
    let image = Picture {
        url: "https://acme.example/a.jpg".into(),
        about: "A".into(),
        preview: "/a".into(),
        width: Some(1),
        height: None,
    };
    let page = |document: Option<&Value>| Self {
        head: EmailHead::sample("document", "ready"),
        has_document: document.is_some(),
        based_on: 1,
        subject: "A".into(),
        preheader: String::new(),
        subject_max: limits::EMAIL_SUBJECT_CHARACTERS_MAX,
        preheader_max: limits::EMAIL_PREHEADER_CHARACTERS_MAX,
        style: forms::style(&Value::Null),
        blocks: forms::blocks(document.unwrap_or(&Value::Null), None),
        palette: palette(vec![SavedBlockView::sample()]),
        images: vec![image.clone()],
        shapes: image_uploads::SHAPES,
        focus_points: image_uploads::FOCUS_POINTS,
        error_block: "text".into(),
        files: EditorFiles::new(),
    };
    vec![page(Some(&document)), page(None)]
});

/// Returns the block types and the saved blocks that users can insert.
fn palette(saved: Vec<SavedBlockView>) -> Vec<Choice> {
    let choice = |kind: &BlockKind| Choice { name: kind.name.into(), label: kind.label.into(), in_columns: kind.in_columns };
    let own = saved.into_iter().map(|saved| Choice {
        name: format!("{SAVED}{}", saved.id),
        in_columns: saved.block["type"].as_str().and_then(kind_of).is_some_and(|kind| kind.in_columns),
        label: format!("Saved: {}", saved.name),
    });
    KINDS.iter().filter(|kind| kind.free).map(choice).chain(own).collect()
}

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    draw(visit, None, None).await
}

/// A submitted block, which the page shows again if it cannot be saved.
struct FormBlock {
    id: String,
    block: Value,
}

async fn draw(visit: &Visit, error: Option<PageError>, submitted: Option<FormBlock>) -> Result<PageResponse, PageError> {
    let EmailDetails { email, series, document, .. } = email(visit).await?;
    let document = document.unwrap_or(Value::Null);
    let images = images(visit, email.project_id).await?;
    let is_headline = error.is_some() && visit.form.get("act") == "headline";
    let given = |name: &str, own: &str| if is_headline { visit.form.get(name).to_owned() } else { own.to_owned() };
    let mut blocks = forms::blocks(&document, submitted.as_ref().map(|sent| (sent.id.as_str(), &sent.block)));
    if let Some(sent) = &submitted {
        forms::show_submitted(&mut blocks, &sent.id, &|path| sent_field(visit, path));
    }
    let context = EditorPage {
        has_document: document.is_object(),
        based_on: email.version.into(),
        subject: given("subject", &email.subject),
        preheader: given("preheader", &email.preheader),
        subject_max: limits::EMAIL_SUBJECT_CHARACTERS_MAX,
        preheader_max: limits::EMAIL_PREHEADER_CHARACTERS_MAX,
        style: match error.is_some() && visit.form.get("act") == "style" {
            true => forms::style(&sent_style(visit, &document)),
            false => forms::style(&document["style"]),
        },
        blocks,
        palette: palette(saved(visit, email.project_id).await?),
        images,
        shapes: image_uploads::SHAPES,
        focus_points: image_uploads::FOCUS_POINTS,
        // If the page has no form for the block, the error is shown above all forms.
        error_block: Some(visit.form.get("block"))
            .filter(|id| forms::find(&document, id).is_some())
            .unwrap_or_default()
            .to_owned(),
        files: EditorFiles::new(),
        head: EmailHead::new(&email, series, "document"),
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

async fn images(visit: &Visit, brand: ProjectId) -> Result<Vec<Picture>, PageError> {
    if !visit.may_ask(spec::<ImagesList>()) {
        return Ok(Vec::new());
    }
    let found = visit.ask::<ImagesList>(json!({ "projectId": brand, "limit": IMAGES })).await?;
    let usable = found.items.into_iter().filter(|image| image.problem.is_none());
    Ok(usable.map(|image| picture(visit, brand, image)).collect())
}

fn picture(visit: &Visit, brand: ProjectId, image: ProjectImageView) -> Picture {
    Picture {
        preview: picture_path(visit, &brand.to_string(), &image.url),
        about: image.description.unwrap_or_default(),
        url: image.url,
        width: image.width,
        height: image.height,
    }
}

/// Returns the initial data for the editor's script, as JSON.
pub async fn data(visit: &Visit) -> Result<PageResponse, PageError> {
    visit.need(Permission::EmailWrite)?;
    let EmailDetails { email, document, .. } = email(visit).await?;
    let document = document.unwrap_or(Value::Null);
    let brand = email.project_id;
    let images = images(visit, brand).await?;
    let theme = match visit.may_ask(spec::<ProjectGet>()) {
        true => visit.ask::<ProjectGet>(json!({ "projectId": brand })).await?.0.brand,
        false => None,
    };
    let site = site_of(&document);
    let mut new: serde_json::Map<String, Value> =
        KINDS.iter().filter_map(|kind| Some((kind.name.to_owned(), new_block(kind.name, &site)?))).collect();
    new.extend(theme.as_ref().and_then(|theme| products(theme, &document)).map(|block| ("products".to_owned(), block)));
    let home = format!("/{}/emails/{}", visit.environment, visit.path_parameter("id"));
    let saved_blocks = saved(visit, brand).await?;
    let data = json!({
        "document": document, "version": email.version, "text": email.text, "warnings": email.warnings,
        "kinds": KINDS, "new": new, "images": images, "site": site,
        "colors": theme.as_ref().map(|theme| &theme.palette), "fonts": theme.as_ref().map(|theme| &theme.fonts),
        "home": home, "savedBlocks": saved_blocks, "picture": picture_path(visit, &brand.to_string(), ""),
        "mayUpload": visit.may(Permission::ProjectWrite),
        "mergeFields": merge_fields(),
        "max": {
            "subject": limits::EMAIL_SUBJECT_CHARACTERS_MAX, "preheader": limits::EMAIL_PREHEADER_CHARACTERS_MAX,
            "blocks": limits::EMAIL_BLOCKS_MAX,
        },
    });
    Ok(PageResponse::json(StatusCode::OK, &data))
}

/// Returns the merge fields that the editor offers, written as in documents.
fn merge_fields() -> Vec<Value> {
    let snake = |key: &str| {
        key.chars().fold(String::new(), |name, c| match c.is_ascii_uppercase() {
            true => format!("{name}_{}", c.to_ascii_lowercase()),
            false => format!("{name}{c}"),
        })
    };
    let field = |field: &ProfileField| json!({ "name": snake(field.spec().key), "label": field.spec().label });
    ProfileField::ALL.iter().map(field).collect()
}

/// Returns the default URL for new links: the URL of the header's link, or a placeholder.
fn site_of(document: &Value) -> String {
    document["blocks"][0]["href"].as_str().unwrap_or("https://example.com/").to_owned()
}

/// The error for a form whose block has been deleted by another user or an earlier click.
const BLOCK_IS_GONE: &str =
    "This block no longer exists, so your change wasn't saved. The page now shows the current version of the email.";
const BLOCK_IS_AT_END: &str = "The block can't be moved further in this direction.";

fn conflict(message: &str) -> PageError {
    PageError::plain(StatusCode::CONFLICT, message)
}

pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let EmailDetails { email, document, .. } = email(visit).await?;
    let document = document.ok_or_else(PageError::not_found)?;
    let (form, id) = (&visit.form, visit.form.get("block"));
    if !id.is_empty() && forms::find(&document, id).is_none() {
        return draw(visit, Some(conflict(BLOCK_IS_GONE)), None).await;
    }
    let mut submitted = None;
    let (operations, place) = match form.get("act") {
        "headline" => {
            let set = |name: &str| json!({ "op": "set", "path": name, "value": form.get(name) });
            (vec![set("subject"), set("preheader")], "headline".to_owned())
        }
        "style" => {
            let value = sent_style(visit, &document);
            (vec![json!({ "op": "set", "path": "style", "value": value })], "style".to_owned())
        }
        "save" => {
            let (kind, block) = found(&document, id)?;
            let value = kind.read(block, |path| sent_field(visit, path));
            submitted = Some(FormBlock { id: id.to_owned(), block: value });
            let value = match image_uploads::with_uploads(visit, email.project_id, kind, block).await {
                Ok(value) => value,
                Err(error) if matches!(error.status.as_u16(), 400 | 409) => return draw(visit, Some(error), submitted).await,
                Err(error) => return Err(error),
            };
            (vec![json!({ "op": "set", "path": format!("blocks.{id}"), "value": value })], format!("b-{id}"))
        }
        act @ ("up" | "down") => {
            let siblings = forms::siblings(&document, id).ok_or_else(PageError::not_found)?;
            let at = siblings.iter().position(|sibling| sibling == id).ok_or_else(PageError::not_found)?;
            let (side, other) = match act {
                "up" => ("before", at.checked_sub(1).and_then(|at| siblings.get(at))),
                _ => ("after", siblings.get(at + 1)),
            };
            let Some(other) = other else { return draw(visit, Some(conflict(BLOCK_IS_AT_END)), None).await };
            (vec![json!({ "op": "move", "id": id, side: other })], format!("b-{id}"))
        }
        act @ ("duplicate" | "remove") => (vec![json!({ "op": act, "id": id })], "blocks".to_owned()),
        "keep" => return keep(visit, &document, email.project_id, id).await,
        "insert" => match insert(visit, &document, email.project_id, id).await {
            Ok(change) => (vec![change], format!("b-{id}")),
            Err(error) if error.status == StatusCode::CONFLICT => return draw(visit, Some(error), None).await,
            Err(error) => return Err(error),
        },
        _ => return Err(PageError::unknown_action()),
    };
    let version = form.get("version").parse::<u32>().ok();
    let input = json!({ "emailId": visit.path_parameter("id"), "version": version, "operations": operations });
    match visit.call::<DocumentUpdate>(input).await {
        Ok(_) => Ok(PageResponse::redirect(format!("{}?done=saved#{place}", visit.path))),
        Err(failure) => {
            let problems = problems(&failure, &document);
            let mut error = PageError::from(failure);
            if !matches!(error.status.as_u16(), 400 | 409) {
                return Err(error);
            }
            if let Some(problem) = problems.first() {
                error.message.clone_from(&problem.message);
            }
            draw(visit, Some(error), submitted).await
        }
    }
}

/// Returns the submitted value of a block field or style field; `None` if the form does not contain the field.
fn sent_field(visit: &Visit, path: &str) -> Option<String> {
    let name = format!("f.{path}");
    visit.form.has(&name).then(|| visit.form.get(&name).to_owned())
}

/// Returns the document's style, updated with the submitted values.
fn sent_style(visit: &Visit, document: &Value) -> Value {
    let own = document["style"].as_object().cloned().unwrap_or_default();
    STYLE.read(&Value::Object(own), |path| sent_field(visit, path))
}

/// Returns the block with this ID, and the block's kind.
fn found<'d>(document: &'d Value, id: &str) -> Result<(&'static BlockKind, &'d Value), PageError> {
    let block = forms::find(document, id).ok_or_else(PageError::not_found)?;
    let kind = kind_of(block["type"].as_str().unwrap_or_default()).ok_or_else(PageError::not_found)?;
    Ok((kind, block))
}

/// Saves a block as a reusable block of the brand.
async fn keep(visit: &Visit, document: &Value, brand: ProjectId, id: &str) -> Result<PageResponse, PageError> {
    let (_, block) = found(document, id)?;
    let input = json!({ "projectId": brand, "name": visit.form.get("name"), "block": block });
    match visit.ask::<saved_blocks::create::Create>(input).await {
        Ok(_) => Ok(PageResponse::redirect(format!("{}?done=kept#b-{id}", visit.path))),
        Err(error) if matches!(error.status.as_u16(), 400 | 409) => draw(visit, Some(error), None).await,
        Err(error) => Err(error),
    }
}

/// Returns the document operation that inserts the chosen block after the block with this ID.
async fn insert(visit: &Visit, document: &Value, brand: ProjectId, id: &str) -> Result<Value, PageError> {
    let name = visit.form.get("kind");
    let block = match name {
        "image" => {
            let first = images(visit, brand).await?.into_iter().next();
            let none = "The brand has no images to insert. Add an image to the brand first.";
            let first = first.ok_or_else(|| conflict(none))?;
            let size = json!({ "src": first.url, "alt": Some(first.about).filter(|about| !about.is_empty()) });
            json!({ "type": "image", "image": size })
        }
        _ if name.starts_with(SAVED) => {
            let all = saved(visit, brand).await?;
            let chosen = all.into_iter().find(|saved| name.strip_prefix(SAVED).is_some_and(|id| id == saved.id.to_string()));
            chosen.ok_or_else(PageError::not_found)?.block
        }
        "products" if visit.may_ask(spec::<ProjectGet>()) => {
            let theme = visit.ask::<ProjectGet>(json!({ "projectId": brand })).await?.0.brand;
            let own = theme.and_then(|theme| products(&theme, document));
            own.or_else(|| new_block(name, &site_of(document))).ok_or_else(PageError::not_found)?
        }
        _ => new_block(name, &site_of(document)).ok_or_else(PageError::not_found)?,
    };
    Ok(json!({ "op": "insert", "after": id, "value": block }))
}

/// The maximum number of the brand's products in a new products block. In most layouts, they fill one row.
const NEW_PRODUCTS: usize = 3;

/// Returns a new products block with the brand's first products; `None` if the brand has none.
fn products(brand: &Brand, document: &Value) -> Option<Value> {
    let language = document["language"].as_str().and_then(|tag| LanguageTag::parse(tag).ok())?;
    let first: Vec<_> = composer::products(brand, Some(&site_of(document)), &language).into_iter().take(NEW_PRODUCTS).collect();
    let mut block = json!({ "type": "products", "products": first });
    remove_nulls(&mut block);
    (!first.is_empty()).then_some(block)
}

#[derive(Serialize)]
struct Problem {
    /// The block's ID; `None` if the problem is in the subject or preheader.
    block: Option<String>,
    message: String,
}

fn problems(failure: &Failure, document: &Value) -> Vec<Problem> {
    let errors = failure.data.as_deref().map_or(&Value::Null, |data| &data["errors"]);
    let problem = |error: &Value| {
        let (path, block) = (error["path"].as_str().unwrap_or_default(), error["block"].as_str());
        let block_kind = block.and_then(|id| forms::find(document, id)).and_then(|block| kind_of(block["type"].as_str()?));
        let kind = ViolationKind::deserialize(&error["kind"]).unwrap_or(ViolationKind::Rejected);
        let message = problem_text(block_kind, path, kind, error["problem"].as_str().unwrap_or_default());
        Problem { block: block.map(str::to_owned), message }
    };
    rows(errors).iter().map(problem).collect()
}

/// Handles a request from the editor's script, and returns the result as JSON.
pub async fn send_script(visit: &Visit) -> Result<PageResponse, PageError> {
    match visit.form.get("act") {
        "save" => save(visit).await,
        "upload" => upload(visit).await,
        "keep" => keep_block(visit).await,
        _ => Err(PageError::unknown_action()),
    }
}

/// Saves the changes sent by the script. Returns the new version of the email, or the problems.
async fn save(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let operations: Value = serde_json::from_str(form.get("operations")).map_err(|_| PageError::broken_form())?;
    let version = form.get("version").parse::<u32>().ok();
    let input = json!({ "emailId": visit.path_parameter("id"), "version": version, "operations": operations, "autosave": true });
    Ok(match visit.call::<DocumentUpdate>(input).await {
        Ok(saved) => {
            let EmailDetails { email, document, .. } = saved.0;
            let answer =
                json!({ "version": email.version, "warnings": email.warnings, "text": email.text, "document": document });
            PageResponse::json(StatusCode::OK, &answer)
        }
        Err(failure) => refused(visit, failure).await?,
    })
}

async fn refused(visit: &Visit, failure: Failure) -> Result<PageResponse, PageError> {
    let document = email(visit).await?.document.unwrap_or(Value::Null);
    let problems = problems(&failure, &document);
    let code = failure.code.info().wire;
    let version = failure.data.as_deref().map_or(&Value::Null, |data| &data["version"]).clone();
    let error = PageError::from(failure);
    let answer = json!({ "code": code, "message": error.message, "problems": problems, "version": version });
    Ok(PageResponse::json(error.status, &answer))
}

/// Saves a block sent by the script as a reusable block, and returns all saved blocks of the brand.
async fn keep_block(visit: &Visit) -> Result<PageResponse, PageError> {
    let brand = email(visit).await?.email.project_id;
    let block: Value = serde_json::from_str(visit.form.get("block")).map_err(|_| PageError::broken_form())?;
    let input = json!({ "projectId": brand, "name": visit.form.get("name"), "block": block });
    Ok(match visit.ask::<saved_blocks::create::Create>(input).await {
        Ok(_) => {
            let saved_blocks = saved(visit, brand).await?;
            PageResponse::json(StatusCode::OK, &json!({ "savedBlocks": saved_blocks }))
        }
        Err(error) => PageResponse::json(error.status, &json!({ "message": error.message })),
    })
}

async fn saved(visit: &Visit, brand: ProjectId) -> Result<Vec<SavedBlockView>, PageError> {
    let wanted = json!({ "projectId": brand, "limit": limits::SAVED_BLOCKS_MAX });
    Ok(visit.ask::<saved_blocks::list::List>(wanted).await?.items)
}

/// Redirects to this service's full-size copy of an image, so that the editor can crop the image.
pub async fn image(visit: &Visit) -> Result<PageResponse, PageError> {
    visit.need(Permission::EmailWrite)?;
    // Fails if the email does not exist in the user's account.
    email(visit).await?;
    let wanted = visit.query.get("of");
    if let Some(path) = own(visit, Some(wanted)) {
        return Ok(PageResponse::redirect(path));
    }
    let url: url::Url = wanted.parse().map_err(|_| PageError::not_found())?;
    // `images_through_here` rewrites image URLs only in HTML, so the URL is wrapped in an `img` element.
    let html = images_through_here(&visit.api.0, format!("<img src=\"{url}\">")).await?;
    let link = html.split('"').nth(1).and_then(|link| own(visit, Some(link)));
    link.map(PageResponse::redirect).ok_or_else(PageError::not_found)
}

/// Adds an uploaded image to the brand, and returns it.
async fn upload(visit: &Visit) -> Result<PageResponse, PageError> {
    let brand = email(visit).await?.email.project_id;
    let file = visit.form.file("file").ok_or_else(PageError::broken_form)?;
    Ok(match image_uploads::keep(visit, brand, &file.bytes, visit.form.some("about"), None).await {
        Ok(made) => PageResponse::json(StatusCode::OK, &json!(made)),
        Err(error) => PageResponse::json(error.status, &json!({ "message": error.message })),
    })
}
