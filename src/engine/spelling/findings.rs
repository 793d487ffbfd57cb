//! The findings of a spelling check.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The type of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "SpellingErrorType")]
pub enum FindingKind {
    /// A misspelled word.
    Spelling,
    /// A mistake in grammar, punctuation or capitalization, a wrong date, or a confused word.
    #[default]
    Grammar,
    /// Words that occur twice in a row.
    Repeat,
    /// Text that could be written better.
    Style,
}

/// A finding in the text.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "SpellingError")]
pub struct Finding {
    /// The reported text, as readers see it.
    pub word: String,
    /// Up to five replacements, best first.
    pub suggestions: Vec<String>,
    /// The text around the finding.
    pub context: String,
    #[serde(rename = "type")]
    pub kind: FindingKind,
    /// The ID of the rule that the text violates.
    pub rule: String,
    /// The line in the source, counted from 1.
    pub line: usize,
    /// The column in the line, in characters, counted from 1.
    pub column: usize,
    /// The byte offset in the UTF-8 source, counted from 0.
    pub offset: usize,
    /// The length in the source in bytes, including tags inside the text.
    pub length: usize,
    /// The language in which the text was checked.
    pub language: String,
    /// The confidence, from 0 to 1.
    pub confidence: f32,
}

/// Sets the lines and columns of findings, which must be in source order. Reads the source once.
pub(super) fn set_lines(source: &str, findings: &mut [Finding]) {
    let (mut line, mut column, mut position) = (1, 1, 0);
    for finding in findings {
        for character in source.get(position..finding.offset).unwrap_or_default().chars() {
            if character == '\n' {
                line += 1;
                column = 1;
            } else {
                column += 1;
            }
        }
        position = finding.offset.max(position);
        (finding.line, finding.column) = (line, column);
    }
}

/// The maximum number of context characters on each side of a finding.
const CONTEXT_CHARACTERS: usize = 40;

/// Returns the text around `start..end`, without partial words at its ends.
pub(super) fn context(text: &str, start: usize, end: usize) -> String {
    let before = text.get(..start).unwrap_or_default();
    let from = before.char_indices().rev().nth(CONTEXT_CHARACTERS - 1).map_or(0, |(at, _)| at);
    let after = text.get(end..).unwrap_or_default();
    let to = end + after.char_indices().nth(CONTEXT_CHARACTERS).map_or(after.len(), |(at, _)| at);
    // If the start is cut off, start after a space. If the end is cut off, end before one.
    let from = if from == 0 { 0 } else { text.get(from..start).and_then(|cut| cut.find(' ')).map_or(from, |at| from + at + 1) };
    let to = if to == text.len() { to } else { text.get(end..to).and_then(|cut| cut.rfind(' ')).map_or(to, |at| end + at) };
    let part = text.get(from..to).unwrap_or_default();
    part.chars().filter(|c| *c != super::text::OPAQUE).map(|c| if c == '\n' { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_is_cut_at_spaces() {
        let text = "Our summer collection is here and it is better than ever before, so recieve your copy of the catalog today while it lasts";
        let start = text.find("recieve").expect("the word");
        assert_eq!(
            context(text, start, start + 7),
            "and it is better than ever before, so recieve your copy of the catalog today while"
        );
        assert_eq!(context("recieve", 0, 7), "recieve");
    }
}
