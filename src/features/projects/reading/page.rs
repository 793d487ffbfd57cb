//! A page as a tree, and the questions that every reader asks of it.

use ego_tree::iter::Edge;
use scraper::{ElementRef, Html, Node, Selector};
use url::Url;

use super::charset;
use super::harden_html::hardened;
use super::{Raw, clean};
use crate::engine::render::tree::{is_block, is_cell};

/// Elements whose text nobody sees.
const SILENT: [&str; 9] = ["script", "style", "noscript", "template", "svg", "head", "iframe", "object", "canvas"];
/// Elements around the text that a page is for.
const AROUND: [&str; 9] = ["nav", "footer", "aside", "form", "button", "select", "dialog", "menu", "label"];
/// Words in classes, ids and roles of what is around the text.
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
/// Text that is deeper than this is for nobody.
const DEPTH_MAX: u32 = 256;
/// A page whose elements are nested deeper is not read: everything that looks up the tree would take for ever.
const TREE_DEPTH_MAX: u32 = 600;
/// Footers of one page; some call every part of theirs so.
const FOOTERS_MAX: usize = 20;

/// A page that was read.
pub struct Page {
    pub url: Url,
    /// Whether the caller has named it; the first of those is the home page.
    pub given: bool,
    pub html: Html,
    /// What relative addresses are relative to.
    base: Url,
    /// The header `Content-Language`.
    pub language: String,
    pub charset: &'static str,
}

/// A piece of text of its own line.
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

/// A selector that is written in this program.
pub fn selector(css: &str) -> Selector {
    Selector::parse(css).expect("selectors written in this program are right")
}

impl Page {
    /// Whether it is one that says who runs the site.
    pub fn is_imprint(&self) -> bool {
        let path = self.url.path().to_ascii_lowercase();
        let words = ["impressum", "imprint", "legal", "contact", "kontakt", "mentions", "aviso", "about"];
        words.iter().any(|word| path.contains(word))
    }

    /// Read a page.
    pub fn parse(raw: &Raw<'_>) -> Self {
        let (text, charset) = charset::decode(raw.bytes, raw.content_type);
        let html = Html::parse_document(&hardened(&text));
        let html = if is_too_deep(&html) { Html::new_document() } else { html };
        let base = html.select(&selector("base[href]")).next().and_then(|base| raw.url.join(base.attr("href")?.trim()).ok());
        let base = base.filter(|base| matches!(base.scheme(), "http" | "https")).unwrap_or_else(|| raw.url.clone());
        Self { url: raw.url.clone(), given: raw.given, html, base, language: raw.language.to_owned(), charset }
    }

    /// Every element that `css` selects.
    pub fn all(&self, css: &str) -> Vec<ElementRef<'_>> {
        self.html.select(&selector(css)).collect()
    }

    /// The first element that `css` selects.
    pub fn first(&self, css: &str) -> Option<ElementRef<'_>> {
        self.html.select(&selector(css)).next()
    }

    /// What the page's head says under this name: `<meta name>` or `<meta property>`.
    pub fn meta(&self, name: &str) -> Option<String> {
        self.metas(name).into_iter().next()
    }

    /// Everything that the page's head says under this name.
    pub fn metas(&self, name: &str) -> Vec<String> {
        let named = |meta: &ElementRef<'_>| {
            ["name", "property", "itemprop"]
                .iter()
                .any(|key| meta.attr(key).is_some_and(|value| value.trim().eq_ignore_ascii_case(name)))
        };
        let contents = self.all("meta[content]").into_iter().filter(named).filter_map(|meta| meta.attr("content"));
        contents.map(clean).filter(|text| !text.is_empty()).collect()
    }

    /// `<link>` elements with this word in their `rel`.
    pub fn links(&self, rel: &str) -> Vec<ElementRef<'_>> {
        let has = |link: &ElementRef<'_>| {
            link.attr("rel").is_some_and(|words| words.split_whitespace().any(|word| word.eq_ignore_ascii_case(rel)))
        };
        self.all("link[href]").into_iter().filter(has).collect()
    }

    /// An address of the page in full, if it is one of the web.
    pub fn address(&self, href: &str) -> Option<Url> {
        let mut url = self.base.join(href.trim()).ok()?;
        url.set_fragment(None);
        let fits = matches!(url.scheme(), "http" | "https") && url.as_str().len() <= crate::vocab::limits::URL_CHARACTERS_MAX;
        fits.then_some(url)
    }

    /// The page's title.
    pub fn title(&self) -> Option<String> {
        // A picture's title inside the body is none of the page's.
        self.first("head > title").or_else(|| self.first("title")).map(text_of).filter(|title| !title.is_empty())
    }

    /// The text that the page is for: without navigation, footers, forms and consent.
    pub fn main_text(&self) -> Vec<Block> {
        let root = ["main", "[role=main]", "article", "body"].iter().find_map(|css| {
            let found = self.first(css)?;
            // An empty or tiny main is a shell around something else.
            (css == &"body" || text_of(found).len() > 200).then_some(found)
        });
        let mut lines = Lines::default();
        if let Some(root) = root {
            lines.walk(root, BlockKind::Paragraph, 0);
            lines.flush(BlockKind::Paragraph);
        }
        lines.blocks
    }

    /// Everything in the page's footer, line by line.
    pub fn footer_lines(&self) -> Vec<String> {
        let footers = ["footer", "[role=contentinfo]", "#footer", ".footer", "[class*=footer]"];
        let found = footers.iter().find_map(|css| Some(self.all(css)).filter(|found| !found.is_empty()));
        found.unwrap_or_default().into_iter().take(FOOTERS_MAX).flat_map(lines_of).collect()
    }
}

/// Browsers stop at a depth of 512, and so do pages that are made for them.
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

/// The visible text in an element, in one line.
pub fn text_of(element: ElementRef<'_>) -> String {
    clean(&lines_of(element).join(" "))
}

/// The visible text in an element, line by line.
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
    /// Also what is around the text.
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

/// Whether an element is around the text that a page is for.
fn is_around(element: ElementRef<'_>) -> bool {
    let name = element.value().name();
    if AROUND.contains(&name) {
        return true;
    }
    if name == "header" {
        // The head of the page, not that of an article.
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

/// Whether an element, or one that it is in, is of this name or has this word in its class or id.
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
