//! Phrases in several languages, and the search for them.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::bounded;
use super::message::Word;

pub struct Phrase {
    pub words: Vec<String>,
    pub group: String,
    pub text: String,
}

/// The length, in bytes, of the prefixes by which patterns are indexed.
const PREFIX_BYTES: usize = 3;

/// Phrases, indexed by their first word or, if that word is a pattern, by its prefix.
pub struct Phrases {
    pub phrases: Vec<Phrase>,
    by_word: HashMap<String, Vec<usize>>,
    by_prefix: HashMap<String, Vec<usize>>,
}

type PhraseFile = BTreeMap<String, BTreeMap<String, Vec<String>>>;

impl Phrases {
    /// Reads a table of phrases that is embedded in the program.
    pub fn read(text: &str) -> Self {
        let file: PhraseFile = toml::from_str(text).expect("a test parses the embedded phrases");
        let mut phrases = Self { phrases: Vec::new(), by_word: HashMap::new(), by_prefix: HashMap::new() };
        let mut known = HashSet::new();
        for (group, languages) in file {
            for text in languages.into_values().flatten() {
                // Some languages share phrases, and each phrase is added only once.
                if known.insert((group.clone(), text.clone())) {
                    phrases.add(&group, text);
                }
            }
        }
        phrases
    }

    fn add(&mut self, group: &str, text: String) {
        let words: Vec<String> = text.split([' ', '-']).map(str::to_owned).collect();
        let index = self.phrases.len();
        let Some(first) = words.first() else { return };
        match first.strip_suffix(['*', '#']) {
            Some(prefix) => self.by_prefix.entry(bounded(prefix, PREFIX_BYTES).to_owned()).or_default().push(index),
            None => self.by_word.entry(first.clone()).or_default().push(index),
        }
        self.phrases.push(Phrase { words, group: group.to_owned(), text });
    }

    /// Returns the phrases that start at the first of these words.
    pub fn at<'w>(&'static self, words: &'w [Word]) -> impl Iterator<Item = &'static Phrase> + use<'w> {
        let first = words.first().map(|word| word.folded.as_str()).unwrap_or_default();
        let exact = self.by_word.get(first).into_iter().flatten();
        // The prefix of a short pattern, such as “$#”, has fewer bytes.
        let starts = (0..=PREFIX_BYTES).filter_map(move |bytes| first.get(..bytes));
        let prefixed = starts.filter_map(move |start| self.by_prefix.get(start)).flatten();
        exact.chain(prefixed).filter_map(|index| self.phrases.get(*index)).filter(move |phrase| phrase.matches(words))
    }
}

impl Phrase {
    fn matches(&self, words: &[Word]) -> bool {
        self.words.len() <= words.len() && self.words.iter().zip(words).all(|(pattern, word)| word_matches(pattern, &word.folded))
    }
}

fn word_matches(pattern: &str, word: &str) -> bool {
    if let Some(prefix) = pattern.strip_suffix('*') {
        return word.starts_with(prefix);
    }
    if let Some(before) = pattern.strip_suffix('#') {
        return word.strip_prefix(before).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    }
    pattern == word
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    static PHRASES: LazyLock<Phrases> = LazyLock::new(|| {
        Phrases::read(r##"prices = { en = ["# easy steps", "$# off", "da* trick", "wonder* cure", "plain"] }"##)
    });

    #[test]
    fn phrases_that_start_with_a_pattern_are_found() {
        let found = |text: &str| -> Vec<&'static str> {
            let word = |word: &str| Word { start: 0, end: 0, folded: word.to_owned() };
            let words: Vec<Word> = text.split(' ').map(word).collect();
            PHRASES.at(&words).map(|phrase| phrase.text.as_str()).collect()
        };
        for (text, phrase) in [
            ("3 easy steps", "# easy steps"),
            ("1,000 easy steps", "# easy steps"),
            ("$5 off", "$# off"),
            ("$500 off", "$# off"),
            ("daily trick", "da* trick"),
            ("wonderful cure", "wonder* cure"),
            ("plain", "plain"),
        ] {
            assert_eq!(found(text), [phrase], "{text}");
        }
        for text in ["easy steps", "$ off", "d trick", "wonde cure", "plainly", ""] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
