//! Pages about emails: the list, the forms that generate or import emails, and the emails of one generation request side by side.

pub mod brief;

use serde::Serialize;
use serde_json::{Value, json};

use super::brands::word;
use crate::engine::api::page::Pagination;
use crate::engine::api::{Created, Done};
use crate::features::emails::ops::generate::AcceptedGeneration;
use crate::features::emails::views::{ConversationView, EmailView, GenerationStatus};
use crate::features::{emails, projects};
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::ids::{ConversationId, EmailId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

/// The form's value for the built-in composer, which writes emails without a language model.
const COMPOSER: &str = "composer";
const CONVERSATIONS_PER_PAGE: u64 = 24;
/// The number of recent favorite emails that the user can choose as a reference.
const PATTERNS: u64 = 50;

#[derive(Serialize)]
pub struct EmailsPage {
    brands: Vec<BrandChoice>,
    brand: String,
    search: String,
    status: String,
    favorite: bool,
    is_filtered: bool,
    conversations: Vec<ConversationTile>,
    pagination: Option<Pagination>,
    pages_base: String,
}

#[derive(Serialize)]
pub struct BrandChoice {
    pub id: ProjectId,
    pub name: String,
    pub status: String,
    pub chosen: bool,
}

impl BrandChoice {
    #[cfg(test)]
    fn samples() -> Vec<Self> {
        let brand = |status: &str, chosen| Self {
            id: ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("an ID has 24 hexadecimal characters"),
            name: "Acme".into(),
            status: status.into(),
            chosen,
        };
        vec![brand("active", true), brand("processing", false)]
    }
}

#[derive(Serialize)]
struct ConversationTile {
    #[serde(flatten)]
    conversation: ConversationView,
    thumbnail: Option<String>,
}

page_context!(EmailsPage, "emails.html", {
    use crate::engine::api::Operation;

    let one = || emails::ops::list::List::example().1.items.remove(0);
    let tile = |conversation, thumbnail: Option<&str>| ConversationTile { conversation, thumbnail: thumbnail.map(str::to_owned) };
    let page = |conversations, is_filtered| Self {
        brands: BrandChoice::samples(),
        brand: "66f1a2b3d4e5f60718293a4b".into(),
        search: String::new(),
        status: "failed".into(),
        favorite: is_filtered,
        is_filtered,
        conversations,
        pagination: Some(Pagination::sample()),
        pages_base: "?".into(),
    };
    let single = ConversationView { email_count: 1, favorite: true, status: "processing", ..one() };
    let series = ConversationView { email_count: 3, subject: None, ..one() };
    vec![
        page(vec![tile(single, Some("/v1/files/a.png")), tile(series, None)], false),
        page(Vec::new(), true),
        page(Vec::new(), false),
        Self { brands: Vec::new(), brand: String::new(), pagination: None, ..page(Vec::new(), false) },
    ]
});

pub async fn list(visit: &Visit) -> Result<PageResponse, PageError> {
    let (brands, brand) = brands(visit, visit.query.get("brand")).await?;
    let query = &visit.query;
    let favorite = query.some("favorite").is_some();
    let (found, pagination) = match brand.is_empty() {
        true => (Vec::new(), None),
        false => {
            let wanted = json!({
                "projectId": brand, "search": query.some("search"), "status": query.some("status"), "favorite": favorite,
                "limit": CONVERSATIONS_PER_PAGE, "page": visit.page(),
            });
            let found = visit.ask::<emails::ops::list::List>(wanted).await?;
            let pagination = found.pagination();
            (found.items, Some(pagination))
        }
    };
    let tile = |conversation: ConversationView| ConversationTile {
        thumbnail: own(visit, conversation.thumbnail_url.as_deref()),
        conversation,
    };
    let filters = [("brand", brand.as_str()), ("search", query.get("search")), ("status", query.get("status"))];
    let mut kept: Vec<(&str, &str)> = filters.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    if favorite {
        kept.push(("favorite", "1"));
    }
    let pages_base = format!("?{}&", serde_urlencoded::to_string(kept).unwrap_or_default());
    let context = EmailsPage {
        brands,
        brand,
        search: query.get("search").to_owned(),
        status: query.get("status").to_owned(),
        favorite,
        is_filtered: favorite || query.some("search").is_some() || query.some("status").is_some(),
        conversations: found.into_iter().map(tile).collect(),
        pagination,
        pages_base,
    };
    Ok(PageResponse::draw(&context))
}

/// Returns the brands with the selected one marked, and the ID of the selected brand. If `wanted` is empty, the newest active brand is
/// selected, or the newest brand if none is active.
pub async fn brands(visit: &Visit, wanted: &str) -> Result<(Vec<BrandChoice>, String), PageError> {
    let mut all = visit.ask::<projects::ops::list::List>(json!({ "limit": limits::PAGE_LIMIT_MAX })).await?.items;
    if !wanted.is_empty() && !all.iter().any(|brand| brand.id.to_string() == wanted) {
        // The requested brand is not listed, so it is older than the listed brands, or it does not exist and `projects.get` fails.
        let Done(older) = visit.ask::<projects::ops::get::Get>(json!({ "projectId": wanted })).await?;
        all.push(older);
    }
    let mut brands: Vec<BrandChoice> = all
        .into_iter()
        .map(|brand| BrandChoice { id: brand.id, name: brand.name, status: word(&brand.status), chosen: false })
        .collect();
    let usable = brands.iter().find(|brand| brand.status == "active").or(brands.first());
    let chosen = match wanted {
        "" => usable.map(|brand| brand.id.to_string()).unwrap_or_default(),
        wanted => wanted.to_owned(),
    };
    for brand in &mut brands {
        brand.chosen = brand.id.to_string() == chosen;
    }
    Ok((brands, chosen))
}

/// Returns the path of a link to a file of this service; `None` for other links. The host is omitted, because the browser may use a host
/// other than the configured one, and pages load no files from other hosts.
pub fn own(visit: &Visit, link: Option<&str>) -> Option<String> {
    let path = link?.strip_prefix(visit.api.0.base_url())?;
    path.starts_with('/').then(|| path.to_owned())
}

/// The data that the forms for generating and importing emails share.
#[derive(Serialize)]
pub struct EmailForm {
    brands: Vec<BrandChoice>,
    pub brand: String,
}

impl EmailForm {
    #[cfg(test)]
    pub fn sample() -> Self {
        Self { brands: BrandChoice::samples(), brand: "66f1a2b3d4e5f60718293a4b".into() }
    }
}

#[derive(Serialize)]
pub struct NewEmailPage {
    #[serde(flatten)]
    form: EmailForm,
    prompt: String,
    count: String,
    languages: String,
    images: String,
    reference: String,
    visibility: String,
    model: String,
    no_web: bool,
    /// The favorite emails that the user can choose as a reference.
    patterns: Vec<ConversationView>,
    count_max: usize,
    prompt_max: usize,
    /// The names of the language models that can write emails, followed by the composer's; empty if no language model is configured.
    models: Vec<String>,
    default_model: String,
}

page_context!(NewEmailPage, "email_new.html", {
    use crate::engine::api::Operation;

    let page = || Self {
        form: EmailForm::sample(),
        prompt: "Welcome email".into(),
        count: "2".into(),
        languages: "en, de".into(),
        images: String::new(),
        reference: String::new(),
        visibility: "private".into(),
        model: "composer".into(),
        no_web: true,
        patterns: emails::ops::list::List::example().1.items,
        count_max: 10,
        prompt_max: 4_000,
        models: vec!["fast".into(), "composer".into()],
        default_model: "fast".into(),
    };
    let none = EmailForm { brands: Vec::new(), ..EmailForm::sample() };
    vec![
        page(),
        Self { prompt: String::new(), patterns: Vec::new(), models: Vec::new(), ..page() },
        Self { form: none, ..page() },
    ]
});

#[derive(Serialize)]
pub struct ImportEmailPage {
    #[serde(flatten)]
    form: EmailForm,
    source: String,
    name: String,
    instruction: String,
}

page_context!(ImportEmailPage, "email_import.html", {
    let page = |form| Self { form, source: "<p>Hello</p>".into(), name: String::new(), instruction: String::new() };
    let none = EmailForm { brands: Vec::new(), ..EmailForm::sample() };
    vec![page(EmailForm::sample()), page(none)]
});

#[derive(Serialize)]
pub struct SeriesPage {
    title: String,
    conversation: ConversationId,
    brand: ProjectId,
    prompt: String,
    status: &'static str,
    running: bool,
    failure: Option<String>,
    percentage: u8,
    stage: &'static str,
    step: usize,
    steps: usize,
    emails: Vec<EmailTile>,
    languages: usize,
}

#[derive(Serialize)]
struct EmailTile {
    id: EmailId,
    slot: u8,
    language: String,
    status: &'static str,
    subject: String,
    preheader: String,
    error: Option<String>,
    favorite: bool,
    days: Option<i32>,
    /// The email's purpose in the series plan.
    purpose: Option<String>,
    screenshot: Option<String>,
}

impl EmailTile {
    fn new(email: EmailView, purpose: Option<String>, screenshot: Option<String>) -> Self {
        Self {
            id: email.id,
            slot: email.slot,
            language: email.language,
            status: email.status,
            subject: email.subject,
            preheader: email.preheader,
            error: email.error,
            favorite: email.favorite,
            days: email.send_offset_days,
            purpose,
            screenshot,
        }
    }
}

impl SeriesPage {
    fn new(status: GenerationStatus, emails: Vec<EmailTile>, languages: usize) -> Self {
        Self {
            title: if status.title.is_empty() { "Emails".to_owned() } else { status.title },
            conversation: status.conversation_id,
            brand: status.project_id,
            prompt: status.prompt,
            status: status.status,
            running: matches!(status.status, "pending" | "processing"),
            failure: status.error,
            percentage: status.progress.percentage,
            stage: stage_words(status.progress.stage),
            step: status.progress.step,
            steps: status.progress.steps,
            emails,
            languages,
        }
    }
}

page_context!(SeriesPage, "email_series.html", {
    use crate::engine::api::Operation;

    let status = || emails::ops::status::Status::example().1.0;
    let email = EmailView::sample;
    let full = EmailTile::new(
        EmailView { send_offset_days: Some(2), favorite: true, ..email() },
        Some("Says hello".into()),
        Some("/v1/files/a.png".into()),
    );
    let waiting = EmailTile::new(EmailView { status: "processing", subject: String::new(), ..email() }, None, None);
    let failed = EmailTile::new(EmailView { error: Some("The model refused.".into()), ..email() }, None, None);
    vec![
        Self::new(status(), Vec::new(), 0),
        Self::new(GenerationStatus { status: "completed", ..status() }, vec![full, waiting], 2),
        Self::new(GenerationStatus { status: "failed", ..status() }, vec![failed], 1),
    ]
});

pub async fn new(visit: &Visit) -> Result<PageResponse, PageError> {
    visit.need(Permission::EmailWrite)?;
    draw_new(visit, None).await
}

async fn draw_new(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let form = prepare(visit).await?;
    let (sent, asked) = (&visit.form, &visit.query);
    let (mut prompt, mut reference) = (sent.get("prompt").to_owned(), sent.get("reference").to_owned());
    if error.is_none() {
        (prompt, reference) = (asked.get("prompt").to_owned(), asked.get("reference").to_owned());
        // The prompt of an existing request prefills the form.
        if let Some(from) = asked.some("from") {
            let Done(before) = visit.ask::<emails::ops::status::Status>(json!({ "conversationId": from })).await?;
            prompt = before.prompt;
        }
    }
    let patterns = match form.brand.is_empty() {
        true => Vec::new(),
        false => {
            let wanted = json!({ "projectId": form.brand, "favorite": true, "limit": PATTERNS });
            visit.ask::<emails::ops::list::List>(wanted).await?.items
        }
    };
    let models = &visit.api.0.models;
    let names: Vec<String> = models.names().into_iter().map(str::to_owned).collect();
    let context = NewEmailPage {
        form,
        prompt,
        count: sent.get("count").to_owned(),
        languages: sent.get("languages").to_owned(),
        images: sent.get("images").to_owned(),
        reference,
        visibility: sent.get("visibility").to_owned(),
        model: sent.get("model").to_owned(),
        no_web: sent.some("no-web").is_some(),
        patterns,
        count_max: limits::EMAILS_PER_SERIES_MAX,
        prompt_max: limits::PROMPT_CHARACTERS_MAX,
        models: if names.len() > 1 { names } else { Vec::new() },
        default_model: models.default_name().to_owned(),
    };
    Ok(PageResponse::draw_with(&context, error.map(in_form).as_ref()))
}

/// Returns the data that the forms for generating and importing emails share.
pub async fn prepare(visit: &Visit) -> Result<EmailForm, PageError> {
    let wanted = visit.form.some("brand").unwrap_or(visit.query.get("brand"));
    let (brands, brand) = brands(visit, wanted).await?;
    Ok(EmailForm { brands, brand })
}

/// Replaces the API's field name in an error with the name of the form field. The form has one field for a whole list or object, so the
/// path of an item within the list or object is removed.
fn in_form(error: PageError) -> PageError {
    let field = match error.field.split(['[', '.']).next().unwrap_or_default() {
        "referenceId" => "reference",
        "html" | "htmls" => "source",
        other => other,
    };
    PageError { field: field.to_owned(), ..error }
}

/// Shows the brief of the prompt for review, or starts the generation.
pub async fn send_new(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    if form.get("act") == "review" {
        return match brief::review(visit, None).await {
            Err(error) if is_shown(&error) => draw_new(visit, Some(error)).await,
            other => other,
        };
    }
    let brief = brief::sent(visit).await?;
    let images = form.get("images").split_whitespace().map(|url| json!({ "source": { "type": "url", "url": url } }));
    let input = json!({
        "projectId": form.get("brand"),
        "prompt": form.get("prompt"),
        "brief": brief,
        "count": form.some("count").map(|count| count.parse::<u64>().map_or_else(|_| count.into(), Value::from)),
        "languages": parts(form.get("languages")),
        "images": images.collect::<Vec<_>>(),
        "referenceId": form.some("reference"),
        "visibility": form.some("visibility").unwrap_or("private"),
        "model": form.some("model"),
        "webMode": form.some("no-web").is_none(),
    });
    match visit.ask::<emails::ops::generate::Generate>(input).await {
        Ok(Created(accepted)) => Ok(to_series(visit, &accepted)),
        // The operation responds "not found" if the reference is not a favorite of the chosen brand.
        Err(error) if error.status == http::StatusCode::NOT_FOUND && form.some("reference").is_some() => {
            let message =
                "This favorite was deleted or belongs to a different brand. Choose one of the selected brand's favorites."
                    .to_owned();
            draw_new(visit, Some(PageError { field: "reference".into(), message, ..error })).await
        }
        // The brief's page keeps the user's corrections, which the form for new emails would lose.
        Err(error) if is_shown(&error) && error.field.starts_with("brief") => brief::review(visit, Some(&error)).await,
        Err(error) if is_shown(&error) => draw_new(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

fn to_series(visit: &Visit, accepted: &AcceptedGeneration) -> PageResponse {
    let id = accepted.conversation_id;
    PageResponse::redirect(format!("/{}/emails/series/{id}", visit.environment))
}

fn is_shown(error: &PageError) -> bool {
    matches!(error.status.as_u16(), 400 | 409 | 413)
}

/// Splits the text at commas, semicolons and spaces; skips empty parts.
fn parts(text: &str) -> Vec<&str> {
    text.split([',', ' ', ';']).filter(|part| !part.is_empty()).collect()
}

pub async fn import(visit: &Visit) -> Result<PageResponse, PageError> {
    visit.need(Permission::EmailWrite)?;
    draw_import(visit, None).await
}

async fn draw_import(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let context = ImportEmailPage {
        form: prepare(visit).await?,
        source: visit.form.get("source").to_owned(),
        name: visit.form.get("name").to_owned(),
        instruction: visit.form.get("instruction").to_owned(),
    };
    Ok(PageResponse::draw_with(&context, error.map(in_form).as_ref()))
}

pub async fn send_import(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let (name, source) = match form.file("file") {
        Some(file) => (form.some("name").unwrap_or(&file.name), String::from_utf8_lossy(&file.bytes).into_owned()),
        None => (form.get("name"), form.get("source").to_owned()),
    };
    if source.trim().is_empty() {
        let message = match form.file("file") {
            Some(_) => "The file is empty. Choose another file, or paste the email's HTML.",
            None => "Choose a file, or paste the email's HTML.",
        };
        let nothing = PageError::plain(http::StatusCode::BAD_REQUEST, message);
        return draw_import(visit, Some(PageError { field: "html".into(), ..nothing })).await;
    }
    let input = json!({
        "projectId": form.get("brand"), "htmls": [{ "name": name, "source": source }], "instruction": form.some("instruction"),
    });
    match visit.ask::<emails::ops::import_html::ImportHtml>(input).await {
        Ok(Created(accepted)) => Ok(to_series(visit, &accepted)),
        Err(error) if is_shown(&error) => draw_import(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// Shows the emails of one generation request: the progress while it runs, then all emails side by side.
pub async fn series(visit: &Visit) -> Result<PageResponse, PageError> {
    let wanted = json!({ "conversationId": visit.path_parameter("conversation") });
    let Done(mut status) = visit.ask::<emails::ops::status::Status>(wanted).await?;
    let result = status.result.take();
    // A request for a single email redirects to the page of that email.
    if let (Some([email]), "completed") = (result.as_ref().map(|result| result.emails.as_slice()), status.status) {
        return Ok(PageResponse::redirect(format!("/{}/emails/{}", visit.environment, email.id)));
    }
    let (found, plan, languages) =
        result.map_or((Vec::new(), None, 0), |result| (result.emails, result.series_plan, result.languages.len()));
    // The page omits the purposes in the composer's plan, because they are internal identifiers.
    let slots = plan.filter(|_| status.model != COMPOSER).map(|plan| plan.slots).unwrap_or_default();
    let tile = |email: EmailView| {
        let planned = slots.iter().find(|planned| planned.slot_idx == usize::from(email.slot_idx));
        let screenshot = own(visit, email.screenshot_url.as_deref());
        EmailTile::new(email, planned.map(|planned| planned.purpose.clone()), screenshot)
    };
    let tiles = found.into_iter().map(tile).collect();
    Ok(PageResponse::draw(&SeriesPage::new(status, tiles, languages)))
}

fn stage_words(stage: &str) -> &'static str {
    match stage {
        "waiting" => "Planning the emails, or waiting for earlier emails or the brand import to finish",
        "writing" => "Writing the emails",
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
