//! Finds the brand's fonts and appends font families that are available in most email clients.

use super::Site;
use super::cascade::Styles;
use super::css::{FontFace, unquoted};
use super::page::Page;
use crate::engine::render::css::split;
use crate::features::projects::brand::{BrandFonts, BrandWebFont, FontKind};
use crate::vocab::limits::URL_CHARACTERS_MAX;

const SANS: &str = "Arial, Helvetica, sans-serif";
const SERIF: &str = "Georgia, 'Times New Roman', serif";
const MONO: &str = "'Courier New', Courier, monospace";

/// Families that are not specific to a brand: system fonts and the generic families of CSS.
const GENERIC: [&str; 18] = [
    "sans-serif",
    "serif",
    "monospace",
    "cursive",
    "fantasy",
    "system-ui",
    "ui-sans-serif",
    "ui-serif",
    "ui-monospace",
    "ui-rounded",
    "-apple-system",
    "blinkmacsystemfont",
    "inherit",
    "initial",
    "unset",
    "emoji",
    "math",
    "revert",
];
/// Words in the names of families that contain icons.
const SYMBOLS: [&str; 10] =
    ["awesome", "material", "icon", "icomoon", "glyph", "emoji", "dashicons", "eicons", "swiper", "symbol"];
/// Sans-serif families. A site's fallbacks for these families are ignored, because they are often serif fonts.
const KNOWN_SANS: [&str; 34] = [
    "inter",
    "figtree",
    "lato",
    "roboto",
    "poppins",
    "montserrat",
    "raleway",
    "nunito",
    "karla",
    "rubik",
    "mulish",
    "outfit",
    "manrope",
    "urbanist",
    "lexend",
    "sora",
    "jost",
    "oswald",
    "barlow",
    "cabin",
    "heebo",
    "hind",
    "archivo",
    "geist",
    "satoshi",
    "futura",
    "avenir",
    "helvetica",
    "arial",
    "verdana",
    "proxima nova",
    "red hat display",
    "quicksand",
    "assistant",
];
/// The maximum number of font files per family, which is enough for the usual weights.
const FILES_MAX: usize = 4;
const GOOGLE_FONTS: &str = "fonts.googleapis.com";

/// Words in the names of serif families. Names with "sans" are checked first.
const SERIFS: [&str; 30] = [
    "serif",
    "georgia",
    "times",
    "garamond",
    "playfair",
    "merriweather",
    "lora",
    "baskerville",
    "bodoni",
    "didot",
    "caslon",
    "palatino",
    "cambria",
    "crimson",
    "cormorant",
    "libre book",
    "pt serif",
    "spectral",
    "fraunces",
    "dm serif",
    "tiempos",
    "freight",
    "slab",
    "bitter",
    "cinzel",
    "cardo",
    "newsreader",
    "literata",
    "mincho",
    "roman",
];

/// Returns the fonts for headings and running text.
pub fn fonts(site: &Site, styles: &Styles) -> BrandFonts {
    let Some(home) = site.home() else { return BrandFonts::default() };
    let declared =
        |css: &[&str]| css.iter().flat_map(|css| home.all(css)).find_map(|element| styles.inherited(element, "font-family"));
    let linked = linked_families(home);
    let body = declared(&["body"]).or_else(|| declared(&["main p", "p", "td", "font"]));
    let body = body.filter(|value| first_family(value).is_some()).or_else(|| declared(&["main p", "p"])).or(body_attribute(home));
    let heading = declared(&["h1", "main h2", "h2", "h3"]);
    // If no style names a font, use the families in the URL of a font service, where the heading font usually comes first and the
    // text font last.
    let body = body.or_else(|| linked.last().cloned());
    let heading = heading.or_else(|| linked.first().cloned()).or_else(|| body.clone());
    BrandFonts { heading: heading.as_deref().map(stack), body: body.as_deref().map(stack) }
}

/// Returns the font of the home page's first `<font face>` attribute.
fn body_attribute(home: &Page) -> Option<String> {
    home.first("font[face]").and_then(|font| font.attr("face")).map(str::to_owned)
}

/// Returns a font stack for emails: the brand's own family, then safe fallbacks of the same kind.
pub fn stack(value: &str) -> String {
    let first = first_family(value);
    let safe = match kind(value, first.as_deref()) {
        FontKind::Sans => SANS,
        FontKind::Serif => SERIF,
        FontKind::Mono => MONO,
    };
    match first {
        Some(family) if !safe.to_ascii_lowercase().contains(&family.to_ascii_lowercase()) => {
            let is_plain = family.chars().all(|character| character.is_ascii_alphanumeric() || character == '-');
            let is_name = family.chars().next().is_some_and(|first| first.is_ascii_alphabetic());
            // Remove quotes, because a quote inside a name would end the quoted name in the stack.
            let family = family.replace(['\'', '"', '\\', ';', '<', '>', '{', '}'], "");
            if is_plain && is_name { format!("{family}, {safe}") } else { format!("'{family}', {safe}") }
        }
        // Put Helvetica first if the brand uses it.
        Some(family) if family.eq_ignore_ascii_case("helvetica") => "Helvetica, Arial, sans-serif".to_owned(),
        Some(family) if family.eq_ignore_ascii_case("times new roman") => "'Times New Roman', Times, Georgia, serif".to_owned(),
        Some(_) | None => safe.to_owned(),
    }
}

fn kind(value: &str, first: Option<&str>) -> FontKind {
    let is_known_sans = |name: &str| KNOWN_SANS.iter().any(|known| name == *known || name.starts_with(&format!("{known} ")));
    let is_slab = |name: &str| name.contains("slab") || name.contains("serif");
    if first.map(str::to_ascii_lowercase).is_some_and(|name| is_known_sans(&name) && !is_slab(&name)) {
        return FontKind::Sans;
    }
    let families: Vec<String> = split(value).into_iter().map(|family| unquoted(family).to_ascii_lowercase()).collect();
    let generic = families.iter().rev().find(|family| {
        matches!(family.as_str(), "sans-serif" | "serif" | "monospace" | "ui-serif" | "ui-monospace" | "system-ui")
    });
    match generic.map(String::as_str) {
        Some("serif" | "ui-serif") => return FontKind::Serif,
        Some("monospace" | "ui-monospace") => return FontKind::Mono,
        Some(_) => return FontKind::Sans,
        None => {}
    }
    let name = first.unwrap_or_default().to_ascii_lowercase();
    if name.contains("sans") || name.contains("grotesk") || name.contains("gothic") {
        FontKind::Sans
    } else if name.contains("mono") || name.contains("courier") || name.contains("consol") {
        FontKind::Mono
    } else if SERIFS.iter().any(|serif| name.contains(serif)) {
        FontKind::Serif
    } else {
        FontKind::Sans
    }
}

/// Returns the first family that is neither a generic family nor a system font, an icon font or a CSS variable.
fn first_family(value: &str) -> Option<String> {
    let families = split(value).into_iter().map(|family| unquoted(family).trim().to_owned());
    families.into_iter().find_map(|family| {
        let lowered = family.to_ascii_lowercase();
        let is_own = !family.is_empty()
            && !GENERIC.contains(&lowered.as_str())
            && !SYMBOLS.iter().any(|word| lowered.contains(word))
            && !lowered.starts_with("var(");
        is_own.then(|| bundled_name(&family))
    })
}

/// Returns the original name of a family that a build tool renamed, such as `__Inter_a1b2c3`, `Inter Variable` or `Inter Fallback`.
fn bundled_name(family: &str) -> String {
    let bare = match family.strip_prefix("__") {
        Some(rest) => rest.rsplit_once('_').map_or(rest, |(name, _)| name).replace('_', " "),
        None => family.to_owned(),
    };
    bare.trim_end_matches(" Variable")
        .trim_end_matches(" var")
        .trim_end_matches(" Fallback")
        .trim_end_matches("-variable")
        .to_owned()
}

/// Returns web fonts for these families: WOFF2 files from the site's own style sheets or, if there are none, Google Fonts style sheets,
/// which load a suitable file for each client.
pub fn web_fonts(site: &Site, styles: &Styles, fonts: &BrandFonts) -> Vec<BrandWebFont> {
    let mut families: Vec<String> =
        [&fonts.heading, &fonts.body].into_iter().flatten().filter_map(|stack| first_family(stack)).collect();
    families.dedup();
    let mut found = Vec::new();
    for family in families {
        let is_of = |face: &&FontFace| bundled_name(&face.family).eq_ignore_ascii_case(&family) && is_safe(&face.url);
        let mut files: Vec<&FontFace> = styles.faces.iter().filter(is_of).filter(|face| is_latin(face) && !face.italic).collect();
        files.sort_by_key(|face| distance_of_weight(&face.weight));
        files.dedup_by(|face, other| face.weight == other.weight);
        let file = |face: &FontFace| BrandWebFont {
            family: family.clone(),
            url: face.url.clone(),
            weight: face.weight.clone(),
            italic: face.italic,
            characters: face.characters.clone(),
        };
        match files.is_empty() {
            true => found.extend(site.home().and_then(|home| at_google(home, styles, &family))),
            false => found.extend(files.into_iter().take(FILES_MAX).map(file)),
        }
    }
    found
}

fn is_safe(url: &str) -> bool {
    let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '\'' | '"' | '(' | ')' | '\\' | '<' | '>' | '&' | '{' | '}');
    url.starts_with("https://") && url.len() <= URL_CHARACTERS_MAX && url.chars().all(plain)
}

/// Returns whether the file contains the basic Latin characters. Font services split fonts into files by script.
fn is_latin(face: &FontFace) -> bool {
    let starts = ["U+0000", "U+0-", "U+00-", "U+0020", "U+20-", "U+??"];
    face.characters.as_deref().is_none_or(|range| {
        let range = range.to_ascii_uppercase();
        starts.iter().any(|start| range.contains(start))
    })
}

/// Returns the rank of a font weight: ranges of weights first, then other weights by their distance from the weights that emails use.
fn distance_of_weight(weight: &str) -> u32 {
    let number = match weight.trim() {
        "normal" => 400,
        "bold" => 700,
        range if range.contains(' ') => return 0,
        number => number.parse::<u32>().unwrap_or(400),
    };
    1 + number.abs_diff(400).min(number.abs_diff(700)).min(number.abs_diff(600) + 10)
}

/// Returns the Google Fonts style sheet of a family, if the page loads the family from Google Fonts.
fn at_google(home: &Page, styles: &Styles, family: &str) -> Option<BrandWebFont> {
    let linked =
        home.links("stylesheet").into_iter().chain(home.links("preload")).filter_map(|link| home.address(link.attr("href")?));
    let included = styles.imports.iter().filter_map(|address| home.address(address));
    for url in linked.chain(included).filter(|url| url.host_str() == Some(GOOGLE_FONTS)) {
        for (_, value) in url.query_pairs().filter(|(name, _)| name == "family") {
            for one in value.split('|') {
                let (name, weights) = one.split_once(':').unwrap_or((one, ""));
                let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || " ,;.@".contains(c));
                if name.trim().eq_ignore_ascii_case(family) && is_plain(name) && is_plain(weights) {
                    let (path, weights) = if url.path().starts_with("/css2") { ("css2", weights) } else { ("css", weights) };
                    let colon = if weights.is_empty() { "" } else { ":" };
                    let url = format!("https://{GOOGLE_FONTS}/{path}?family={}{colon}{weights}", name.trim().replace(' ', "+"));
                    let (family, weight) = (family.to_owned(), weights.to_owned());
                    return Some(BrandWebFont { family, url, weight, italic: false, characters: None });
                }
            }
        }
    }
    None
}

/// Returns the families in URLs of font services, such as `family=Playfair+Display:wght@700&family=Inter`.
fn linked_families(home: &Page) -> Vec<String> {
    let mut found = Vec::new();
    for link in home.links("stylesheet").into_iter().chain(home.links("preload")) {
        let Some(url) = link.attr("href").and_then(|href| home.address(href)) else { continue };
        if !url.host_str().is_some_and(|host| host.contains("fonts.")) {
            continue;
        }
        for (name, value) in url.query_pairs().filter(|(name, _)| name == "family") {
            debug_assert_eq!(name, "family");
            let families = value.split('|').map(|family| family.split(':').next().unwrap_or_default().trim().to_owned());
            found.extend(
                families.filter(|family| {
                    !family.is_empty() && !SYMBOLS.iter().any(|word| family.to_ascii_lowercase().contains(word))
                }),
            );
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::{Raw, Sources, read};
    use super::*;

    #[test]
    fn every_stack_ends_with_safe_families() {
        for (value, expected) in [
            ("'Playfair Display', serif", "'Playfair Display', Georgia, 'Times New Roman', serif"),
            ("Inter, system-ui, sans-serif", "Inter, Arial, Helvetica, sans-serif"),
            ("-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto", "'Segoe UI', Arial, Helvetica, sans-serif"),
            ("system-ui", "Arial, Helvetica, sans-serif"),
            ("Georgia", "Georgia, 'Times New Roman', serif"),
            ("Lora", "Lora, Georgia, 'Times New Roman', serif"),
            ("'Open Sans'", "'Open Sans', Arial, Helvetica, sans-serif"),
            ("__Space_Grotesk_a1b2c3, __Space_Grotesk_Fallback_a1b2c3", "'Space Grotesk', Arial, Helvetica, sans-serif"),
            ("\"JetBrains Mono\", monospace", "'JetBrains Mono', 'Courier New', Courier, monospace"),
            ("FontAwesome, Verdana", "Verdana, Arial, Helvetica, sans-serif"),
            ("Helvetica, Arial", "Helvetica, Arial, sans-serif"),
            ("Inter, serif", "Inter, Arial, Helvetica, sans-serif"),
            ("'Roboto Slab', serif", "'Roboto Slab', Georgia, 'Times New Roman', serif"),
        ] {
            assert_eq!(stack(value), expected, "{value}");
        }
    }
    fn web_fonts_of(html: &str, sheet: &str) -> Vec<(String, String, String)> {
        let url: url::Url = "https://acme.example/".parse().expect("the URL is valid");
        let raw = |content_type, bytes| Raw { url: &url, given: true, content_type, language: "", bytes };
        let sources = Sources {
            pages: vec![raw("text/html", html.as_bytes())],
            styles: vec![raw("text/css", sheet.as_bytes())],
            manifests: Vec::new(),
        };
        let found = read(&sources).brand.web_fonts;
        found.into_iter().map(|font| (font.family, font.url, font.weight)).collect()
    }

    #[test]
    fn the_files_of_the_brands_fonts_are_found() {
        let face = |family: &str, url: &str, weight: &str, range: &str| {
            format!("@font-face{{font-family:{family};src:url({url}) format('woff2');font-weight:{weight};{range}}}")
        };
        let sheet = [
            face("'Fraunces'", "/f/fraunces-700.woff2", "700", ""),
            face("Figtree", "https://cdn.example/figtree.woff2", "300 900", "unicode-range:U+0000-00FF,U+0131"),
            face("Figtree", "https://cdn.example/figtree-ext.woff2", "300 900", "unicode-range:U+0100-02BA"),
            face("Icons", "https://cdn.example/icons.woff2", "400", ""),
            face("Figtree", "http://cdn.example/plain.woff2", "400", ""),
            "body{font-family:Figtree,sans-serif}h1{font-family:Fraunces,serif}".to_owned(),
        ];
        let expected = [
            ("Fraunces", "https://acme.example/f/fraunces-700.woff2", "700"),
            ("Figtree", "https://cdn.example/figtree.woff2", "300 900"),
        ];
        let expected = expected.map(|(family, url, weight)| (family.to_owned(), url.to_owned(), weight.to_owned()));
        assert_eq!(web_fonts_of("<body><h1>Acme</h1><p>Text</p>", &sheet.concat()), expected);
    }

    #[test]
    fn a_font_of_google_is_loaded_from_its_style_sheet_there() {
        let html =
            "<link rel=stylesheet href='https://fonts.googleapis.com/css2?family=DM+Sans:wght@400;700&family=Lora&display=swap'>
                    <style>body{font-family:'DM Sans',sans-serif}h1{font-family:Lora,serif}</style><body><h1>Acme</h1>";
        let urls: Vec<String> = web_fonts_of(html, "").into_iter().map(|(_, url, _)| url).collect();
        let expected =
            ["https://fonts.googleapis.com/css2?family=Lora", "https://fonts.googleapis.com/css2?family=DM+Sans:wght@400;700"];
        assert_eq!(urls, expected);
    }
}
