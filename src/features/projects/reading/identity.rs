//! Finds the brand's identity: its name, slogan, description and languages.

use serde_json::Value;

use super::company::without_legal_form;
use super::page::{BlockKind, Page, text_of};
use super::structured::{is_a, text};
use super::{Site, shortened};
use crate::base::locale::LanguageTag;

/// The types of structured data that describe the organization behind a site.
pub const ORGANIZATIONS: [&str; 34] = [
    "Organization",
    "Corporation",
    "LocalBusiness",
    "Store",
    "OnlineStore",
    "OnlineBusiness",
    "Brand",
    "NGO",
    "Restaurant",
    "CafeOrCoffeeShop",
    "Bakery",
    "BarOrPub",
    "FoodEstablishment",
    "NewsMediaOrganization",
    "EducationalOrganization",
    "Hotel",
    "LodgingBusiness",
    "ClothingStore",
    "BookStore",
    "BikeStore",
    "JewelryStore",
    "ShoeStore",
    "FurnitureStore",
    "ElectronicsStore",
    "GroceryStore",
    "Florist",
    "ProfessionalService",
    "HealthAndBeautyBusiness",
    "HairSalon",
    "SportsActivityLocation",
    "Winery",
    "Periodical",
    "Newspaper",
    "MedicalBusiness",
];

const NAME_CHARACTERS_MAX: usize = 80;
const TAGLINE_CHARACTERS_MAX: usize = 140;
const DESCRIPTION_CHARACTERS_MAX: usize = 400;
/// Strings that separate the page's name from the brand's name in a title.
pub const SEPARATORS: [&str; 9] = ["｜", " | ", " – ", " — ", " - ", " · ", " :: ", " » ", ": "];
/// Titles of pages that contain no information about the brand.
const EMPTY_TITLES: [&str; 22] = [
    "home",
    "homepage",
    "start",
    "startseite",
    "welcome",
    "willkommen",
    "accueil",
    "bienvenue",
    "inicio",
    "início",
    "home page",
    "index",
    "untitled",
    "react app",
    "vite app",
    "vite + react",
    "document",
    "new page",
    "app",
    "loading",
    "loading...",
    "ホーム",
];
/// The minimum length, in characters, of text whose recognized language overrides the declared language.
const SURE_CHARACTERS: usize = 300;

/// Returns the brand's name and, if it differs, the legal name of the company.
pub fn names(site: &Site) -> (Option<String>, Option<String>) {
    let organization = site.organization();
    let said = organization.and_then(|node| text(node, "name"));
    let legal = organization.and_then(|node| text(node, "legalName"));
    let home = site.home();
    let website = site.nodes.iter().find(|node| is_a(node, &["WebSite"])).and_then(|node| text(node, "name"));
    let candidates = [
        home.and_then(|page| page.meta("og:site_name")),
        said.clone(),
        website,
        site.manifest_text("name").filter(|name| !is_empty_title(name)),
        home.and_then(|page| page.meta("application-name")),
        common_title(site),
        logo_words(site),
        site.manifest_text("short_name").filter(|name| !is_empty_title(name)),
        home.and_then(|page| page.meta("apple-mobile-web-app-title")),
    ];
    let usable = |name: &String| {
        let length = name.chars().count();
        (2..=NAME_CHARACTERS_MAX).contains(&length) && !is_empty_title(name)
    };
    let bare = |name: String| without_legal_form(&name).unwrap_or(name);
    let mut candidates = candidates.into_iter().flatten().map(without_title_rest).map(bare).filter(usable);
    let name = candidates.next();
    let in_law = |said: &String| {
        without_legal_form(said).is_some() || name.as_ref().is_some_and(|name| name != said && said.starts_with(name.as_str()))
    };
    let company = legal.or_else(|| said.filter(in_law));
    let company = company.filter(|company| Some(company) != name.as_ref());
    (name, company)
}

/// Returns a site's name. If the name is long and contains a separator, removes the separator and the slogan after it.
fn without_title_rest(name: String) -> String {
    if name.chars().count() <= 30 {
        return name;
    }
    SEPARATORS.iter().find_map(|mark| name.split_once(mark)).map_or(name.clone(), |(first, _)| first.trim().to_owned())
}

fn is_empty_title(name: &str) -> bool {
    EMPTY_TITLES.contains(&name.trim().to_lowercase().as_str())
}

/// Returns the part of the home page's title that is most likely the brand's name: a part that most titles share, otherwise a part that
/// matches the site's host, otherwise the first part.
fn common_title(site: &Site) -> Option<String> {
    let titles: Vec<String> = site.pages.iter().filter_map(Page::title).collect();
    let home = site.home().and_then(Page::title)?;
    let parts = title_parts(&home);
    let shared = parts
        .iter()
        .find(|part| titles.len() > 1 && titles.iter().filter(|title| title.contains(**part)).count() * 2 > titles.len());
    let host = site.host_word();
    let in_host = || parts.iter().find(|part| squeezed(part).contains(&host) || host.contains(&squeezed(part)));
    shared
        .filter(|part| !is_empty_title(part))
        .or_else(in_host)
        .or(parts.first())
        .filter(|part| !is_empty_title(part))
        .map(|part| (*part).to_owned())
}

/// Returns the letters and digits of a string in lowercase, so that a name such as `Nord & Fluss` is found in the host `nordfluss.example`.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn title_parts(title: &str) -> Vec<&str> {
    let mut parts = vec![title];
    for mark in SEPARATORS {
        parts = parts.into_iter().flat_map(|part| part.split(mark)).collect();
    }
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Returns the logo's alternative text without the word "logo".
fn logo_words(site: &Site) -> Option<String> {
    let home = site.home()?;
    let logo = home
        .all("header img[alt], img[class*=logo][alt], [class*=logo] img[alt]")
        .into_iter()
        .find_map(|logo| logo.attr("alt"))?;
    let words = logo.replace("Logo", "").replace("logo", "");
    Some(words.trim().to_owned()).filter(|words| !words.is_empty())
}

/// Returns the brand's tagline, if the home page or the site's structured data contains one.
pub fn tagline(site: &Site, name: Option<&str>) -> Option<String> {
    let home = site.home()?;
    let slogan = site.organization().and_then(|node| text(node, "slogan"));
    let marked = ["[class*=tagline]", "[class*=slogan]", "[class*=site-description]", "[class*=claim]", "#tagline", "#slogan"];
    let marked = marked.iter().find_map(|css| home.first(css).map(text_of));
    let from_title = [home.title(), home.meta("og:title")].into_iter().flatten().find_map(|title| title_rest(&title, name?));
    let heading = home.first("h1").map(text_of);
    let alternate = site.nodes.iter().find(|node| is_a(node, &["WebSite"])).and_then(|node| text(node, "alternateName"));
    let fits = |line: &String| {
        let words = line.split_whitespace().count();
        let is_asian = line.chars().any(|character| ('\u{3040}'..='\u{9fff}').contains(&character));
        let is_long_enough = words >= 2 || is_asian && line.chars().count() >= 5;
        is_long_enough
            && words <= 18
            && line.chars().count() <= TAGLINE_CHARACTERS_MAX
            && Some(line.as_str()) != name
            && !is_empty_title(line)
    };
    [slogan, marked, from_title, heading, alternate].into_iter().flatten().find(fits)
}

/// Returns the part of the title other than the name, if this part is a slogan.
fn title_rest(title: &str, name: &str) -> Option<String> {
    without_name(title, name).filter(|rest| rest.split_whitespace().count() >= 2 || rest.chars().count() >= 8 && !rest.is_ascii())
}

/// Returns the parts of the title that do not contain the name.
pub fn without_name(title: &str, name: &str) -> Option<String> {
    let is_other = |part: &&str| !part.to_lowercase().contains(&name.to_lowercase()) && !is_empty_title(part);
    let rest: Vec<&str> = title_parts(title).into_iter().filter(is_other).collect();
    Some(rest.join(" – ")).filter(|rest| !rest.is_empty())
}

pub fn description(site: &Site) -> Option<String> {
    let home = site.home()?;
    let paragraph = || {
        let blocks = home.main_text();
        let long = blocks.iter().find(|block| block.kind == BlockKind::Paragraph && block.text.chars().count() >= 60);
        long.map(|block| block.text.clone())
    };
    let candidates = [
        home.meta("description"),
        home.meta("og:description"),
        site.organization().and_then(|node| text(node, "description")),
        site.nodes.iter().find(|node| is_a(node, &["WebSite"])).and_then(|node| text(node, "description")),
        home.meta("twitter:description"),
        site.manifest_text("description"),
    ];
    let declared = candidates.into_iter().flatten().find(|text| text.chars().count() >= 20);
    declared.or_else(paragraph).map(|text| shortened(&text, DESCRIPTION_CHARACTERS_MAX))
}

/// Returns the languages of the site, main language first.
pub fn languages(site: &Site, text: &str) -> Vec<String> {
    let Some(home) = site.home() else { return Vec::new() };
    let mut found: Vec<LanguageTag> = Vec::new();
    let mut add = |given: &str| {
        let given = given.trim().replace('_', "-");
        if let Ok(tag) = LanguageTag::parse(&given)
            && !found.contains(&tag)
        {
            // Omit `de` if `de-AT` is present, because `de` then adds no information.
            let covers = |other: &LanguageTag| {
                other.primary() == tag.primary() && (tag.as_str() == tag.primary() || other.as_str() == other.primary())
            };
            match found.iter_mut().find(|other| covers(other)) {
                Some(other) if other.as_str() == other.primary() && found_later(&tag) => *other = tag,
                Some(_) => {}
                None => found.push(tag),
            }
        }
    };
    let declared = home.first("html[lang]").and_then(|html| html.attr("lang")).map(str::to_owned);
    let declared = declared.or_else(|| home.meta("og:locale")).or_else(|| home.meta("content-language"));
    let declared = declared.or_else(|| home.language.split(',').next().map(str::to_owned)).filter(|tag| !tag.trim().is_empty());
    let seen = recognized(text);
    let primary = |tag: &str| tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
    match (&declared, seen) {
        // Prefer the recognized language, because templates declare a language that many authors forget to change.
        (Some(declared), Some(seen)) if primary(declared) != seen && text.chars().count() >= SURE_CHARACTERS => add(seen),
        (Some(declared), _) => add(declared),
        (None, Some(seen)) => add(seen),
        (None, None) => {}
    }
    for link in home.links("alternate") {
        if let Some(tag) = link.attr("hreflang").filter(|tag| !tag.eq_ignore_ascii_case("x-default")) {
            add(tag);
        }
    }
    for locale in home.metas("og:locale:alternate") {
        add(&locale);
    }
    for page in site.pages.iter().filter(|page| page.given) {
        if let Some(tag) = page.first("html[lang]").and_then(|html| html.attr("lang")) {
            let is_main = found.first().is_some_and(|main| {
                declared.as_deref().is_some_and(|declared| primary(declared) != main.primary())
                    && declared.as_deref() == Some(tag)
            });
            if !is_main
                && let Ok(tag) = LanguageTag::parse(&tag.replace('_', "-"))
                && !found.iter().any(|other| other.primary() == tag.primary())
            {
                found.push(tag);
            }
        }
    }
    found.into_iter().map(|tag| tag.as_str().to_owned()).collect()
}

/// Returns whether the tag is more specific than a bare language. This is true for `de-AT` and false for `de`.
fn found_later(tag: &LanguageTag) -> bool {
    tag.as_str() != tag.primary()
}

/// Returns the language of the text, if the recognizer considers its result reliable.
pub fn recognized(text: &str) -> Option<&'static str> {
    let info = whatlang::detect(text).filter(whatlang::Info::is_reliable)?;
    iso_639_1(info.lang().code())
}

/// Returns the two-letter language code for one of the recognizer's three-letter codes.
fn iso_639_1(code: &str) -> Option<&'static str> {
    const CODES: [(&str, &str); 42] = [
        ("eng", "en"),
        ("deu", "de"),
        ("fra", "fr"),
        ("spa", "es"),
        ("ita", "it"),
        ("por", "pt"),
        ("nld", "nl"),
        ("dan", "da"),
        ("swe", "sv"),
        ("nob", "nb"),
        ("fin", "fi"),
        ("pol", "pl"),
        ("ces", "cs"),
        ("slk", "sk"),
        ("hun", "hu"),
        ("ron", "ro"),
        ("bul", "bg"),
        ("hrv", "hr"),
        ("srp", "sr"),
        ("slv", "sl"),
        ("ell", "el"),
        ("tur", "tr"),
        ("rus", "ru"),
        ("ukr", "uk"),
        ("heb", "he"),
        ("ara", "ar"),
        ("pes", "fa"),
        ("hin", "hi"),
        ("ben", "bn"),
        ("jpn", "ja"),
        ("kor", "ko"),
        ("cmn", "zh"),
        ("tha", "th"),
        ("vie", "vi"),
        ("ind", "id"),
        ("est", "et"),
        ("lav", "lv"),
        ("lit", "lt"),
        ("cat", "ca"),
        ("urd", "ur"),
        ("tam", "ta"),
        ("epo", "eo"),
    ];
    CODES.iter().find(|(three, _)| *three == code).map(|(_, two)| *two)
}

pub fn is_organization(node: &Value) -> bool {
    is_a(node, &ORGANIZATIONS)
}
