//! The parts of a brand, with one tab for each part: images, knowledge base, guidelines.

use data_encoding::BASE64;
use serde::Serialize;
use serde_json::json;

use super::brands::{BrandHead, picture_path, word};
use crate::engine::api::Done;
use crate::engine::api::page::Pagination;
use crate::engine::api::response::WireTime;
use crate::features::projects;
use crate::features::projects::views::{KnowledgeView, ProjectImageView, ProjectView};
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::ids::KnowledgeId;

/// The number of images on a page. The number is small because each image has its own form.
const IMAGES_PER_PAGE: u64 = 12;
const TEXTS_PER_PAGE: u64 = 20;
/// The maximum number of characters of an entry's text that the list shows.
const TEXT_CHARACTERS: usize = 240;

/// Returns the brand, and the header of the brand's page.
pub async fn prepare(visit: &Visit, tab: &'static str) -> Result<(ProjectView, BrandHead), PageError> {
    let Done(project) = visit.ask::<projects::ops::get::Get>(json!({ "projectId": visit.path_parameter("id") })).await?;
    let head = BrandHead::of(&project, tab);
    Ok((project, head))
}

#[derive(Serialize)]
pub struct ImagesPage {
    #[serde(flatten)]
    head: BrandHead,
    url: String,
    description: String,
    tags: String,
    images: Vec<ImageTile>,
    pagination: Pagination,
}

#[derive(Serialize)]
struct ImageTile {
    #[serde(flatten)]
    image: ProjectImageView,
    picture: String,
    form: ImageForm,
    /// Whether the form is open, because it shows an error.
    open: bool,
}

/// The description and the tags in an image's form.
#[derive(Serialize)]
struct ImageForm {
    description: String,
    tags: String,
}

impl ImageTile {
    fn new(image: ProjectImageView, picture: String) -> Self {
        let form = ImageForm { description: image.description.clone().unwrap_or_default(), tags: image.tags.join(", ") };
        Self { image, picture, form, open: false }
    }
}

page_context!(ImagesPage, "brand_images.html", {
    use crate::engine::api::Operation;

    let images = || projects::ops::images_list::ImagesList::example().1.items;
    let tile = |image: ProjectImageView| ImageTile::new(image, "/test/picture".into());
    let bare = |problem: Option<&str>| {
        let image = images().remove(0);
        let tile = tile(ProjectImageView { description: None, width: None, problem: problem.map(str::to_owned), ..image });
        ImageTile { open: problem.is_none(), ..tile }
    };
    let page = |images| Self {
        head: BrandHead::sample("images", "active"),
        url: String::new(),
        description: String::new(),
        tags: String::new(),
        images,
        pagination: Pagination::sample(),
    };
    let mut all: Vec<ImageTile> = images().into_iter().map(tile).collect();
    all.extend([bare(None), bare(Some("It is too large."))]);
    vec![page(all), page(Vec::new())]
});

#[derive(Serialize)]
pub struct KnowledgePage {
    #[serde(flatten)]
    head: BrandHead,
    /// The submitted title of the entry. It is not called `title`, which is the title of the page.
    name: String,
    content: String,
    entries: Vec<EntryTile>,
    pagination: Pagination,
}

#[derive(Serialize)]
struct EntryTile {
    id: KnowledgeId,
    title: String,
    content: String,
    date: WireTime,
    origin: &'static str,
    url: Option<String>,
    file: Option<String>,
}

page_context!(KnowledgePage, "brand_knowledge.html", {
    use crate::engine::api::Operation;

    let entries = || projects::ops::knowledge_list::KnowledgeList::example().1.items;
    let page = |entries: Vec<KnowledgeView>| Self {
        head: BrandHead::sample("knowledge", "active"),
        name: String::new(),
        content: String::new(),
        entries: entries.into_iter().map(tile).collect(),
        pagination: Pagination::sample(),
    };
    vec![page(entries()), page(Vec::new())]
});

#[derive(Serialize)]
pub struct EntryPage {
    #[serde(flatten)]
    head: BrandHead,
    name: String,
    content: String,
    from_site: bool,
    url: Option<String>,
}

page_context!(EntryPage, "brand_text.html", {
    let page = |from_site| Self {
        head: BrandHead::sample("knowledge", "active"),
        name: "Delivery".into(),
        content: "We deliver within two days.".into(),
        from_site,
        url: None,
    };
    vec![page(true), page(false)]
});

#[derive(Serialize)]
pub struct GuidelinesPage {
    #[serde(flatten)]
    head: BrandHead,
    #[serde(rename = "designRules")]
    design_rules: String,
    #[serde(rename = "imageStyle")]
    image_style: String,
}

page_context!(GuidelinesPage, "brand_guidelines.html", {
    vec![Self {
        head: BrandHead::sample("guidelines", "active"),
        design_rules: "Short sentences.".into(),
        image_style: String::new(),
    }]
});

/// Returns whether the page that contains the form shows the error; other errors are shown on the error page.
pub fn is_shown(error: &PageError) -> bool {
    matches!(error.status.as_u16(), 400 | 409 | 413)
}

/// Redirects to the page after a form is handled successfully. `word` selects the message that the page shows.
pub fn done(visit: &Visit, word: &str) -> PageResponse {
    PageResponse::redirect(format!("{}?done={word}", visit.path))
}

/// Like [`done`], but redirects to the list page that contained the form.
pub fn done_here(visit: &Visit, word: &str) -> PageResponse {
    match visit.page() {
        1 => done(visit, word),
        page => PageResponse::redirect(format!("{}?page={page}&done={word}", visit.path)),
    }
}

pub async fn images(visit: &Visit) -> Result<PageResponse, PageError> {
    draw_images(visit, None).await
}

async fn draw_images(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let id = visit.path_parameter("id");
    let (_, head) = prepare(visit, "images").await?;
    let input = json!({ "projectId": id, "limit": IMAGES_PER_PAGE, "page": visit.page() });
    let found = visit.ask::<projects::ops::images_list::ImagesList>(input).await?;
    // The page has a form for a new image and one for each existing image. The submitted values belong to only one of them.
    let is_new = visit.form.get("act") == "add";
    let sent = |name: &str| visit.form.get(name).to_owned();
    let tile = |image: ProjectImageView| {
        let tile = ImageTile::new(image, String::new());
        let open = error.is_some() && !is_new && tile.image.url == visit.form.get("image");
        let form = if open { ImageForm { description: sent("description"), tags: sent("tags") } } else { tile.form };
        ImageTile { picture: picture_path(visit, id, &tile.image.url), form, open, ..tile }
    };
    let new = |name: &str| if is_new { sent(name) } else { String::new() };
    let context = ImagesPage {
        head,
        url: new("url"),
        description: new("description"),
        tags: new("tags"),
        pagination: found.pagination(),
        images: found.items.into_iter().map(tile).collect(),
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

pub async fn send_images(visit: &Visit) -> Result<PageResponse, PageError> {
    let (id, form) = (visit.path_parameter("id"), &visit.form);
    let tags: Vec<&str> = form.get("tags").split(',').map(str::trim).filter(|tag| !tag.is_empty()).collect();
    // If the user enters no tags, image analysis adds tags.
    let given_tags = (!tags.is_empty()).then_some(&tags);
    let description = form.some("description");
    let (asked, word) = match (form.get("act"), form.file("file")) {
        ("add", Some(file)) => {
            let input = json!({
                "projectId": id, "file": BASE64.encode(&file.bytes), "description": description, "tags": given_tags,
            });
            (visit.ask::<projects::ops::images_upload::ImagesUpload>(input).await.map(drop), "added")
        }
        ("add", None) => {
            let input = json!({ "projectId": id, "url": form.get("url"), "description": description, "tags": given_tags });
            (visit.ask::<projects::ops::images_add::ImagesAdd>(input).await.map(drop), "added")
        }
        ("describe", _) => {
            let input = json!({
                "projectId": id, "imageUrl": form.get("image"), "description": description, "tags": given_tags,
            });
            (visit.ask::<projects::ops::images_update::ImagesUpdate>(input).await.map(drop), "described")
        }
        ("remove", _) => {
            let input = json!({ "projectId": id, "imageUrl": form.get("image") });
            (visit.ask::<projects::ops::images_remove::ImagesRemove>(input).await.map(drop), "removed")
        }
        _ => return Err(PageError::unknown_action()),
    };
    match asked {
        // The list starts with the newest image, so return to its first page.
        Ok(()) if word == "added" => Ok(done(visit, word)),
        Ok(()) => Ok(done_here(visit, word)),
        Err(error) if is_shown(&error) => draw_images(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

pub async fn knowledge(visit: &Visit) -> Result<PageResponse, PageError> {
    draw_knowledge(visit, None).await
}

async fn draw_knowledge(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let id = visit.path_parameter("id");
    let (_, head) = prepare(visit, "knowledge").await?;
    let input = json!({ "projectId": id, "limit": TEXTS_PER_PAGE, "page": visit.page() });
    let found = visit.ask::<projects::ops::knowledge_list::KnowledgeList>(input).await?;
    let context = KnowledgePage {
        head,
        name: visit.form.get("title").to_owned(),
        content: visit.form.get("content").to_owned(),
        pagination: found.pagination(),
        entries: found.items.into_iter().map(tile).collect(),
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

fn tile(entry: KnowledgeView) -> EntryTile {
    // The excerpt omits the `#` of Markdown headings.
    let content = entry.content.replace("# ", "").replace('#', "");
    let short: String = content.chars().take(TEXT_CHARACTERS).collect();
    let more = if short.len() < content.len() { "…" } else { "" };
    EntryTile {
        id: entry.id,
        title: entry.title,
        content: format!("{short}{more}"),
        date: entry.date,
        origin: origin(&word(&entry.reference_origin)),
        url: entry.url,
        file: entry.source_file_name,
    }
}

fn origin(word: &str) -> &'static str {
    match word {
        "website" => "from the website",
        "favorite" => "from a favorite email",
        "upload" => "from a file",
        _ => "added manually",
    }
}

pub async fn send_knowledge(visit: &Visit) -> Result<PageResponse, PageError> {
    let (id, form) = (visit.path_parameter("id"), &visit.form);
    let (asked, word) = match form.get("act") {
        "add" => (add_text(visit, id).await, "added"),
        "remove" => {
            let input = json!({ "projectId": id, "entryId": form.get("entry") });
            (visit.ask::<projects::ops::knowledge_remove::KnowledgeRemove>(input).await.map(drop), "removed")
        }
        _ => return Err(PageError::unknown_action()),
    };
    match asked {
        // The list starts with the newest entry, so return to its first page.
        Ok(()) if word == "added" => Ok(done(visit, word)),
        Ok(()) => Ok(done_here(visit, word)),
        Err(error) if is_shown(&error) => draw_knowledge(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// Adds a knowledge base entry with the text from the form or from an uploaded file.
async fn add_text(visit: &Visit, id: &str) -> Result<(), PageError> {
    let form = &visit.form;
    let Some(file) = form.file("file") else {
        let input = json!({ "projectId": id, "title": form.get("title"), "content": form.get("content") });
        return visit.ask::<projects::ops::knowledge_add::KnowledgeAdd>(input).await.map(drop);
    };
    let not_text = || PageError {
        field: "file".into(),
        ..PageError::plain(
            http::StatusCode::BAD_REQUEST,
            "The file isn't plain text (UTF-8). Save it as a .txt or .md file in UTF-8.",
        )
    };
    let content = std::str::from_utf8(&file.bytes).map_err(|_| not_text())?;
    let title = form.some("title").unwrap_or(&file.name);
    let input = json!({
        "projectId": id, "title": title, "content": content, "sourceFileName": file.name, "referenceOrigin": "upload",
    });
    visit.ask::<projects::ops::knowledge_add::KnowledgeAdd>(input).await.map(drop)
}

pub async fn entry(visit: &Visit) -> Result<PageResponse, PageError> {
    draw_entry(visit, None).await
}

async fn draw_entry(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let wanted = json!({ "projectId": visit.path_parameter("id"), "entryId": visit.path_parameter("entry") });
    let Done(entry) = visit.ask::<projects::ops::knowledge_get::KnowledgeGet>(wanted).await?;
    let (_, head) = prepare(visit, "knowledge").await?;
    let kept = |field: &str, own: String| if error.is_some() { visit.form.get(field).to_owned() } else { own };
    let context = EntryPage {
        head,
        name: kept("title", entry.title),
        content: kept("content", entry.content),
        from_site: word(&entry.reference_origin) == "website",
        url: entry.url,
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

pub async fn send_entry(visit: &Visit) -> Result<PageResponse, PageError> {
    let input = json!({
        "projectId": visit.path_parameter("id"), "entryId": visit.path_parameter("entry"), "title": visit.form.get("title"),
        "content": visit.form.get("content"),
    });
    match visit.ask::<projects::ops::knowledge_update::KnowledgeUpdate>(input).await {
        Ok(_) => Ok(PageResponse::redirect(format!(
            "/{}/brands/{}/knowledge?done=changed",
            visit.environment,
            visit.path_parameter("id")
        ))),
        Err(error) if is_shown(&error) => draw_entry(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

pub async fn guidelines(visit: &Visit) -> Result<PageResponse, PageError> {
    draw_guidelines(visit, None).await
}

async fn draw_guidelines(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let (project, head) = prepare(visit, "guidelines").await?;
    let known = project.brand.unwrap_or_default().guidelines;
    let kept = |field: &str, own: Option<String>| match error {
        Some(_) => visit.form.get(field).to_owned(),
        None => own.unwrap_or_default(),
    };
    let context = GuidelinesPage {
        head,
        design_rules: kept("designRules", known.design_rules),
        image_style: kept("imageStyle", known.image_style),
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

pub async fn send_guidelines(visit: &Visit) -> Result<PageResponse, PageError> {
    let input = json!({
        "projectId": visit.path_parameter("id"), "designRules": visit.form.get("designRules"), "imageStyle": visit.form.get("imageStyle"),
    });
    match visit.ask::<projects::ops::guidelines_update::GuidelinesUpdate>(input).await {
        Ok(_) => Ok(done(visit, "kept")),
        Err(error) if is_shown(&error) => draw_guidelines(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}
