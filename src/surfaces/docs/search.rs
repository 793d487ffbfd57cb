//! Searches the sections of all documentation pages, in memory.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::Serialize;

use super::markdown::Section;
use crate::vocab::limits;

/// The maximum length of a search result's excerpt, in characters.
const EXCERPT_CHARACTERS: usize = 220;
/// The minimum length of a query word for which typos are tolerated. Shorter words resemble too many other words.
const TYPO_CHARACTERS_MIN: usize = 4;

/// The index of all sections.
#[derive(Default)]
pub struct Index {
    rows: Vec<Row>,
    /// All words in the documentation, used to correct misspelled query words.
    words: BTreeSet<String>,
}

struct Row {
    url: String,
    page: String,
    heading: String,
    text: String,
    /// The page's title and the section's heading, in lowercase.
    names: String,
    /// The section's text in lowercase.
    folded: String,
}

#[derive(Debug, Serialize)]
pub struct Hit {
    pub url: String,
    pub page: String,
    pub heading: String,
    pub excerpt: String,
}

impl Index {
    pub fn add(&mut self, url: &str, title: &str, section: &Section) {
        let is_first = section.level == 1;
        let text = section.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let row = Row {
            url: if is_first { url.to_owned() } else { format!("{url}#{}", section.anchor) },
            page: title.to_owned(),
            heading: section.heading.clone(),
            names: format!("{} {}", title, section.heading).to_lowercase(),
            folded: text.to_lowercase(),
            text,
        };
        self.words.extend(words(&row.names).chain(words(&row.folded)).map(str::to_owned));
        self.rows.push(row);
    }

    /// Returns the best-matching sections that contain all words of the query. If there are none, replaces unknown words with the most
    /// similar known words and searches again.
    pub fn find(&self, query: &str) -> Vec<Hit> {
        let query: String = query.chars().take(limits::DOCS_QUERY_CHARACTERS_MAX).collect::<String>().to_lowercase();
        let wanted: Vec<&str> = words(&query).take(limits::DOCS_QUERY_WORDS_MAX).collect();
        let found = self.matching(&wanted);
        if !found.is_empty() {
            return found;
        }
        let corrected: Vec<&str> = wanted.iter().map(|word| self.similar(word)).collect();
        if corrected == wanted { Vec::new() } else { self.matching(&corrected) }
    }

    fn matching(&self, wanted: &[&str]) -> Vec<Hit> {
        if wanted.is_empty() {
            return Vec::new();
        }
        let scored = self.rows.iter().filter_map(|row| Some((row.score(wanted)?, row)));
        let mut scored: Vec<(u32, &Row)> = scored.collect();
        // The sort is stable, so sections with the same score stay in the order of the documentation.
        scored.sort_by_key(|(score, _)| Reverse(*score));
        scored.iter().take(limits::DOCS_RESULTS_MAX).map(|(_, row)| row.hit(wanted)).collect()
    }

    fn similar<'a>(&'a self, word: &'a str) -> &'a str {
        if word.chars().count() < TYPO_CHARACTERS_MIN || self.words.contains(word) {
            return word;
        }
        let distances = self.words.iter().map(|known| (strsim::osa_distance(word, known), known.as_str()));
        distances.filter(|(distance, _)| *distance <= 2).min().map_or(word, |(_, known)| known)
    }
}

impl Row {
    /// Returns the section's score, or `None` if a word is missing. A query word also matches the start of a longer word.
    fn score(&self, wanted: &[&str]) -> Option<u32> {
        let mut score = 0;
        for word in wanted {
            let in_names = starts(&self.names, word).count();
            let in_text = starts(&self.folded, word).take(5).count();
            if in_names + in_text == 0 {
                return None;
            }
            score += 20 * u32::from(in_names > 0) + in_text as u32;
        }
        if self.heading.to_lowercase().starts_with(wanted[0]) {
            score += 20;
        }
        // Guides rank higher than reference pages, because they answer more questions.
        if !self.url.starts_with("/docs/api/") {
            score += 10;
        }
        Some(score)
    }

    fn hit(&self, wanted: &[&str]) -> Hit {
        let first = wanted.iter().filter_map(|word| starts(&self.folded, word).next()).min().unwrap_or(0);
        // Lowercasing can change byte positions, so the excerpt is located by its position in characters.
        let skipped = self.folded[..first].chars().count().saturating_sub(60);
        let mut excerpt: String = self.text.chars().skip(skipped).take(EXCERPT_CHARACTERS).collect();
        if skipped > 0 {
            excerpt.insert(0, '…');
        }
        if self.text.chars().count() > skipped + EXCERPT_CHARACTERS {
            excerpt.push('…');
        }
        Hit { url: self.url.clone(), page: self.page.clone(), heading: self.heading.clone(), excerpt }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_').filter(|word| !word.is_empty())
}

/// Returns the byte positions of the words in the text that start with `word`.
fn starts<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_start = |at: &usize| !text[..*at].chars().next_back().is_some_and(char::is_alphanumeric);
    text.match_indices(word).map(|(at, _)| at).filter(is_start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> Index {
        let mut index = Index::default();
        let section = |level, heading: &str, text: &str| Section {
            heading: heading.to_owned(),
            anchor: heading.to_lowercase(),
            level,
            text: text.to_owned(),
        };
        index.add("/docs/sending", "Sending", &section(1, "Sending", "Campaigns and direct sends."));
        index.add("/docs/sending", "Sending", &section(2, "Domains", "A sending domain has DKIM records. Verify the domain."));
        index.add("/docs/webhooks", "Webhooks", &section(1, "Webhooks", "Signed requests about the domain of your events."));
        index
    }

    fn urls(query: &str) -> Vec<String> {
        index().find(query).into_iter().map(|hit| hit.url).collect()
    }

    #[test]
    fn headings_come_first_and_all_words_must_match() {
        assert_eq!(urls("domain"), ["/docs/sending#domains", "/docs/webhooks"]);
        assert_eq!(urls("verify DKIM"), ["/docs/sending#domains"]);
        assert_eq!(urls("DKIM webhooks"), Vec::<String>::new());
        assert_eq!(urls(""), Vec::<String>::new());
    }

    #[test]
    fn words_match_from_their_start_and_typos_are_corrected() {
        assert_eq!(urls("camp"), ["/docs/sending"]);
        assert_eq!(urls("paign"), Vec::<String>::new());
        assert_eq!(urls("webhoks"), ["/docs/webhooks"]);
        assert_eq!(urls("\" <b> (((("), Vec::<String>::new());
    }
}
