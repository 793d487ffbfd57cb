//! Finds the filled buttons of a page, with their color, corners and area on the screen.

use scraper::ElementRef;

use super::cascade::{Styles, parent};
use super::grounds::{ALIKE, SAME, attribute_color, ground_of};
use super::page::{Page, is_within, selector, text_of};
use crate::base::color::{self, distance, is_vivid};
use crate::base::text::Color;

/// The maximum number of elements per page to check for buttons.
const CANDIDATES_MAX: usize = 400;
/// The maximum number of characters on a button. Longer links are usually cards.
const CHARACTERS_MAX: usize = 48;
/// The radius, in pixels, that represents fully rounded corners.
const RADIUS_MAX: f32 = 999.0;
/// The minimum radius, in pixels, of corners that count as fully rounded. A smaller radius rounds only small buttons fully.
const PILL_MIN: f32 = 16.0;
const FONT_SIZE: f32 = 16.0;
/// The usual width of a character, as a fraction of the font size.
const LETTER_WIDTH: f32 = 0.55;
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

/// A button with its own background color.
pub struct Button {
    pub ground: Color,
    pub text: Option<Color>,
    pub radius: Option<u16>,
    /// The area in square pixels, weighted by the importance of the button.
    pub area: f32,
}

/// Returns the page's filled buttons. A link with its own background color counts as a button.
pub fn buttons(home: &Page, styles: &Styles, page_ground: Color) -> Vec<Button> {
    let css =
        "button, input[type=submit], input[type=button], a, [role=button], span[class*=btn], div[class*=btn], div[class*=button]";
    let content = selector("img, picture, video, h1, h2, h3, h4, p, ul, a, button");
    let mut found = Vec::new();
    for element in home.all(css).into_iter().take(CANDIDATES_MAX) {
        let Some(ground) = own_ground(element, styles) else { continue };
        let behind = parent(element).and_then(|parent| ground_of(parent, styles)).unwrap_or(page_ground);
        let is_filled = distance(ground, behind) >= SAME && distance(ground, page_ground) >= SAME;
        let is_card = element.select(&content).next().is_some();
        let is_other = is_within(element, &[], &NO_BUTTONS) || element.attr("aria-expanded").is_some();
        if is_filled && !is_card && !is_other && !styles.hides(element) {
            found.extend(button(element, styles, ground));
        }
    }
    found
}

fn own_ground(element: ElementRef<'_>, styles: &Styles) -> Option<Color> {
    let drawn = |property: &str| {
        styles.own(element, property).and_then(|value| color::first_in(&value)).filter(|rendered| rendered.alpha >= 0.5)
    };
    let rendered = drawn("background-color").or_else(|| drawn("background-image"));
    rendered.map(|rendered| rendered.color).or_else(|| attribute_color(element, "bgcolor"))
}

fn button(element: ElementRef<'_>, styles: &Styles, ground: Color) -> Option<Button> {
    let label = element.attr("value").map_or_else(|| text_of(element), str::to_owned);
    let characters = label.chars().count();
    if characters > CHARACTERS_MAX {
        return None;
    }
    let (width, height) = size(element, styles, characters);
    let words = element.attr("class").unwrap_or_default().to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    let importance = match () {
        () if has(&["secondary", "outline", "ghost", "tertiary"]) => 0.3,
        () if characters < 3 => 0.2,
        () if has(&["primary", "cta", "main", "brand", "hero"]) => 1.5,
        () => 1.0,
    };
    // Give vivid colors more weight, because shops have many gray or black buttons in forms, and few buttons in the brand's color.
    let liveliness = if is_vivid(ground) { 1.5 } else { 1.0 };
    let text = styles.inherited(element, "color").and_then(|value| color::first_in(&value)).map(|rendered| rendered.color);
    let radius = styles.own(element, "border-radius").map_or(Some(0.0), |value| radius(&value));
    let radius = radius.map(|radius| if radius >= PILL_MIN && radius >= height / 2.0 - 1.0 { RADIUS_MAX } else { radius });
    Some(Button {
        ground,
        text,
        radius: radius.map(|radius| radius.round() as u16),
        area: width * height * importance * liveliness,
    })
}

/// Returns the approximate width and height of a button in pixels, based on its label, font size and padding.
fn size(element: ElementRef<'_>, styles: &Styles, characters: usize) -> (f32, f32) {
    let font = styles.inherited(element, "font-size").and_then(|value| length(&value)).unwrap_or(FONT_SIZE).clamp(8.0, 64.0);
    let own = |property: &str| styles.own(element, property);
    let sides: Vec<f32> = own("padding").iter().flat_map(|value| value.split_whitespace()).filter_map(length).collect();
    let (mut top, mut side) = match sides.as_slice() {
        [] => (0.0, 0.0),
        [all] => (*all, *all),
        [top, side, ..] => (*top, *side),
    };
    for (property, is_top) in [
        ("padding-top", true),
        ("padding-bottom", true),
        ("padding-block", true),
        ("padding-left", false),
        ("padding-right", false),
        ("padding-inline", false),
    ] {
        if let Some(value) = own(property).as_deref().and_then(|value| length(value.split_whitespace().next()?)) {
            *(if is_top { &mut top } else { &mut side }) = value;
        }
    }
    let height = own("height").as_deref().and_then(length).unwrap_or(font * 1.4 + 2.0 * top);
    (characters as f32 * font * LETTER_WIDTH + 2.0 * side, height)
}

/// Returns the background color whose buttons have the largest total area.
pub fn best_ground(buttons: &[Button]) -> Option<Color> {
    let area_of =
        |ground: Color| -> f32 { buttons.iter().filter(|one| distance(one.ground, ground) < ALIKE).map(|one| one.area).sum() };
    let mut best: Option<(f32, Color)> = None;
    for button in buttons {
        let area = area_of(button.ground);
        if best.is_none_or(|(most, _)| area > most) {
            best = Some((area, button.ground));
        }
    }
    best.map(|(_, ground)| ground)
}

/// Returns the corner radius that covers the largest total area among the buttons in this color.
pub fn corner_radius(buttons: &[Button], ground: Option<Color>) -> Option<u16> {
    let of_color = |button: &&Button| ground.is_some_and(|ground| distance(button.ground, ground) < ALIKE);
    let mut areas: Vec<(u16, f32)> = Vec::new();
    for (radius, area) in buttons.iter().filter(of_color).filter_map(|button| Some((button.radius?, button.area))) {
        match areas.iter_mut().find(|(other, _)| *other == radius) {
            Some((_, sum)) => *sum += area,
            None => areas.push((radius, area)),
        }
    }
    areas.into_iter().max_by(|one, other| one.1.total_cmp(&other.1)).map(|(radius, _)| radius)
}

/// Returns the first radius in a CSS value, in pixels.
fn radius(value: &str) -> Option<f32> {
    let value = value.trim();
    if value.contains("infinity") {
        return Some(RADIUS_MAX);
    }
    let first = if value.starts_with("calc(") { value } else { value.split_whitespace().next()? };
    let radius = match first.strip_suffix('%').map(str::parse::<f32>) {
        // A radius of about half the height of a button rounds the corners fully.
        Some(percent) => percent.ok().map(|percent| if percent >= 40.0 { RADIUS_MAX } else { percent * 0.4 })?,
        None => length(first)?,
    };
    Some(radius.clamp(0.0, RADIUS_MAX))
}

/// Returns a CSS length in pixels. In `calc()`, only sums and differences of two lengths are supported.
fn length(value: &str) -> Option<f32> {
    let value = value.trim();
    if let Some(inside) = value.strip_prefix("calc(").and_then(|rest| rest.strip_suffix(')')) {
        return match (inside.split_once(" + "), inside.split_once(" - ")) {
            (Some((one, other)), None) => Some(length(one)? + length(other)?),
            (None, Some((one, other))) => Some(length(one)? - length(other)?),
            _ => None,
        };
    }
    let end = value.rfind(|c: char| c.is_ascii_digit())? + 1;
    let number: f32 = value[..end].parse().ok()?;
    let pixels = match &value[end..] {
        "px" | "" => number,
        "rem" | "em" => number * FONT_SIZE,
        "pt" => number * 4.0 / 3.0,
        "vw" | "vh" | "vmin" | "vmax" => number * 10.0,
        _ => return None,
    };
    pixels.is_finite().then_some(pixels)
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::super::{Raw, css};
    use super::*;
    use crate::base::color::WHITE;

    fn found(html: &str, sheet: &str) -> Vec<Button> {
        let url: Url = "https://acme.example/".parse().expect("the URL is valid");
        let page = Page::parse(&Raw { url: &url, given: true, content_type: "text/html", language: "", bytes: html.as_bytes() });
        buttons(&page, &Styles::new(&[css::parse(sheet, None)]), WHITE)
    }

    fn shown(html: &str, sheet: &str) -> (Option<String>, Option<u16>) {
        let buttons = found(html, sheet);
        let best = best_ground(&buttons);
        (best.map(|color| color.to_string()), corner_radius(&buttons, best))
    }

    #[test]
    fn radii_of_all_units_are_converted_to_pixels() {
        for (value, expected) in [
            ("4px", Some(4.0)),
            ("0.5rem", Some(8.0)),
            ("0", Some(0.0)),
            ("50%", Some(999.0)),
            ("9999px", Some(999.0)),
            ("6px 6px 0 0", Some(6.0)),
            ("calc(0.5rem - 2px)", Some(6.0)),
            ("calc(infinity * 1px)", Some(999.0)),
            ("3.40282e38px", Some(999.0)),
            ("100vmax", Some(999.0)),
            ("inherit", None),
            ("min(1px, 2px)", None),
        ] {
            assert_eq!(radius(value), expected, "{value}");
        }
    }

    /// Regression test: the button color came from the first rule and the only `button` element, although all visible links that look like
    /// buttons had a different color.
    #[test]
    fn the_color_of_links_that_look_like_buttons_is_that_of_the_largest_area() {
        let sheet = ".bg-night{background-color:#1e1b4b}.bg-indigo{background-color:rgb(79 70 229/var(--o,1))}.full{border-radius:calc(infinity * 1px)}
                     .px{padding-inline:24px;padding-block:12px}.t{color:#fff}.big{font-size:18px}.gone{display:none}";
        let links = "<a class='bg-indigo full px t' href=/x>Start free</a><a class='bg-indigo full px t big' href=/y>Try it for 14 days</a>";
        let page = format!(
            "<body><button class='bg-night t'>Menu of all things</button>{links}<a class='bg-night px gone' href=/z>{}</a>",
            "Hidden ".repeat(6)
        );
        assert_eq!(shown(&page, sheet), (Some("#4F46E5".to_owned()), Some(999)));
    }

    #[test]
    fn white_links_and_colored_cards_are_not_buttons() {
        let sheet = ".card{background:#fde68a;display:block}.w{background:#fff}.b{background:#c2410c;border-radius:24px;padding:12px 24px}";
        let page = "<body><a class=card href=/a><h3>A card</h3><p>with text</p></a><a class=w href=/b>White</a><a class=b href=/c>Buy</a>";
        assert_eq!(found(page, sheet).len(), 1);
        assert_eq!(shown(page, sheet), (Some("#C2410C".to_owned()), Some(999)), "half of the height makes a pill");
    }
}
