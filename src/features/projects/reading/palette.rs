//! Finds the brand's colors by role, and the corner radius of its buttons, in the styles of the site's elements.

use std::collections::BTreeMap;

use scraper::ElementRef;

use super::buttons::{best_ground, buttons, corner_radius};
use super::cascade::Styles;
use super::grounds::{ALIKE, SAME, attribute_color, ground_of, solid};
use super::page::{Page, text_of};
use super::{EMPTY_CHARACTERS, Site};
use crate::base::color::{self, LEGIBLE, WHITE, contrast, distance, has_hue, is_vivid, readable_on};
use crate::base::text::Color;
use crate::features::projects::brand::BrandPalette;

/// The maximum number of elements per page whose colors are counted.
const COUNTED_MAX: usize = 500;
/// The minimum distance between two clearly different colors, such as the accent color and the primary color.
pub const CLEARLY_OTHER: f32 = 0.12;
/// The minimum difference, in degrees, between the hues of two different colors. Colors with closer hues are shades of the same color.
const OTHER_HUE: f32 = 25.0;
/// Words in the names of CSS variables for a brand's primary color, most reliable first. [`ACCENT_NAMES`] contains the words for its
/// accent color.
const PRIMARY_NAMES: [&str; 5] = ["primary", "brand", "main-color", "theme", "accent"];
const ACCENT_NAMES: [&str; 4] = ["accent", "secondary", "highlight", "tertiary"];
/// Words in variable names that indicate a color other than the brand color itself, such as the color of text on the brand color, or a
/// paler or darker shade.
const SHADES: [&str; 30] = [
    "-50",
    "-100",
    "-200",
    "-300",
    "-400",
    "-700",
    "-800",
    "-900",
    "-950",
    "light",
    "dark",
    "hover",
    "active",
    "focus",
    "foreground",
    "text",
    "contrast",
    "border",
    "bg",
    "background",
    "shadow",
    "rgb",
    "font",
    "gradient",
    "ring",
    "muted",
    "subtle",
    "inverse",
    "on-",
    "tint",
];
/// The colors of a site, and the corner radius of its buttons.
pub struct SiteTheme {
    pub palette: BrandPalette,
    pub corner_radius: Option<u16>,
    /// The primary color that the style sheets define, if the home page does not show it.
    pub unshown_primary: Option<Color>,
}

/// Returns the colors of the site's home page, and the corner radius of its buttons.
pub fn site_theme(site: &Site, styles: &Styles) -> SiteTheme {
    let Some(home) = site.home() else {
        return SiteTheme { palette: BrandPalette::default(), corner_radius: None, unshown_primary: None };
    };
    let told_anything = !styles.is_empty() || home.first("[style], [bgcolor]").is_some();
    let background = background(home, styles).or_else(|| {
        let from_manifest =
            site.manifest_text("background_color").and_then(|text| color::parse(&text)).map(|rendered| rendered.color);
        from_manifest.or(told_anything.then_some(WHITE))
    });
    let text = text_color(home, styles, background);
    let ground = background.unwrap_or(WHITE);
    let buttons = buttons(home, styles, ground);
    let best = best_ground(&buttons);
    let hints = Hints::of(site, home, styles);
    let primary = hints.primary(best, ground);
    let button = best.or(primary);
    let button_text = button.map(|button| {
        let own = buttons.iter().filter(|one| distance(one.ground, button) < ALIKE).find_map(|one| one.text);
        own.filter(|own| contrast(*own, button) >= LEGIBLE).unwrap_or_else(|| readable_on(button))
    });
    let accent = primary.and_then(|primary| hints.accent([primary, ground], text, best));
    let corner_radius = corner_radius(&buttons, best);
    let shown = |color: Option<Color>| color.map(|color| color.to_string());
    let palette = BrandPalette {
        background: shown(background),
        text: shown(text),
        primary: shown(primary),
        accent: shown(accent),
        button: shown(button),
        button_text: shown(button_text),
    };
    let unshown_primary = hints.named_primary.filter(|named| hints.shown(Some(*named)).is_none());
    SiteTheme { palette, corner_radius, unshown_primary }
}

fn background(home: &Page, styles: &Styles) -> Option<Color> {
    let own = |element: ElementRef<'_>| {
        styles.own(element, "background-color").and_then(|value| solid(&value)).or_else(|| attribute_color(element, "bgcolor"))
    };
    let from_frame = ["body", "html"].iter().find_map(|css| own(home.first(css)?));
    from_frame.or_else(|| {
        // Use the background that most paragraphs have.
        let mut counts: BTreeMap<String, (u32, Color)> = BTreeMap::new();
        for paragraph in home.all("main p, article p, section p, p, td").into_iter().take(30) {
            if let Some(ground) = ground_of(paragraph, styles) {
                counts.entry(ground.to_string()).or_insert((0, ground)).0 += 1;
            }
        }
        counts.into_values().max_by_key(|(count, _)| *count).map(|(_, color)| color)
    })
}

/// Returns the first text color of the page that is legible on the background or, if none is legible, a default color. Returns `None` if
/// the background is unknown.
fn text_color(home: &Page, styles: &Styles, background: Option<Color>) -> Option<Color> {
    let background = background?;
    let body = home.first("body")?;
    let of = |element: ElementRef<'_>| {
        styles.inherited(element, "color").and_then(|value| color::first_in(&value)).map(|rendered| rendered.color)
    };
    let in_attribute = || attribute_color(body, "text");
    let paragraphs = home.all("main p, article p, p").into_iter().take(20);
    let on_background =
        paragraphs.filter(|paragraph| ground_of(*paragraph, styles).is_none_or(|ground| distance(ground, background) < ALIKE));
    let candidates = std::iter::once(body).chain(on_background).filter_map(of).chain(in_attribute());
    let legible = candidates.into_iter().find(|color| contrast(*color, background) >= LEGIBLE);
    Some(legible.unwrap_or_else(|| readable_on(background)))
}

/// The candidates for brand colors, by source.
struct Hints {
    named_primary: Option<Color>,
    named_accents: Vec<Color>,
    theme: Option<Color>,
    header: Option<Color>,
    links: Vec<Color>,
    headings: Vec<Color>,
    /// The colors of the page's text, borders and backgrounds, most frequent first, without grays.
    counted: Vec<Color>,
    /// Whether the page has hardly any text, which means that scripts build the page. If so, the HTML contains no colors.
    is_empty: bool,
}

impl Hints {
    fn of(site: &Site, home: &Page, styles: &Styles) -> Self {
        let variables = home.first("html").map(|root| styles.root_variables(root, home.first("body"))).unwrap_or_default();
        let theme = home
            .meta("theme-color")
            .or_else(|| home.meta("msapplication-TileColor"))
            .or_else(|| site.manifest_text("theme_color"));
        let own = |css: &str| {
            let grounds = home
                .all(css)
                .into_iter()
                .filter_map(|element| styles.own(element, "background-color"))
                .filter_map(|value| solid(&value));
            grounds.into_iter().find(|ground| is_vivid(*ground))
        };
        let colors = |css: &str| {
            let values = home.all(css).into_iter().take(20).filter_map(|element| styles.own(element, "color"));
            values.filter_map(|value| solid(&value)).filter(|color| has_hue(*color)).collect::<Vec<_>>()
        };
        Self {
            named_primary: named(&variables, &PRIMARY_NAMES, styles).first().copied(),
            named_accents: named(&variables, &ACCENT_NAMES, styles),
            theme: theme.and_then(|text| color::parse(&text)).map(|rendered| rendered.color),
            header: own("header, nav, [class*=header], [class*=navbar], [class*=hero], footer"),
            links: colors("main a, p a, a"),
            headings: colors("h1, h2, h3"),
            counted: counted(home, styles),
            is_empty: home.first("body").is_none_or(|body| text_of(body).chars().count() < EMPTY_CHARACTERS),
        }
    }

    /// Returns the color if the page shows it, or if scripts build the page. Otherwise, returns `None`, because themes also define colors
    /// that the site does not use.
    fn shown(&self, color: Option<Color>) -> Option<Color> {
        color.filter(|color| self.is_empty || self.counted.iter().any(|other| distance(*color, *other) < ALIKE))
    }

    fn primary(&self, button: Option<Color>, ground: Color) -> Option<Color> {
        let vivid = |color: &Color| is_vivid(*color) && distance(*color, ground) > CLEARLY_OTHER;
        let candidates = [self.shown(self.named_primary), button, self.theme, self.header, self.named_primary];
        let first = candidates.into_iter().flatten().find(vivid);
        let further = || self.links.iter().chain(&self.headings).copied().find(|color| distance(*color, ground) > CLEARLY_OTHER);
        // As a last resort, accept a color that is not vivid, such as black or white, if it contrasts with the background: the brand
        // presumably uses it by choice.
        let plain =
            || [button, self.named_primary, self.theme].into_iter().flatten().find(|color| contrast(*color, ground) >= 3.0);
        first.or_else(further).or_else(plain)
    }

    /// Returns the accent color: a color that differs clearly from the primary color and the background, and is not the text color. A
    /// darker or lighter shade of the primary color is used only if the page has no other vivid color.
    fn accent(&self, [primary, ground]: [Color; 2], text: Option<Color>, button: Option<Color>) -> Option<Color> {
        let named = self.named_accents.iter().filter_map(|color| self.shown(Some(*color)));
        let candidates = named.chain([button, self.theme, self.header].into_iter().flatten());
        let on_page = self.links.iter().chain(&self.headings).chain(&self.counted).chain(&self.named_accents).copied();
        let all: Vec<Color> = candidates.chain(on_page).collect();
        let is_text = |color: Color| text.is_some_and(|text| distance(color, text) < SAME);
        let is_other = |color: &Color| {
            distance(*color, primary) > CLEARLY_OTHER && distance(*color, ground) > CLEARLY_OTHER && !is_text(*color)
        };
        let has_other_hue = |color: &Color| {
            let turn = (color::seen(*color).hue - color::seen(primary).hue).abs();
            turn.min(360.0 - turn) > OTHER_HUE
        };
        let vivid = || all.iter().copied().filter(|color| is_vivid(*color) && is_other(color));
        let pale = || all.iter().copied().find(|color| has_hue(*color) && is_other(color));
        vivid().find(has_other_hue).or_else(|| vivid().next()).or_else(pale)
    }
}

/// Returns the colors of the page's text, borders and backgrounds, most frequent first, without grays.
fn counted(home: &Page, styles: &Styles) -> Vec<Color> {
    const PLACES: [&str; 11] = [
        "color",
        "background-color",
        "background-image",
        "border",
        "border-color",
        "border-top",
        "border-top-color",
        "border-bottom",
        "border-bottom-color",
        "border-left",
        "border-left-color",
    ];
    let mut counts: Vec<(u32, Color)> = Vec::new();
    for element in home.all("body, body [class], body [style], body hr, body a, body button").into_iter().take(COUNTED_MAX) {
        for color in PLACES.iter().filter_map(|place| solid(&styles.own(element, place)?)).filter(|color| has_hue(*color)) {
            match counts.iter_mut().find(|(_, other)| distance(*other, color) < SAME) {
                Some((count, _)) => *count += 1,
                None => counts.push((1, color)),
            }
        }
    }
    counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    counts.into_iter().map(|(_, color)| color).collect()
}

/// Returns the colors of variables whose names contain one of `names` and no word of [`SHADES`], in the order of `names`. If several
/// variables match a name, vivid colors come before other colors, and then shorter variable names before longer ones.
fn named(variables: &[(String, String)], names: &[&str], styles: &Styles) -> Vec<Color> {
    let mut all = Vec::new();
    for wanted in names {
        let fitting = variables.iter().filter(|(name, _)| {
            let name = name.to_ascii_lowercase();
            name.contains(wanted) && !SHADES.iter().any(|shade| name.replace(wanted, "").contains(shade))
        });
        let color = |name: &str, value: &str| color::parse(&styles.as_used(name, value)).filter(|rendered| rendered.alpha >= 0.5);
        let colors = fitting.filter_map(|(name, value)| Some((name.len(), color(name, value)?.color)));
        let mut found: Vec<(usize, Color)> = colors.filter(|(_, color)| has_hue(*color)).collect();
        found.sort_by_key(|(length, color)| (!is_vivid(*color), *length));
        all.extend(found.into_iter().map(|(_, color)| color));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::{Raw, Sources, read};
    use super::*;

    #[test]
    fn the_variable_with_the_simplest_name_wins() {
        let variables: Vec<(String, String)> = [
            ("--color-primary-hover", "#111199"),
            ("--color-primary", "#2244CC"),
            ("--primary-foreground", "#ffffff"),
            ("--accent", "12 80% 50%"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
        let styles = Styles::new(&[]);
        let first = |names: &[&str]| named(&variables, names, &styles).first().map(Color::to_string);
        assert_eq!(first(&PRIMARY_NAMES).as_deref(), Some("#2244CC"));
        assert_eq!(first(&ACCENT_NAMES).as_deref(), Some("#E64219"));
    }

    fn colors(page: &str, sheet: &str) -> BrandPalette {
        let url: url::Url = "https://acme.example/".parse().expect("the URL is valid");
        let raw = |content_type, bytes| Raw { url: &url, given: true, content_type, language: "", bytes };
        let sources = Sources {
            pages: vec![raw("text/html", page.as_bytes())],
            styles: vec![raw("text/css", sheet.as_bytes())],
            manifests: Vec::new(),
        };
        read(&sources).brand.palette
    }

    /// Regression test: Shopify's theme Dawn stores RGB channels in its variables. They were parsed as hue, saturation and lightness, which
    /// produced a cyan that the site does not contain.
    #[test]
    fn channels_in_variables_are_read_as_the_theme_uses_them() {
        let sheet =
            ":root{--color-base-accent-1:180,85,45;--color-base-accent-2:61,92,102;--color-button:var(--color-base-accent-1)}
                     body{background:#faf6ef;color:#262c30}.button{background-color:rgba(var(--color-button),1);color:#fff}
                     .bar{background:rgb(var(--color-base-accent-2))}";
        let found = colors("<body><div class=bar>Free delivery</div><p>Text</p><a class=button href=/shop>Shop now</a>", sheet);
        assert_eq!(found.primary.as_deref(), Some("#B4552D"));
        assert_eq!((found.button.as_deref(), found.accent.as_deref()), (Some("#B4552D"), Some("#3D5C66")));
        let squarespace = ":root{--accent-hsl:345,38%,42%}.b{background:hsla(var(--accent-hsl),1);color:#fff}";
        assert_eq!(colors("<body><a class=b href=/shop>Order</a>", squarespace).primary.as_deref(), Some("#944257"));
    }

    #[test]
    fn a_shade_of_the_primary_color_is_not_the_accent_color_if_the_page_has_another_color() {
        let sheet = ".a{background:#4f39f6;color:#fff}footer{background:#1e1a4d}.new{color:#00bc7d}";
        let page = |new: &str| format!("<body><a class=a href=/b>Start free</a>{new}<p>Text</p><footer>Acme</footer>");
        assert_eq!(colors(&page("<p class=new>New: budgets</p>"), sheet).accent.as_deref(), Some("#00BC7D"));
        assert_eq!(colors(&page(""), sheet).accent.as_deref(), Some("#1E1A4D"));
    }

    #[test]
    fn a_primary_color_that_the_page_does_not_show_counts_if_the_logo_has_it_or_scripts_build_the_page() {
        let sheet = ":root{--kit-primary:#0e6ba8}.b{background:#2ec4b6}h1{color:#0a2472}";
        let text = "We take our time for you and your family, and explain all options before we start. ".repeat(2);
        let page = format!("<body><h1>Acme</h1><p>{text}</p><a class=b href=/c>Contact</a>");
        let mut palette = colors(&page, sheet);
        assert_eq!((palette.primary.as_deref(), palette.button.as_deref()), (Some("#2EC4B6"), Some("#2EC4B6")));
        let color = |hex: &str| hex.parse::<Color>().expect("the color is valid");
        super::super::color_by_logo(&mut palette, &[color("#333333")], Some(color("#0E6BA8")));
        assert_eq!(palette.primary.as_deref(), Some("#2EC4B6"), "the theme defines a color that the brand does not use");
        super::super::color_by_logo(&mut palette, &[color("#0D6BA8")], Some(color("#0E6BA8")));
        assert_eq!((palette.primary.as_deref(), palette.accent.as_deref()), (Some("#0E6BA8"), Some("#2EC4B6")));
        assert_eq!(palette.button.as_deref(), Some("#2EC4B6"));
        let empty =
            colors("<head><meta name=theme-color content='#6d28d9'></head><body><div id=root></div>", ":root{--primary:#7c3aed}");
        assert_eq!((empty.primary.as_deref(), empty.button.as_deref()), (Some("#7C3AED"), Some("#7C3AED")));
    }

    #[test]
    fn an_accent_on_prices_and_rules_is_found() {
        let dish = "<p>Farinata <span style='color:#B08D57'>7,00 €</span></p><hr style='border:0;border-top:1px solid #B08D57'>";
        let page = format!(
            "<body style='background:#fbf6ec;color:#2b211c'><a style='background-color:#7A1C20;color:#fff' href=/r>Reservieren</a>{}",
            dish.repeat(3)
        );
        let found = colors(&page, "");
        assert_eq!((found.primary.as_deref(), found.accent.as_deref()), (Some("#7A1C20"), Some("#B08D57")));
    }
}
