//! Finds images on a site: candidates for its logo, and images for emails. Returns only URLs. Other code measures the images.

use std::collections::HashMap;

use scraper::ElementRef;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cascade::{Styles, parent};
use super::page::{BlockKind, Page, is_within, selector, text_of};
use super::structured::{is_a, list, plain, resolved};
use super::svg_logo::{drawings, drawn_logo};
use super::{Site, shortened};
use crate::engine::render::css::with_urls;
use crate::features::projects::brand::{BrandLogo, BrandLogoBackground, BrandLogoSource};

/// The maximum number of logo candidates to fetch.
const LOGOS_MAX: usize = 10;
/// The maximum number of a site's images to fetch.
const IMAGES_MAX: usize = 30;
/// The maximum number of images per page to check.
const PAGE_IMAGES_MAX: usize = 500;
/// The maximum number of elements per page to check for a background image.
const BACKGROUNDS_MAX: usize = 300;
/// The minimum declared width and height of images, in pixels. Smaller images are usually icons.
const SIDE_MIN: u32 = 120;
const CONTEXT_CHARACTERS_MAX: usize = 160;
/// Words in the URLs and classes of images that are unsuitable for emails, such as icons and tracking pixels.
const NO_IMAGES: [&str; 24] = [
    "logo",
    "icon",
    "sprite",
    "pixel",
    "tracking",
    "spacer",
    "blank.",
    "placeholder",
    "avatar",
    "gravatar",
    "badge",
    "payment",
    "visa",
    "paypal",
    "mastercard",
    "klarna",
    "flag",
    "emoji",
    "loader",
    "spinner",
    "captcha",
    "1x1",
    "app-store",
    "google-play",
];
/// Words in the classes, ids and roles of elements that contain logos of other companies.
const OTHERS: [&str; 8] = ["partner", "client", "customer", "sponsor", "press", "logos", "trusted", "payment"];

/// An image on the site that has not been fetched yet: its URL and the text about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageCandidate {
    pub url: String,
    /// The alternative text of the image on its page.
    pub alt: Option<String>,
    /// The text around the image, such as its caption or a heading, or the title of its page.
    pub context: Option<String>,
}

/// Returns candidates for the brand's logo, most likely first.
pub fn logos(site: &Site, styles: &Styles) -> Vec<BrandLogo> {
    let mut found: Vec<BrandLogo> = Vec::new();
    let mut add = |url: Option<String>, source| {
        if let Some(url) = url
            && !found.iter().any(|logo| logo.url == url)
        {
            found.push(BrandLogo { url, source, width: None, height: None, background: BrandLogoBackground::Unknown });
        }
    };
    let home = site.home();
    for url in home.into_iter().flat_map(|home| header_logos(home, styles)) {
        add(Some(url), BrandLogoSource::Header);
    }
    for node in site.organizations() {
        let logo = list(node, "logo").into_iter().find_map(|logo| picture_of(logo, &site.nodes));
        add(logo.and_then(|href| home?.address(&href)).map(|url| url.to_string()), BrandLogoSource::StructuredData);
    }
    if let Some(page) = home {
        let marked =
            page.meta("og:logo").or_else(|| page.first("[itemprop=logo]").and_then(|logo| logo.attr("src")).map(str::to_owned));
        add(marked.and_then(|href| page.address(&href)).map(|url| url.to_string()), BrandLogoSource::StructuredData);
    }
    manifest_icons(site).into_iter().for_each(|url| add(Some(url), BrandLogoSource::Manifest));
    home.into_iter().flat_map(icon_links).for_each(|url| add(Some(url), BrandLogoSource::IconLink));
    if let Some(page) = home {
        let shared = page.meta("og:image").or_else(|| page.meta("twitter:image"));
        add(shared.and_then(|href| page.address(&href)).map(|url| url.to_string()), BrandLogoSource::Share);
    }
    found.truncate(LOGOS_MAX);
    found
}

fn picture_of(value: &Value, nodes: &[Value]) -> Option<String> {
    let value = resolved(value, nodes);
    match value {
        Value::Object(fields) => ["contentUrl", "url"].iter().find_map(|name| fields.get(*name).and_then(plain)),
        other => plain(other),
    }
}

/// Returns the URLs of up to three images and drawings that are most likely to be the logo: those that are marked as a logo, or link to the
/// home page. Images and drawings in the header rank higher.
fn header_logos(page: &Page, styles: &Styles) -> Vec<String> {
    let mut ranked: Vec<(u8, String)> = Vec::new();
    for image in page.all("img").into_iter().take(PAGE_IMAGES_MAX) {
        if let Some(rank) = logo_rank(image, page)
            && let Some(url) = best_source(image, page)
        {
            ranked.push((rank, url));
        }
    }
    for drawing in drawings(page) {
        // A drawing outside the header is usually an icon, as is a drawing in a button, a menu or a search field.
        let is_control =
            is_within(drawing, &["button", "form", "main", "footer"], &["menu", "search", "cart", "toggle", "social"]);
        if let Some(rank) = logo_rank(drawing, page).filter(|rank| *rank <= 2 && !is_control)
            && let Some(url) = drawn_logo(drawing, page, styles)
        {
            ranked.push((rank, url));
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    let best = ranked.first().map(|(rank, _)| *rank);
    // Use weak candidates only if there are no better candidates.
    ranked.into_iter().filter(|(rank, _)| Some(*rank) == best || *rank <= 1).map(|(_, url)| url).take(3).collect()
}

/// Returns how likely an image or drawing is to be the logo, as a rank: 0 is the most likely. Returns `None` if it is not a logo.
fn logo_rank(image: ElementRef<'_>, page: &Page) -> Option<u8> {
    let own = ["class", "id", "src", "alt", "data-src", "aria-label"]
        .iter()
        .filter_map(|name| image.attr(name))
        .any(|text| text.to_ascii_lowercase().contains("logo"));
    let around = is_within(image, &[], &["logo"]);
    let in_head = is_within(image, &["header", "nav"], &["header", "navbar", "masthead", "topbar", "brand"]);
    let leads_home = home_link(image, page);
    let in_footer = is_within(image, &["footer"], &["footer"]);
    let is_others = is_within(image, &["footer", "main"], &OTHERS) && !in_head || is_within(image, &[], &OTHERS);
    match (own || around, in_head, leads_home) {
        _ if is_others => None,
        (true, true, true) => Some(0),
        (true, true, _) => Some(1),
        (_, true, true) => Some(2),
        (true, _, true) => Some(3),
        (true, _, _) if !in_footer => Some(4),
        // Hand-written pages often have no header element, so a logo outside the main text is recognized by its link to the home page.
        (_, _, true) if !in_footer && !is_within(image, &["main", "article"], &[]) => Some(5),
        _ => None,
    }
}

fn home_link(image: ElementRef<'_>, page: &Page) -> bool {
    let mut at = parent(image);
    while let Some(element) = at {
        if element.value().name() == "a" {
            let target = element.attr("href").and_then(|href| page.address(href));
            return target.is_some_and(|url| url.host_str() == page.url.host_str() && is_home(url.path()));
        }
        at = parent(element);
    }
    false
}

/// Returns whether a path seems to lead to the home page, such as `/`, `/de/` and `/index.html`.
fn is_home(path: &str) -> bool {
    let (folder, file) = path.rsplit_once('/').unwrap_or_default();
    let is_index = ["index.html", "index.htm", "index.php"].contains(&file.to_ascii_lowercase().as_str());
    path.len() <= 4 || is_index && folder.len() <= 3
}

fn manifest_icons(site: &Site) -> Vec<String> {
    let mut icons: Vec<(u32, String)> = Vec::new();
    for (base, manifest) in &site.manifests {
        for icon in list(manifest, "icons") {
            // Skip icons that are only maskable or monochrome. They are made for operating systems to crop or recolor, and do not show the
            // plain logo.
            if icon["purpose"].as_str().is_some_and(|purpose| !purpose.split_whitespace().any(|one| one == "any")) {
                continue;
            }
            let side = icon["sizes"].as_str().map_or(0, side_of);
            if let Some(url) =
                icon["src"].as_str().and_then(|src| base.join(src).ok()).filter(|url| url.scheme().starts_with("http"))
            {
                icons.push((side, url.to_string()));
            }
        }
    }
    icons.sort_by_key(|(side, _)| std::cmp::Reverse(*side));
    icons.into_iter().take(2).map(|(_, url)| url).collect()
}

/// Returns the largest size in a `sizes` attribute: `180x180` gives 180, and `any` gives 1,024.
fn side_of(sizes: &str) -> u32 {
    let side =
        |size: &str| if size.eq_ignore_ascii_case("any") { Some(1024) } else { size.split(['x', 'X']).next()?.parse().ok() };
    sizes.split_whitespace().filter_map(side).max().unwrap_or(0)
}

fn icon_links(page: &Page) -> Vec<String> {
    let mut icons: Vec<(u32, String)> = Vec::new();
    for (rel, least) in [("apple-touch-icon", 180), ("apple-touch-icon-precomposed", 180), ("icon", 16), ("fluid-icon", 128)] {
        for link in page.links(rel) {
            let side = link.attr("sizes").map_or(least, side_of);
            if let Some(url) = link.attr("href").and_then(|href| page.address(href)) {
                icons.push((side, url.to_string()));
            }
        }
    }
    if icons.is_empty() {
        // Add the default icon path, which browsers request even if no link refers to it.
        icons.extend(page.url.join("/favicon.ico").ok().map(|url| (16, url.to_string())));
    }
    icons.sort_by_key(|(side, _)| std::cmp::Reverse(*side));
    icons.into_iter().take(3).map(|(_, url)| url).collect()
}

/// Returns the URL of the best image file for an `img` element: the widest file in its `srcset` or, without one, in that of its `picture`
/// element that is not wider than emails need. If there is no such file, returns the plain source of the `img` element.
fn best_source(image: ElementRef<'_>, page: &Page) -> Option<String> {
    let set = ["srcset", "data-srcset"].iter().find_map(|name| image.attr(name)).or_else(|| {
        let picture = parent(image).filter(|parent| parent.value().name() == "picture")?;
        // Use only formats that email clients support. The `img` element itself usually offers one.
        let fits = |source: &ElementRef<'_>| {
            source.attr("type").is_none_or(|kind| matches!(kind, "image/jpeg" | "image/png" | "image/gif"))
        };
        picture
            .child_elements()
            .filter(|child| child.value().name() == "source")
            .filter(fits)
            .find_map(|source| source.attr("srcset"))
    });
    let largest = set.and_then(largest_of_set);
    let plain = ["data-src", "data-lazy-src", "data-original", "src"].iter().filter_map(|name| image.attr(name));
    let mut all = largest.into_iter().map(str::to_owned).chain(plain.map(str::to_owned));
    all.find_map(|href| page.address(&href)).map(|url| url.to_string())
}

/// Returns the widest image in a `srcset` such as `a.jpg 400w, b.jpg 800w` that is not wider than emails need.
fn largest_of_set(set: &str) -> Option<&str> {
    let mut best: Option<(f32, &str)> = None;
    for candidate in set.split(", ").flat_map(|part| part.split(",\n")) {
        let mut words = candidate.trim().trim_end_matches(',').split_whitespace();
        let url = words.next()?;
        let size = words.next().map_or(1.0, |size| size.trim_end_matches(['w', 'x']).parse().unwrap_or(0.0));
        if size <= 1600.0 && best.is_none_or(|(largest, _)| size > largest) {
            best = Some((size, url));
        }
    }
    best.map(|(_, url)| url)
}

/// Returns the images on the site, most useful first.
pub fn images(site: &Site, styles: &Styles) -> Vec<ImageCandidate> {
    let mut ranked: Vec<(u8, ImageCandidate)> = Vec::new();
    let smaller = smaller_ones(site);
    for page in &site.pages {
        let own = page.metas("og:image").into_iter().next().and_then(|href| page.address(&href)).map(|url| url.to_string());
        for image in page.all("img").into_iter().take(PAGE_IMAGES_MAX) {
            if let Some(url) = best_source(image, page)
                && is_shown(image, &url)
                // An image that links to the home page is probably the logo.
                && !home_link(image, page)
            {
                let alt = image.attr("alt").map(super::clean).filter(|alt| !alt.is_empty() && !looks_like_file(alt));
                let rank = rank(image, page, alt.is_some());
                ranked.push((rank, ImageCandidate { url, alt, context: context(image) }));
            }
        }
        ranked.extend(backgrounds(page, styles));
        if let Some(url) = own.filter(|url| !is_no_image(url)) {
            let title = page.meta("og:title").or_else(|| page.title());
            ranked.push((if page.given { 1 } else { 3 }, ImageCandidate { url, alt: page.meta("og:image:alt"), context: title }));
        }
        for node in site.nodes.iter().filter(|node| page.given && is_a(node, &super::identity::ORGANIZATIONS)) {
            let photos = ["image", "photo"]
                .into_iter()
                .flat_map(|name| list(node, name))
                .filter_map(|value| picture_of(value, &site.nodes));
            for url in photos.filter_map(|href| page.address(&href)).map(|url| url.to_string()).filter(|url| !is_no_image(url)) {
                ranked.push((2, ImageCandidate { url, alt: None, context: super::structured::text(node, "name") }));
            }
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    let mut found: Vec<ImageCandidate> = Vec::new();
    for (_, sight) in ranked {
        let url = smaller.get(&sight.url).cloned().unwrap_or_else(|| sight.url.clone());
        let sight = ImageCandidate { url, ..sight };
        let known = found.iter().position(|other| other.url == sight.url);
        match known {
            Some(place) => {
                let other = &mut found[place];
                other.alt = other.alt.take().or(sight.alt);
                other.context = other.context.take().or(sight.context);
            }
            None if found.len() < IMAGES_MAX => found.push(sight),
            None => {}
        }
    }
    found
}

/// Returns the background images of the page's sections. The backgrounds of sections that contain the main heading or have a class such as
/// `hero` rank highest.
fn backgrounds(page: &Page, styles: &Styles) -> Vec<(u8, ImageCandidate)> {
    let elements =
        "header, section, figure, main > div, body > div, div[style], div[class], div[data-bg], [data-background-image]";
    let heading = selector("h1, h2, h3");
    let mut found: Vec<(u8, ImageCandidate)> = Vec::new();
    for element in page.all(elements).into_iter().take(BACKGROUNDS_MAX) {
        let Some(url) = background_of(element, page, styles).filter(|url| !is_no_image(url)) else { continue };
        let is_chrome =
            is_within(element, &["nav", "footer"], &["cookie", "avatar", "payment", "partner", "logos", "social", "icon"]);
        if is_chrome || found.iter().any(|(_, other)| other.url == url) {
            continue;
        }
        let has_title = element.descendent_elements().any(|inner| inner.value().name() == "h1");
        let is_hero = has_title || is_within(element, &[], &["hero", "banner", "jumbotron", "stage", "cover"]);
        let label =
            element.attr("aria-label").or_else(|| element.attr("title")).map(super::clean).filter(|label| !label.is_empty());
        let words = element.select(&heading).next().map(text_of).filter(|text| !text.is_empty());
        let rank = if is_hero { 0 } else { 3 } + u8::from(!page.given) * 2;
        let context = words.map(|text| shortened(&text, CONTEXT_CHARACTERS_MAX));
        found.push((rank, ImageCandidate { url, alt: label, context }));
    }
    found
}

fn background_of(element: ElementRef<'_>, page: &Page, styles: &Styles) -> Option<String> {
    let lazy = ["data-bg", "data-background-image", "data-background"].iter().filter_map(|name| element.attr(name));
    let lazy = lazy.map(|value| if value.contains("url(") { value.to_owned() } else { format!("url({value:?})") });
    // `styles` contains the style sheets of the home page, which the other pages usually share.
    let styled = ["background-image", "background-color"].iter().filter_map(|property| styles.own(element, property));
    let mut urls: Vec<String> = Vec::new();
    for value in lazy.chain(styled) {
        with_urls(&value, &mut |url| {
            urls.push(url.to_owned());
            String::new()
        });
    }
    urls.into_iter().filter(|url| !url.starts_with("data:")).find_map(|url| page.address(&url)).map(String::from)
}

/// For images that pages offer in several sizes, maps the URLs of the variants to the URL that [`best_source`] chooses.
fn smaller_ones(site: &Site) -> HashMap<String, String> {
    let mut found = HashMap::new();
    for page in &site.pages {
        for image in page.all("img[srcset], img[data-srcset]").into_iter().take(PAGE_IMAGES_MAX) {
            let Some(best) = best_source(image, page) else { continue };
            let set = image.attr("srcset").or_else(|| image.attr("data-srcset")).unwrap_or_default();
            let named = set.split(',').filter_map(|part| part.split_whitespace().next()).chain(image.attr("src"));
            for url in named.filter_map(|href| page.address(href)).map(String::from).filter(|url| *url != best) {
                found.insert(url, best.clone());
            }
        }
    }
    found
}

/// Ranks an image. A lower rank is better. Prominent images come first, then product images, images in the text, and all other images.
/// Images on pages that the caller did not name and images without alternative text rank lower.
fn rank(image: ElementRef<'_>, page: &Page, has_alt: bool) -> u8 {
    let is_hero = is_within(image, &[], &["hero", "banner", "jumbotron", "stage", "cover", "slider", "featured"]);
    let is_product = is_within(image, &[], &["product", "menu", "card"]);
    let is_text = is_within(image, &["main", "article", "section", "figure"], &[]);
    let base = match (is_hero, is_product, is_text) {
        (true, _, _) => 0,
        (_, true, _) => 2,
        (_, _, true) => 3,
        _ => 5,
    };
    base + u8::from(!page.given) * 2 + u8::from(!has_alt)
}

fn is_shown(image: ElementRef<'_>, url: &str) -> bool {
    let side = |name: &str| image.attr(name).and_then(|size| size.trim_end_matches("px").trim().parse::<u32>().ok());
    let is_small = ["width", "height"].iter().any(|name| side(name).is_some_and(|side| side < SIDE_MIN));
    let classes = image.attr("class").unwrap_or_default().to_ascii_lowercase();
    let is_chrome = is_within(
        image,
        &["header", "nav", "footer", "noscript"],
        &["cookie", "avatar", "payment", "partner", "logos", "social"],
    );
    let in_hero = is_within(image, &[], &["hero"]);
    !is_small && !is_no_image(url) && !NO_IMAGES.iter().any(|word| classes.contains(word)) && (!is_chrome || in_hero)
}

fn is_no_image(url: &str) -> bool {
    let file = url.split(['?', '#']).next().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    NO_IMAGES.iter().any(|word| file.contains(word)) || file.ends_with(".svg")
}

fn looks_like_file(alt: &str) -> bool {
    let lowered = alt.to_ascii_lowercase();
    [".jpg", ".jpeg", ".png", ".webp", ".gif"].iter().any(|end| lowered.ends_with(end))
        || lowered.starts_with("img_")
        || lowered.starts_with("dsc_")
}

/// Returns the text around an image: a caption, heading or label in a nearby ancestor element.
fn context(image: ElementRef<'_>) -> Option<String> {
    let mut at = parent(image);
    for _ in 0..4 {
        let element = at?;
        let caption =
            element.descendent_elements().find(|inner| matches!(inner.value().name(), "figcaption" | "h1" | "h2" | "h3" | "h4"));
        let titled = element.attr("title").or_else(|| element.attr("aria-label")).map(super::clean);
        let found = caption.map(text_of).or(titled).filter(|text| !text.is_empty());
        if found.is_some() || matches!(element.value().name(), "section" | "article" | "li" | "main" | "body") {
            return found.map(|text| shortened(&text, CONTEXT_CHARACTERS_MAX));
        }
        at = parent(element);
    }
    None
}

/// Returns the subject of a page: its first heading, or its title without the brand's name.
pub fn subject(page: &Page, name: Option<&str>) -> Option<String> {
    let heading = page.main_text().into_iter().find(|block| matches!(block.kind, BlockKind::Heading(1))).map(|block| block.text);
    let title = || {
        let title = page.title()?;
        name.and_then(|name| super::identity::without_name(&title, name)).or(Some(title))
    };
    heading.or_else(title)
}

#[cfg(test)]
mod tests {
    use super::super::{Raw, Sources, read};
    use super::*;

    #[test]
    fn the_widest_useful_image_of_a_set_is_chosen() {
        assert_eq!(largest_of_set("a.jpg 400w, b.jpg 1200w, c.jpg 4000w"), Some("b.jpg"));
        assert_eq!(largest_of_set("a.jpg, b.jpg 2x"), Some("b.jpg"));
        assert_eq!((side_of("16x16 32x32"), side_of("any"), side_of("")), (32, 1024, 0));
    }

    fn found(html: &str, sheet: &str) -> Vec<String> {
        let (url, style): (url::Url, url::Url) = (
            "https://acme.example/".parse().expect("the URL is valid"),
            "https://acme.example/css/a.css".parse().expect("the URL is valid"),
        );
        let raw = |url, content_type, bytes| Raw { url, given: true, content_type, language: "", bytes };
        let sources = Sources {
            pages: vec![raw(&url, "text/html", html.as_bytes())],
            styles: vec![raw(&style, "text/css", sheet.as_bytes())],
            manifests: Vec::new(),
        };
        read(&sources).sights.into_iter().map(|sight| sight.url).collect()
    }

    #[test]
    fn the_logo_of_a_page_without_a_header_leads_home() {
        let page =
            "<div><a href=index.html><img src=zia.png alt=Zia></a></div><h1>Zia</h1><a href=menu.html><img src=room.jpg></a>
            <div id=footer><a href=/><img src=small.png></a></div>";
        assert_eq!(found(page, ""), ["https://acme.example/room.jpg"]);
        let url: url::Url = "https://acme.example/".parse().expect("the URL is valid");
        let raw = Raw { url: &url, given: true, content_type: "text/html", language: "", bytes: page.as_bytes() };
        assert_eq!(header_logos(&Page::parse(&raw), &Styles::new(&[])), ["https://acme.example/zia.png"]);
        assert!(
            is_home("/") && is_home("/de/") && is_home("/de/index.php") && !is_home("/about") && !is_home("/blog/index.html")
        );
    }

    #[test]
    fn a_background_behind_the_main_heading_is_the_first_image() {
        let page = "<header><nav>Menu</nav></header><main><section class=top><h1>Da Nonna</h1></section>
            <div style=\"background-image: linear-gradient(#000, #000), url('/img/room.jpg')\"></div><img src=/img/dish.jpg alt=Pasta></main>";
        let sheet = ".top{background:url(../img/hero.jpg) center/cover}.icon{background:url(icon.png)}";
        let expected =
            ["https://acme.example/img/hero.jpg", "https://acme.example/img/dish.jpg", "https://acme.example/img/room.jpg"];
        assert_eq!(found(page, sheet), expected);
    }
}
