//! A parsed page, and the queries that several modules use to read it.

use ego_tree::iter::Edge;
use scraper::{ElementRef, Html, Node, Selector};
use url::Url;

use super::charset;
use super::harden_html::{TAGS_MAX, hardened};
use super::{Raw, clean};
use crate::engine::render::tree::{is_block, is_cell};

/// Elements that contain no visible text.
const SILENT: [&str; 9] = ["script", "style", "noscript", "template", "svg", "head", "iframe", "object", "canvas"];
/// Elements that surround the main text.
const AROUND: [&str; 9] = ["nav", "footer", "aside", "form", "button", "select", "dialog", "menu", "label"];
/// Words in the classes, IDs and roles of elements that surround the main text.
const AROUND_WORDS: [&str; 17] = [
    "cookie",
    "consent",
    "gdpr",
    "newsletter",
    "breadcrumb",
    "navbar",
    "navigation",
    "sidebar",
    "share",
    "social",
    "popup",
    "modal",
    "skip-link",
    "pagination",
    "site-footer",
    "copyright",
    "mini-cart",
];
/// The maximum nesting depth of elements whose text is read; deeper text is ignored.
const DEPTH_MAX: u32 = 256;
/// The maximum nesting depth of a page. A deeper page is skipped, because walking up its tree would take too long.
const TREE_DEPTH_MAX: u32 = 600;
/// The maximum number of footers to read on a page; some pages use the footer class for every part of the footer.
const FOOTERS_MAX: usize = 20;

/// A parsed HTML page.
pub struct Page {
    pub url: Url,
    /// Whether the caller named this page's URL. The first such page is the home page.
    pub given: bool,
    pub html: Html,
    /// The base URL for resolving relative addresses.
    base: Url,
    /// The value of the `Content-Language` header.
    pub language: String,
    pub charset: &'static str,
}

/// A piece of text that is on its own line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub kind: BlockKind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    Heading(u8),
    Paragraph,
    Item,
    Quote,
}

/// Parses a constant CSS selector. Panics if the selector is invalid.
pub fn selector(css: &str) -> Selector {
    Selector::parse(css).expect("constant selectors are valid")
}

impl Page {
    /// Returns whether the page's path suggests an imprint, contact or similar page, which often names the company behind the site.
    pub fn is_imprint(&self) -> bool {
        let path = self.url.path().to_ascii_lowercase();
        let words = ["impressum", "imprint", "legal", "contact", "kontakt", "mentions", "aviso", "about"];
        words.iter().any(|word| path.contains(word))
    }

    pub fn parse(raw: &Raw<'_>) -> Self {
        let mut tags_left = TAGS_MAX;
        Self::parse_within(raw, &mut tags_left)
    }

    /// Parses the page up to `tags_left` or `TAGS_MAX` tags, whichever is less, and ignores the rest. Subtracts the number of parsed tags
    /// from `tags_left`.
    pub fn parse_within(raw: &Raw<'_>, tags_left: &mut usize) -> Self {
        let (text, charset) = charset::decode(raw.bytes, raw.content_type);
        let most = TAGS_MAX.min(*tags_left);
        let mut own_left = most;
        let html = Html::parse_document(&hardened(&text, &mut own_left));
        *tags_left -= most - own_left;
        let html = if is_too_deep(&html) { Html::new_document() } else { html };
        let base = html.select(&selector("base[href]")).next().and_then(|base| raw.url.join(base.attr("href")?.trim()).ok());
        let base = base.filter(|base| matches!(base.scheme(), "http" | "https")).unwrap_or_else(|| raw.url.clone());
        Self { url: raw.url.clone(), given: raw.given, html, base, language: raw.language.to_owned(), charset }
    }

    pub fn all(&self, css: &str) -> Vec<ElementRef<'_>> {
        self.html.select(&selector(css)).collect()
    }

    pub fn first(&self, css: &str) -> Option<ElementRef<'_>> {
        self.html.select(&selector(css)).next()
    }

    /// Returns the content of the first `<meta>` element whose attribute `name`, `property` or `itemprop` has the value of the parameter
    /// `name`.
    pub fn meta(&self, name: &str) -> Option<String> {
        self.metas(name).into_iter().next()
    }

    /// Returns the contents of all `<meta>` elements whose attribute `name`, `property` or `itemprop` has the value of the parameter
    /// `name`.
    pub fn metas(&self, name: &str) -> Vec<String> {
        let named = |meta: &ElementRef<'_>| {
            ["name", "property", "itemprop"]
                .iter()
                .any(|key| meta.attr(key).is_some_and(|value| value.trim().eq_ignore_ascii_case(name)))
        };
        let contents = self.all("meta[content]").into_iter().filter(named).filter_map(|meta| meta.attr("content"));
        contents.map(clean).filter(|text| !text.is_empty()).collect()
    }

    /// Returns the `<link>` elements whose `rel` contains this word.
    pub fn links(&self, rel: &str) -> Vec<ElementRef<'_>> {
        let has = |link: &ElementRef<'_>| {
            link.attr("rel").is_some_and(|words| words.split_whitespace().any(|word| word.eq_ignore_ascii_case(rel)))
        };
        self.all("link[href]").into_iter().filter(has).collect()
    }

    /// Returns `href` as an absolute URL without its fragment; returns `None` if the scheme is not http or https, or if the URL is
    /// too long.
    pub fn address(&self, href: &str) -> Option<Url> {
        let mut url = self.base.join(href.trim()).ok()?;
        url.set_fragment(None);
        let fits = matches!(url.scheme(), "http" | "https") && url.as_str().len() <= crate::vocab::limits::URL_CHARACTERS_MAX;
        fits.then_some(url)
    }

    pub fn title(&self) -> Option<String> {
        // Prefer the title in the head, because an SVG in the body can also have a title.
        self.first("head > title").or_else(|| self.first("title")).map(text_of).filter(|title| !title.is_empty())
    }

    /// Returns the main text of the page, excluding navigation, footers, forms and consent dialogs.
    pub fn main_text(&self) -> Vec<Block> {
        let root = ["main", "[role=main]", "article", "body"].iter().find_map(|css| {
            let found = self.first(css)?;
            // Skip `main` and similar elements with hardly any text, because they do not contain the main text.
            (css == &"body" || text_of(found).len() > 200).then_some(found)
        });
        let mut lines = Lines::default();
        if let Some(root) = root {
            lines.walk(root, BlockKind::Paragraph, 0);
            lines.flush(BlockKind::Paragraph);
        }
        lines.blocks
    }

    /// Returns the lines of text in the page's footers.
    pub fn footer_lines(&self) -> Vec<String> {
        let footers = ["footer", "[role=contentinfo]", "#footer", ".footer", "[class*=footer]"];
        let found = footers.iter().find_map(|css| Some(self.all(css)).filter(|found| !found.is_empty()));
        found.unwrap_or_default().into_iter().take(FOOTERS_MAX).flat_map(lines_of).collect()
    }
}

/// Returns whether the page is nested too deeply. Browsers limit the depth to 512, so real pages are not deeper.
fn is_too_deep(html: &Html) -> bool {
    let mut depth = 0_u32;
    for edge in html.root_element().traverse() {
        match edge {
            Edge::Open(_) => depth += 1,
            Edge::Close(_) => depth -= 1,
        }
        if depth > TREE_DEPTH_MAX {
            return true;
        }
    }
    false
}

/// Returns the visible text of an element on one line.
pub fn text_of(element: ElementRef<'_>) -> String {
    clean(&lines_of(element).join(" "))
}

/// Returns the visible lines of text in an element.
pub fn lines_of(element: ElementRef<'_>) -> Vec<String> {
    let mut lines = Lines { everything: true, ..Lines::default() };
    lines.walk(element, BlockKind::Paragraph, 0);
    lines.flush(BlockKind::Paragraph);
    lines.blocks.into_iter().map(|block| block.text).collect()
}

#[derive(Default)]
struct Lines {
    blocks: Vec<Block>,
    line: String,
    /// Whether to include the text outside the main text.
    everything: bool,
}

impl Lines {
    fn walk(&mut self, element: ElementRef<'_>, kind: BlockKind, depth: u32) {
        let name = element.value().name();
        if depth > DEPTH_MAX || is_hidden(element) && depth > 0 || SILENT.contains(&name) && name != "head" && depth > 0 {
            return;
        }
        if !self.everything && depth > 0 && is_around(element) {
            return;
        }
        let own = match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => BlockKind::Heading(name.as_bytes()[1] - b'0'),
            "li" | "dd" | "td" => BlockKind::Item,
            "blockquote" => BlockKind::Quote,
            "p" | "body" | "main" | "section" | "article" | "div" if matches!(kind, BlockKind::Heading(_)) => {
                BlockKind::Paragraph
            }
            _ => kind,
        };
        let is_block = is_block(name) || is_cell(name);
        if is_block {
            self.flush(kind);
        }
        for child in element.children() {
            match child.value() {
                Node::Text(text) => self.line.push_str(text),
                Node::Element(inner) if inner.name() == "br" => {
                    if self.everything {
                        self.flush(own);
                    } else {
                        self.line.push(' ');
                    }
                }
                Node::Element(_) => {
                    if let Some(inner) = ElementRef::wrap(child) {
                        self.walk(inner, own, depth + 1);
                    }
                }
                _ => {}
            }
        }
        if is_block {
            self.flush(own);
        }
    }

    fn flush(&mut self, kind: BlockKind) {
        let text = clean(&std::mem::take(&mut self.line));
        if !text.is_empty() {
            self.blocks.push(Block { kind, text });
        }
    }
}

fn is_hidden(element: ElementRef<'_>) -> bool {
    let style =
        || element.attr("style").is_some_and(|style| style.replace(' ', "").to_ascii_lowercase().contains("display:none"));
    element.attr("hidden").is_some() || element.attr("aria-hidden") == Some("true") || style()
}

/// Returns whether an element belongs to the navigation, a footer, a form or another part around the main text.
fn is_around(element: ElementRef<'_>) -> bool {
    let name = element.value().name();
    if AROUND.contains(&name) {
        return true;
    }
    if name == "header" {
        // Exclude only the header of the page, which contains the navigation, not the header of an article.
        return element.descendent_elements().any(|inner| inner.value().name() == "nav");
    }
    let words = [element.attr("class"), element.attr("id"), element.attr("role")];
    let is_whole = matches!(name, "body" | "main" | "html" | "article");
    !is_whole
        && words.into_iter().flatten().any(|words| {
            let words = words.to_ascii_lowercase();
            AROUND_WORDS.iter().any(|around| words.contains(around))
        })
}

/// Returns whether an element or one of its ancestors has one of these element names, or one of these words in its class, ID or role.
/// Ignores the class, ID and role of `html` and `body`.
pub fn is_within(element: ElementRef<'_>, names: &[&str], words: &[&str]) -> bool {
    let mut at = Some(element);
    while let Some(element) = at {
        let value = element.value();
        if names.contains(&value.name()) {
            return true;
        }
        let own = [value.attr("class"), value.attr("id"), value.attr("role")];
        let has = |text: &str| words.iter().any(|word| text.to_ascii_lowercase().contains(word));
        if !matches!(value.name(), "body" | "html") && own.into_iter().flatten().any(has) {
            return true;
        }
        at = super::cascade::parent(element);
    }
    false
}
