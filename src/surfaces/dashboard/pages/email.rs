//! Pages about an email: the preview with AI edits, the plain text, the versions, and the test send.

pub mod checks;
pub mod editor;
pub mod exports;
pub mod gallery;
pub mod previews;

use serde::Serialize;
use serde_json::json;

use super::emails::brief::Chip;
use super::emails::own;
use crate::engine::api::page::Pagination;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, untrusted_html};
use crate::features::emails::finding::Finding;
use crate::features::emails::views::{EditView, EditedEmail, EmailDetails, EmailView, SiblingView, VersionView};
use crate::features::{emails, projects, sending};
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{ConversationId, EditId, EmailId, ProjectId};
use crate::vocab::{limits, placeholders};

const VERSIONS_PER_PAGE: u64 = 20;
/// The maximum number of characters of a prompt that the list of versions shows.
const PROMPT_CHARACTERS: usize = 300;
/// The query parameter with the ID of an AI edit. In the preview frame's URL, the ID identifies an edit that has not been saved.
const EDITED: &str = "edit";

async fn email(visit: &Visit) -> Result<EmailDetails, PageError> {
    Ok(visit.ask::<emails::ops::get::Get>(json!({ "emailId": visit.path_parameter("id") })).await?.0)
}

/// The header that all pages about an email share.
#[derive(Serialize)]
struct EmailHead {
    email: EmailTitle,
    series: Vec<Sibling>,
    is_one_language: bool,
    tab: &'static str,
}

#[derive(Serialize)]
struct EmailTitle {
    id: EmailId,
    subject: String,
    preheader: String,
    status: &'static str,
    favorite: bool,
    version: u32,
    conversation: ConversationId,
    brand: ProjectId,
    language: String,
    days: Option<i32>,
    error: Option<String>,
    warnings: Vec<Finding>,
    /// The message of the warning about a missing postal address. The template adds a link to the address field to this warning.
    address_missing: &'static str,
    share: Option<String>,
}

#[derive(Serialize)]
struct Sibling {
    #[serde(flatten)]
    sibling: SiblingView,
    here: bool,
}

impl EmailHead {
    fn new(email: &EmailView, series: Vec<SiblingView>, tab: &'static str) -> Self {
        let subject = if email.subject.is_empty() { "Email".to_owned() } else { email.subject.clone() };
        Self {
            is_one_language: series.iter().all(|other| other.language == email.language),
            series: series.into_iter().map(|sibling| Sibling { here: sibling.email_id == email.id, sibling }).collect(),
            email: EmailTitle {
                id: email.id,
                subject,
                preheader: email.preheader.clone(),
                status: email.status,
                favorite: email.favorite,
                version: email.version,
                conversation: email.conversation_id,
                brand: email.project_id,
                language: email.language.clone(),
                days: email.send_offset_days,
                error: email.error.clone(),
                warnings: email.warnings.clone(),
                address_missing: emails::ADDRESS_MISSING,
                share: email.share_url.clone(),
            },
            tab,
        }
    }

    #[cfg(test)]
    fn sample(tab: &'static str, status: &'static str) -> Self {
        let EmailDetails { email, series, .. } = <emails::ops::get::Get as crate::engine::api::Operation>::example().1.0;
        let siblings = series.into_iter().flat_map(|one| {
            let other = SiblingView { language: "de".into(), ..one.clone() };
            [one, other]
        });
        let add = serde_json::from_value(json!({ "op": "remove", "id": "intro" })).ok();
        let email = EmailView {
            status,
            send_offset_days: Some(2),
            warnings: vec![
                Finding::note(emails::ADDRESS_MISSING),
                Finding { add: add.clone(), ..Finding::note("A fact is missing.") },
                Finding { remove: add, accept: Some("£9".into()), ..Finding::note("A price is not in the brief.") },
            ],
            ..email
        };
        Self::new(&email, siblings.collect(), tab)
    }
}

#[derive(Serialize)]
pub struct EmailPage {
    #[serde(flatten)]
    head: EmailHead,
    images: bool,
    phone: bool,
    prompt: String,
    prompt_max: usize,
    screenshot: Option<String>,
    /// The facts that the email is based on.
    facts: Vec<Chip>,
    edit: Option<EditState>,
    editing: bool,
    /// The AI edit that the user previews before saving it; `None` if there is none.
    preview: Option<EditPreview>,
}

/// An AI edit that is shown as a preview and is not saved yet.
#[derive(Serialize)]
struct EditPreview {
    done: Vec<String>,
    not_done: Vec<String>,
    /// The URL of the frame with the edited email.
    frame: String,
    /// The ID that the form submits to save the previewed email.
    id: EditId,
    subject: String,
    preheader: String,
}

/// The progress of an AI edit.
#[derive(Serialize)]
struct EditState {
    status: &'static str,
    error: Option<String>,
    prompt: String,
    done: Vec<String>,
    not_done: Vec<String>,
}

impl From<EditView> for EditState {
    fn from(EditView { status, error, prompt, done, not_done, .. }: EditView) -> Self {
        Self { status, error, prompt, done, not_done }
    }
}

page_context!(EmailPage, "email_preview.html", {
    let page = |status, edit: Option<EditState>| Self {
        head: EmailHead::sample("preview", status),
        images: false,
        phone: true,
        prompt: String::new(),
        prompt_max: 4_000,
        screenshot: Some("/v1/files/a.png".into()),
        facts: Chip::all(&<emails::ops::brief::ReadBrief as crate::engine::api::Operation>::example().1.0),
        editing: edit.as_ref().is_some_and(is_under_way),
        edit,
        preview: None,
    };
    let preview = EditPreview {
        done: vec!["The button is green.".into()],
        not_done: vec!["The intro is unchanged.".into()],
        frame: "/test/emails/x/frame?edit=66f1a2b3d4e5f60718293a4f".into(),
        id: EditView::sample().edit_id,
        subject: "Hello".into(),
        preheader: "There".into(),
    };
    let edit = |status| Some(EditState::from(EditView { status, ..EditView::sample() }));
    vec![
        page("ready", None),
        Self { preview: Some(preview), ..page("ready", None) },
        page("ready", edit("pending")),
        page("ready", edit("completed")),
        page("ready", edit("failed")),
        page("failed", None),
        page("processing", None),
    ]
});

fn is_under_way(edit: &EditState) -> bool {
    matches!(edit.status, "pending" | "processing")
}

#[derive(Serialize)]
pub struct TextPage {
    #[serde(flatten)]
    head: EmailHead,
    text: String,
}

page_context!(TextPage, "email_text.html", {
    ["", "Hello"].map(|text| Self { head: EmailHead::sample("text", "ready"), text: text.into() }).into()
});

#[derive(Serialize)]
pub struct VersionsPage {
    #[serde(flatten)]
    head: EmailHead,
    versions: Vec<VersionTile>,
    pagination: Pagination,
}

#[derive(Serialize)]
struct VersionTile {
    version: u32,
    origin: &'static str,
    prompt: Option<String>,
    label: Option<String>,
    restored: Option<u32>,
    subject: String,
    current: bool,
    at: WireTime,
    thumbnail: Option<String>,
    screenshot: Option<String>,
}

impl VersionTile {
    fn new(version: VersionView, thumbnail: Option<String>, screenshot: Option<String>) -> Self {
        Self {
            version: version.version,
            origin: version.origin,
            prompt: version.prompt.map(|prompt| prompt.chars().take(PROMPT_CHARACTERS).collect()),
            label: version.label,
            restored: version.restored_version,
            subject: version.subject,
            current: version.current,
            at: version.created_at,
            thumbnail,
            screenshot,
        }
    }
}

page_context!(VersionsPage, "email_versions.html", {
    let version = |origin, current| VersionView { origin, current, restored_version: Some(1), ..VersionView::sample() };
    let tile = |version| VersionTile::new(version, Some("/v1/files/a.png".into()), None);
    vec![Self {
        head: EmailHead::sample("versions", "ready"),
        versions: vec![tile(version("restored", true)), tile(version("generated", false)), tile(version("imported", false))],
        pagination: Pagination::sample(),
    }]
});

#[derive(Serialize)]
pub struct TestPage {
    #[serde(flatten)]
    head: EmailHead,
    to: String,
    from: String,
    from_name: String,
    is_live: bool,
}

page_context!(TestPage, "email_test.html", {
    let page = |is_live| Self {
        head: EmailHead::sample("try", "ready"),
        to: "ada@example.com".into(),
        from: String::new(),
        from_name: String::new(),
        is_live,
    };
    vec![page(true), page(false)]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    draw(visit, None, None).await
}

async fn draw(visit: &Visit, error: Option<PageError>, preview: Option<EditPreview>) -> Result<PageResponse, PageError> {
    let EmailDetails { email, series, brief, .. } = email(visit).await?;
    let edit = match visit.query.some(EDITED) {
        Some(edit) => {
            let wanted = json!({ "emailId": visit.path_parameter("id"), "editId": edit });
            Some(EditState::from(visit.ask::<emails::ops::edit_status::EditStatus>(wanted).await?.0))
        }
        None => None,
    };
    let context = EmailPage {
        head: EmailHead::new(&email, series, "preview"),
        images: visit.wants_images(),
        phone: visit.query.get("width") == "phone",
        // If the edit failed or was applied only in part, the prompt stays in the field so that the user can correct it.
        prompt: visit.form.some("prompt").map(str::to_owned).or_else(|| open_prompt(edit.as_ref())).unwrap_or_default(),
        prompt_max: limits::PROMPT_CHARACTERS_MAX,
        screenshot: own(visit, email.screenshot_url.as_deref()),
        facts: brief.as_ref().map(Chip::all).unwrap_or_default(),
        editing: edit.as_ref().is_some_and(is_under_way),
        edit,
        preview,
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

/// Returns the prompt of an edit that failed or was applied only in part.
fn open_prompt(edit: Option<&EditState>) -> Option<String> {
    let open = edit.filter(|edit| edit.status == "failed" || !edit.not_done.is_empty());
    open.map(|edit| edit.prompt.clone())
}

/// Shows what an edit would change.
async fn preview(visit: &Visit) -> Result<PageResponse, PageError> {
    let prompt = visit.form.get("prompt");
    match visit
        .ask::<emails::ops::edit::Edit>(json!({ "emailId": visit.path_parameter("id"), "prompt": prompt, "preview": true }))
        .await
    {
        Ok(Done(emails::ops::edit::EmailEditResult::Email(edited))) => {
            let EditedEmail { email, done, not_done, preview_id, .. } = *edited;
            let Some(id) = preview_id else { return Ok(PageResponse::redirect(visit.path.clone())) };
            if let Some(session) = &visit.session {
                visit.edit_previews.keep(session.user.account.id, id, placeholders::preview(&email.html));
            }
            let frame = format!("{}/frame?{EDITED}={id}", visit.path);
            let preview = EditPreview { done, not_done, frame, id, subject: email.subject, preheader: email.preheader };
            draw(visit, None, Some(preview)).await
        }
        Ok(Done(emails::ops::edit::EmailEditResult::Operation(_))) => Ok(PageResponse::redirect(visit.path.clone())),
        Err(error) if is_shown(&error) => draw(visit, Some(error), None).await,
        Err(error) => Err(error),
    }
}

fn is_shown(error: &PageError) -> bool {
    matches!(error.status.as_u16(), 400 | 409)
}

/// Previews, saves or starts an AI edit, settles a warning, or changes whether the email is a favorite.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let (id, form) = (visit.path_parameter("id"), &visit.form);
    match form.get("act") {
        "preview" => preview(visit).await,
        "edit" => {
            let label = form.some("label");
            let input = json!({ "emailId": id, "prompt": form.get("prompt"), "label": label, "async": true });
            match visit.ask::<emails::ops::edit::Edit>(input).await {
                Ok(Done(emails::ops::edit::EmailEditResult::Operation(started))) => {
                    Ok(PageResponse::redirect(format!("{}?{EDITED}={}", visit.path, started.edit_id)))
                }
                Ok(Done(emails::ops::edit::EmailEditResult::Email(_))) => Ok(PageResponse::redirect(visit.path.clone())),
                Err(error) if is_shown(&error) => draw(visit, Some(error), None).await,
                Err(error) => Err(error),
            }
        }
        "save" => save(visit).await,
        act @ ("add" | "remove" | "accept") => settle(visit, act).await,
        act @ ("mark" | "unmark") => {
            visit.ask::<emails::ops::favorite::Favorite>(json!({ "emailId": id, "favorite": act == "mark" })).await?;
            Ok(PageResponse::redirect(visit.path.clone()))
        }
        _ => Err(PageError::unknown_action()),
    }
}

/// Saves the AI edit that the user previewed.
async fn save(visit: &Visit) -> Result<PageResponse, PageError> {
    let input = json!({ "emailId": visit.path_parameter("id"), "editId": visit.form.get(EDITED) });
    match visit.ask::<emails::ops::edit_save::EditSave>(input).await {
        Ok(_) => Ok(PageResponse::redirect(format!("{}?{EDITED}={}", visit.path, visit.form.get(EDITED)))),
        Err(error) if is_shown(&error) => draw(visit, Some(error), None).await,
        Err(error) => Err(error),
    }
}

/// Settles a warning: adds the missing text to the email, removes the text that must not be in it, or accepts the reported text as part of
/// the brief.
async fn settle(visit: &Visit, act: &str) -> Result<PageResponse, PageError> {
    let EmailDetails { email, .. } = email(visit).await?;
    let version = visit.form.get("version").parse::<u32>().map_err(|_| PageError::not_found())?;
    let index = visit.form.get("warning").parse::<usize>().map_err(|_| PageError::not_found())?;
    if version != email.version {
        let message = "The email has changed since you opened the page, so your action had no effect. The page now shows the current version.";
        return draw(visit, Some(PageError::plain(http::StatusCode::CONFLICT, message)), None).await;
    }
    // The version has not changed, so the index refers to the same warnings that the page showed.
    let Some(warning) = email.warnings.get(index) else { return Ok(PageResponse::redirect(visit.path.clone())) };
    let change = if act == "add" { &warning.add } else { &warning.remove };
    let settled = match (act, &warning.accept, change) {
        ("accept", Some(text), _) => {
            let input = json!({ "emailId": email.id, "text": text });
            visit.ask::<emails::ops::brief_add::BriefAdd>(input).await.map(drop)
        }
        ("add" | "remove", _, Some(change)) => {
            let input = json!({ "emailId": email.id, "operations": [change], "version": version });
            visit.ask::<emails::ops::document_update::DocumentUpdate>(input).await.map(drop)
        }
        _ => Ok(()),
    };
    match settled {
        Ok(()) => Ok(PageResponse::redirect(visit.path.clone())),
        Err(error) if is_shown(&error) => draw(visit, Some(error), None).await,
        Err(error) => Err(error),
    }
}

/// Returns the email for the preview frame, in which merge fields show their default values. If the query contains the ID of an edit,
/// returns the email with that unsaved edit.
pub async fn frame(visit: &Visit) -> Result<PageResponse, PageError> {
    if let Some(id) = visit.query.some(EDITED) {
        let previewed = EditId::parse(id).zip(visit.session.as_ref());
        let html =
            previewed.and_then(|(id, session)| visit.edit_previews.html(session.user.account.id, id)).ok_or_else(|| {
                let said = "This preview is no longer available. Preview the edit again.";
                PageError::plain(http::StatusCode::NOT_FOUND, said)
            })?;
        return Ok(PageResponse::Forwarded(untrusted_html::document(
            &html,
            "private, no-store",
            untrusted_html::Images::Here(visit.api.0.base_url()),
        )));
    }
    let dark = visit.query.some("dark").map(|dark| dark == "yes");
    let wanted = json!({ "emailId": visit.path_parameter("id"), "images": visit.wants_images(), "dark": dark });
    visit.forward::<emails::ops::html::Html>(wanted).await
}

pub async fn text(visit: &Visit) -> Result<PageResponse, PageError> {
    let EmailDetails { email, series, .. } = email(visit).await?;
    let head = EmailHead::new(&email, series, "text");
    Ok(PageResponse::draw(&TextPage { head, text: email.text }))
}

pub async fn versions(visit: &Visit) -> Result<PageResponse, PageError> {
    let EmailDetails { email, series, .. } = email(visit).await?;
    let wanted = json!({ "emailId": visit.path_parameter("id"), "limit": VERSIONS_PER_PAGE, "page": visit.page() });
    let found = visit.ask::<emails::ops::versions::Versions>(wanted).await?;
    let tile = |version: VersionView| {
        let (thumbnail, screenshot) =
            (own(visit, version.thumbnail_url.as_deref()), own(visit, version.screenshot_url.as_deref()));
        VersionTile::new(version, thumbnail, screenshot)
    };
    let context = VersionsPage {
        head: EmailHead::new(&email, series, "versions"),
        pagination: found.pagination(),
        versions: found.items.into_iter().map(tile).collect(),
    };
    Ok(PageResponse::draw(&context))
}

pub async fn send_version(visit: &Visit) -> Result<PageResponse, PageError> {
    let version = visit.form.get("version").parse::<u64>().map_err(|_| PageError::not_found())?;
    visit.ask::<emails::ops::restore::Restore>(json!({ "emailId": visit.path_parameter("id"), "version": version })).await?;
    Ok(PageResponse::redirect(format!("/{}/emails/{}?done=restored", visit.environment, visit.path_parameter("id"))))
}

pub async fn trial(visit: &Visit) -> Result<PageResponse, PageError> {
    draw_trial(visit, None).await
}

async fn draw_trial(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let EmailDetails { email, series, .. } = email(visit).await?;
    let own_address = visit.session.as_ref().map(|session| session.user.email.to_string()).unwrap_or_default();
    let project = visit.ask::<projects::ops::get::Get>(json!({ "projectId": email.project_id })).await.ok();
    let sender = project.and_then(|Done(project)| project.default_sender).map(|sender| (sender.from, sender.from_name));
    let (from, from_name) = match (&error, sender) {
        (None, Some((from, from_name))) => (from, from_name.unwrap_or_default()),
        _ => (visit.form.get("from").to_owned(), visit.form.get("from_name").to_owned()),
    };
    let context = TestPage {
        head: EmailHead::new(&email, series, "try"),
        to: visit.form.some("to").map_or(own_address, ToOwned::to_owned),
        from,
        from_name,
        is_live: visit.environment == Environment::Live,
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

pub async fn send_trial(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let input = json!({
        "emailId": visit.path_parameter("id"), "to": form.get("to"), "from": form.some("from"), "fromName": form.some("from_name"),
    });
    match visit.ask::<sending::ops::test::Test>(input).await {
        Ok(_) => Ok(PageResponse::redirect(format!("{}?done=sent", visit.path))),
        Err(error) if is_shown(&error) || error.status == http::StatusCode::UNPROCESSABLE_ENTITY => {
            draw_trial(visit, Some(error)).await
        }
        Err(error) => Err(error),
    }
}
