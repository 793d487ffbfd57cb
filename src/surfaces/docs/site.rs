//! Renders all pages of the documentation, and keeps them ready to be sent.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use flate2::read::GzDecoder;
use http::header::HeaderValue;
use serde::Serialize;

use super::chapters::{API, CHANGELOG, CHAPTERS, ERRORS, File, INDEX, PICTURES};
use super::markdown::{self, Rendered, Titles};
use super::search::{Hit, Index};
use super::{reference, remedies};
use crate::base::clock::Timestamp;
use crate::base::secret::sha256;
use crate::engine::api::Entry;
use crate::surfaces::dashboard::files::{Files, files, packed};

/// The placeholder URL in commands on the pages; this service's URL replaces it.
const SAMPLE_ADDRESS: &str = "http://127.0.0.1:8080/";
/// The maximum length of a page's meta description, in characters.
const LEAD_CHARACTERS: usize = 160;
/// The URL of the page that lists all operations.
const OVERVIEW: &str = "/docs/api";
const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// A document ready to be sent: a page, a picture or `/llms.txt`.
pub struct Document {
    pub content_type: &'static str,
    pub etag: HeaderValue,
    /// The gzip-compressed body, which almost every client accepts. Only this form is kept, because the uncompressed bodies take megabytes.
    pub packed: Bytes,
}

impl Document {
    fn new(content_type: &'static str, body: &str) -> Self {
        let etag = format!("\"{}\"", HEXLOWER.encode(&sha256(body.as_bytes())[..12]));
        let etag = HeaderValue::try_from(etag).expect("hexadecimal digits are valid in a header");
        Self { content_type, etag, packed: packed(body.as_bytes()) }
    }

    /// Returns the body without compression.
    pub fn body(&self) -> Bytes {
        let mut body = Vec::new();
        GzDecoder::new(&self.packed[..]).read_to_end(&mut body).expect("the body was compressed by this program");
        body.into()
    }
}

/// The rendered documentation with its search index.
pub struct Site {
    pub documents: BTreeMap<String, Document>,
    pages: Vec<Page>,
    index: Index,
    files: Arc<Files>,
}

/// A page in the table of contents.
struct Page {
    url: String,
    chapter: &'static str,
    title: String,
}

/// The content of a page without the surrounding layout. It is dropped when the page's documents are ready.
struct Content {
    source: String,
    rendered: Rendered,
}

impl Content {
    /// Returns the start of the page's first section with text: at most [`LEAD_CHARACTERS`] characters, in whole sentences if possible.
    fn lead(&self) -> String {
        let mut texts = self.rendered.sections.iter().map(|section| section.text.trim());
        let text = texts.find(|text| !text.is_empty()).unwrap_or_default();
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(LEAD_CHARACTERS) {
            Some((end, _)) => {
                let cut = &line[..end];
                let whole = cut.rfind(". ").map(|at| &cut[..=at]);
                whole.map_or_else(|| format!("{}…", cut.rsplit_once(' ').map_or(cut, |(cut, _)| cut)), str::to_owned)
            }
            None => line,
        }
    }
}

#[derive(Serialize)]
struct Layout<'a> {
    style: &'a str,
    docs_style: &'a str,
    docs_script: &'a str,
    title: &'a str,
    lead: &'a str,
    html: &'a str,
    /// The URL of the page's Markdown version; empty if there is none.
    markdown: String,
    chapters: Vec<ChapterView<'a>>,
    contents: Vec<Link<'a>>,
    previous: Option<Link<'a>>,
    next: Option<Link<'a>>,
    query: &'a str,
    /// The search results, on the search page.
    hits: Option<Vec<Hit>>,
}

#[derive(Serialize)]
struct ChapterView<'a> {
    title: &'a str,
    here: bool,
    pages: Vec<Link<'a>>,
}

#[derive(Serialize)]
struct Link<'a> {
    url: String,
    title: &'a str,
    here: bool,
}

impl Site {
    /// Renders all pages. `text` returns the current content of a file. In samples, dates that must be in the future are after `now`.
    pub fn new(operations: &[Entry], base: &str, now: Timestamp, text: impl Fn(&File) -> String) -> Self {
        let mut sources: Vec<(String, &'static str, String)> = Vec::new();
        for chapter in CHAPTERS {
            for file in chapter.pages {
                let mut source = text(file).replace(SAMPLE_ADDRESS, &format!("{base}/"));
                if file.name == ERRORS {
                    source.push_str(&remedies::page(operations));
                }
                sources.push((file.name.to_owned(), chapter.title, source));
            }
            if chapter.title == API {
                let pages = reference::pages(operations, base, now);
                sources.extend(pages.into_iter().map(|page| (page.name, API, page.text)));
            }
        }
        sources.push((CHANGELOG.name.to_owned(), CHAPTERS[CHAPTERS.len() - 1].title, text(&CHANGELOG)));
        let titles: Titles = sources.iter().map(|(name, _, source)| (name.clone(), markdown::title(source).to_owned())).collect();
        let rendered = sources.into_iter().map(|(name, chapter, source)| {
            let page = Page { url: address(&name), chapter, title: markdown::title(&source).to_owned() };
            (page, Content { rendered: markdown::render(&source, &titles), source })
        });
        let (pages, contents): (Vec<Page>, Vec<Content>) = rendered.unzip();
        let mut site = Self { documents: BTreeMap::new(), pages, index: Index::default(), files: files() };
        site.add_documents(base, contents);
        site
    }

    fn add_documents(&mut self, base: &str, contents: Vec<Content>) {
        let leads: Vec<String> = contents.iter().map(Content::lead).collect();
        let mut documents = BTreeMap::new();
        for (number, content) in contents.into_iter().enumerate() {
            let page = &self.pages[number];
            documents.insert(page.url.clone(), Document::new(HTML, &self.page(number, &content, &leads[number])));
            documents.insert(markdown_url(&page.url), Document::new(MARKDOWN, &content.source));
            // The search covers only the first section of the overview, because the other sections repeat what other pages contain.
            let sections = &content.rendered.sections;
            let sections = &sections[..if page.url == OVERVIEW { 1 } else { sections.len() }];
            sections.iter().for_each(|section| self.index.add(&page.url, &page.title, section));
        }
        for (name, source) in PICTURES {
            documents.insert(format!("/docs/pictures/{name}"), Document::new("image/svg+xml", source));
        }
        documents.insert("/llms.txt".to_owned(), Document::new("text/plain; charset=utf-8", &self.list(base, &leads)));
        self.documents = documents;
    }

    /// Returns the document at a URL path. The paths `/docs/` and `/docs` both lead to the start page.
    pub fn document(&self, path: &str) -> Option<&Document> {
        self.documents.get(if path == "/docs/" { "/docs" } else { path })
    }

    /// Renders the page with this index, with the layout around it.
    fn page(&self, number: usize, content: &Content, lead: &str) -> String {
        let page = &self.pages[number];
        let sections = content.rendered.sections.iter().filter(|section| section.level == 2);
        self.draw(&Layout {
            lead,
            html: &content.rendered.html,
            markdown: markdown_url(&page.url),
            chapters: self.chapters(Some(page)),
            contents: sections
                .map(|section| Link { url: format!("#{}", section.anchor), title: &section.heading, here: false })
                .collect(),
            previous: number.checked_sub(1).map(|before| self.link(&self.pages[before], None)),
            next: self.pages.get(number + 1).map(|next| self.link(next, None)),
            ..self.layout(&page.title)
        })
    }

    pub fn search_page(&self, query: &str) -> String {
        self.draw(&Layout { query, hits: Some(self.index.find(query)), ..self.layout("Search") })
    }

    pub fn missing_page(&self) -> String {
        self.draw(&Layout {
            html: "<h1>Page not found</h1><p>Use the search or the contents.</p>",
            ..self.layout("Page not found")
        })
    }

    /// Returns the layout's data without a page's content.
    fn layout<'a>(&'a self, title: &'a str) -> Layout<'a> {
        Layout {
            style: &self.files.style.path,
            docs_style: &self.files.docs_style.path,
            docs_script: &self.files.docs_script.path,
            title,
            lead: "",
            html: "",
            markdown: String::new(),
            chapters: self.chapters(None),
            contents: Vec::new(),
            previous: None,
            next: None,
            query: "",
            hits: None,
        }
    }

    fn chapters(&self, here: Option<&Page>) -> Vec<ChapterView<'_>> {
        let chapter = |title: &'static str| ChapterView {
            title,
            here: here.is_some_and(|page| page.chapter == title),
            pages: self.pages.iter().filter(|page| page.chapter == title).map(|page| self.link(page, here)).collect(),
        };
        CHAPTERS.iter().map(|one| chapter(one.title)).collect()
    }

    fn link<'a>(&self, page: &'a Page, here: Option<&Page>) -> Link<'a> {
        Link { url: page.url.clone(), title: &page.title, here: here.is_some_and(|here| here.url == page.url) }
    }

    fn draw(&self, layout: &Layout<'_>) -> String {
        self.files.pages.draw("docs.html", layout)
    }

    /// Returns the content of `/llms.txt`, the list of pages for language models (llmstxt.org).
    fn list(&self, base: &str, leads: &[String]) -> String {
        let mut text =
            "# Mailmill\n\n> Email marketing on your own server: brands, emails, contacts, campaigns and revenue, with an HTTP \
                        API, SDKs, a command line and an MCP server.\n"
                .to_owned();
        for chapter in CHAPTERS {
            text.push_str(&format!("\n## {}\n\n", chapter.title));
            for (page, lead) in self.pages.iter().zip(leads).filter(|(page, _)| page.chapter == chapter.title) {
                text.push_str(&format!("- [{}]({base}{}): {lead}\n", page.title, markdown_url(&page.url)));
            }
        }
        text
    }
}

fn address(name: &str) -> String {
    if name == INDEX { "/docs".to_owned() } else { format!("/docs/{name}") }
}

fn markdown_url(url: &str) -> String {
    if url == "/docs" { format!("/docs/{INDEX}.md") } else { format!("{url}.md") }
}

/// The rendered documentation, created once. It contains the service's URL, so it is rendered again if the URL becomes known later. In a
/// debug build, it is also rendered again after a file has changed.
#[derive(Default)]
pub struct Cache(Mutex<Option<Cached>>);

struct Cached {
    base: String,
    stamp: Stamp,
    site: Arc<Site>,
}

impl Cache {
    /// Returns the documentation. If another thread is rendering it, waits for that thread.
    pub fn get(&self, operations: &[Entry], base: &str, now: Timestamp) -> Arc<Site> {
        let stamp = stamp();
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = last.as_ref().filter(|cached| cached.base == base && cached.stamp == stamp) {
            return cached.site.clone();
        }
        let site = Arc::new(Site::new(operations, base, now, current));
        *last = Some(Cached { base: base.to_owned(), stamp, site: site.clone() });
        site
    }

    #[cfg(test)]
    pub fn rendered(&self) -> Option<Arc<Site>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|cached| cached.site.clone())
    }
}

/// A value that changes when a source file of the documentation changes. In a release build, the files are embedded and never change.
#[cfg(not(debug_assertions))]
type Stamp = ();
#[cfg(debug_assertions)]
type Stamp = (usize, Vec<Option<std::time::SystemTime>>);

#[cfg(not(debug_assertions))]
fn stamp() -> Stamp {}

/// Returns the modification times of the source files, so that authors see changes without a rebuild.
#[cfg(debug_assertions)]
fn stamp() -> Stamp {
    let times = CHAPTERS
        .iter()
        .flat_map(|chapter| chapter.pages)
        .map(|file| std::fs::metadata(path(file)).and_then(|file| file.modified()).ok());
    (Arc::as_ptr(&files()) as usize, times.collect())
}

#[cfg(not(debug_assertions))]
fn current(file: &File) -> String {
    file.text.to_owned()
}

#[cfg(debug_assertions)]
fn current(file: &File) -> String {
    std::fs::read_to_string(path(file)).unwrap_or_else(|_| file.text.to_owned())
}

#[cfg(debug_assertions)]
fn path(file: &File) -> std::path::PathBuf {
    std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/docs")).join(format!("{}.md", file.name))
}
