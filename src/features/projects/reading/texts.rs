//! Extracts the main text of each page of a site, for entries in the knowledge base.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::images::subject;
use super::page::{Block, BlockKind, Page};
use super::{Raw, Site, shortened};
use crate::vocab::limits::{KNOWLEDGE_CONTENT_CHARACTERS_MAX, KNOWLEDGE_TITLE_CHARACTERS_MAX};

/// The minimum length of a page's text; shorter text is ignored.
const CHARACTERS_MIN: usize = 120;
/// The minimum number of words in a paragraph or list item; shorter ones are labels.
const WORDS_MIN: usize = 4;
/// Titles of pages with formal content that contains no information about the brand.
const FORMAL_PAGES: [&str; 9] =
    ["impressum", "imprint", "kontakt", "contact", "contatti", "legal", "mentions", "access", "anfahrt"];
/// A page with formal content is kept if its text has at least this many characters.
const FORMAL_CHARACTERS_MIN: usize = 800;
/// Text that appears on at least this many pages is treated as boilerplate.
const SHARED_BY: usize = 3;

/// The main text of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    pub title: String,
    /// The headings, paragraphs and list items of the page as Markdown.
    pub content: String,
    pub url: String,
}

/// Returns the main text of every page, excluding boilerplate.
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
    for (page, blocks) in &pages {
        let own: Vec<&Block> = blocks.iter().filter(|block| !is_repeated(block)).collect();
        let text = text_of_page(page, &own, name);
        let path = page.url.path().to_lowercase();
        let is_formal = FORMAL_PAGES.iter().any(|word| path.contains(word));
        let least = if is_formal { FORMAL_CHARACTERS_MIN } else { CHARACTERS_MIN };
        let is_new = !found.iter().any(|other| other.content == text.content);
        if text.content.chars().count() >= least && is_new {
            found.push(text);
        }
    }
    if found.is_empty() {
        found.extend(only_text(&pages, name));
    }
    found
}

/// Returns the text of a site that has hardly any text: the text of its longest meaningful page, even if all pages repeat it.
fn only_text(pages: &[(&Page, Vec<Block>)], name: Option<&str>) -> Option<Text> {
    // A page that asks for JavaScript contains no information about the brand.
    let says_something = |block: &Block| is_running(block) && !block.text.to_lowercase().contains("javascript");
    let speaking = pages.iter().filter(|(_, blocks)| blocks.iter().any(says_something));
    let texts = speaking.map(|(page, blocks)| text_of_page(page, &blocks.iter().collect::<Vec<_>>(), name));
    // Reverse the order, because `max_by_key` returns the last of several equally long texts and the home page should win.
    texts.rev().max_by_key(|text| text.content.chars().count())
}

fn text_of_page(page: &Page, blocks: &[&Block], name: Option<&str>) -> Text {
    let title = subject(page, name).unwrap_or_else(|| page.url.path().to_owned());
    Text {
        title: shortened(&title, KNOWLEDGE_TITLE_CHARACTERS_MAX),
        content: shortened(&markdown(blocks), KNOWLEDGE_CONTENT_CHARACTERS_MAX),
        url: page.url.to_string(),
    }
}

/// Returns the main text of a single page; returns `None` if the page has hardly any text.
pub fn text(raw: &Raw<'_>) -> Option<Text> {
    let page = Page::parse(raw);
    let text = text_of_page(&page, &page.main_text().iter().collect::<Vec<_>>(), None);
    (text.content.chars().count() >= CHARACTERS_MIN).then_some(text)
}

fn markdown(blocks: &[&Block]) -> String {
    let mut text = String::new();
    let mut last_was_item = false;
    for (place, block) in blocks.iter().enumerate() {
        // A heading that is not followed by text is a label.
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

/// Returns only the running text of the site, from which the brand's voice is derived.
pub fn running(site: &Site) -> Vec<String> {
    let all = site.pages.iter().flat_map(Page::main_text).filter(is_running).map(|block| block.text);
    let mut seen = HashSet::new();
    all.filter(|text| seen.insert(text.clone())).collect()
}

fn is_running(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Paragraph | BlockKind::Item) && block.text.split_whitespace().count() >= WORDS_MIN
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::super::{Sources, read};
    use super::*;

    fn texts_of(pages: &[(&str, &str)]) -> Vec<Text> {
        let urls: Vec<Url> = pages.iter().map(|(url, _)| url.parse().expect("the address is valid")).collect();
        let mut sources = Sources::default();
        for (url, (_, html)) in urls.iter().zip(pages) {
            sources.pages.push(Raw { url, given: true, content_type: "text/html", language: "", bytes: html.as_bytes() });
        }
        read(&sources).texts
    }

    #[test]
    fn a_site_whose_only_text_is_one_paragraph_keeps_it_as_knowledge() {
        let paragraph = "We roast coffee in small batches in Bristol.";
        let page = format!("<html lang=en><title>Acme</title><body><h1>Acme</h1><p>{paragraph}</p></body>");
        let home = "https://acme.example/";
        let contents = |pages: &[(&str, &str)]| -> Vec<String> { texts_of(pages).into_iter().map(|text| text.content).collect() };
        let whole = format!("# Acme\n\n{paragraph}");
        assert_eq!(contents(&[(home, &page)]), [&*whole]);
        let repeated = [(home, &*page), ("https://acme.example/a", &page), ("https://acme.example/b", &page)];
        assert_eq!(contents(&repeated), [&*whole], "the text is found even if every page repeats it");
        assert_eq!(texts_of(&repeated)[0].url, home);
        let long = format!("<body><p>{}</p></body>", "A text that tells a lot of what they do. ".repeat(9));
        assert_eq!(
            contents(&[(home, &page), ("https://acme.example/a", &long)]).len(),
            1,
            "a short text is a label if the site has a longer text"
        );
        for nothing in ["<h1>Acme</h1>", "<p>Coming soon</p>", "<div>Please enable JavaScript to run this app.</div>"] {
            assert!(texts_of(&[(home, &format!("<body>{nothing}</body>"))]).is_empty(), "{nothing}");
        }
    }
}
