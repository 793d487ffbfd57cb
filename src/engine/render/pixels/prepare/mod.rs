//! Preparation: an email as its sender wrote it becomes HTML and style sheets that the drawing engine shows as a browser would.
//!
//! The engine was made for pages of its own kind: it has other initial values than browsers, does not mend broken HTML, and does
//! not know the attributes of older HTML, colour schemes, or texts in place of images. All of that is made good here. It does
//! not know the engine's types besides those of images.

mod hints;
mod images;
mod longhands;
mod sheets;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use scraper::ElementRef;
use takumi::prelude::ImageSource;

use self::hints::Inherited;
use self::images::EmailImages;
pub use self::sheets::Medium;
use crate::engine::render::html_limits::{HtmlRefusal, admit};
use crate::engine::render::tree::{Descend, Visitor, is_plain_name, is_void, parse, push_attribute, push_text, raw_text, walk};

/// Rules in front of the author's.
const PRELUDE: &str = include_str!("../../../../../assets/render/prelude.css");
/// The attribute by which generated rules find their elements.
const MARK: &str = "data-hint";
/// Columns and rows that one cell may span; more is a mistake or an attack.
const COLUMNS_MAX: u32 = 100;
const ROWS_MAX: u32 = 1_000;

/// An email, ready to be drawn.
pub struct PreparedEmail {
    pub html: String,
    /// In the order of the cascade.
    pub sheets: Vec<String>,
    pub images: HashMap<Arc<str>, ImageSource>,
    /// Addresses of images that nothing was given for.
    pub absent: Vec<String>,
    /// Addresses of images that cannot be drawn.
    pub unsound: Vec<String>,
    /// Every character of the text, once.
    pub letters: BTreeSet<char>,
}

/// Images that are given with an email.
pub struct GivenImages<'a> {
    /// Files by the address that the HTML names.
    pub files: &'a BTreeMap<String, Vec<u8>>,
    /// How many pixels of them, and of those in the HTML itself, may be decoded.
    pub pixels: u64,
}

/// Prepare an email.
pub fn prepare(html: &str, given: &GivenImages<'_>, medium: Medium) -> Result<PreparedEmail, HtmlRefusal> {
    let admitted = admit(html)?;
    let tree = parse(&admitted.html);
    let mut writer = Writer {
        medium,
        pictures: EmailImages::new(given, &admitted.embedded),
        html: "<!doctype html>".to_owned(),
        sheets: Vec::new(),
        hints: HashMap::new(),
        hint_rules: String::new(),
        around: vec![Inherited::at_root(has_sizes(&admitted.html))],
        letters: BTreeSet::new(),
    };
    walk(&tree, &mut writer)?;
    let mut sheets = vec![format!("{PRELUDE}\n{}", writer.hint_rules)];
    sheets.append(&mut writer.sheets);
    let EmailImages { sources, absent, unsound, .. } = writer.pictures;
    Ok(PreparedEmail { html: writer.html, sheets, images: sources, absent, unsound, letters: writer.letters })
}

/// Writes the tree again, in the engine's words.
struct Writer<'a> {
    medium: Medium,
    pictures: EmailImages<'a>,
    html: String,
    sheets: Vec<String>,
    /// The number of each set of declarations that stands for attributes.
    hints: HashMap<String, usize>,
    hint_rules: String,
    /// What each open element passes on.
    around: Vec<Inherited>,
    letters: BTreeSet<char>,
}

impl Visitor for Writer<'_> {
    fn open(&mut self, element: ElementRef<'_>) -> Descend {
        let name = element.value().name();
        if name == "style" {
            self.style(element);
            return Descend::Past;
        }
        if name == "head" {
            // Only its styles are of use, and they apply wherever they stand.
            for style in element.descendants().filter_map(ElementRef::wrap).filter(|inner| inner.value().name() == "style") {
                self.style(style);
            }
            return Descend::Past;
        }
        if is_dropped(name) || !is_plain_name(name) {
            return Descend::Past;
        }
        let around = self.around.last().expect("the root's is never taken away");
        let pictures = &mut self.pictures;
        let (hint, within) =
            hints::of(element, around, &mut |address| pictures.key(address).unwrap_or_else(|| images::MISSING.to_owned()));
        if name == "img" {
            self.image(element, &hint);
            return Descend::Past;
        }
        if name == "body" {
            self.canvas(element, &hint);
        }
        self.html.push('<');
        self.html.push_str(name);
        self.attributes(element, &hint);
        self.html.push('>');
        if is_void(name) {
            return Descend::Past;
        }
        self.around.push(within);
        Descend::Into
    }

    fn close(&mut self, name: &str) {
        self.around.pop();
        self.html.push_str("</");
        self.html.push_str(name);
        self.html.push('>');
    }

    fn text(&mut self, text: &str) {
        self.letters.extend(text.chars());
        push_text(text, &mut self.html);
    }
}

impl Writer<'_> {
    fn style(&mut self, element: ElementRef<'_>) {
        let kind = element.attr("type").unwrap_or_default().trim();
        if !(kind.is_empty() || kind.eq_ignore_ascii_case("text/css")) {
            return;
        }
        let made = sheets::sheet(&raw_text(element), self.medium, &mut self.pictures);
        let media = element.attr("media").map(str::trim).filter(|media| !media.is_empty());
        self.sheets.push(match media {
            Some(media) => format!("@media {}{{{made}}}", sheets::query(&media.replace(['{', '}', ';'], ""), self.medium)),
            None => made,
        });
    }

    fn attributes(&mut self, element: ElementRef<'_>, hint: &str) {
        let name = element.value().name();
        for (attribute, value) in element.value().attrs() {
            match attribute {
                "style" => {
                    let style = sheets::declarations(value, &mut self.pictures);
                    push_attribute("style", &style, &mut self.html);
                }
                "colspan" => push_attribute(attribute, &span(value, COLUMNS_MAX), &mut self.html),
                "rowspan" => push_attribute(attribute, &span(value, ROWS_MAX), &mut self.html),
                // Rules are for links that lead nowhere too.
                "href" if name == "a" && !is_link(value) => push_attribute(attribute, "#", &mut self.html),
                // An engine of utility classes would read this one.
                "tw" | "src" | "srcset" | "background" | MARK => {}
                _ if attribute.starts_with("on") || !is_plain_name(attribute) => {}
                _ => push_attribute(attribute, value, &mut self.html),
            }
        }
        self.mark(hint);
    }

    /// The colour of the body is that of the whole window, unless the author's rules say otherwise.
    fn canvas(&mut self, body: ElementRef<'_>, hint: &str) {
        if let Some(rule) = sheets::canvas(hint) {
            self.hint_rules.push_str(&format!(":where(html){rule}\n"));
        }
        let style = body.attr("style").unwrap_or_default();
        if let Some(rule) = sheets::canvas(&sheets::declarations(style, &mut self.pictures)) {
            self.hint_rules.push_str(&format!("html{rule}\n"));
        }
    }

    fn mark(&mut self, hint: &str) {
        if hint.is_empty() {
            return;
        }
        let next = self.hints.len();
        let number = *self.hints.entry(hint.to_owned()).or_insert(next);
        if number == next {
            self.hint_rules.push_str(&format!(":where([{MARK}=\"{number}\"]){{{hint}}}\n"));
        }
        push_attribute(MARK, &number.to_string(), &mut self.html);
    }

    /// An image, or its text in a box of its size if there is none to draw.
    fn image(&mut self, element: ElementRef<'_>, hint: &str) {
        let key = element.attr("src").and_then(|address| self.pictures.key(address));
        if let Some(key) = key {
            self.html.push_str("<img");
            push_attribute("src", &key, &mut self.html);
            self.attributes(element, hint);
            self.html.push('>');
            return;
        }
        let text = element.attr("alt").unwrap_or_default();
        self.letters.extend(text.chars());
        // The look of a missing image, in front of what the image itself says.
        let options = "display:inline-block;overflow:hidden;max-width:100%;box-sizing:border-box;vertical-align:bottom;";
        let ground = if text.trim().is_empty() { "" } else { "background-color:rgba(128,128,128,0.12);" };
        self.html.push_str("<span");
        self.attributes(element, &format!("{options}{ground}{hint}"));
        self.html.push('>');
        push_text(text, &mut self.html);
        self.html.push_str("</span>");
    }
}

/// Whether a style sheet says how large text is. Which text is only known to whoever matches selectors.
fn has_sizes(html: &str) -> bool {
    html.match_indices("<style").any(|(at, _)| {
        let sheet = &html[at..];
        sheet[..sheet.find("</style").unwrap_or(sheet.len())].contains("font")
    })
}

/// Elements that are not drawn, with all within them. Text fields, boxes to tick and their labels stay: menus that open are made
/// of them.
fn is_dropped(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "iframe"
            | "object"
            | "embed"
            | "applet"
            | "frame"
            | "frameset"
            | "video"
            | "audio"
            | "canvas"
            | "base"
            | "template"
            | "math"
            | "svg"
            | "meta"
            | "link"
            | "title"
            | "noscript"
            | "source"
            | "track"
            | "param"
            | "datalist"
    )
}

fn span(value: &str, most: u32) -> String {
    let digits: String = value.trim().chars().take_while(char::is_ascii_digit).take(6).collect();
    digits.parse::<u32>().unwrap_or(1).clamp(1, most).to_string()
}

/// Whether an address may become a link of a PDF.
fn is_link(address: &str) -> bool {
    let start: String = address.trim().chars().take(8).collect::<String>().to_ascii_lowercase();
    ["http://", "https://", "mailto:", "tel:", "#"].iter().any(|scheme| start.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIGHT: Medium = Medium { dark: false, paper: false, density: 1.0 };

    fn prepared(html: &str) -> PreparedEmail {
        prepare(html, &GivenImages { files: &BTreeMap::new(), pixels: 0 }, LIGHT).expect("it is small")
    }

    fn body(html: &str) -> String {
        let html = prepared(html).html;
        let body = html.split_once("<body>").and_then(|(_, rest)| rest.strip_suffix("</body></html>"));
        body.unwrap_or_else(|| panic!("{html}")).to_owned()
    }

    #[test]
    fn broken_html_is_mended() {
        assert_eq!(body("<p>a<table><b>x<tr><td>y"), "<p>a</p><b>x</b><table><tbody><tr><td>y</td></tr></tbody></table>");
    }

    #[test]
    fn what_is_no_part_of_the_picture_is_dropped() {
        let html = "<script>alert(1)</script><!--[if mso]><p>m</p><![endif]--><p tw='p-4' onclick=x data-hint=3 class=k>a\
                    <svg><rect/></svg><iframe src=x></iframe><a href='javascript:x'>b</a><a href=' HTTPS://x.example'>c</a>";
        assert_eq!(body(html), "<p class=\"k\">a<a href=\"#\">b</a><a href=\" HTTPS://x.example\">c</a></p>");
    }

    #[test]
    fn attributes_become_rules_once_for_all_that_mean_the_same() {
        let made = prepared("<table><tr><td width=5 colspan=999 rowspan=x>a<td WIDTH='5px'>b<td>c");
        assert!(made.html.contains("<td colspan=\"100\" rowspan=\"1\" width=\"5\" data-hint=\"0\">a</td>"), "{}", made.html);
        assert_eq!((made.html.matches("data-hint=\"0\"").count(), made.html.matches("data-hint").count()), (2, 2));
        assert!(made.sheets[0].ends_with(":where([data-hint=\"0\"]){width:5px;}\n"), "{}", made.sheets[0]);
    }

    #[test]
    fn styles_are_taken_from_everywhere_in_their_order() {
        let made = prepared("<style>a{b:c}</style><p>x<style media='screen and (prefers-color-scheme: dark)'>d{e:f}</style>");
        assert_eq!(made.sheets.len(), 3);
        assert_eq!(made.sheets[1], "a{b:c;}\n");
        assert_eq!(made.sheets[2], "@media screen and (min-width:1000000px){d{e:f;}\n}");
        assert!(!made.html.contains("b:c"));
    }

    #[test]
    fn an_image_that_is_not_there_leaves_its_text_in_its_place() {
        let made = prepared("<img src='https://x.example/a.png' alt='Boots & shoes' width=10 style='display:block'>");
        assert!(
            made.html.contains("style=\"display:block;\" width=\"10\" data-hint=\"0\">Boots &amp; shoes</span>"),
            "{}",
            made.html
        );
        assert_eq!(made.absent, ["https://x.example/a.png"]);
        assert!(made.letters.contains(&'&') && made.letters.contains(&'B'));
    }
}
