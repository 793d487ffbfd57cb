//! Finds the URLs in an email: those of links, images, forms, backgrounds and style sheets, and those in conditional comments, which only
//! Outlook for Windows reads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accessibility::is_vague;
use super::source::{SourceRange, shortened, span};
use crate::base::html_scanner::{Scanner, TokenKind};
use crate::base::source::Lines;
use crate::engine::render::css::{self, CssRule};
use crate::engine::render::imported_html::dom::Dom;
use crate::engine::render::imported_html::visible;
use crate::vocab::limits;

/// What the email does with the URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    /// A link that readers click.
    Link,
    Image,
    /// A background image.
    Background,
    /// The target of a form.
    Form,
    /// A style sheet or font.
    Stylesheet,
    /// Audio, video or another embedded resource.
    Media,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkUse {
    pub kind: LinkKind,
    /// The URL as written, without surrounding spaces.
    pub url: String,
    /// The visible text of a link, or else its `aria-label` or the alt text of its images.
    pub text: String,
    /// The text before and after the link, if the link text is vague, such as "here".
    pub around: String,
    /// The number of images in a link.
    pub images: u32,
    /// The number of images in a link that have no alt text.
    pub images_without_alt: u32,
    /// The link's `rel` attribute.
    pub rel: String,
    /// Whether the URL is in a conditional comment, so that only Outlook for Windows uses it.
    pub outlook_only: bool,
    pub place: SourceRange,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Links {
    pub uses: Vec<LinkUse>,
    /// The total number of uses, including those that exceed the limit of `uses`.
    pub total: usize,
    /// The targets of links within the email: the values of `id` and `name` attributes.
    pub targets: Vec<String>,
}

/// The maximum number of characters of a link's text to keep.
const TEXT_CHARACTERS_MAX: usize = 200;
/// The maximum number of nodes that are read on each side of a link to find the text around it.
const NEIGHBORS_MAX: usize = 3;
/// The maximum length of a URL. Longer values are embedded data.
const URL_BYTES_MAX: usize = 8 * 1024;

pub fn links(source: &str, dom: &Dom, lines: &Lines<'_>) -> Links {
    let mut finder = Finder { dom, lines, source, found: Links::default() };
    let mut from = 0;
    for node in dom.first("html").map(|root| dom.within(root)).unwrap_or_default() {
        finder.element(node, &mut from);
    }
    finder.outlook();
    // Sort the uses in the order of the source, because uses in comments and styles are found last.
    finder.found.uses.sort_by_key(|one| (one.place.line, one.place.column));
    finder.found
}

struct Finder<'a> {
    dom: &'a Dom,
    lines: &'a Lines<'a>,
    source: &'a str,
    found: Links,
}

impl Finder<'_> {
    fn element(&mut self, node: usize, from: &mut usize) {
        let dom = self.dom;
        let name = dom.name(node);
        if name.is_empty() {
            return;
        }
        for attribute in ["id", "name"] {
            let target = dom.attribute(node, attribute).filter(|_| attribute == "id" || name == "a");
            if let Some(target) = target.filter(|_| self.found.targets.len() < limits::LINKS_INSPECTED_MAX) {
                self.found.targets.push(shortened(target));
            }
        }
        let attribute = |wanted: &str| dom.attribute(node, wanted).unwrap_or_default().to_owned();
        match name {
            "a" | "area" => {
                if let Some(url) = dom.attribute(node, "href") {
                    let mut link = self.at(node, LinkKind::Link, url);
                    self.describe(node, &mut link);
                    self.push(link);
                }
            }
            "img" => {
                self.add(node, LinkKind::Image, &attribute("src"));
                self.sources(node);
            }
            "input" if attribute("type").eq_ignore_ascii_case("image") => self.add(node, LinkKind::Image, &attribute("src")),
            "form" => self.add(node, LinkKind::Form, &attribute("action")),
            "link" if !attribute("href").is_empty() => self.add(node, LinkKind::Stylesheet, &attribute("href")),
            "video" | "audio" | "source" | "iframe" | "embed" => {
                self.add(node, LinkKind::Media, &attribute("src"));
                self.add(node, LinkKind::Image, &attribute("poster"));
                self.sources(node);
            }
            "style" => self.sheet(node, from),
            _ => {}
        }
        if matches!(name, "table" | "tr" | "td" | "th" | "body") {
            self.add(node, LinkKind::Background, &attribute("background"));
        }
        if let Some(style) = dom.attribute(node, "style").filter(|style| style.contains('(')) {
            for one in css::declarations(style) {
                css::with_urls(one.value, &mut |url| {
                    self.add(node, LinkKind::Background, url);
                    String::new()
                });
            }
        }
    }

    /// Adds the URLs of a `srcset` attribute.
    fn sources(&mut self, node: usize) {
        let dom = self.dom;
        let sources = dom.attribute(node, "srcset").unwrap_or_default();
        for url in sources.split(", ").filter_map(|source| source.split_whitespace().next()) {
            self.add(node, LinkKind::Image, url.trim_end_matches(','));
        }
    }

    /// Adds a URL, unless it is empty or contains embedded data. Links are added elsewhere, because an empty link is a mistake that
    /// must be reported.
    fn add(&mut self, node: usize, kind: LinkKind, url: &str) {
        if !url.trim().is_empty() && !url.trim_start().starts_with("data:") {
            let found = self.at(node, kind, url);
            self.push(found);
        }
    }

    fn at(&self, node: usize, kind: LinkKind, url: &str) -> LinkUse {
        let place = span(self.dom, node).map(|(start, end)| SourceRange::of(self.lines, start, end)).unwrap_or_default();
        new(kind, url, place)
    }

    fn push(&mut self, found: LinkUse) {
        self.found.total += 1;
        if self.found.uses.len() < limits::LINKS_INSPECTED_MAX {
            self.found.uses.push(found);
        }
    }

    /// Sets the text and the images of a link.
    fn describe(&self, node: usize, link: &mut LinkUse) {
        let dom = self.dom;
        let (mut text, mut alt) = (String::new(), String::new());
        for inner in dom.within(node) {
            if dom.name(inner) == "img" && !visible::is_tiny(dom, inner) {
                link.images += 1;
                match dom.attribute(inner, "alt").map(str::trim).filter(|alt| !alt.is_empty()) {
                    Some(words) => alt = format!("{alt} {words}"),
                    None => link.images_without_alt += 1,
                }
            }
            if text.len() < 4 * TEXT_CHARACTERS_MAX {
                text.push_str(dom.text(inner));
            }
        }
        if dom.name(node) == "area" {
            alt.push_str(dom.attribute(node, "alt").unwrap_or_default());
        }
        let label = dom.attribute(node, "aria-label").map(str::trim).filter(|label| !label.is_empty());
        let shown = if visible::shows(&text) { text } else { label.map_or(alt, str::to_owned) };
        link.text = shown.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TEXT_CHARACTERS_MAX).collect();
        link.rel = dom.attribute(node, "rel").unwrap_or_default().to_owned();
        if self.found.uses.len() < limits::LINKS_INSPECTED_MAX && is_vague(&link.text) {
            link.around = self.around(node);
        }
    }

    /// Returns the text before and after a link, excluding the text of other links.
    fn around(&self, node: usize) -> String {
        let dom = self.dom;
        let is_inline = |one: usize| matches!(dom.name(one), "b" | "strong" | "i" | "em" | "u" | "font" | "span");
        let mut outer = node;
        while is_inline(dom.parent(outer)) {
            outer = dom.parent(outer);
        }
        let siblings = dom.children(dom.parent(outer));
        let at = siblings.iter().position(|one| *one == outer).unwrap_or_default();
        let near = siblings.iter().skip(at.saturating_sub(NEIGHBORS_MAX)).take(2 * NEIGHBORS_MAX + 1);
        let texts = near.filter(|one| **one != outer && dom.name(**one) != "a").flat_map(|one| dom.within(*one));
        texts.map(|inner| dom.text(inner)).collect::<String>().chars().take(TEXT_CHARACTERS_MAX).collect()
    }

    /// Adds the URLs of a style sheet. The tree does not contain their positions, so this function searches for the URLs in the source,
    /// starting at the style sheet.
    fn sheet(&mut self, node: usize, from: &mut usize) {
        let Some((_, start)) = span(self.dom, node) else { return };
        *from = (*from).max(start);
        let mut urls = Vec::new();
        for text in self.dom.children(node) {
            sheet_urls(self.dom.text(*text), 0, &mut urls);
        }
        for (kind, url) in urls.into_iter().filter(|(_, url)| !url.starts_with("data:")) {
            let at = self.source.get(*from..).and_then(|rest| rest.find(&url)).map(|at| *from + at);
            let place = at.map(|at| SourceRange::of(self.lines, at, at + url.len())).unwrap_or_default();
            *from = at.map_or(*from, |at| at + url.len());
            self.push(new(kind, &url, place));
        }
    }

    /// Adds the links and images in conditional comments, which only Outlook for Windows reads.
    fn outlook(&mut self) {
        for comment in Scanner::new(self.source).filter(|piece| piece.kind == TokenKind::Comment) {
            let text = self.source.get(comment.start..comment.end).unwrap_or_default();
            let Some(inner) = text.strip_prefix("<!--").and_then(|text| text.strip_suffix("-->")) else { continue };
            if !inner.trim_start().starts_with("[if") {
                continue;
            }
            for piece in Scanner::new(inner) {
                let TokenKind::Open(tag) = piece.kind else { continue };
                let start = comment.start + 4 + piece.start;
                let name = tag.name.to_ascii_lowercase();
                let is_image = matches!(name.as_str(), "img" | "v:fill" | "v:image" | "v:imagedata");
                for (attribute, kind) in [("href", LinkKind::Link), ("src", LinkKind::Image)] {
                    let is_wanted = if kind == LinkKind::Image { is_image } else { name != "link" };
                    let Some(value) = tag.attribute(attribute).filter(|value| is_wanted && !value.value.is_empty()) else {
                        continue;
                    };
                    let place = SourceRange::of(self.lines, start, comment.start + 4 + piece.end);
                    let mut found = new(kind, &decoded(value.value), place);
                    found.outlook_only = true;
                    self.push(found);
                }
            }
        }
    }
}

fn new(kind: LinkKind, url: &str, place: SourceRange) -> LinkUse {
    let url = url.trim();
    let end = url.char_indices().map(|(at, _)| at).take_while(|at| *at <= URL_BYTES_MAX).last().unwrap_or_default();
    let url = if url.len() > URL_BYTES_MAX { &url[..end] } else { url };
    LinkUse {
        kind,
        url: url.to_owned(),
        text: String::new(),
        around: String::new(),
        images: 0,
        images_without_alt: 0,
        rel: String::new(),
        outlook_only: false,
        place,
    }
}

/// The maximum nesting depth of at-rules. It bounds the recursion.
const LEVELS_MAX: usize = 4;

fn sheet_urls(text: &str, level: usize, urls: &mut Vec<(LinkKind, String)>) {
    if level > LEVELS_MAX {
        return;
    }
    for piece in css::pieces(text) {
        match piece {
            CssRule::Rule { body, .. } if body.contains('(') => {
                css::declarations(body).iter().for_each(|one| push_urls(LinkKind::Background, one.value, urls));
            }
            CssRule::At { name, prelude, body: None } if name == "import" => {
                let quoted = prelude.trim_start().strip_prefix(['"', '\'']).and_then(|rest| rest.split(['"', '\'']).next());
                match quoted {
                    Some(url) => urls.push((LinkKind::Stylesheet, url.to_owned())),
                    None => push_urls(LinkKind::Stylesheet, prelude, urls),
                }
            }
            CssRule::At { name, body: Some(body), .. } if name == "font-face" => {
                css::declarations(body).iter().for_each(|one| push_urls(LinkKind::Stylesheet, one.value, urls));
            }
            CssRule::At { body: Some(body), .. } => sheet_urls(body, level + 1, urls),
            CssRule::Rule { .. } | CssRule::At { .. } => {}
        }
    }
}

fn push_urls(kind: LinkKind, value: &str, urls: &mut Vec<(LinkKind, String)>) {
    css::with_urls(value, &mut |url| {
        urls.push((kind, url.to_owned()));
        String::new()
    });
}

/// Decodes the character references for `&`, which are common in URLs.
fn decoded(value: &str) -> String {
    ["&amp;", "&#38;", "&#x26;"].into_iter().fold(value.to_owned(), |value, reference| value.replace(reference, "&"))
}

#[cfg(test)]
mod tests {
    use super::super::source::marked;
    use super::*;

    fn found(source: &str) -> Links {
        let dom = Dom::read(&marked(source)).expect("the HTML is small enough");
        links(source, &dom, &Lines::new(source))
    }

    #[test]
    fn every_use_of_a_url_is_found_with_its_line() {
        let source = "<style>\n@import 'https://a.example/x.css';\n.b{background:url(https://a.example/b.png)}\n</style>\n\
            <body background=https://a.example/bg.png>\n<a href=' https://a.example/?x=1&amp;y=2 ' rel=nofollow>Go <b>now</b></a>\n\
            <a href=https://b.example><img src=https://a.example/i.png alt='Red shoe'><img src=https://a.example/j.png></a>\n\
            <td style=\"background:url('https://a.example/c.png')\">\n<form action=https://a.example/f>\n\
            <!--[if mso]><v:roundrect href=\"https://a.example/?a&amp;b\"><v:fill src=https://a.example/v.png></v:roundrect><![endif]-->\n\
            <!-- <a href=no> --><a name=top></a><p id=end>";
        let links = found(source);
        let list: Vec<_> = links.uses.iter().map(|one| (one.place.line, one.kind, one.url.as_str())).collect();
        assert_eq!(
            list,
            [
                (2, LinkKind::Stylesheet, "https://a.example/x.css"),
                (3, LinkKind::Background, "https://a.example/b.png"),
                (5, LinkKind::Background, "https://a.example/bg.png"),
                (6, LinkKind::Link, "https://a.example/?x=1&y=2"),
                (7, LinkKind::Link, "https://b.example"),
                (7, LinkKind::Image, "https://a.example/i.png"),
                (7, LinkKind::Image, "https://a.example/j.png"),
                (9, LinkKind::Form, "https://a.example/f"),
                (10, LinkKind::Link, "https://a.example/?a&b"),
                (10, LinkKind::Image, "https://a.example/v.png"),
            ],
            "a td outside of a table is dropped, as in browsers"
        );
        assert_eq!((links.uses[3].text.as_str(), links.uses[3].rel.as_str()), ("Go now", "nofollow"));
        let pictures = &links.uses[4];
        assert_eq!((pictures.text.as_str(), pictures.images, pictures.images_without_alt), ("Red shoe", 2, 1));
        assert!(links.uses[8].outlook_only && links.uses[9].outlook_only);
        assert_eq!(links.targets, ["top", "end"]);
    }

    #[test]
    fn images_for_some_screens_and_posters_are_found() {
        let links = found("<img src=a.png srcset='b.png 1x, c.png 2x'><video src=d.mp4 poster=e.png></video>");
        let list: Vec<_> = links.uses.iter().map(|one| (one.kind, one.url.as_str())).collect();
        let image = |url| (LinkKind::Image, url);
        assert_eq!(list, [image("a.png"), image("b.png"), image("c.png"), (LinkKind::Media, "d.mp4"), image("e.png")]);
    }

    #[test]
    fn a_vague_link_has_the_text_around_it() {
        let links = found(
            "<p>To unsubscribe, click <b><a href=https://a.example/1>here</a></b> now. \
             <a href=https://a.example/2>Our shop</a></p><p><a href=https://a.example/3>More</a> | \
             <a href=https://a.example/4>Unsubscribe</a></p>",
        );
        let around: Vec<&str> = links.uses.iter().map(|one| one.around.trim()).collect();
        assert_eq!(around, ["To unsubscribe, click  now.", "", "|", ""]);
    }

    #[test]
    fn many_links_are_counted_but_not_all_kept() {
        let links = found(&"<a href=https://a.example>x</a>".repeat(10_000));
        assert_eq!((links.total, links.uses.len()), (10_000, limits::LINKS_INSPECTED_MAX));
    }
}
