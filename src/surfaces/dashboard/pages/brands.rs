//! Pages about brands: the list, the import of a website with its progress, and the brand's overview.

use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::page::Pagination;
use crate::engine::api::{Created, Done};
use crate::features::projects;
use crate::features::projects::brand::{Brand, BrandPalette, BrandSocialLink};
use crate::features::projects::importing::ImportMetrics;
use crate::features::projects::views::ProjectView;
use crate::surfaces::dashboard::page::spec;
use crate::surfaces::dashboard::template::{self, page_context};
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;

/// The number of brands on one page of the list. It is small because the page loads several images for each brand through this service.
const BRANDS_PER_PAGE: u64 = 18;
/// The maximum number of products, and likewise of images, that a brand's overview shows.
const GLIMPSES: usize = 8;

#[derive(Serialize)]
pub struct BrandsPage {
    brands: Vec<BrandCard>,
    pagination: Pagination,
}

#[derive(Serialize)]
struct BrandCard {
    #[serde(flatten)]
    brand: BrandTitle,
    description: Option<String>,
    logo: Option<String>,
    palette: Vec<Swatch>,
}

/// A color of a brand, with its role and label.
#[derive(Debug, PartialEq, Serialize)]
pub struct Swatch {
    pub role: &'static str,
    pub label: &'static str,
    pub color: String,
}

#[derive(Serialize)]
pub struct FontSample {
    label: &'static str,
    stack: String,
    first: String,
}

page_context!(BrandsPage, "brands.html", {
    let colors = BrandPalette { primary: Some("#1F6B52".into()), ..BrandPalette::default() };
    let card = |status: &str, logo: Option<&str>| BrandCard {
        brand: BrandTitle::sample(status),
        description: logo.map(str::to_owned),
        logo: logo.map(str::to_owned),
        palette: palette(&colors),
    };
    let page = |brands| Self { brands, pagination: Pagination::sample() };
    vec![page(vec![card("active", Some("/test/picture")), card("processing", None)]), page(Vec::new())]
});

#[derive(Serialize)]
pub struct NewBrandPage {
    urls: String,
    name: String,
    about: String,
    /// The brand that an earlier import created from this website, if any.
    known: Option<KnownBrand>,
}

#[derive(Serialize)]
struct KnownBrand {
    id: String,
    name: String,
}

page_context!(NewBrandPage, "brand_new.html", {
    let page = |known| Self { urls: "https://acme.example".into(), name: String::new(), about: String::new(), known };
    vec![page(None), page(Some(KnownBrand { id: "66f1a2b3d4e5f60718293a4b".into(), name: "Acme".into() }))]
});

/// The header that all pages about a brand share.
#[derive(Serialize)]
pub struct BrandHead {
    brand: BrandTitle,
    tab: &'static str,
}

#[derive(Serialize)]
struct BrandTitle {
    id: String,
    name: String,
    domain: String,
    status: String,
}

impl BrandTitle {
    fn of(project: &ProjectView) -> Self {
        Self {
            id: project.id.to_string(),
            name: project.name.clone(),
            domain: project.domain.clone(),
            status: word(&project.status),
        }
    }

    #[cfg(test)]
    fn sample(status: &str) -> Self {
        Self { id: "66f1a2b3d4e5f60718293a4b".into(), name: "Acme".into(), domain: "acme.example".into(), status: status.into() }
    }
}

impl BrandHead {
    pub fn of(project: &ProjectView, tab: &'static str) -> Self {
        Self { brand: BrandTitle::of(project), tab }
    }

    #[cfg(test)]
    pub fn sample(tab: &'static str, status: &str) -> Self {
        Self { brand: BrandTitle::sample(status), tab }
    }
}

/// The data of a brand's page, which shows the progress of the import or, after the import, the overview.
#[derive(Serialize)]
pub struct BrandPage {
    #[serde(flatten)]
    head: BrandHead,
    running: bool,
    import: ImportState,
    urls: Vec<String>,
    about: About,
    palette: Vec<Swatch>,
    fonts: Vec<FontSample>,
    products: Vec<ProductGlimpse>,
    images: Vec<ImageGlimpse>,
    social: Vec<BrandSocialLink>,
    missing: Missing,
    /// The number of changes found on the brand's website that the user has not accepted or rejected yet.
    changes: usize,
}

#[derive(Serialize)]
struct ImportState {
    error: Option<String>,
    percentage: u8,
    stages: Vec<ImportStage>,
    metrics: ImportMetrics,
}

#[derive(Serialize)]
struct ImportStage {
    label: &'static str,
    state: &'static str,
}

#[derive(Serialize)]
struct About {
    tagline: Option<String>,
    description: Option<String>,
    languages: Vec<String>,
    facts: Vec<Fact>,
}

#[derive(Serialize)]
struct Fact {
    label: &'static str,
    text: String,
}

#[derive(Serialize)]
struct ProductGlimpse {
    name: String,
    price: Option<String>,
    #[serde(rename = "priceBefore")]
    price_before: Option<String>,
    currency: Option<String>,
    picture: Option<String>,
}

#[derive(Serialize)]
struct ImageGlimpse {
    description: String,
    picture: String,
}

#[derive(Serialize)]
struct Missing {
    address: bool,
    others: Vec<MissingPart>,
}

#[derive(Serialize)]
struct MissingPart {
    label: &'static str,
    path: &'static str,
}

page_context!(BrandPage, "brand_overview.html", {
    use crate::engine::api::Operation;

    let metrics = || projects::ops::import_status::ImportStatus::example().1.0.import_metrics;
    let page = |status: &str, running| Self {
        head: BrandHead::sample("overview", status),
        running,
        import: ImportState { error: None, percentage: 40, stages: stages("reading"), metrics: metrics() },
        urls: vec!["https://acme.example/".into()],
        about: About {
            tagline: Some("Good tea".into()),
            description: Some("A tea shop.".into()),
            languages: vec!["en".into()],
            facts: vec![Fact { label: "Company", text: "Acme Ltd".into() }],
        },
        palette: vec![Swatch { role: "primary", label: "Primary", color: "#1F6B52".into() }],
        fonts: vec![FontSample { label: "Text", stack: "Lora, serif".into(), first: "Lora".into() }],
        products: vec![ProductGlimpse {
            name: "Tea".into(),
            price: Some("7.5".into()),
            price_before: None,
            currency: None,
            picture: None,
        }],
        images: vec![ImageGlimpse { description: "Tea".into(), picture: "/test/picture".into() }],
        social: vec![BrandSocialLink { network: "Mastodon".into(), url: "https://social.example/acme".into() }],
        missing: missing(&Brand::default()),
        changes: 2,
    };
    let bare = Self {
        about: About { tagline: None, description: None, languages: Vec::new(), facts: Vec::new() },
        palette: Vec::new(),
        products: Vec::new(),
        images: Vec::new(),
        ..page("active", false)
    };
    vec![page("processing", true), page("error", false), page("active", false), bare]
});

pub async fn list(visit: &Visit) -> Result<PageResponse, PageError> {
    // `projects.list` returns brand names even to users who may not read brands, so this page requires the permission for `projects.get`.
    if !visit.may_ask(spec::<projects::ops::get::Get>()) {
        return Err(PageError::not_allowed());
    }
    let input = json!({ "limit": BRANDS_PER_PAGE, "page": visit.page() });
    let found = visit.ask::<projects::ops::list::List>(input).await?;
    let context =
        BrandsPage { pagination: found.pagination(), brands: found.items.into_iter().map(|brand| card(visit, brand)).collect() };
    Ok(PageResponse::draw(&context))
}

fn card(visit: &Visit, brand: ProjectView) -> BrandCard {
    let title = BrandTitle::of(&brand);
    let logos = brand.logo_urls.map(|logos| [logos.primary.0, logos.favicon.0]);
    let logo = logos.and_then(|logos| logos.into_iter().flatten().next());
    BrandCard {
        logo: logo.map(|url| picture_path(visit, &title.id, &url)),
        brand: title,
        description: brand.description,
        palette: palette(&brand.palette.unwrap_or_default()),
    }
}

/// Returns the name of an enum variant as serialized in the API; empty if the value is not serialized as a string.
pub fn word(value: &impl Serialize) -> String {
    template::context(value).as_str().unwrap_or_default().to_owned()
}

/// Returns the items of a JSON array; empty if the value is not an array.
pub fn rows(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// Returns the brand's colors with their labels. Colors that are absent or not in the form `#rrggbb` are omitted.
pub fn palette(palette: &BrandPalette) -> Vec<Swatch> {
    let roles = [
        ("primary", "Primary", &palette.primary),
        ("accent", "Accent", &palette.accent),
        ("button", "Button", &palette.button),
        ("buttonText", "Button text", &palette.button_text),
        ("background", "Background", &palette.background),
        ("text", "Text", &palette.text),
    ];
    let is_color =
        |text: &&String| text.len() == 7 && text.starts_with('#') && text[1..].bytes().all(|byte| byte.is_ascii_hexdigit());
    let swatch = |(role, label, color): (_, _, &Option<String>)| {
        Some(Swatch { role, label, color: color.as_ref().filter(is_color)?.clone() })
    };
    roles.into_iter().filter_map(swatch).collect()
}

/// Returns the URL path for the thumbnail of a brand image.
pub fn picture_path(visit: &Visit, brand: &str, url: &str) -> String {
    let query = serde_urlencoded::to_string([("of", url)]).unwrap_or_default();
    format!("/{}/brands/{brand}/picture?{query}", visit.environment)
}

/// Serves the thumbnail of a brand's image.
pub async fn picture(visit: &Visit) -> Result<PageResponse, PageError> {
    let wanted = json!({ "projectId": visit.path_parameter("id"), "imageUrl": visit.query.get("of") });
    visit.forward::<projects::ops::image_preview::ImagePreview>(wanted).await
}

pub async fn new(visit: &Visit) -> Result<PageResponse, PageError> {
    visit.need(Permission::ProjectWrite)?;
    Ok(form(visit, None))
}

fn form(visit: &Visit, error: Option<PageError>) -> PageResponse {
    let sent = |name: &str| visit.form.get(name).to_owned();
    let known = error.as_ref().filter(|error| error.code == Some(Code::BrandExists)).and_then(|error| {
        let data = error.data.as_ref()?;
        Some(KnownBrand { id: data["projectId"].as_str()?.to_owned(), name: data["name"].as_str()?.to_owned() })
    });
    // The page of a failed import passes the import's URLs in the query, so that the user can correct them.
    let urls = visit.form.some("urls").unwrap_or_else(|| visit.query.get("urls")).to_owned();
    let context = NewBrandPage { urls, name: sent("name"), about: sent("about"), known };
    PageResponse::draw_with(&context, error.as_ref())
}

/// Imports a brand from the website addresses in the submitted form.
pub async fn send_new(visit: &Visit) -> Result<PageResponse, PageError> {
    let urls: Vec<String> = visit.form.get("urls").split_whitespace().map(in_full).collect();
    let input = json!({ "urls": urls, "name": visit.form.some("name") });
    let made = match visit.ask::<projects::ops::import::Import>(input).await {
        Ok(Created(made)) => made,
        Err(error) if matches!(error.status.as_u16(), 400 | 409) => return Ok(form(visit, Some(error))),
        Err(error) => return Err(error),
    };
    Ok(imported(visit, &made.project_id.to_string()).await)
}

/// Adds the submitted text about the brand to the brand's knowledge base, and redirects to the brand's page. Redirects even if the text
/// could not be added: the import has already started, and showing the form again could lead to a second import.
async fn imported(visit: &Visit, id: &str) -> PageResponse {
    let home = format!("/{}/brands/{id}", visit.environment);
    let Some(about) = visit.form.some("about") else { return PageResponse::redirect(home) };
    let text = json!({ "projectId": id, "title": "About the brand", "content": about });
    match visit.ask::<projects::ops::knowledge_add::KnowledgeAdd>(text).await {
        Ok(_) => PageResponse::redirect(home),
        Err(_) => PageResponse::redirect(format!("{home}?done=without-text")),
    }
}

/// Adds `https://` to an address without a URL scheme, because users often omit the scheme.
pub fn in_full(address: &str) -> String {
    let address = address.trim_matches(',');
    if address.contains("://") { address.to_owned() } else { format!("https://{address}") }
}

/// Shows a brand: the progress of the import, or the overview.
pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let id = visit.path_parameter("id");
    let Done(import) = visit.ask::<projects::ops::import_status::ImportStatus>(json!({ "projectId": id })).await?;
    let Done(project) = visit.ask::<projects::ops::get::Get>(json!({ "projectId": id })).await?;
    let head = BrandHead::of(&project, "overview");
    let brand = project.brand.unwrap_or_default();
    let missing = missing(&brand);
    let Done(found) = visit.ask::<projects::ops::import_changes::ImportChangesGet>(json!({ "projectId": id })).await?;
    let changes = found.pending;
    let facts = facts(&template::context(&brand));
    let products = brand.products.into_iter().take(GLIMPSES).map(|product| ProductGlimpse {
        picture: product.image.map(|url| picture_path(visit, id, &url)),
        name: product.name,
        price: product.price,
        price_before: product.price_before,
        currency: product.currency,
    });
    let images = brand.images.into_iter().take(GLIMPSES).map(|image| ImageGlimpse {
        description: image.description.unwrap_or_default(),
        picture: picture_path(visit, id, &image.url),
    });
    let context = BrandPage {
        head,
        running: matches!(word(&import.status).as_str(), "pending" | "processing"),
        import: ImportState {
            error: import.error,
            percentage: import.progress.percentage,
            stages: stages(import.progress.stage),
            metrics: import.import_metrics,
        },
        urls: project.urls.unwrap_or_default(),
        about: About {
            tagline: brand.tagline,
            description: brand.description.or(project.description),
            languages: brand.languages,
            facts,
        },
        palette: palette(&brand.palette),
        fonts: fonts(brand.fonts.heading, brand.fonts.body),
        products: products.collect(),
        images: images.collect(),
        social: brand.social,
        missing,
        changes,
    };
    Ok(PageResponse::draw(&context))
}

fn missing(brand: &Brand) -> Missing {
    let parts = [
        ("logo", "/look", brand.logos.is_empty()),
        ("colors", "/look", brand.palette.primary.is_none()),
        ("fonts", "/look", brand.fonts.body.is_none()),
        ("tagline", "/details?focus=tagline#tagline", brand.tagline.is_none()),
        ("description", "/details?focus=description#description", brand.description.is_none()),
        ("email address", "/details?focus=email#email", brand.contact.email.is_none()),
        ("social profiles", "/details?focus=social#social", brand.social.is_empty()),
        ("products", "/products", brand.products.is_empty()),
        ("images", "/images", brand.images.is_empty()),
    ];
    let others = parts.into_iter().filter(|(.., is_missing)| *is_missing).map(|(label, path, _)| MissingPart { label, path });
    Missing { address: brand.contact.address.is_none(), others: others.collect() }
}

/// Returns the stages of an import and the state of each stage.
fn stages(now: &str) -> Vec<ImportStage> {
    const STAGES: [(&str, &str); 4] = [
        ("initializing", "Waiting in the queue"),
        ("fetching", "Reading the pages and style sheets"),
        ("reading", "Finding colors, fonts, text, and products"),
        ("measuring", "Analyzing logos and images"),
    ];
    let at = STAGES.iter().position(|(word, _)| *word == now).unwrap_or(STAGES.len());
    let stage = |(place, (_, label)): (usize, &(&str, &'static str))| {
        let state = match place.cmp(&at) {
            std::cmp::Ordering::Less => "done",
            std::cmp::Ordering::Equal => "now",
            std::cmp::Ordering::Greater => "waiting",
        };
        ImportStage { label, state }
    };
    STAGES.iter().enumerate().map(stage).collect()
}

/// Returns the fonts for headings and text, with their font stacks. Fonts that are not set are omitted.
pub fn fonts(heading: Option<String>, body: Option<String>) -> Vec<FontSample> {
    let sample = |(label, stack): (&'static str, Option<String>)| {
        let stack = stack.filter(|stack| !stack.is_empty())?;
        let first = stack.split(',').next().unwrap_or_default().trim().trim_matches(['"', '\'']).to_owned();
        Some(FontSample { label, stack, first })
    };
    [("Headings", heading), ("Text", body)].into_iter().filter_map(sample).collect()
}

/// Returns the labeled facts about the brand's contact details and voice.
fn facts(brand: &Value) -> Vec<Fact> {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(ToOwned::to_owned);
    let contact = &brand["contact"];
    let voice = &brand["voice"];
    let person = voice["person"].as_str().map(|person| match person {
        "we" => "first person (we)",
        "i" => "first person (I)",
        _ => "third person (the brand's name)",
    });
    let formality = voice["formality"].as_str();
    let speaks = [person, formality].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let words = rows(&voice["words"]).iter().filter_map(Value::as_str).take(8).collect::<Vec<_>>().join(", ");
    let all = [
        ("Company", text(&contact["company"])),
        ("Postal address", text(&contact["address"])),
        ("Email", text(&contact["email"])),
        ("Phone", text(&contact["phone"])),
        ("Voice", Some(speaks).filter(|speaks| !speaks.is_empty())),
        ("Words to use", Some(words).filter(|words| !words.is_empty())),
    ];
    all.into_iter().filter_map(|(label, text)| Some(Fact { label, text: text? })).collect()
}

/// Handles the form on a brand's page: imports the website again.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    match visit.form.get("act") {
        "retry" => {
            let id = visit.path_parameter("id");
            visit.ask::<projects::ops::import_retry::ImportRetry>(json!({ "projectId": id })).await?;
            Ok(imported(visit, id).await)
        }
        _ => Err(PageError::unknown_action()),
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
        let given =
            BrandPalette { primary: Some("#1F6B52".into()), text: Some("red\" onload=\"x".into()), ..BrandPalette::default() };
        assert_eq!(palette(&given), [Swatch { role: "primary", label: "Primary", color: "#1F6B52".into() }]);
    }

    #[test]
    fn an_import_has_one_active_stage() {
        let states: Vec<&str> = stages("reading").iter().map(|stage| stage.state).collect();
        assert_eq!(states, ["done", "done", "now", "waiting"]);
    }
}
