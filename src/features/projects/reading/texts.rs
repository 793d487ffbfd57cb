//! The main texts of a site's pages, as entries for the knowledge base.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::images::subject;
use super::page::{Block, BlockKind, Page};
use super::{Raw, Site, shortened};
use crate::vocab::limits::{KNOWLEDGE_CONTENT_CHARACTERS_MAX, KNOWLEDGE_TITLE_CHARACTERS_MAX};

/// Less is no text.
const CHARACTERS_MIN: usize = 120;
/// What a page is called that tells where somebody is, not what they do.
const FORMAL_PAGES: [&str; 9] =
    ["impressum", "imprint", "kontakt", "contact", "contatti", "legal", "mentions", "access", "anfahrt"];
/// So long a page of that kind tells more.
const FORMAL_CHARACTERS_MIN: usize = 800;
/// A page that says the same as so many others says nothing of its own there.
const SHARED_BY: usize = 3;

/// A text of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    pub title: String,
    /// Headings, paragraphs and items, as Markdown.
    pub content: String,
    pub url: String,
}

/// The texts of all pages, without what many of them repeat.
pub fn texts(site: &Site, name: Option<&str>) -> Vec<Text> {
    let pages: Vec<(&Page, Vec<Block>)> = site.pages.iter().map(|page| (page, page.main_text())).collect();
    let mut times: HashMap<String, usize> = HashMap::new();
    for (_, blocks) in &pages {
        let mut own: Vec<&String> = blocks.iter().map(|block| &block.text).collect();
        own.sort();
        own.dedup();
        own.into_iter().for_each(|text| *times.entry(text.clone()).or_default() += 1);
    }
    let is_repeated = |block: &Block| times.get(&block.text).is_some_and(|times| *times >= SHARED_BY);
    let mut found: Vec<Text> = Vec::new();
    for (page, blocks) in pages {
        let own: Vec<&Block> = blocks.iter().filter(|block| !is_repeated(block)).collect();
        let content = shortened(&markdown(&own), KNOWLEDGE_CONTENT_CHARACTERS_MAX);
        let path = page.url.path().to_lowercase();
        let is_formal = FORMAL_PAGES.iter().any(|word| path.contains(word));
        let least = if is_formal { FORMAL_CHARACTERS_MIN } else { CHARACTERS_MIN };
        let title = subject(page, name)
            .map_or_else(|| page.url.path().to_owned(), |title| shortened(&title, KNOWLEDGE_TITLE_CHARACTERS_MAX));
        let is_new = !found.iter().any(|text| text.content == content);
        if content.chars().count() >= least && is_new {
            found.push(Text { title, content, url: page.url.to_string() });
        }
    }
    found
}

/// The text of one page by itself; none if there is hardly any.
pub fn text(raw: &Raw<'_>) -> Option<Text> {
    let page = Page::parse(raw);
    let blocks = page.main_text();
    let content = shortened(&markdown(&blocks.iter().collect::<Vec<_>>()), KNOWLEDGE_CONTENT_CHARACTERS_MAX);
    let title = subject(&page, None).unwrap_or_else(|| page.url.path().to_owned());
    let title = shortened(&title, KNOWLEDGE_TITLE_CHARACTERS_MAX);
    (content.chars().count() >= CHARACTERS_MIN).then(|| Text { title, content, url: page.url.to_string() })
}

fn markdown(blocks: &[&Block]) -> String {
    let mut text = String::new();
    let mut last_was_item = false;
    for (place, block) in blocks.iter().enumerate() {
        // A heading with nothing under it is a label.
        let followed = blocks.get(place + 1).is_some_and(|next| !matches!(next.kind, BlockKind::Heading(_)));
        let line = match block.kind {
            BlockKind::Heading(_) if !followed => continue,
            BlockKind::Heading(level) => format!("{} {}", "#".repeat(usize::from(level)), block.text),
            BlockKind::Paragraph => block.text.clone(),
            BlockKind::Item => format!("- {}", block.text),
            BlockKind::Quote => format!("> {}", block.text),
        };
        let is_item = block.kind == BlockKind::Item;
        if !text.is_empty() {
            text.push_str(if is_item && last_was_item { "\n" } else { "\n\n" });
        }
        text.push_str(&line);
        last_was_item = is_item;
    }
    text
}

/// Running text alone: what a voice is read off.
pub fn running(site: &Site) -> Vec<String> {
    let is_running = |block: &Block| {
        matches!(block.kind, BlockKind::Paragraph | BlockKind::Item) && block.text.split_whitespace().count() >= 4
    };
    let all = site.pages.iter().flat_map(Page::main_text).filter(is_running).map(|block| block.text);
    let mut seen = HashSet::new();
    all.filter(|text| seen.insert(text.clone())).collect()
}
