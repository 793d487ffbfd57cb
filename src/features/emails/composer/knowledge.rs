//! Quotes sentences from the brand's pages and knowledge base in an email. Sentences can be omitted, but no words are added.

use super::language::Language;
use super::phrases::mix;
use super::text::{folded, is_in, tidy};
use super::tokens::plain;
use crate::features::emails::brief::ABBREVIATIONS;
use crate::vocab::limits;

/// An entry of the brand's knowledge base or a page of its site.
#[derive(Clone, Copy, Debug)]
pub struct Knowledge<'a> {
    pub title: &'a str,
    pub text: &'a str,
    /// The URL of the page that contains the text.
    pub url: Option<&'a str>,
}

/// An excerpt, suitable for an email, from one of the brand's entries or pages.
#[derive(Clone, Debug, PartialEq)]
pub struct Excerpt<'a> {
    pub title: String,
    pub text: String,
    pub url: Option<&'a str>,
}

/// The maximum length, in characters, of an excerpt: two or three sentences.
const EXCERPT_CHARACTERS_MAX: usize = 320;
const TITLE_CHARACTERS_MAX: usize = 80;
/// The minimum and maximum number of words in a quoted sentence. Shorter or longer pieces of text are probably headings, menus or malformed
/// lists.
const SENTENCE_WORDS: std::ops::RangeInclusive<usize> = 3..=40;
/// The maximum number of characters that are read from an entry.
const TEXT_CHARACTERS_READ: usize = 6_000;

/// Words that identify legal and technical pages and the pages of a shop's checkout, which are not quoted. They occur in titles and URLs.
const NOT_FOR_EMAIL: [&str; 32] = [
    "privacy",
    "datenschutz",
    "confidentialite",
    "privacidad",
    "privacidade",
    "terms",
    "agb",
    "cgv",
    "impressum",
    "imprint",
    "legal",
    "mentions",
    "aviso",
    "cookie",
    "condizioni",
    "termini",
    "termos",
    "voorwaarden",
    "login",
    "konto",
    "account",
    "cart",
    "warenkorb",
    "checkout",
    "404",
    "widerruf",
    "versand",
    "shipping",
    "returns",
    "sitemap",
    "rgpd",
    "gdpr",
];

/// Returns excerpts of the entries that can be quoted in this language, most relevant to the topic first.
pub fn excerpts<'a>(knowledge: &[Knowledge<'a>], language: Language, topic: &str, seed: u64) -> Vec<Excerpt<'a>> {
    let topic = folded(topic);
    let words: Vec<&str> = topic.split(' ').filter(|word| word.chars().count() > 4).collect();
    let score = |entry: &Knowledge<'_>| {
        let title = plain(entry.title);
        words.iter().filter(|word| title.contains(**word)).count()
    };
    let mut found: Vec<(usize, u64, Excerpt<'a>)> = knowledge
        .iter()
        .take(limits::COMPOSER_KNOWLEDGE_MAX)
        .filter_map(|entry| Some((score(entry), mix(seed, entry.title), excerpt(entry, language)?)))
        .collect();
    found.sort_by_key(|(score, order, _)| (std::cmp::Reverse(*score), *order));
    found.into_iter().map(|(_, _, excerpt)| excerpt).collect()
}

fn excerpt<'a>(entry: &Knowledge<'a>, language: Language) -> Option<Excerpt<'a>> {
    let title = tidy(entry.title);
    let bare = plain(&title);
    if NOT_FOR_EMAIL.iter().any(|word| bare.contains(word))
        || entry.url.is_some_and(|url| NOT_FOR_EMAIL.iter().any(|word| url.contains(word)))
    {
        return None;
    }
    // The title of the page "How we roast | Leaf & Stone" is "How we roast".
    let cut = [" | ", " – ", " — ", " · "].into_iter().filter_map(|mark| title.find(mark)).min().unwrap_or(title.len());
    let title = title[..cut].trim().to_owned();
    if title.is_empty() || title.chars().count() > TITLE_CHARACTERS_MAX {
        return None;
    }
    let head: String = entry.text.chars().take(TEXT_CHARACTERS_READ).collect();
    if language.is_complete() && !is_in(&head, language, None) {
        return None;
    }
    let text = sentences(&head)?;
    Some(Excerpt { title, text, url: entry.url })
}

/// Returns the first complete sentences that follow each other in one line of the text and together fit into an excerpt.
fn sentences(text: &str) -> Option<String> {
    let mut out = String::new();
    for line in text.lines().map(tidy).filter(|line| !line.is_empty()) {
        for sentence in split(&line) {
            let words = sentence.split(' ').count();
            let odd =
                ["©", "http", "@", "|", "»", "›", "cookie", "Cookie", "**", "##"].iter().any(|mark| sentence.contains(mark));
            let whole = sentence.ends_with(['.', '!', '?']) && sentence.starts_with(|first: char| first.is_uppercase());
            if !whole || odd || !SENTENCE_WORDS.contains(&words) {
                if out.is_empty() { continue } else { return Some(out) }
            }
            if out.chars().count() + sentence.chars().count() > EXCERPT_CHARACTERS_MAX {
                return Some(out).filter(|out| !out.is_empty());
            }
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(sentence);
        }
        if !out.is_empty() {
            break;
        }
    }
    Some(out).filter(|out| !out.is_empty())
}

/// Splits a line into sentences.
pub fn split(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, sign) in line.char_indices().filter(|(_, sign)| matches!(sign, '.' | '!' | '?')) {
        let end = at + sign.len_utf8();
        let word = line[start..at].rsplit(' ').next().unwrap_or_default();
        let continues = line[end..].trim_start().starts_with(|next: char| next.is_ascii_digit() || next.is_lowercase());
        // "Str." before a number abbreviates "Straße", so its period does not end the sentence: "Torstr. 8".
        let is_street = word.ends_with("str") && line[end..].trim_start().starts_with(|next: char| next.is_ascii_digit());
        let is_abbreviation = is_street || continues && ABBREVIATIONS.contains(&word.to_lowercase().as_str());
        let short = word.chars().count() <= 2 || word.ends_with(|last: char| last.is_ascii_digit()) || is_abbreviation;
        if line[end..].starts_with(' ') && !(sign == '.' && short) {
            parts.push(line[start..end].trim());
            start = end;
        }
    }
    parts.push(line[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abbreviation_does_not_end_a_sentence() {
        assert_eq!(split("Max. 20 Plätze. Bring a friend."), ["Max. 20 Plätze.", "Bring a friend."]);
        assert_eq!(split("We need the max. Then we stop."), ["We need the max.", "Then we stop."]);
    }

    #[test]
    fn whole_sentences_are_quoted_and_the_rest_is_left_out() {
        let entry = Knowledge {
            title: "How we roast | Leaf & Stone",
            text: "Home Shop About\nWe roast our teas in small batches over charcoal. It takes the whole night, and one of us stays awake for it.",
            url: Some("https://example.com/how"),
        };
        let found = excerpts(&[entry], Language::En, "", 1);
        assert_eq!(found[0].title, "How we roast");
        assert_eq!(
            found[0].text,
            "We roast our teas in small batches over charcoal. It takes the whole night, and one of us stays awake for it."
        );
        assert!(excerpts(&[entry], Language::De, "", 1).is_empty(), "it is English");
        let law = Knowledge { title: "Privacy policy", ..entry };
        assert!(excerpts(&[law], Language::En, "", 1).is_empty());
    }
}
