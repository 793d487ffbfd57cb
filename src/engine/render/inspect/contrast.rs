//! Finds text whose color is too similar to its background, in light and in dark mode.
//!
//! In dark mode, the email's own rules for `prefers-color-scheme: dark` apply. Without such rules, the colors are changed as several
//! clients change them: light backgrounds become dark, and dark text becomes light, with the same hue. The clients' formulas are not
//! public, so this is an approximation, and only clearly illegible text is reported.
//!
//! A separate check finds links that readers cannot see, including those that are invisible only where a background image or a gradient is
//! not shown.

use super::source::shortened;
use crate::base::color::{self, AlphaColor, BLACK, LEGIBLE, WHITE};
use crate::base::text::Color;
use crate::engine::render::imported_html::computed_style::{ComputedStyles, DarkRules, old_color};
use crate::engine::render::imported_html::dom::Dom;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Light,
    Dark,
}

/// A text node that readers see.
pub struct VisibleText {
    /// The number of the text node.
    pub node: usize,
    /// The font size in pixels.
    pub size: f32,
    pub is_bold: bool,
}

/// Text with too little contrast.
pub struct FaintText {
    pub node: usize,
    text: String,
    ink: Color,
    ground: Color,
    contrast: f64,
    required: f64,
    /// Whether the dark colors are an approximation.
    is_estimate: bool,
}

/// A link whose text has nearly the color of its background.
pub struct InvisibleLink {
    /// The number of the text node.
    pub node: usize,
    pub place: ContrastContext,
    text: String,
    ink: Color,
    ground: Color,
}

/// Where a link is invisible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContrastContext {
    Everywhere,
    /// Where a background image or a gradient is not shown, such as in Outlook for Windows or before images are loaded.
    WithoutPictures,
    /// In dark mode, with the email's own rules.
    DarkMode,
}

/// The contrast that WCAG AA requires for large text.
const LEGIBLE_LARGE: f64 = 3.0;
/// The contrast below which a link counts as invisible, because its two colors look the same on most screens.
const INVISIBLE: f64 = 1.5;
/// The minimum size of large text in pixels: 18 pt, or 14 pt if bold.
const LARGE_PX: f32 = 24.0;
const LARGE_BOLD_PX: f32 = 18.66;
/// The color of links without a style.
const LINK: Color = Color { red: 0, green: 0, blue: 0xEE };

impl FaintText {
    pub fn detail(&self) -> String {
        let Self { text, ink, ground, contrast, required, is_estimate, .. } = self;
        let how = if *is_estimate { "about " } else { "" };
        format!("\"{text}\" ({ink} on {ground}) has a contrast ratio of {how}{contrast:.1}:1; at least {required}:1 is required.")
    }
}

impl InvisibleLink {
    pub fn detail(&self) -> String {
        let Self { place, text, ink, ground, .. } = self;
        let link = match place {
            ContrastContext::Everywhere => format!("The link \"{text}\" is invisible"),
            ContrastContext::WithoutPictures => format!(
                "The link \"{text}\" is invisible where the background image or gradient is not shown, as in Outlook for Windows"
            ),
            ContrastContext::DarkMode => format!("The link \"{text}\" is invisible in dark mode"),
        };
        format!("{link}: its text is {ink} on {ground}.")
    }
}

/// The color behind a node; `None` if the background is an image or a gradient.
type Ground = Option<Color>;

/// Returns the text nodes whose contrast is too low.
pub fn faint(dom: &Dom, styles: &ComputedStyles, texts: &[VisibleText], mode: Mode) -> Vec<FaintText> {
    let dark = (mode == Mode::Dark).then(|| DarkRules::of(dom));
    let is_estimate = dark.as_ref().is_some_and(DarkRules::is_empty);
    let colors = Colors { dom, styles, dark: dark.as_ref().filter(|_| !is_estimate), shows_pictures: true }.all();
    let mut found = Vec::new();
    for text in texts {
        let Some((ink, Some(ground))) = colors.get(text.node).copied() else { continue };
        let (ink, ground) = if is_estimate { (flipped_ink(ink), flipped_ground(ground)) } else { (ink, ground) };
        let is_large = text.size >= LARGE_PX || text.is_bold && text.size >= LARGE_BOLD_PX;
        let required = if is_large || is_estimate { LEGIBLE_LARGE } else { LEGIBLE };
        let contrast = color::contrast(ink, ground);
        // An estimated contrast in dark mode is not reported if the contrast in light mode is also too low.
        let is_known = is_estimate
            && colors
                .get(text.node)
                .is_some_and(|(ink, ground)| ground.is_some_and(|ground| color::contrast(*ink, ground) < required));
        if contrast < required && !is_known {
            let words = shortened(dom.text(text.node));
            found.push(FaintText { node: text.node, text: words, ink, ground, contrast, required, is_estimate });
        }
    }
    found
}

/// Returns the links that readers cannot see, each with the first context in which it is invisible.
pub fn invisible_links(dom: &Dom, styles: &ComputedStyles, texts: &[VisibleText]) -> Vec<InvisibleLink> {
    let rules = DarkRules::of(dom);
    let colors = |dark, shows_pictures| Colors { dom, styles, dark, shows_pictures }.all();
    let mut places = vec![(ContrastContext::Everywhere, colors(None, true))];
    if places.iter().any(|(_, colors)| colors.iter().any(|(_, ground)| ground.is_none())) {
        places.push((ContrastContext::WithoutPictures, colors(None, false)));
    }
    if !rules.is_empty() {
        places.push((ContrastContext::DarkMode, colors(Some(&rules), true)));
    }
    let is_link = |node: &usize| dom.name(*node) == "a" && dom.attribute(*node, "href").is_some();
    let mut found = Vec::new();
    for node in texts.iter().map(|text| text.node) {
        let mut around = std::iter::successors(Some(node), |node| Some(dom.parent(*node)).filter(|parent| *parent != 0));
        if !around.any(|node| is_link(&node)) {
            continue;
        }
        let invisible = places.iter().find_map(|(place, colors)| {
            let (ink, ground) = colors.get(node).copied()?;
            let ground = ground.filter(|ground| color::contrast(ink, *ground) < INVISIBLE)?;
            Some(InvisibleLink { node, place: *place, text: shortened(dom.text(node)), ink, ground })
        });
        found.extend(invisible);
    }
    found
}

struct Colors<'a> {
    dom: &'a Dom,
    styles: &'a ComputedStyles,
    dark: Option<&'a DarkRules>,
    /// Whether background images and gradients are shown.
    shows_pictures: bool,
}

impl Colors<'_> {
    /// Returns the text color and the background of every node, indexed by the node's number.
    fn all(&self) -> Vec<(Color, Ground)> {
        let dom = self.dom;
        let mut colors: Vec<(Color, Ground)> = vec![(BLACK, Some(WHITE)); dom.numbers().end];
        for node in dom.first("html").map(|root| dom.within(root)).unwrap_or_default() {
            let (ink, ground) = colors[dom.parent(node)];
            if dom.is_text(node) {
                colors[node] = (ink, ground);
                continue;
            }
            let ground = self.ground(node, ground);
            let own = self.value(node, "color").and_then(|value| color::first_in(&value));
            let old = || dom.attribute(node, if dom.name(node) == "body" { "text" } else { "color" }).and_then(old_color);
            let is_link = dom.name(node) == "a" && dom.attribute(node, "href").is_some();
            let ink = match own.or_else(old) {
                Some(painted) => blended(painted, ground.unwrap_or(WHITE)),
                None if is_link && self.value(node, "color").is_none() => LINK,
                None => ink,
            };
            colors[node] = (ink, ground);
        }
        colors
    }

    fn ground(&self, node: usize, above: Ground) -> Ground {
        let is_picture = |value: &str| value.contains("url(") || value.contains("gradient(");
        let shorthand = self.value(node, "background");
        let image = self.value(node, "background-image");
        let has_picture =
            image.as_deref().or(shorthand.as_deref()).is_some_and(is_picture) || self.dom.attribute(node, "background").is_some();
        let painted = match has_picture {
            true if self.shows_pictures => return None,
            true => self.styles.ground_without_pictures(self.dom, node),
            false => self.value(node, "background-color").or(shorthand).as_deref().and_then(color::first_in),
        };
        let old = || self.dom.attribute(node, "bgcolor").and_then(old_color);
        match painted.or_else(old) {
            Some(painted) if painted.alpha >= 1.0 => Some(painted.color),
            Some(painted) => above.map(|above| blended(painted, above)),
            None => above,
        }
    }

    fn value(&self, node: usize, property: &str) -> Option<String> {
        let light = self.styles.value(self.dom, node, property);
        match self.dark {
            Some(dark) => dark.value(self.dom, node, property, light),
            None => light,
        }
    }
}

/// Returns the color that results from drawing one color over another.
fn blended(painted: AlphaColor, below: Color) -> Color {
    let mix = |above: u8, below: u8| (f32::from(above) * painted.alpha + f32::from(below) * (1.0 - painted.alpha)).round() as u8;
    let above = painted.color;
    Color { red: mix(above.red, below.red), green: mix(above.green, below.green), blue: mix(above.blue, below.blue) }
}

fn flipped_ground(color: Color) -> Color {
    if color::seen(color).lightness > 0.5 { flipped(color) } else { color }
}

fn flipped_ink(color: Color) -> Color {
    if color::seen(color).lightness < 0.5 { flipped(color) } else { color }
}

/// Returns a color of the same hue with inverted lightness. White becomes a dark gray, as in dark interfaces.
fn flipped(color: Color) -> Color {
    let seen = color::seen(color);
    let lightness = (1.05 - 0.9 * seen.lightness).clamp(0.15, 1.0);
    color::parse(&format!("oklch({lightness} {} {})", seen.chroma.min(0.2), seen.hue)).map_or(color, |painted| painted.color)
}
