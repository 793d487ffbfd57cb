//! What a check reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The type of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "SpellingErrorType")]
pub enum FindingKind {
    /// A word that is in no dictionary.
    Spelling,
    /// A word that does not fit the sentence.
    #[default]
    Grammar,
    /// A word twice in a row.
    Repeat,
    /// Correct, but better written in another way.
    Style,
}

/// A finding in the text.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "SpellingError")]
pub struct Finding {
    /// The word or phrase, as readers see it.
    pub word: String,
    /// At most five replacements, the best first.
    pub suggestions: Vec<String>,
    /// The text around the word.
    pub context: String,
    #[serde(rename = "type")]
    pub kind: FindingKind,
    /// The ID of the rule, such as `UNKNOWN_WORD`.
    pub rule: String,
    /// The line in the source, starting at 1.
    pub line: usize,
    /// The column in characters, starting at 1.
    pub column: usize,
    /// The position in the source in bytes of UTF-8, starting at 0.
    pub offset: usize,
    /// The length in the source in bytes, including tags inside the word.
    pub length: usize,
    /// The language in which the text was checked.
    pub language: String,
    /// How certain the finding is, from 0 to 1.
    pub confidence: f32,
}

/// Sets the lines and columns of findings, which must be in the order of the source. Takes one pass over the source.
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

/// The largest number of characters on either side of a finding in its context.
const CONTEXT_CHARACTERS: usize = 40;

/// Returns the text around `start..end`, cut at spaces.
pub(super) fn context(text: &str, start: usize, end: usize) -> String {
    let before = text.get(..start).unwrap_or_default();
    let from = before.char_indices().rev().nth(CONTEXT_CHARACTERS - 1).map_or(0, |(at, _)| at);
    let after = text.get(end..).unwrap_or_default();
    let to = end + after.char_indices().nth(CONTEXT_CHARACTERS).map_or(after.len(), |(at, _)| at);
    // Starts after a space and ends before one, if text was cut off.
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
