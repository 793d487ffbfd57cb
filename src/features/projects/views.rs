//! Projects and their parts as the API returns them.

use schemars::JsonSchema;
use serde::Serialize;

use super::brand::{Brand, BrandLogoSource, BrandPalette, BrandProduct};
use super::images::Origin;
use super::images::ProjectImage;
use super::knowledge::{self, Entry};
use super::model::{DefaultSender, Logos, Project, ProjectStatus};
use super::overrides::BrandOverrides;
use super::products::{Product, ProductOverrides};
use super::{corrected, with_given};
use crate::base::color::{LEGIBLE, contrast};
use crate::base::optional::Nullable;
use crate::base::text::Color;
use crate::engine::api::Listed;
use crate::engine::api::response::WireTime;
use crate::engine::store::{Read, Result};
use crate::vocab::ids::{KnowledgeId, ProductId, ProjectId};

/// A brand. Every contact, segment, campaign and email belongs to a brand. For a key that cannot read projects, the description, the URLs,
/// the logos, the palette and the error are absent.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectView {
    pub id: ProjectId,
    /// The project's ID again, for clients that expect it under this name.
    #[serde(rename = "_id")]
    pub also_id: ProjectId,
    pub name: String,
    /// What the brand does, imported from its sites or set by a user.
    pub description: Option<String>,
    /// The import status of the project.
    pub status: ProjectStatus,
    /// The host of the first imported URL, without `www.`.
    pub domain: String,
    /// The URLs that the project was imported from.
    pub urls: Option<Vec<String>>,
    pub logo_urls: Option<LogosView>,
    /// The brand's colors by role, as found on its sites or set by users.
    pub palette: Option<BrandPalette>,
    /// The default sender of the project's emails. A campaign or send can override it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_sender: Option<SenderView>,
    /// Why the import failed, and what to do; absent if it did not fail.
    pub error: Option<String>,
    /// The facts about the brand. Included only in responses about a single project.
    pub brand: Option<Brand>,
    /// The values that users set. All other values are imported. Included only in responses about a single project.
    pub overrides: Option<BrandOverrides>,
    /// The contrast of each text color with its background color, if both colors are known. Included only in responses about a single
    /// project.
    pub contrasts: Option<Vec<ColorContrast>>,
    pub created_at: WireTime,
    pub updated_at: WireTime,
}

/// The logo URLs; `null` for each logo that is missing.
#[derive(Serialize, JsonSchema)]
pub struct LogosView {
    pub primary: Nullable<String>,
    pub secondary: Nullable<String>,
    pub favicon: Nullable<String>,
}

/// A project's default sender.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SenderView {
    /// The From address.
    pub from: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_name: Option<String>,
    /// The address that replies are sent to. If none is set, replies go to the From address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
}

impl SenderView {
    pub fn sample() -> Self {
        Self { from: "hello@acme.example".into(), from_name: Some("Acme".into()), reply_to: None }
    }
}

impl From<DefaultSender> for SenderView {
    fn from(DefaultSender { from, from_name, reply_to }: DefaultSender) -> Self {
        Self { from, from_name, reply_to }
    }
}

/// The contrast between a text color and its background color.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ColorContrast {
    /// The role of the text color.
    #[schemars(extend("enum" = ["text", "buttonText"]))]
    pub text: &'static str,
    /// The role of the background color.
    #[schemars(extend("enum" = ["background", "button"]))]
    pub ground: &'static str,
    /// The contrast ratio, from 1 to 21 (WCAG).
    pub ratio: f64,
    /// Whether the ratio is at least 4.5. If it is lower, emails use a different color for the text.
    pub legible: bool,
}

impl Listed for ProjectView {
    const PLURAL: &'static str = "projects";
    const ARRAY_WHEN_PAGED: bool = false;
}

impl ProjectView {
    pub fn sample() -> Self {
        let id = ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the id has 24 hexadecimal characters");
        Self {
            id,
            also_id: id,
            name: "Acme".into(),
            description: None,
            status: ProjectStatus::Pending,
            domain: "acme.example".into(),
            urls: Some(vec!["https://www.acme.example/".into()]),
            logo_urls: Some(LogosView { primary: None.into(), secondary: None.into(), favicon: None.into() }),
            palette: Some(BrandPalette::default()),
            default_sender: None,
            error: None,
            brand: None,
            overrides: None,
            contrasts: None,
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
        }
    }
}

/// Returns the view of a project in a list.
pub fn project_view(tx: &impl Read, project: Project) -> Result<ProjectView> {
    let brand = corrected(tx, project.id)?;
    Ok(of(project, &brand))
}

/// Returns the view of a project for callers who cannot read projects.
pub fn summary(project: Project) -> ProjectView {
    let view = of(project, &Brand::default());
    ProjectView { description: None, urls: None, logo_urls: None, palette: None, error: None, ..view }
}

/// Returns the view of a project, including its brand and the values that users set.
pub fn details(project: Project, brand: Brand, overrides: BrandOverrides) -> ProjectView {
    let (view, contrasts) = (of(project, &brand), contrasts(&brand.palette));
    ProjectView { brand: Some(brand), overrides: Some(overrides), contrasts: Some(contrasts), ..view }
}

fn contrasts(palette: &BrandPalette) -> Vec<ColorContrast> {
    let color = |text: &Option<String>| text.as_deref()?.parse::<Color>().ok();
    let pairs = [
        (("text", &palette.text), ("background", &palette.background)),
        (("buttonText", &palette.button_text), ("button", &palette.button)),
    ];
    let contrasts = pairs.into_iter().filter_map(|((text, upper), (ground, lower))| {
        let ratio = contrast(color(upper)?, color(lower)?);
        // Round the ratio down, so that a ratio shown as 4.5 is legible.
        Some(ColorContrast { text, ground, ratio: (ratio * 100.0).floor() / 100.0, legible: ratio >= LEGIBLE })
    });
    contrasts.collect()
}

fn of(project: Project, brand: &Brand) -> ProjectView {
    ProjectView {
        id: project.id,
        also_id: project.id,
        name: project.name,
        description: brand.description.clone(),
        status: project.status,
        domain: project.domain,
        urls: Some(project.urls),
        logo_urls: Some(logos(project.logos, brand)),
        palette: Some(brand.palette.clone()),
        default_sender: project.sender.map(SenderView::from),
        error: project.error,
        brand: None,
        overrides: None,
        contrasts: None,
        created_at: WireTime(project.created_at),
        updated_at: WireTime(project.updated_at),
    }
}

/// Returns the logos that users set. If users have not set the primary logo or the favicon, the best one found on the sites takes its
/// place.
pub fn logos(given: Logos, brand: &Brand) -> LogosView {
    let all = with_given(brand.logos.clone(), &given);
    let found = |wanted: fn(BrandLogoSource) -> bool| all.iter().find(|logo| wanted(logo.source)).map(|logo| logo.url.clone());
    let is_picture = |source| !matches!(source, BrandLogoSource::Given | BrandLogoSource::IconLink | BrandLogoSource::Share);
    let primary = given.primary.or_else(|| found(is_picture));
    let favicon = given.favicon.or_else(|| found(|source| source == BrandLogoSource::IconLink));
    LogosView { primary: primary.into(), secondary: given.secondary.into(), favicon: favicon.into() }
}

/// An entry in the knowledge base.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KnowledgeView {
    pub id: KnowledgeId,
    pub title: String,
    pub content: String,
    /// When the entry was created or last changed.
    pub date: WireTime,
    pub reference_origin: knowledge::KnowledgeOrigin,
    /// The URL of the page that the entry was read from, if it comes from a site.
    pub url: Option<String>,
    pub source_file_name: Option<String>,
    pub preview_html: Option<String>,
    pub thumbnail_url: Option<String>,
    pub screenshot_url: Option<String>,
}

impl Listed for KnowledgeView {
    const PLURAL: &'static str = "entries";
    const ARRAY_WHEN_PAGED: bool = false;
}

impl From<Entry> for KnowledgeView {
    fn from(entry: Entry) -> Self {
        Self {
            id: entry.id,
            title: entry.title,
            content: entry.content,
            date: WireTime(entry.date),
            reference_origin: entry.origin,
            url: entry.url,
            source_file_name: entry.source_file_name,
            preview_html: entry.preview_html,
            thumbnail_url: entry.thumbnail_url,
            screenshot_url: entry.screenshot_url,
        }
    }
}

impl KnowledgeView {
    pub fn sample() -> Self {
        Self {
            id: KnowledgeId::parse("66f1a2b3c4d5e6f708192a3b").expect("the id has 24 hexadecimal characters"),
            title: "How we roast".into(),
            content: "We roast twice a week, in small batches.".into(),
            date: WireTime::sample(),
            reference_origin: knowledge::KnowledgeOrigin::Manual,
            url: None,
            source_file_name: None,
            preview_html: None,
            thumbnail_url: None,
            screenshot_url: None,
        }
    }
}

/// An image in a project.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectImageView {
    pub url: String,
    /// A description of the image, set by a user or filled in by the image analysis.
    pub description: Option<String>,
    pub tags: Vec<String>,
    /// The measured width of the image in pixels.
    pub width: Option<u32>,
    /// The measured height of the image in pixels.
    pub height: Option<u32>,
    /// The colors that cover most of the image, as `#RRGGBB`.
    pub colors: Vec<String>,
    /// The origin of the image: `given` by a user, or `found` on the project's pages.
    #[schemars(extend("enum" = ["given", "found"]))]
    pub origin: &'static str,
    /// Why the image could not be analyzed; absent if it was analyzed or is still waiting for analysis.
    pub problem: Option<String>,
}

impl Listed for ProjectImageView {
    const PLURAL: &'static str = "images";
    const ARRAY_WHEN_PAGED: bool = false;
}

impl From<ProjectImage> for ProjectImageView {
    fn from(picture: ProjectImage) -> Self {
        let image = picture.image;
        Self {
            url: image.url,
            description: image.description,
            tags: image.tags,
            width: image.width,
            height: image.height,
            colors: image.colors,
            origin: if picture.origin == Origin::Given { "given" } else { "found" },
            problem: picture.problem,
        }
    }
}

impl ProjectImageView {
    pub fn sample() -> Self {
        Self {
            url: "https://www.acme.example/images/roastery.jpg".into(),
            description: Some("Our roastery in the morning".into()),
            tags: vec!["roastery".into()],
            width: None,
            height: None,
            colors: Vec::new(),
            origin: "given",
            problem: None,
        }
    }
}

/// A product of a brand.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProductView {
    pub id: ProductId,
    pub name: String,
    /// The URL of the product's page.
    pub url: Option<String>,
    pub image: Option<String>,
    pub description: Option<String>,
    /// The current price in major units, such as `19.90`.
    pub price: Option<String>,
    /// The original price before a discount. Emails show it crossed out.
    pub price_before: Option<String>,
    /// The currency as an ISO 4217 code.
    pub currency: Option<String>,
    /// Whether emails leave the product out.
    pub hidden: bool,
    /// The position among the project's products, starting at 0.
    pub position: u32,
    /// Where the product comes from: `imported` from a site, `added` by a user, or `store` for a connected store.
    #[schemars(extend("enum" = ["imported", "added", "store"]))]
    pub origin: &'static str,
    /// The number of units in stock, if the product comes from a connected store that counts them.
    pub stock: Option<i64>,
    /// Whether the product is currently unavailable in the connected store. If true, emails leave the product out.
    pub sold_out: Option<bool>,
    /// The collections that contain the product in the connected store.
    pub collections: Option<Vec<String>>,
    /// Whether users have set any of the product's values.
    pub edited: bool,
    /// The values that users set. All other values come from the site or the connected store.
    pub overrides: ProductOverrides,
}

impl Listed for ProductView {
    const PLURAL: &'static str = "products";
    const ARRAY_WHEN_PAGED: bool = false;
}

impl From<Product> for ProductView {
    fn from(product: Product) -> Self {
        let BrandProduct { name, url, image, description, price, price_before, currency } = product.shown();
        Self {
            id: product.id,
            name,
            url,
            image,
            description,
            price,
            price_before,
            currency,
            hidden: product.hidden,
            position: product.position,
            origin: match (&product.store, &product.imported) {
                (Some(_), _) => "store",
                (None, Some(_)) => "imported",
                (None, None) => "added",
            },
            stock: product.store.as_ref().and_then(|link| link.stock),
            sold_out: product.store.as_ref().map(|link| link.sold_out),
            collections: product.store.map(|link| link.collections),
            edited: product.overrides != ProductOverrides::default(),
            overrides: product.overrides,
        }
    }
}

impl ProductView {
    pub fn sample() -> Self {
        let id = ProductId::parse("66f1a2b3d4e5f60718293a4c").expect("the id has 24 hexadecimal characters");
        let product = BrandProduct {
            name: "Ember bowl".into(),
            url: Some("https://www.acme.example/bowl".into()),
            price: Some("42.00".into()),
            currency: Some("GBP".into()),
            ..BrandProduct::default()
        };
        let overrides =
            ProductOverrides { price: Some("36.00".into()), price_before: Some("42.00".into()), ..Default::default() };
        Product { overrides, ..Product::imported(id, product, 0) }.into()
    }
}

/// The result of removing an image, a knowledge-base entry or a product.
#[derive(Serialize, JsonSchema)]
pub struct RemovalResult {
    /// A message that tells users what was removed.
    pub message: String,
}

/// The project that an object belongs to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwningProject {
    /// The project's ID.
    pub project_id: ProjectId,
}

impl OwningProject {
    pub fn sample() -> Self {
        Self { project_id: ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the id has 24 hexadecimal characters") }
    }
}
