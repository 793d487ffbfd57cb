//! Checks whether people with disabilities can read an email: language, headings, contrast, alt text, link text, font sizes and tables.
//!
//! Each rule refers to a success criterion of WCAG 2.2. The rules find problems that are visible in the HTML; they cannot judge whether alt
//! text describes its image.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::contrast::{self, Mode, VisibleText};
use super::source::{SourceRange, shortened, span};
use crate::base::locale::LanguageTag;
use crate::base::source::Lines;
use crate::engine::render::image_name::{image_name, is_embedded};
use crate::engine::render::imported_html::computed_style::ComputedStyles;
use crate::engine::render::imported_html::dom::Dom;
use crate::engine::render::imported_html::visible;
use crate::vocab::limits;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AccessibilityRule {
    Language,
    Direction,
    Title,
    HeadingOrder,
    HeadingText,
    ContrastLight,
    ContrastDark,
    LinkInvisible,
    ImageAlt,
    ImageAltFileName,
    SpacerAlt,
    LinkedImageAlt,
    LinkText,
    LinkTextVague,
    FontSize,
    TableRole,
    DataTableRole,
    Zoom,
    Motion,
    TextInImages,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccessibilityProblem {
    pub rule: AccessibilityRule,
    /// A description of the first occurrence of the problem.
    pub detail: String,
    /// The number of places with the problem. It can be greater than the length of `places`.
    pub count: usize,
    /// The first places with the problem.
    pub places: Vec<SourceRange>,
}

/// The minimum font size in pixels. Smaller text is hard to read on phones.
const FONT_PX_MIN: f32 = 12.0;
/// The maximum font size, in pixels, of text that counts as hidden, as in preheaders.
const HIDDEN_PX: f32 = 2.0;
/// The minimum number of words in an email with a large image. An email with fewer words is reported as consisting mostly of images.
const WORDS_MIN: usize = 20;
/// The minimum width, in pixels, of an image that is assumed to contain text.
const PICTURE_PX_MIN: f32 = 200.0;
/// The languages that are written from right to left.
const RIGHT_TO_LEFT: [&str; 8] = ["ar", "he", "fa", "ur", "yi", "ps", "sd", "dv"];
/// Link text that is meaningless out of context, in the most common languages of emails.
const VAGUE: [&str; 34] = [
    "click here",
    "click",
    "here",
    "tap here",
    "more",
    "read more",
    "learn more",
    "see more",
    "find out more",
    "details",
    "link",
    "this link",
    "go",
    "hier",
    "hier klicken",
    "klicken sie hier",
    "mehr",
    "mehr erfahren",
    "weiterlesen",
    "ici",
    "cliquez ici",
    "en savoir plus",
    "lire la suite",
    "plus",
    "aquí",
    "haz clic aquí",
    "leer más",
    "más información",
    "clique aqui",
    "saiba mais",
    "clicca qui",
    "qui",
    "klik hier",
    "lees meer",
];
/// Alt text that names the kind of image instead of its content.
const EMPTY_ALTS: [&str; 10] =
    ["image", "img", "photo", "picture", "graphic", "banner", "icon", "untitled", "placeholder", "bild"];
const IMAGE_ENDINGS: [&str; 7] = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".avif"];

/// Returns whether the text of a link is meaningless out of context.
pub fn is_vague(text: &str) -> bool {
    VAGUE.contains(&text.to_lowercase().trim_matches(|c: char| !c.is_alphanumeric()))
}

/// Returns the problems of an email, in the order of the rules.
pub fn problems(dom: &Dom, lines: &Lines<'_>) -> Vec<AccessibilityProblem> {
    let mut check = Check::new(dom, lines);
    check.document();
    check.elements();
    check.text();
    let invisible = contrast::invisible_links(dom, &check.styles, &check.texts);
    for link in &invisible {
        check.note(AccessibilityRule::LinkInvisible, Some(link.node), || link.detail());
    }
    for (mode, rule, place) in [
        (Mode::Light, AccessibilityRule::ContrastLight, contrast::ContrastContext::Everywhere),
        (Mode::Dark, AccessibilityRule::ContrastDark, contrast::ContrastContext::DarkMode),
    ] {
        // A link that is already reported as invisible is not reported again for its contrast.
        let known: HashSet<usize> = invisible.iter().filter(|link| link.place == place).map(|link| link.node).collect();
        for faint in contrast::faint(dom, &check.styles, &check.texts, mode) {
            if !known.contains(&faint.node) {
                check.note(rule, Some(faint.node), || faint.detail());
            }
        }
    }
    check.found.sort_by_key(|problem| problem.rule as usize);
    check.found
}

/// Returns the name of an image. The name of an embedded image contains a line number, because the image has no URL.
fn image_at(dom: &Dom, lines: &Lines<'_>, node: usize) -> String {
    let source = dom.attribute(node, "src").unwrap_or_default();
    let name = shortened(&image_name(source));
    match span(dom, node).filter(|_| is_embedded(source)) {
        Some((start, end)) => format!("{name} on line {}", SourceRange::of(lines, start, end).line),
        None => name,
    }
}

struct Check<'a> {
    dom: &'a Dom,
    lines: &'a Lines<'a>,
    styles: ComputedStyles,
    /// Whether readers see each node, indexed by the node's number.
    seen: Vec<bool>,
    texts: Vec<VisibleText>,
    found: Vec<AccessibilityProblem>,
}

impl<'a> Check<'a> {
    fn new(dom: &'a Dom, lines: &'a Lines<'a>) -> Self {
        let styles = ComputedStyles::exact(dom);
        let count = dom.numbers().end;
        let (mut seen, mut sizes, mut bold) = (vec![false; count], vec![16.0_f32; count], vec![false; count]);
        let mut texts = Vec::new();
        let body = dom.first("body");
        for node in body.map(|body| dom.within(body)).unwrap_or_default() {
            let parent = dom.parent(node);
            let above = Some(node) == body || seen[parent];
            if dom.is_text(node) {
                (seen[node], sizes[node], bold[node]) = (above, sizes[parent], bold[parent]);
                if above && visible::shows(dom.text(node)) {
                    texts.push(VisibleText { node, size: sizes[node], is_bold: bold[node] });
                }
                continue;
            }
            let name = dom.name(node);
            sizes[node] = styles.size(dom, node, sizes[parent]);
            let is_text = !matches!(name, "script" | "style" | "title" | "template" | "noscript" | "head" | "svg");
            seen[node] = above && is_text && !styles.is_hidden(dom, node) && sizes[node] > HIDDEN_PX;
            let weight = styles.value(dom, node, "font-weight").map(|value| value.trim().to_ascii_lowercase());
            let by_name = matches!(name, "b" | "strong" | "th" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6");
            bold[node] = match weight.as_deref() {
                Some("bold" | "bolder" | "700" | "800" | "900") => true,
                Some(_) => false,
                None => by_name || bold[parent],
            };
        }
        Self { dom, lines, styles, seen, texts, found: Vec::new() }
    }

    /// Records a problem at the tag of a node, or of the node's nearest ancestor that has a tag in the source.
    fn note(&mut self, rule: AccessibilityRule, node: Option<usize>, detail: impl FnOnce() -> String) {
        let element = node.and_then(|node| {
            let mut above = std::iter::successors(Some(node), |node| Some(self.dom.parent(*node)).filter(|parent| *parent != 0));
            above.find_map(|node| span(self.dom, node))
        });
        let place = element.map(|(start, end)| SourceRange::of(self.lines, start, end));
        let problem = match self.found.iter_mut().find(|problem| problem.rule == rule) {
            Some(problem) => problem,
            None => {
                self.found.push(AccessibilityProblem { rule, detail: detail(), count: 0, places: Vec::new() });
                self.found.last_mut().expect("the problem was just added")
            }
        };
        problem.count += 1;
        if problem.places.len() < limits::PLACES_PER_FINDING_MAX
            && place.as_ref().is_none_or(|place| !problem.places.contains(place))
        {
            problem.places.extend(place);
        }
    }

    fn document(&mut self) {
        let dom = self.dom;
        let html = dom.first("html");
        let declared = html.and_then(|html| dom.attribute(html, "lang")).map(str::trim).filter(|lang| !lang.is_empty());
        let tag = declared.map(str::parse::<LanguageTag>);
        match (&tag, declared) {
            (None, _) => self.note(AccessibilityRule::Language, html, || "The html element has no lang attribute.".into()),
            (Some(Err(_)), Some(lang)) => {
                let lang = shortened(lang);
                self.note(AccessibilityRule::Language, html, || format!("The lang attribute \"{lang}\" is not a language tag."));
            }
            _ => {}
        }
        let primary = declared.unwrap_or_default().split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        let body = dom.first("body");
        let direction = [html, body].into_iter().flatten().find_map(|node| dom.attribute(node, "dir"));
        let below = || dom.numbers().any(|node| dom.attribute(node, "dir").is_some_and(|dir| dir.eq_ignore_ascii_case("rtl")));
        if RIGHT_TO_LEFT.contains(&primary.as_str()) && !direction.is_some_and(|dir| dir.eq_ignore_ascii_case("rtl")) && !below()
        {
            self.note(AccessibilityRule::Direction, html, || {
                format!("The language {primary} is written from right to left, but no element has dir=\"rtl\".")
            });
        }
        let title = dom.first("title").map(|title| dom.children(title).iter().map(|text| dom.text(*text)).collect::<String>());
        if !title.is_some_and(|title| visible::shows(&title)) {
            self.note(AccessibilityRule::Title, html, || "The email has no title.".into());
        }
        for meta in dom.numbers().filter(|node| dom.name(*node) == "meta") {
            let is_viewport = dom.attribute(meta, "name").is_some_and(|name| name.eq_ignore_ascii_case("viewport"));
            let content = dom.attribute(meta, "content").unwrap_or_default().to_ascii_lowercase().replace(' ', "");
            let scale = content.split(',').find_map(|part| part.strip_prefix("maximum-scale=")?.parse::<f32>().ok());
            if is_viewport
                && (content.contains("user-scalable=no")
                    || content.contains("user-scalable=0")
                    || scale.is_some_and(|scale| scale < 2.0))
            {
                self.note(AccessibilityRule::Zoom, Some(meta), || {
                    "The viewport meta element prevents readers from zooming in.".into()
                });
            }
        }
    }

    fn elements(&mut self) {
        let dom = self.dom;
        let mut level = 0;
        for node in dom.first("body").map(|body| dom.within(body)).unwrap_or_default() {
            if dom.name(node).is_empty() || !self.seen[node] {
                continue;
            }
            match dom.name(node) {
                "img" => self.image(node),
                "a" if dom.attribute(node, "href").is_some() => self.link(node),
                "table" => self.table(node),
                "marquee" | "blink" => self.note(AccessibilityRule::Motion, Some(node), || {
                    format!("The {} element moves, and readers cannot stop it.", dom.name(node))
                }),
                name => {
                    if let Some(own) =
                        name.strip_prefix('h').and_then(|level| level.parse::<u8>().ok()).filter(|own| (1..=6).contains(own))
                    {
                        self.heading(node, own, level);
                        level = own;
                    }
                }
            }
        }
    }

    fn heading(&mut self, node: usize, own: u8, before: u8) {
        if self.readable_text(node).is_empty() {
            self.note(AccessibilityRule::HeadingText, Some(node), || format!("The h{own} element has no text."));
        }
        // An email often starts with an h2, because its subject takes the place of the h1.
        let max = if before == 0 { 2 } else { before + 1 };
        if own > max {
            self.note(AccessibilityRule::HeadingOrder, Some(node), || match before {
                0 => format!("The first heading is h{own}."),
                _ => format!("An h{own} follows an h{before}."),
            });
        }
    }

    fn image(&mut self, node: usize) {
        let (dom, lines) = (self.dom, self.lines);
        let decorative = dom.attribute(node, "role").is_some_and(|role| matches!(role.trim(), "presentation" | "none"))
            || dom.attribute(node, "aria-hidden") == Some("true");
        match dom.attribute(node, "alt") {
            None if decorative || dom.attribute(node, "aria-label").is_some() => {}
            None if visible::is_tiny(dom, node) => {
                self.note(AccessibilityRule::SpacerAlt, Some(node), || {
                    format!("The {}, a spacer or tracking pixel, has no alt attribute.", image_at(dom, lines, node))
                });
            }
            None => self.note(AccessibilityRule::ImageAlt, Some(node), || {
                format!("The {} has no alt attribute.", image_at(dom, lines, node))
            }),
            Some(alt) => {
                let alt_text = alt.trim().to_lowercase();
                let is_name = IMAGE_ENDINGS.iter().any(|end| alt_text.ends_with(end)) || alt_text.starts_with("http");
                if is_name || EMPTY_ALTS.contains(&alt_text.as_str()) {
                    let alt = shortened(alt);
                    self.note(AccessibilityRule::ImageAltFileName, Some(node), || format!("The alt text is \"{alt}\"."));
                }
            }
        }
    }

    fn link(&mut self, node: usize) {
        let dom = self.dom;
        let label =
            ["aria-label", "title"].into_iter().find_map(|name| dom.attribute(node, name)).filter(|label| visible::shows(label));
        let text = self.readable_text(node);
        if label.is_some() {
            return;
        }
        if text.is_empty() {
            let images =
                || dom.within(node).into_iter().filter(|inner| dom.name(*inner) == "img" && !visible::is_tiny(dom, *inner));
            let href = shortened(dom.attribute(node, "href").unwrap_or_default());
            match images().next() {
                Some(image) if dom.attribute(image, "alt").is_none() => {}
                Some(_) => self.note(AccessibilityRule::LinkedImageAlt, Some(node), || {
                    format!("The link to {href} contains only images with an empty alt text.")
                }),
                None => self.note(AccessibilityRule::LinkText, Some(node), || format!("The link to {href} has no text.")),
            }
            return;
        }
        if is_vague(&text) {
            self.note(AccessibilityRule::LinkTextVague, Some(node), || format!("The link text is \"{text}\"."));
        }
    }

    fn table(&mut self, node: usize) {
        let dom = self.dom;
        // Skip nested tables, because each has its own `role`.
        let mut open: Vec<usize> = dom.children(node).to_vec();
        let mut is_data = false;
        while let Some(at) = open.pop() {
            match dom.name(at) {
                "table" => {}
                "th" | "caption" | "thead" | "tfoot" => is_data = true,
                "tbody" | "tr" => open.extend(dom.children(at)),
                _ => {}
            }
        }
        let role = dom.attribute(node, "role").map(|role| role.trim().to_ascii_lowercase());
        let is_layout = matches!(role.as_deref(), Some("presentation" | "none"));
        if is_layout && is_data {
            self.note(AccessibilityRule::DataTableRole, Some(node), || {
                "A table with a header, footer or caption is marked as presentation.".into()
            });
        }
        let is_hidden = dom.attribute(node, "aria-hidden") == Some("true");
        if !is_layout && !is_data && !is_hidden && role.is_none() {
            self.note(AccessibilityRule::TableRole, Some(node), || {
                "A table without header cells has no role=\"presentation\".".into()
            });
        }
    }

    fn text(&mut self) {
        let small: Vec<(usize, f32)> =
            self.texts.iter().filter(|text| text.size < FONT_PX_MIN).map(|text| (text.node, text.size)).collect();
        for (node, size) in small {
            let words = shortened(self.dom.text(node));
            self.note(AccessibilityRule::FontSize, Some(self.dom.parent(node)), || {
                format!("\"{words}\" has a font size of {size:.0} px.")
            });
        }
        let dom = self.dom;
        let words: usize = self.texts.iter().map(|text| dom.text(text.node).split_whitespace().count()).sum();
        let is_picture = |node: &usize| {
            let width = dom.attribute(*node, "width").and_then(|width| width.trim().trim_end_matches("px").parse::<f32>().ok());
            dom.name(*node) == "img"
                && self.seen[*node]
                && width.is_none_or(|width| width >= PICTURE_PX_MIN)
                && !visible::is_tiny(dom, *node)
        };
        let picture = dom.numbers().find(is_picture);
        if let Some(picture) = picture.filter(|_| words < WORDS_MIN) {
            self.note(AccessibilityRule::TextInImages, Some(picture), || {
                let words = if words == 1 { "1 word".to_owned() } else { format!("{words} words") };
                format!("The email has {words} of text; most of its content is in images.")
            });
        }
    }

    /// Returns the text that a screen reader reads for an element: its text, and the alt text of its images.
    fn readable_text(&self, node: usize) -> String {
        let mut text = String::new();
        for inner in self.dom.within(node).into_iter().filter(|inner| self.seen[*inner]) {
            text.push_str(self.dom.text(inner));
            if self.dom.name(inner) == "img" {
                text.push(' ');
                text.push_str(self.dom.attribute(inner, "alt").unwrap_or_default());
            }
            if text.len() > 1_000 {
                break;
            }
        }
        if visible::shows(&text) { text.split_whitespace().collect::<Vec<_>>().join(" ") } else { String::new() }
    }
}
