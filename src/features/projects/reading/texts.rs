//! Extracts the main text of a site's pages, for entries in the knowledge base.

use std::collections::{HashMap, HashSet};

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

use super::images::subject;
use super::page::{Block, BlockKind, Page};
use super::{Raw, Site, shortened};
use crate::features::projects::brand::BrandProduct;
use crate::vocab::limits::{KNOWLEDGE_CONTENT_CHARACTERS_MAX, KNOWLEDGE_TITLE_CHARACTERS_MAX};

/// The minimum length, in characters, of the text of a page that is read outside of an import. Shorter text is ignored.
const CHARACTERS_MIN: usize = 120;
/// The minimum number of words in a paragraph or list item; shorter text is a label.
const WORDS_MIN: usize = 4;
/// The typical number of characters per word in a language that is written without spaces.
const UNSPACED_WORD_CHARACTERS: usize = 3;
/// The minimum number of characters of a paragraph that counts as a sentence although it does not end like one.
const SENTENCE_CHARACTERS_MIN: usize = 60;
/// Words in the paths of legal pages, which usually contain no information about the brand.
const FORMAL_PAGES: [&str; 5] = ["impressum", "imprint", "legal", "mentions", "colofon"];
/// Words in the paths of contact pages. A contact page is kept if it contains opening hours or is long.
const CONTACT_PAGES: [&str; 8] = ["kontakt", "contact", "contatti", "contacto", "contato", "access", "anfahrt", "find-us"];
/// A legal page or a contact page is kept if its text has at least this many characters.
const FORMAL_CHARACTERS_MIN: usize = 800;
/// Text that appears on at least this many pages is treated as boilerplate.
const SHARED_BY: usize = 3;
/// The number of blocks at the start of a page that can be an announcement bar.
const BAR_BLOCKS: usize = 3;
const BAR_CHARACTERS_MAX: usize = 200;
/// Names and abbreviations of weekdays, in the languages that sites use most often.
const WEEKDAYS: [&str; 44] = [
    "mo",
    "mon",
    "monday",
    "montag",
    "montags",
    "di",
    "tue",
    "tuesday",
    "dienstag",
    "dienstags",
    "wed",
    "wednesday",
    "mittwoch",
    "do",
    "thu",
    "thursday",
    "donnerstag",
    "fr",
    "fri",
    "friday",
    "freitag",
    "sa",
    "sat",
    "saturday",
    "samstag",
    "so",
    "sun",
    "sunday",
    "sonntag",
    "daily",
    "täglich",
    "lundi",
    "mardi",
    "mercredi",
    "jeudi",
    "vendredi",
    "samedi",
    "dimanche",
    "lunes",
    "viernes",
    "lunedì",
    "maandag",
    "zaterdag",
    "zondag",
];

/// The main text of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    pub title: String,
    /// The headings, paragraphs and list items on the page as Markdown.
    pub content: String,
    pub url: String,
}

/// Returns the main text of each page that contains information about the brand, without boilerplate.
pub fn texts(site: &Site, products: &[BrandProduct], name: Option<&str>) -> Vec<Text> {
    let descriptions: Vec<&str> = products.iter().filter_map(|product| product.description.as_deref()).collect();
    let pages: Vec<(&Page, Vec<Block>)> = site.pages.iter().map(|page| (page, page.main_text())).collect();
    let mut times: HashMap<String, usize> = HashMap::new();
    let mut bars: HashMap<String, usize> = HashMap::new();
    for (_, blocks) in &pages {
        let mut own: Vec<&String> = blocks.iter().map(|block| &block.text).collect();
        own.sort();
        own.dedup();
        own.into_iter().for_each(|text| *times.entry(text.clone()).or_default() += 1);
        bar_blocks(blocks).for_each(|block| *bars.entry(block.text.clone()).or_default() += 1);
    }
    let is_bar = |block: &Block| bars.get(&block.text).is_some_and(|times| *times >= 2);
    let is_repeated = |block: &Block| times.get(&block.text).is_some_and(|times| *times >= SHARED_BY);
    let mut announced = HashSet::new();
    let mut found: Vec<Text> = Vec::new();
    for (page, blocks) in &pages {
        let kept = |block: &&Block| if is_bar(block) { announced.insert(block.text.clone()) } else { !is_repeated(block) };
        let own: Vec<&Block> = blocks.iter().filter(kept).collect();
        let text = text_of_page(page, &own, name);
        let is_new = !found.iter().any(|other| other.content == text.content);
        if is_new && says_something(page, &own, &text, &descriptions) {
            found.push(text);
        }
    }
    if found.is_empty() {
        found.extend(only_text(&pages, name));
    }
    found
}

/// Returns the blocks at the start of a page that can be an announcement bar: short text before the first heading.
fn bar_blocks(blocks: &[Block]) -> impl Iterator<Item = &Block> {
    let first = blocks.iter().take(BAR_BLOCKS).take_while(|block| !matches!(block.kind, BlockKind::Heading(_)));
    first.filter(|block| block.text.chars().count() <= BAR_CHARACTERS_MAX)
}

/// Returns whether the text of a page contains information about the brand: opening hours or at least one sentence. Sentences in
/// `descriptions`, the descriptions of products, count only on pages that the caller named. A legal page must instead be long; a contact
/// page must be long or contain opening hours.
fn says_something(page: &Page, blocks: &[&Block], text: &Text, descriptions: &[&str]) -> bool {
    let path = percent_decode_str(page.url.path()).decode_utf8_lossy().to_lowercase();
    let is_long = text.content.chars().count() >= FORMAL_CHARACTERS_MIN;
    let has_hours = blocks.iter().any(|block| is_hours(&block.text));
    match () {
        () if FORMAL_PAGES.iter().any(|word| path.contains(word)) => is_long,
        () if CONTACT_PAGES.iter().any(|word| path.contains(word)) => is_long || has_hours,
        () => {
            let is_known = |block: &Block| !page.given && descriptions.iter().any(|text| text.contains(block.text.as_str()));
            has_hours || blocks.iter().any(|block| is_sentence(block) && !is_known(block))
        }
    }
}

/// Returns whether a block is a sentence, not a label or a request to enable JavaScript.
fn is_sentence(block: &Block) -> bool {
    let ends = block.text.trim_end_matches(['"', '”', '“', '»', ')']).ends_with(['.', '!', '?', '…', '。', '！', '？']);
    let is_long = block.text.chars().count() >= SENTENCE_CHARACTERS_MIN;
    is_running(block) && (ends || is_long) && !block.text.to_lowercase().contains("javascript")
}

/// Returns whether the text contains opening hours, such as `Mo–Fr 9–18 Uhr` or `Saturday 10am to 4pm`.
fn is_hours(text: &str) -> bool {
    let lowered = text.to_lowercase();
    // Weekday abbreviations are capitalized; in lowercase, they are other words, such as `so` and `do`.
    let is_day = |word: &str| {
        WEEKDAYS.contains(&word.to_lowercase().as_str()) && (word.chars().count() > 3 || word.starts_with(char::is_uppercase))
    };
    let has_day = text.split(|c: char| !c.is_alphabetic()).any(is_day);
    let times = lowered.split(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.' | 'h')));
    let is_time = |time: &&str| {
        let hour = time.split([':', '.', 'h']).next().unwrap_or_default();
        hour.parse::<u8>().is_ok_and(|hour| hour <= 24)
    };
    has_day && times.filter(is_time).count() >= 2 && text.chars().count() <= BAR_CHARACTERS_MAX
}

/// For a site without sentences, returns the text of the longest meaningful page, even if all pages repeat that text.
fn only_text(pages: &[(&Page, Vec<Block>)], name: Option<&str>) -> Option<Text> {
    // A request to enable JavaScript contains no information about the brand.
    let is_meaningful = |block: &Block| is_running(block) && !block.text.to_lowercase().contains("javascript");
    let speaking = pages.iter().filter(|(_, blocks)| blocks.iter().any(is_meaningful));
    let texts = speaking.map(|(page, blocks)| text_of_page(page, &blocks.iter().collect::<Vec<_>>(), name));
    // Reverse the order: `max_by_key` returns the last of several equally long texts, but the home page, which comes first, takes
    // precedence.
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

/// Returns the running text of each page that describes the brand. Excludes product pages, and legal and service pages such as FAQs,
/// because their words describe goods and rules and do not show the brand's voice.
pub fn spoken(site: &Site) -> Vec<Vec<String>> {
    let is_own = |page: &&Page| {
        let path = page.url.path().to_lowercase();
        let is_of_product = page.meta("product:price:amount").or_else(|| page.meta("og:price:amount")).is_some()
            || ["/product", "/produkt", "/produit"].iter().any(|word| path.contains(word)) && !page.given;
        let rules =
            ["return", "refund", "shipping", "versand", "policy", "policies", "rueckgabe", "retour", "faq", "impressum", "legal"];
        !is_of_product && !rules.iter().any(|word| path.contains(word))
    };
    let texts = |page: &Page| page.main_text().into_iter().filter(is_running).map(|block| block.text).collect();
    site.pages.iter().filter(is_own).map(texts).collect()
}

fn is_running(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Paragraph | BlockKind::Item) && words_count(&block.text) >= WORDS_MIN
}

/// Returns the number of words in the text. Japanese, Chinese and Thai are written without spaces, so their words are estimated.
fn words_count(text: &str) -> usize {
    let is_unspaced = |c: &char| matches!(c, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}');
    text.split_whitespace().count().max(text.chars().filter(is_unspaced).count() / UNSPACED_WORD_CHARACTERS)
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
            sources.pages.push(Raw {
                url,
                given: *url == urls[0],
                content_type: "text/html",
                language: "",
                bytes: html.as_bytes(),
            });
        }
        read(&sources).texts
    }

    #[test]
    fn the_only_paragraph_of_a_site_is_kept() {
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
        assert_eq!(contents(&[(home, &page), ("https://acme.example/a", &long)]).len(), 2, "a short paragraph is knowledge, too");
        for nothing in ["<h1>Acme</h1>", "<p>Coming soon</p>", "<div>Please enable JavaScript to run this app.</div>"] {
            assert!(texts_of(&[(home, &format!("<body>{nothing}</body>"))]).is_empty(), "{nothing}");
        }
    }

    #[test]
    fn a_page_that_only_repeats_a_products_description_is_excluded() {
        let home = "<html lang=en><body><h1>Acme</h1><p>We sew packs in Vermont.</p></body>";
        let page = |more: &str| {
            format!(
                "<script type='application/ld+json'>{{\"@type\":\"Product\",\"name\":\"Ridge Pack\",\"description\":\"A pack of waxed canvas.\",
                \"offers\":{{\"price\":\"189.0\",\"priceCurrency\":\"USD\"}}}}</script><h1>Ridge Pack</h1><p>A pack of waxed canvas.</p><p>$189.00</p>{more}"
            )
        };
        let urls = |page: &str| -> Vec<String> {
            texts_of(&[("https://acme.example/", home), ("https://acme.example/ridge-pack", page)])
                .into_iter()
                .map(|text| text.url)
                .collect()
        };
        assert_eq!(urls(&page("")), ["https://acme.example/"]);
        assert_eq!(urls(&page("<p>We repair every strap for free.</p>")).len(), 2, "the page says more");
    }

    #[test]
    fn sentences_in_languages_without_spaces_are_kept() {
        let about = "<html lang=ja><body><h2>私たちについて</h2><p>窓を開けると、今でも潮の香りがします。</p></body>";
        let menu = "<html lang=ja><body><h2>メニュー</h2><p>海塩食パン</p></body>";
        let found = texts_of(&[("https://acme.example/about", about), ("https://acme.example/menu", menu)]);
        assert_eq!(found.iter().map(|text| text.url.as_str()).collect::<Vec<_>>(), ["https://acme.example/about"]);
    }

    #[test]
    fn an_announcement_bar_is_kept_once() {
        let page = |text: &str| {
            let bar = "Free UK delivery on orders over £60 until Sunday";
            format!(
                "<body><div class=announcement>{bar}</div><h1>{text}</h1><p>{text} is handmade in our small studio.</p></body>"
            )
        };
        let (home, mugs, bowls) = (page("Pottery"), page("Mug"), page("Bowl"));
        for count in 2..=3 {
            let pages = [
                ("https://acme.example/", &*home),
                ("https://acme.example/mugs", &*mugs),
                ("https://acme.example/bowls", &*bowls),
            ];
            let texts = texts_of(&pages[..count]);
            let with_bar: Vec<&str> =
                texts.iter().filter(|text| text.content.contains("Free UK delivery")).map(|text| text.url.as_str()).collect();
            assert_eq!((texts.len(), with_bar), (count, vec!["https://acme.example/"]));
        }
    }

    #[test]
    fn opening_hours_are_kept_and_bare_contact_details_are_not() {
        let page = |text: &str| format!("<html lang=de><body><h1>Acme</h1>{text}</body>");
        let home = page("<p>Wir kochen jeden Abend frisch, was der Markt uns gibt.</p>");
        let hours = page("<h2>Öffnungszeiten</h2><ul><li>Di–Sa 17:30–23 Uhr</li><li>So 12–21 Uhr</li></ul>");
        let bare = page("<p>Lange Straße 5<br>20095 Hamburg<br>Tel. 040 123456</p>");
        let contents = |kontakt: &str| texts_of(&[("https://acme.example/", &home), ("https://acme.example/kontakt", kontakt)]);
        assert!(contents(&hours).iter().any(|text| text.content.contains("17:30–23 Uhr")));
        assert_eq!(contents(&bare).len(), 1);
        assert!(is_hours("Saturday 10am to 4pm") && !is_hours("Montag im Jahr 2019") && !is_hours("12–14 Tage"));
    }
}
