//! Patterns for short clauses and for the starts of statements, with their replacements.

use regex::Regex;

use crate::base::text::capitalized;

/// A pattern for a clause, with the sentence that replaces the clause.
#[derive(Debug)]
pub struct Pattern {
    clause: Regex,
    sentence: String,
}

impl Pattern {
    /// Parses a pattern for a clause from a word list. `{day}` stands for a day and the words that follow it, `{time}` for a time, and
    /// `{link}` for an address. The sentence `=` keeps the clause, and an empty sentence removes it.
    pub fn clause(clause: &str, sentence: &str, days: &[String]) -> Self {
        let day = format!(r"((?:(?:the|am|le|el) )?(?:(?:{})\b|\d{{1,2}}[.\s]|\d{{1,2}}(?:st|nd|rd|th)).*)", days.join("|"));
        let clause = clause
            .replace("{day}", &day)
            .replace("{time}", r"(\d{1,2}(?:[.:]\d\d)?(?: ?(?:am|pm|a\.m\.|p\.m\.|uhr|h|u))?)")
            .replace("{link}", r"(\S+\.\S+)");
        let clause = Regex::new(&format!("(?i)^{clause}$")).expect("a test compiles every pattern");
        Self { clause, sentence: sentence.to_owned() }
    }

    /// Parses a pattern for the start of a statement, and its replacement.
    pub fn opener(start: &str, sentence: &str) -> Self {
        let clause = Regex::new(&format!("(?i)^{start}")).expect("a test compiles every pattern");
        Self { clause, sentence: sentence.to_owned() }
    }

    /// Returns the text with its start replaced; `None` if its start does not match the pattern, or if the text already has a subject.
    pub fn open(&self, text: &str) -> Option<String> {
        // Questions, and statements whose second word is a pronoun, already have a subject: "Suchen Sie ein Geschenk?".
        let second = text.split(' ').nth(1).unwrap_or_default().to_lowercase();
        let is_whole = text.ends_with('?') || ["sie", "wir", "ihr", "we", "you", "nous", "vous"].contains(&second.as_str());
        let lower =
            || text.chars().next().into_iter().flat_map(char::to_lowercase).chain(text.chars().skip(1)).collect::<String>();
        (!is_whole && self.clause.is_match(text)).then(|| self.clause.replace(&lower(), self.sentence.as_str()).into_owned())
    }

    pub fn apply(&self, clause: &str) -> Option<String> {
        let found = self.clause.captures(clause)?;
        if self.sentence == "=" {
            return Some(capitalized(clause));
        }
        let mut sentence = String::new();
        found.expand(&self.sentence, &mut sentence);
        Some(sentence)
    }
}
