//! Reads a site: extracts the facts about the brand from the bytes of pages and style sheets. This module uses no network, store or
//! clock.
//!
//! There is one file per kind of fact. Each file checks the places where sites usually state the fact, most explicit first: structured
//! data, then the page's head, then styles and text. Facts that are not found stay empty, except for some colors, which have default
//! values.

mod address;
mod buttons;
mod cards;
mod cascade;
mod charset;
mod company;
mod contact;
mod css;
pub mod describe;
mod fonts;
mod grounds;
mod harden_html;
mod identity;
mod images;
pub mod outline;
mod page;
mod palette;
mod price;
mod products;
mod social;
mod structured;
mod svg_logo;
#[cfg(test)]
mod tests;
mod texts;
mod voice;

pub use fonts::stack as font_stack;
pub use images::ImageCandidate;
pub use svg_logo::bytes_of as drawn_logo_bytes;
pub use texts::{Text, text};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use self::cascade::Styles;
use self::grounds::ALIKE;
use self::page::Page;
use self::palette::CLEARLY_OTHER;
use super::brand::{Brand, BrandLogo, BrandLogoBackground, BrandLogoSource, BrandPalette};
use crate::base::color::{self, distance, is_vivid};
use crate::base::domain::registrable;
use crate::base::text::{Color, is_invisible};

/// The minimum number of visible characters on a page. A page with fewer characters is nearly empty or rendered by scripts.
const EMPTY_CHARACTERS: usize = 80;

/// The maximum number of tags and comments in all pages of a site together. This many take 200 MiB of memory when parsed. Everything after
/// the limit is ignored. Large shops have 5,000 tags on a page.
const SITE_TAGS_MAX: usize = 400_000;

/// A fetched file, before it is decoded and parsed.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    /// The final URL after redirects.
    pub url: &'a Url,
    /// Whether the caller named this file's URL.
    pub given: bool,
    pub content_type: &'a str,
    /// The value of the `Content-Language` header.
    pub language: &'a str,
    pub bytes: &'a [u8],
}

/// All fetched files of a site.
#[derive(Default)]
pub struct Sources<'a> {
    /// The fetched pages: first the pages that the caller named, in the caller's order, then all others.
    pub pages: Vec<Raw<'a>>,
    pub styles: Vec<Raw<'a>>,
    pub manifests: Vec<Raw<'a>>,
}

/// The facts that were read from a site, and the measurements that the import adds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// The brand, without images and with logos that have not been measured.
    pub brand: Brand,
    /// The images that are worth analyzing, most useful first.
    pub sights: Vec<ImageCandidate>,
    pub texts: Vec<Text>,
    /// The primary color that the style sheets define but the home page does not show.
    #[serde(default)]
    pub unshown_primary: Option<String>,
    /// Remarks about how the site was read, for users.
    pub notes: Vec<String>,
    /// The measurements so far: first the logos, then the images.
    pub measured: Vec<MeasuredImage>,
}

/// The result of analyzing one image, as stored in a draft.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredImage {
    pub width: u32,
    pub height: u32,
    pub colors: Vec<String>,
    pub background: BrandLogoBackground,
    pub description: String,
    pub tags: Vec<String>,
    /// The stored PNG files that were drawn from an SVG logo.
    pub drawn: Vec<BrandLogo>,
    /// Why the image could not be analyzed. If set, the other fields are empty.
    pub problem: Option<String>,
}

/// A site whose files have been parsed.
struct Site {
    pages: Vec<Page>,
    /// The structured data of all pages, home page first.
    nodes: Vec<Value>,
    /// The web app manifests, each with the base URL for its relative addresses.
    manifests: Vec<(Url, Value)>,
}

impl Site {
    fn home(&self) -> Option<&Page> {
        self.pages.first()
    }

    /// Returns the structured data of the organization behind the site.
    fn organization(&self) -> Option<&Value> {
        self.organizations().next()
    }

    /// Returns the structured data of the organization and its branches.
    fn organizations(&self) -> impl Iterator<Item = &Value> {
        self.nodes.iter().filter(|node| identity::is_organization(node))
    }

    fn manifest_text(&self, name: &str) -> Option<String> {
        self.manifests.iter().find_map(|(_, manifest)| structured::text(manifest, name))
    }

    /// Returns the distinctive part of the host, such as `acme` in `www.acme.co.uk`.
    fn host_word(&self) -> String {
        let host = self.home().and_then(|page| page.url.host_str()).unwrap_or_default().trim_start_matches("www.");
        registrable(host).unwrap_or(host).split('.').next().unwrap_or_default().replace('-', "")
    }
}

/// Reads a site and returns a draft of its brand.
pub fn read(sources: &Sources<'_>) -> Draft {
    let mut tags_left = SITE_TAGS_MAX;
    let pages: Vec<Page> = sources.pages.iter().map(|raw| Page::parse_within(raw, &mut tags_left)).collect();
    let nodes = pages.iter().flat_map(structured::nodes).collect();
    let json = |raw: &Raw<'_>| {
        let (text, _) = charset::decode(raw.bytes, raw.content_type);
        serde_json::from_str(text.trim_start_matches('\u{feff}')).ok().map(|manifest| (raw.url.clone(), manifest))
    };
    let site = Site { pages, nodes, manifests: sources.manifests.iter().filter_map(json).collect() };
    let styles = styles(&site, &sources.styles);
    let running = texts::running(&site);
    let (name, company) = identity::names(&site);
    let languages = identity::languages(&site, &running.join("\n"));
    let theme = palette::site_theme(&site, &styles);
    let fonts = fonts::fonts(&site, &styles);
    let (tagline, description) = (identity::tagline(&site, name.as_deref()), identity::description(&site));
    let products = products::products(&site, &styles, name.as_deref());
    let goods = voice::goods(&products, &[tagline.as_deref(), description.as_deref()]);
    let language = languages.first().map(String::as_str);
    let brand = Brand {
        tagline,
        description,
        logos: images::logos(&site, &styles),
        palette: theme.palette,
        web_fonts: fonts::web_fonts(&site, &styles, &fonts),
        fonts,
        corner_radius: theme.corner_radius,
        products,
        images: Vec::new(),
        social: social::social(&site),
        contact: contact::contact(&site, company, name.as_deref()),
        voice: voice::voice(&running, &texts::spoken(&site), language, name.as_deref(), &goods),
        guidelines: Default::default(),
        name,
        languages,
    };
    let texts = texts::texts(&site, &brand.products, brand.name.as_deref());
    let (sights, notes) = (images::images(&site, &styles), notes(&site));
    let unshown_primary = theme.unshown_primary.map(|color| color.to_string());
    Draft { sights, texts, unshown_primary, notes, brand, measured: Vec::new() }
}

/// Returns the styles of the home page: first the linked style sheets, then the `style` elements.
fn styles(site: &Site, linked: &[Raw<'_>]) -> Styles {
    let charset = site.home().map(|home| home.charset);
    let decoded = |raw: &Raw<'_>| css::parse(&charset::decode_for(raw.bytes, raw.content_type, charset).0, Some(raw.url));
    let mut sheets: Vec<css::Sheet> = linked.iter().map(decoded).collect();
    let inline = site.home().into_iter().flat_map(|home| home.all("style"));
    let shown = inline.filter(|style| css::applies(style.attr("media").unwrap_or_default()));
    sheets.extend(shown.map(|style| css::parse(&style.text().collect::<String>(), site.home().map(|home| &home.url))));
    Styles::new(&sheets)
}

fn notes(site: &Site) -> Vec<String> {
    let mut notes = Vec::new();
    for page in site.pages.iter().filter(|page| page.given) {
        let visible: usize = page.first("body").map_or(0, |body| page::text_of(body).chars().count());
        if visible < EMPTY_CHARACTERS {
            notes.push(format!(
                "The page {} shows hardly any text before its scripts run, so its facts come only from its head, structured data and \
                 manifest. Import pages with text, or add knowledge-base entries and images manually.",
                page.url
            ));
        }
        if page.charset != "UTF-8" {
            notes.push(format!("The page {} is encoded in {}.", page.url, page.charset));
        }
    }
    notes
}

/// Completes the palette with colors from the analyzed logos. If a logo contains `unshown_primary` and this color is vivid, it becomes the
/// primary color, and the former primary color becomes the accent color if it is vivid and clearly different. If the palette has no primary
/// color, the first vivid color of the logos becomes the primary color and, if there is no button color either, also the button color.
pub fn color_by_logo(palette: &mut BrandPalette, colors: &[Color], unshown_primary: Option<Color>) {
    let is_in_logo = |color: &Color| colors.iter().any(|other| distance(*other, *color) < ALIKE);
    if let Some(primary) = unshown_primary.filter(|color| is_vivid(*color) && is_in_logo(color)) {
        let former = palette.primary.replace(primary.to_string()).and_then(|former| former.parse::<Color>().ok());
        let former = former.filter(|former| is_vivid(*former) && distance(*former, primary) > CLEARLY_OTHER);
        palette.accent = former.map(|former| former.to_string()).or(palette.accent.take());
    }
    let vivid = colors.iter().copied().find(|color| is_vivid(*color));
    if let (None, Some(primary)) = (&palette.primary, vivid) {
        palette.primary = Some(primary.to_string());
        if palette.button.is_none() {
            palette.button = Some(primary.to_string());
            palette.button_text = Some(color::readable_on(primary).to_string());
        }
    }
}

/// Returns the names of the missing facts about a brand.
pub fn missing(brand: &Brand, has_images: bool, has_products: bool) -> Vec<String> {
    let has_logo = brand.logos.iter().any(|logo| logo.source != BrandLogoSource::Share);
    let facts = [
        ("name", brand.name.is_some()),
        ("tagline", brand.tagline.is_some()),
        ("description", brand.description.is_some()),
        ("language", !brand.languages.is_empty()),
        ("logo", has_logo),
        ("colors", brand.palette.primary.is_some()),
        ("fonts", brand.fonts.body.is_some()),
        ("products", has_products),
        ("images", has_images),
        ("social links", !brand.social.is_empty()),
        ("postal address", brand.contact.address.is_some()),
        ("email address", brand.contact.email.is_some()),
        ("voice", brand.voice.sentence_words.is_some()),
    ];
    facts.into_iter().filter(|(_, known)| !known).map(|(fact, _)| fact.to_owned()).collect()
}

/// Returns the string on one line, without invisible characters.
fn clean(text: &str) -> String {
    let visible: String = text
        .chars()
        .map(|character| if character.is_control() { ' ' } else { character })
        .filter(|c| !is_invisible(*c))
        .collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Shortens a string that is longer than `characters_max` characters, if possible at the end of a word, and appends an ellipsis.
pub fn shortened(text: &str, characters_max: usize) -> String {
    if text.chars().count() <= characters_max {
        return text.to_owned();
    }
    let cut: String = text.chars().take(characters_max.saturating_sub(1)).collect();
    let at_word = cut.rfind(char::is_whitespace).filter(|at| *at > cut.len() / 2).map_or(cut.as_str(), |at| &cut[..at]);
    format!("{}…", at_word.trim_end_matches([',', ';', ':', ' ', '–', '-']))
}
