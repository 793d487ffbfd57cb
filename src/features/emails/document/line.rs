//! Text on a single line, whose maximum length is part of its type.
//!
//! A line can be created from text of any length, and [`check`](super::Email::check) reports lines that are too long. The schema and the
//! check read the limit from the type.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A single line of text without surrounding space. A checked line has 1 to `MAX` characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line<const MAX: usize>(String);

impl<const MAX: usize> Line<MAX> {
    /// The maximum number of characters that the check accepts.
    pub const MAX: usize = MAX;

    /// Creates a line from any text. Line ends and runs of spaces become single spaces.
    pub fn new(text: &str) -> Self {
        Self(text.split([' ', '\n', '\r', '\t']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
    }

    /// Creates a line from any text, shortened to at most `MAX` characters, if possible at a word boundary. A shortened line ends with an
    /// ellipsis.
    pub fn cut(text: &str) -> Self {
        let Self(text) = Self::new(text);
        if text.chars().count() <= MAX {
            return Self(text);
        }
        let head: String = text.chars().take(MAX.saturating_sub(1)).collect();
        let end = head.rfind(' ').filter(|end| *end > head.len() / 2).unwrap_or(head.len());
        Self(format!("{}…", head[..end].trim_end_matches([' ', ',', ';', ':', '.', '-', '–', '—'])))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> Deref for Line<MAX> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> From<&str> for Line<MAX> {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl<const MAX: usize> From<String> for Line<MAX> {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

impl<const MAX: usize> fmt::Display for Line<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<const MAX: usize> Serialize for Line<MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for Line<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::new(&text))
    }
}

impl<const MAX: usize> JsonSchema for Line<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Line{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "maxLength": MAX })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_single_spaces() {
        assert_eq!(Line::<9>::new(" a\n\n b\t c ").as_str(), "a b c");
    }

    #[test]
    fn a_long_line_is_cut_at_a_word_boundary() {
        assert_eq!(Line::<16>::cut("The quick, brown fox").as_str(), "The quick…");
        assert_eq!(Line::<4>::cut("Überlandleitung").as_str(), "Übe…");
        assert_eq!(Line::<20>::cut("The quick, brown fox").as_str(), "The quick, brown fox");
    }
}
