//! Finds the brand's fonts, and appends font families that every email client has.

use super::Site;
use super::cascade::Styles;
use super::css::unquoted;
use super::page::Page;
use crate::engine::render::css::split;
use crate::features::projects::brand::BrandFonts;

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
/// Families that contain icons.
const SYMBOLS: [&str; 10] =
    ["awesome", "material", "icon", "icomoon", "glyph", "emoji", "dashicons", "eicons", "swiper", "symbol"];
/// Words in names of serif families. Names with "sans" are checked first.
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
    let told =
        |css: &[&str]| css.iter().flat_map(|css| home.all(css)).find_map(|element| styles.inherited(element, "font-family"));
    let linked = linked_families(home);
    let body = told(&["body"]).or_else(|| told(&["main p", "p", "td", "font"]));
    let body = body.filter(|value| first_family(value).is_some()).or_else(|| told(&["main p", "p"])).or(body_attribute(home));
    let heading = told(&["h1", "main h2", "h2", "h3"]);
    // If no style could be read, use the URL of a font service, in which the heading font usually comes first and the text font last.
    let body = body.or_else(|| linked.last().cloned());
    let heading = heading.or_else(|| linked.first().cloned()).or_else(|| body.clone());
    BrandFonts { heading: heading.as_deref().map(stack), body: body.as_deref().map(stack) }
}

/// Returns the font in a `<font face>` attribute.
fn body_attribute(home: &Page) -> Option<String> {
    home.first("font[face]").and_then(|font| font.attr("face")).map(str::to_owned)
}

/// Returns a font stack for emails: the brand's own family, then safe fallbacks of the same kind.
pub fn stack(value: &str) -> String {
    let first = first_family(value);
    let safe = match kind(value, first.as_deref()) {
        Kind::Sans => SANS,
        Kind::Serif => SERIF,
        Kind::Mono => MONO,
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

enum Kind {
    Sans,
    Serif,
    Mono,
}

fn kind(value: &str, first: Option<&str>) -> Kind {
    let families: Vec<String> = split(value).into_iter().map(|family| unquoted(family).to_ascii_lowercase()).collect();
    let generic = families.iter().rev().find(|family| {
        matches!(family.as_str(), "sans-serif" | "serif" | "monospace" | "ui-serif" | "ui-monospace" | "system-ui")
    });
    match generic.map(String::as_str) {
        Some("serif" | "ui-serif") => return Kind::Serif,
        Some("monospace" | "ui-monospace") => return Kind::Mono,
        Some(_) => return Kind::Sans,
        None => {}
    }
    let name = first.unwrap_or_default().to_ascii_lowercase();
    if name.contains("sans") || name.contains("grotesk") || name.contains("gothic") {
        Kind::Sans
    } else if name.contains("mono") || name.contains("courier") || name.contains("consol") {
        Kind::Mono
    } else if SERIFS.iter().any(|serif| name.contains(serif)) {
        Kind::Serif
    } else {
        Kind::Sans
    }
}

/// Returns the first family that is neither generic nor a system font.
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
        ] {
            assert_eq!(stack(value), expected, "{value}");
        }
    }
}
