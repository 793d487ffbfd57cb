//! Prepares an email: converts its HTML to simpler HTML and style sheets, which the rendering engine shows as a browser would show the
//! original.
//!
//! The engine is made for pages that are written for it: its initial values differ from those of browsers, it does not repair invalid HTML,
//! and it does not support the attributes of older HTML, color schemes, or the alternative text of images. The rewritten HTML compensates
//! for these differences.

mod hints;
mod images;
mod longhands;
mod sheets;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use scraper::ElementRef;
use takumi::prelude::ImageSource;

use self::hints::AncestorState;
use self::images::EmailImages;
pub use self::sheets::Medium;
use crate::engine::render::html_limits::{HtmlRefusal, admit};
use crate::engine::render::tree::{Descend, Visitor, is_plain_name, is_void, parse, push_attribute, push_text, raw_text, walk};

/// The rules that precede the style sheets of the email.
const PRELUDE: &str = include_str!("../../../../../assets/render/prelude.css");
/// The attribute that generated rules use to select their elements.
const MARK: &str = "data-hint";
/// The maximum column span of a cell. A larger span is a mistake or an attack.
const COLUMNS_MAX: u32 = 100;
const ROWS_MAX: u32 = 1_000;
/// The elements that are not drawn although some email clients show them.
const SEEN_ELSEWHERE: [&str; 3] = ["math", "svg", "video"];

pub struct PreparedEmail {
    pub html: String,
    /// The style sheets in cascade order.
    pub sheets: Vec<String>,
    pub images: HashMap<Arc<str>, ImageSource>,
    /// The URLs of images without a file.
    pub absent: Vec<String>,
    /// The URLs of images that cannot be drawn.
    pub unsound: Vec<String>,
    /// The files of the images that are embedded in the HTML, each with its shortened URL.
    pub embedded: Vec<(String, Arc<[u8]>)>,
    /// The names of elements that some clients show, but that are not drawn.
    pub undrawn: BTreeSet<&'static str>,
    /// Every character in the text of the email, once.
    pub characters: BTreeSet<char>,
}

pub struct GivenImages<'a> {
    /// The image files by their URL in the HTML.
    pub files: &'a BTreeMap<String, Vec<u8>>,
    /// The maximum number of pixels to decode in these files and the embedded images combined.
    pub pixels: u64,
}

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
        around: vec![AncestorState::at_root(has_sizes(&admitted.html))],
        undrawn: BTreeSet::new(),
        characters: BTreeSet::new(),
    };
    walk(&tree, &mut writer)?;
    let mut sheets = vec![format!("{PRELUDE}\n{}", writer.hint_rules)];
    sheets.append(&mut writer.sheets);
    let Writer { html, undrawn, characters, pictures, .. } = writer;
    let EmailImages { sources, absent, unsound, contained, .. } = pictures;
    Ok(PreparedEmail { html, sheets, images: sources, absent, unsound, embedded: contained, undrawn, characters })
}

/// Serializes the tree of an email for the engine.
struct Writer<'a> {
    medium: Medium,
    pictures: EmailImages<'a>,
    html: String,
    sheets: Vec<String>,
    /// The distinct declarations that were made from attributes, each with a number. Generated rules select elements by this number.
    hints: HashMap<String, usize>,
    hint_rules: String,
    /// The state that each open element passes on to its descendants.
    around: Vec<AncestorState>,
    undrawn: BTreeSet<&'static str>,
    characters: BTreeSet<char>,
}

impl Visitor for Writer<'_> {
    fn open(&mut self, element: ElementRef<'_>) -> Descend {
        let name = element.value().name();
        if name == "style" {
            self.style(element);
            return Descend::Past;
        }
        if name == "head" {
            // In the head, only the style sheets affect the rendering.
            for style in element.descendants().filter_map(ElementRef::wrap).filter(|inner| inner.value().name() == "style") {
                self.style(style);
            }
            return Descend::Past;
        }
        if is_dropped(name) || !is_plain_name(name) {
            self.undrawn.extend(SEEN_ELSEWHERE.into_iter().find(|seen| *seen == name));
            return Descend::Past;
        }
        let around = self.around.last().expect("the entry of the root is never removed");
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
        self.characters.extend(text.chars());
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
                // A link without a valid target stays a link, because style rules also apply to it.
                "href" if name == "a" && !is_link(value) => push_attribute(attribute, "#", &mut self.html),
                // The engine would read the `tw` attribute as utility classes.
                "tw" | "src" | "srcset" | "background" | MARK => {}
                _ if attribute.starts_with("on") || !is_plain_name(attribute) => {}
                _ => push_attribute(attribute, value, &mut self.html),
            }
        }
        self.mark(hint);
    }

    /// Makes the body's background color fill the whole window, unless the email's style sheets define a different color for the window.
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

    /// Writes an image or, if there is no file, a box of the image's size with its alternative text.
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
        self.characters.extend(text.chars());
        // The style for a missing image comes first, so that the image's own declarations override it.
        let options = "display:inline-block;overflow:hidden;max-width:100%;box-sizing:border-box;vertical-align:bottom;";
        let ground = if text.trim().is_empty() { "" } else { "background-color:rgba(128,128,128,0.12);" };
        self.html.push_str("<span");
        self.attributes(element, &format!("{options}{ground}{hint}"));
        self.html.push('>');
        push_text(text, &mut self.html);
        self.html.push_str("</span>");
    }
}

/// Returns whether a style sheet in the HTML mentions fonts, and so may set font sizes. The text that these sizes affect is known only
/// after selectors are matched.
fn has_sizes(html: &str) -> bool {
    html.match_indices("<style").any(|(at, _)| {
        let sheet = &html[at..];
        sheet[..sheet.find("</style").unwrap_or(sheet.len())].contains("font")
    })
}

/// Returns whether neither an element nor its content is drawn. Text fields, checkboxes and their labels are drawn, because interactive
/// menus consist of them.
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

/// Returns whether a URL may become a link in a PDF.
fn is_link(address: &str) -> bool {
    let start: String = address.trim().chars().take(8).collect::<String>().to_ascii_lowercase();
    ["http://", "https://", "mailto:", "tel:", "#"].iter().any(|scheme| start.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIGHT: Medium = Medium { dark: false, paper: false, density: 1.0 };

    fn prepared(html: &str) -> PreparedEmail {
        prepare(html, &GivenImages { files: &BTreeMap::new(), pixels: 0 }, LIGHT).expect("the HTML is small enough")
    }

    fn body(html: &str) -> String {
        let html = prepared(html).html;
        let body = html.split_once("<body>").and_then(|(_, rest)| rest.strip_suffix("</body></html>"));
        body.unwrap_or_else(|| panic!("{html}")).to_owned()
    }

    #[test]
    fn invalid_html_is_repaired() {
        assert_eq!(body("<p>a<table><b>x<tr><td>y"), "<p>a</p><b>x</b><table><tbody><tr><td>y</td></tr></tbody></table>");
    }

    #[test]
    fn invisible_elements_are_dropped() {
        let html = "<script>alert(1)</script><!--[if mso]><p>m</p><![endif]--><p tw='p-4' onclick=x data-hint=3 class=k>a\
                    <svg><rect/></svg><iframe src=x></iframe><a href='javascript:x'>b</a><a href=' HTTPS://x.example'>c</a>";
        assert_eq!(body(html), "<p class=\"k\">a<a href=\"#\">b</a><a href=\" HTTPS://x.example\">c</a></p>");
    }

    #[test]
    fn elements_that_other_clients_show_are_named() {
        let made = prepared("<p>a<svg><rect/></svg><svg></svg><video src=x></video><iframe src=x></iframe>");
        assert_eq!(made.undrawn.into_iter().collect::<Vec<_>>(), ["svg", "video"]);
        assert!(prepared("<p>a").undrawn.is_empty());
    }

    #[test]
    fn the_files_of_embedded_images_are_kept() {
        let file = images::tests::file(3, 2, image::ImageFormat::Png);
        let html = format!("<img src=\"data:image/png;base64,{}\">", data_encoding::BASE64.encode(&file));
        let given = GivenImages { files: &BTreeMap::new(), pixels: 100 };
        let made = prepare(&html, &given, LIGHT).expect("the HTML is small enough");
        assert_eq!(made.embedded.len(), 1);
        assert_eq!(*made.embedded[0].1, *file);
    }

    #[test]
    fn equal_attributes_share_one_rule() {
        let made = prepared("<table><tr><td width=5 colspan=999 rowspan=x>a<td WIDTH='5px'>b<td>c");
        assert!(made.html.contains("<td colspan=\"100\" rowspan=\"1\" width=\"5\" data-hint=\"0\">a</td>"), "{}", made.html);
        assert_eq!((made.html.matches("data-hint=\"0\"").count(), made.html.matches("data-hint").count()), (2, 2));
        assert!(made.sheets[0].ends_with(":where([data-hint=\"0\"]){width:5px;}\n"), "{}", made.sheets[0]);
    }

    #[test]
    fn styles_are_collected_in_document_order() {
        let made = prepared("<style>a{b:c}</style><p>x<style media='screen and (prefers-color-scheme: dark)'>d{e:f}</style>");
        assert_eq!(made.sheets.len(), 3);
        assert_eq!(made.sheets[1], "a{b:c;}\n");
        assert_eq!(made.sheets[2], "@media screen and (min-width:1000000px){d{e:f;}\n}");
        assert!(!made.html.contains("b:c"));
    }

    #[test]
    fn a_missing_image_is_replaced_by_its_text() {
        let made = prepared("<img src='https://x.example/a.png' alt='Boots & shoes' width=10 style='display:block'>");
        assert!(
            made.html.contains("style=\"display:block;\" width=\"10\" data-hint=\"0\">Boots &amp; shoes</span>"),
            "{}",
            made.html
        );
        assert_eq!(made.absent, ["https://x.example/a.png"]);
        assert!(made.characters.contains(&'&') && made.characters.contains(&'B'));
    }
}
