//! Finds the brand's colors by role, and the corner radius of its buttons, in the styles of the site's elements.

use std::collections::BTreeMap;

use scraper::ElementRef;

use super::Site;
use super::cascade::{Styles, parent};
use super::page::{Page, is_within, text_of};
use crate::base::color::{self, LEGIBLE, WHITE, contrast, distance, has_hue, is_vivid, readable_on};
use crate::base::text::Color;
use crate::features::projects::brand::BrandPalette;

/// The maximum number of a page's buttons to check.
const BUTTONS_MAX: usize = 40;
/// The maximum number of a page's elements to check when searching for buttons.
const CANDIDATES_MAX: usize = 400;
/// The color difference below which two colors are indistinguishable.
const SAME: f32 = 0.02;
/// The color difference below which two similar colors are treated as the same color.
const ALIKE: f32 = 0.06;
/// The minimum difference between the accent color and the primary color.
const CLEARLY_OTHER: f32 = 0.12;
/// The radius of fully rounded corners.
const RADIUS_MAX: f32 = 999.0;
/// Parts of the names of CSS variables for a brand's primary color; the next list has those for its second color.
const PRIMARY_NAMES: [&str; 5] = ["primary", "brand", "main-color", "theme", "accent"];
const ACCENT_NAMES: [&str; 4] = ["accent", "secondary", "highlight", "tertiary"];
/// Parts of variable names that change the meaning of a color name, such as a text color on that color, or a paler or darker shade.
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
const NO_BUTTONS: [&str; 16] = [
    "cookie",
    "consent",
    "menu",
    "toggle",
    "close",
    "search",
    "hamburger",
    "carousel",
    "slider",
    "dropdown",
    "accordion",
    "lang",
    "skip",
    "social",
    "disabled",
    "cart",
];

/// The colors and the corner radius of a site.
pub struct SiteTheme {
    pub palette: BrandPalette,
    pub corner_radius: Option<u16>,
}

/// A button on a page, with its colors and its importance.
struct Button {
    ground: Color,
    text: Option<Color>,
    radius: Option<u16>,
    weight: u32,
}

/// Returns the colors and corner radius of the site's home page.
pub fn site_theme(site: &Site, styles: &Styles) -> SiteTheme {
    let Some(home) = site.home() else { return SiteTheme { palette: BrandPalette::default(), corner_radius: None } };
    let told_anything = !styles.is_empty() || home.first("[style], [bgcolor]").is_some();
    let background = background(home, styles).or_else(|| {
        let from_manifest =
            site.manifest_text("background_color").and_then(|text| color::parse(&text)).map(|rendered| rendered.color);
        from_manifest.or(told_anything.then_some(WHITE))
    });
    let text = text_color(home, styles, background);
    let buttons = buttons(home, styles);
    let best = best_ground(&buttons);
    let hints = Hints::of(site, home, styles);
    let ground = background.unwrap_or(WHITE);
    let primary = hints.primary(best, ground);
    let button = best.or(primary);
    let button_text = button.map(|button| {
        let own = buttons.iter().filter(|one| distance(one.ground, button) < ALIKE).find_map(|one| one.text);
        own.filter(|own| contrast(*own, button) >= LEGIBLE).unwrap_or_else(|| readable_on(button))
    });
    let accent = primary.and_then(|primary| hints.accent([primary, ground], text, best));
    let corner_radius = corner_radius(&buttons);
    let shown = |color: Option<Color>| color.map(|color| color.to_string());
    let palette = BrandPalette {
        background: shown(background),
        text: shown(text),
        primary: shown(primary),
        accent: shown(accent),
        button: shown(button),
        button_text: shown(button_text),
    };
    SiteTheme { palette, corner_radius }
}

/// Returns the color in a CSS value, if the color is opaque.
fn solid(value: &str) -> Option<Color> {
    color::first_in(value).filter(|rendered| rendered.alpha >= 0.5).map(|rendered| rendered.color)
}

fn attribute_color(element: ElementRef<'_>, name: &str) -> Option<Color> {
    let text = element.attr(name)?.trim();
    // Also accept a color without `#`, as in old pages.
    color::parse(text).or_else(|| color::parse(&format!("#{text}"))).map(|rendered| rendered.color)
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

fn ground_of(element: ElementRef<'_>, styles: &Styles) -> Option<Color> {
    let mut at = Some(element);
    while let Some(element) = at {
        let own = styles.own(element, "background-color").and_then(|value| solid(&value));
        if let Some(own) = own.or_else(|| attribute_color(element, "bgcolor")) {
            return Some(own);
        }
        at = parent(element);
    }
    None
}

/// Returns a color of running text that is legible on the page's background or, if none is found, a default color; returns `None` if the
/// background is unknown.
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

fn buttons(home: &Page, styles: &Styles) -> Vec<Button> {
    let css = "button, input[type=submit], input[type=button], a[class*=btn], a[class*=button], a[class*=Button], a[class*=cta], a[role=button], \
               [class*=btn-primary], .wp-block-button__link, a[style*=background]";
    let mut found = Vec::new();
    for element in home.all(css).into_iter().take(CANDIDATES_MAX) {
        if found.len() >= BUTTONS_MAX {
            break;
        }
        if is_within(element, &[], &NO_BUTTONS) || element.attr("aria-expanded").is_some() {
            continue;
        }
        let drawn = |property: &str| {
            styles.own(element, property).and_then(|value| color::first_in(&value)).filter(|rendered| rendered.alpha >= 0.5)
        };
        let rendered = drawn("background-color").or_else(|| drawn("background-image"));
        let Some(ground) = rendered.map(|rendered| rendered.color).or_else(|| attribute_color(element, "bgcolor")) else {
            continue;
        };
        let words = element.attr("class").unwrap_or_default().to_ascii_lowercase();
        let is_first = ["primary", "cta", "main", "brand", "hero"].iter().any(|word| words.contains(word));
        let is_second =
            ["secondary", "outline", "ghost", "link", "light", "small", "tertiary"].iter().any(|word| words.contains(word));
        let says_something = text_of(element).chars().count() >= 3 || element.value().name() == "input";
        let weight = 2 + if is_first { 4 } else { 0 } + u32::from(says_something) + if is_vivid(ground) { 2 } else { 0 };
        let weight = if is_second { 1 } else { weight };
        let text = styles.inherited(element, "color").and_then(|value| color::first_in(&value)).map(|rendered| rendered.color);
        let radius = styles.own(element, "border-radius").map_or(Some(0), |value| radius(&value));
        found.push(Button { ground, text, radius, weight });
    }
    found
}

/// Returns the background color that most buttons have, weighted by the importance of each button.
fn best_ground(buttons: &[Button]) -> Option<Color> {
    let weight_of =
        |ground: Color| buttons.iter().filter(|one| distance(one.ground, ground) < ALIKE).map(|one| one.weight).sum::<u32>();
    let mut best: Option<(u32, Color)> = None;
    for button in buttons {
        let weight = weight_of(button.ground);
        if best.is_none_or(|(most, _)| weight > most) {
            best = Some((weight, button.ground));
        }
    }
    best.map(|(_, ground)| ground)
}

fn corner_radius(buttons: &[Button]) -> Option<u16> {
    let mut counts: BTreeMap<u16, u32> = BTreeMap::new();
    for (radius, weight) in buttons.iter().filter_map(|button| Some((button.radius?, button.weight))) {
        *counts.entry(radius).or_default() += weight;
    }
    counts.into_iter().max_by_key(|(_, weight)| *weight).map(|(radius, _)| radius)
}

/// Returns the first radius in a CSS value, in pixels.
fn radius(value: &str) -> Option<u16> {
    let first = value.split_whitespace().next()?;
    let unit = first.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number: f32 = first[..first.len() - unit.len()].parse().ok()?;
    let pixels = match unit {
        "px" | "" => number,
        "rem" | "em" => number * 16.0,
        "pt" => number * 4.0 / 3.0,
        // A radius of about half the height of a button makes fully rounded corners.
        "%" if number >= 40.0 => RADIUS_MAX,
        "%" => number * 0.4,
        _ => return None,
    };
    Some(pixels.round().clamp(0.0, RADIUS_MAX) as u16)
}

/// The evidence that a color belongs to the brand.
struct Hints {
    named_primary: Option<Color>,
    named_accent: Option<Color>,
    theme: Option<Color>,
    header: Option<Color>,
    links: Vec<Color>,
    headings: Vec<Color>,
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
            named_primary: named(&variables, &PRIMARY_NAMES),
            named_accent: named(&variables, &ACCENT_NAMES),
            theme: theme.and_then(|text| color::parse(&text)).map(|rendered| rendered.color),
            header: own("header, nav, [class*=header], [class*=navbar], [class*=hero], footer"),
            links: colors("main a, p a, a"),
            headings: colors("h1, h2, h3"),
        }
    }

    fn primary(&self, button: Option<Color>, ground: Color) -> Option<Color> {
        let vivid = |color: &Color| is_vivid(*color) && distance(*color, ground) > CLEARLY_OTHER;
        let candidates = [self.named_primary, button, self.theme, self.header];
        let first = candidates.into_iter().flatten().find(vivid);
        let further = || self.links.iter().chain(&self.headings).copied().find(|color| distance(*color, ground) > CLEARLY_OTHER);
        // A brand without colors uses black and white by choice.
        let plain =
            || [button, self.named_primary, self.theme].into_iter().flatten().find(|color| contrast(*color, ground) >= 3.0);
        first.or_else(further).or_else(plain)
    }

    /// Returns the accent color: a color that differs clearly from the primary color and the background, and that is not the text color.
    fn accent(&self, [primary, ground]: [Color; 2], text: Option<Color>, button: Option<Color>) -> Option<Color> {
        let candidates = [self.named_accent, button, self.theme, self.header].into_iter().flatten();
        let all: Vec<Color> = candidates.chain(self.links.iter().copied()).chain(self.headings.iter().copied()).collect();
        let is_text = |color: Color| text.is_some_and(|text| distance(color, text) < SAME);
        let is_other = |color: &Color| {
            distance(*color, primary) > CLEARLY_OTHER && distance(*color, ground) > CLEARLY_OTHER && !is_text(*color)
        };
        let first = all.iter().copied().find(|color| is_vivid(*color) && is_other(color));
        first.or_else(|| all.iter().copied().find(|color| has_hue(*color) && is_other(color)))
    }
}

/// Returns the vivid color of a variable whose name contains one of `names`, trying `names` in order. If several variables match, uses the
/// one with the shortest name.
fn named(variables: &[(String, String)], names: &[&str]) -> Option<Color> {
    for wanted in names {
        let fitting = variables.iter().filter(|(name, _)| {
            let name = name.to_ascii_lowercase();
            name.contains(wanted) && !SHADES.iter().any(|shade| name.replace(wanted, "").contains(shade))
        });
        // Also accept the bare arguments of hsl(), which shadcn and other libraries store in their variables.
        let color = |value: &str| {
            color::parse(value).or_else(|| color::parse(&format!("hsl({value})"))).filter(|rendered| rendered.alpha >= 0.5)
        };
        let mut found: Vec<(usize, Color)> =
            fitting.filter_map(|(name, value)| Some((name.len(), color(value)?.color))).collect();
        found.sort_by_key(|(length, _)| *length);
        if let Some((_, color)) = found.into_iter().find(|(_, color)| is_vivid(*color)) {
            return Some(color);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radii_of_all_units_are_converted_to_pixels() {
        for (value, expected) in [
            ("4px", Some(4)),
            ("0.5rem", Some(8)),
            ("0", Some(0)),
            ("50%", Some(999)),
            ("9999px", Some(999)),
            ("6px 6px 0 0", Some(6)),
            ("calc(1px + 2px)", None),
        ] {
            assert_eq!(radius(value), expected, "{value}");
        }
    }

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
        assert_eq!(named(&variables, &PRIMARY_NAMES).map(|color| color.to_string()).as_deref(), Some("#2244CC"));
        assert_eq!(named(&variables, &ACCENT_NAMES).map(|color| color.to_string()).as_deref(), Some("#E64219"));
    }
}
