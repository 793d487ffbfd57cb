//! Inline text with bold, italic, links and line breaks.
//!
//! In JSON, inline text is one string with simple markup, which users, the composer and language models can write easily: `**bold**`,
//! `*italic*`, `[words](https://example.com)`, a line feed for a new line, an empty line for a new paragraph, and `\` before a literal mark
//! (`\|` is empty and separates marks that would otherwise merge). In memory, inline text is a list of typed spans. HTML in inline text is
//! literal.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::link::{Link, LinkError};
use crate::base::serde_str;

/// Inline text. Checked inline text has at most `MAX` visible characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rich<const MAX: usize>(Vec<Span>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// A run of text with one style.
    Words { text: String, bold: bool, italic: bool, link: Option<Link> },
    /// A line break; two line breaks in a row end the paragraph.
    Break,
}

impl<const MAX: usize> Rich<MAX> {
    /// The maximum number of visible characters that the check accepts.
    pub const MAX: usize = MAX;

    /// Creates inline text from plain text: characters that look like markup are literal.
    pub fn plain(text: &str) -> Self {
        let mut reader = Reader::default();
        for character in text.trim().chars().filter(|character| *character != '\r') {
            if character == '\n' { reader.line_break() } else { reader.words.push(character) }
        }
        reader.finish()
    }

    /// Parses inline text from its markup. Unpaired marks are literal; a link must have a valid address.
    pub fn parse(markup: &str) -> Result<Self, RichError> {
        let mut reader = Reader::default();
        let mut rest = markup.trim();
        while let Some(character) = rest.chars().next() {
            let taken = reader.step(rest)?;
            rest = &rest[taken.max(character.len_utf8())..];
        }
        Ok(reader.finish())
    }

    pub fn spans(&self) -> &[Span] {
        &self.0
    }

    /// Returns the non-empty paragraphs. Line breaks inside a paragraph are single.
    pub fn paragraphs(&self) -> impl Iterator<Item = &[Span]> {
        let is_gap = |at: usize| self.0[at] == Span::Break && self.0.get(at + 1) == Some(&Span::Break);
        let mut parts = Vec::new();
        let mut start = 0;
        let mut at = 0;
        while at < self.0.len() {
            if is_gap(at) {
                parts.push(&self.0[start..at]);
                while self.0.get(at) == Some(&Span::Break) {
                    at += 1;
                }
                start = at;
            } else {
                at += 1;
            }
        }
        parts.push(&self.0[start..]);
        parts.into_iter().filter(|part| !part.is_empty())
    }

    /// Returns the text without styles and links, with line breaks as line feeds.
    pub fn words(&self) -> String {
        let mut out = String::new();
        for span in &self.0 {
            match span {
                Span::Words { text, .. } => out.push_str(text),
                Span::Break => out.push('\n'),
            }
        }
        out
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|span| matches!(span, Span::Words { text, .. } if text.trim().is_empty()))
    }

    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.0.iter().filter_map(|span| match span {
            Span::Words { link, .. } => link.as_ref(),
            Span::Break => None,
        })
    }

    pub fn markup(&self) -> String {
        let mut out = String::new();
        for (at, span) in self.0.iter().enumerate() {
            match span {
                Span::Break => out.push('\n'),
                Span::Words { text, bold, italic, link } => {
                    let marks = match (*bold, *italic) {
                        (true, true) => "***",
                        (true, false) => "**",
                        (false, true) => "*",
                        (false, false) => "",
                    };
                    // Without an empty escape between them, adjacent marks would merge and be parsed differently.
                    if link.is_none() && !marks.is_empty() && at > 0 && out.ends_with('*') {
                        out.push_str("\\|");
                    }
                    let open = if link.is_some() { "[" } else { "" };
                    write!(out, "{open}{marks}{}{marks}", escape(text)).expect("writing to memory cannot fail");
                    if let Some(link) = link {
                        let address = link.as_str().replace('(', "%28").replace(')', "%29");
                        write!(out, "]({address})").expect("writing to memory cannot fail");
                    }
                }
            }
        }
        out
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '*' | '[' | ']' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

#[derive(Default)]
struct Reader {
    spans: Vec<Span>,
    words: String,
    bold: bool,
    italic: bool,
    link: Option<Link>,
}

impl Reader {
    /// Parses one element at the start of `rest` and returns the element's length in bytes.
    fn step(&mut self, rest: &str) -> Result<usize, RichError> {
        let first = rest.as_bytes()[0];
        match first {
            b'\\' if rest[1..].starts_with('|') => Ok(2),
            b'\\' if rest[1..].starts_with(['*', '[', ']', '\\', '_', '(', ')', '#', '-', '!', '`']) => {
                self.words.push(char::from(rest.as_bytes()[1]));
                Ok(2)
            }
            b'\n' => {
                self.line_break();
                Ok(1)
            }
            b'\r' => Ok(1),
            b'*' if rest.starts_with("***") && self.can_turn(rest, "***", self.bold && self.italic) => {
                self.turn(|reader| (reader.bold, reader.italic) = (!reader.bold, !reader.italic));
                Ok(3)
            }
            b'*' if rest.starts_with("**") && self.can_turn(rest, "**", self.bold) => {
                self.turn(|reader| reader.bold = !reader.bold);
                Ok(2)
            }
            b'*' if !rest.starts_with("**") && self.can_turn(rest, "*", self.italic) => {
                self.turn(|reader| reader.italic = !reader.italic);
                Ok(1)
            }
            b'[' if self.link.is_none() => self.linked(rest),
            _ => {
                let character = rest.chars().next().expect("the caller has checked that the text is not empty");
                self.words.push(character);
                Ok(character.len_utf8())
            }
        }
    }

    /// Returns whether the mark is valid here. An opening mark needs a closing mark in the same paragraph, and a closing mark needs an
    /// opening mark.
    fn can_turn(&self, rest: &str, mark: &str, open: bool) -> bool {
        if open {
            return true;
        }
        let inside = rest[mark.len()..].split("\n\n").next().unwrap_or_default();
        // A single asterisk before a space or a line break is literal, for example as a multiplication sign.
        let lone = mark == "*" && inside.starts_with([' ', '\n']);
        !lone && inside.contains(mark)
    }

    /// Parses a link of the form `[words](address)`.
    fn linked(&mut self, rest: &str) -> Result<usize, RichError> {
        let mut close = None;
        let mut escaped = false;
        for (at, byte) in rest.bytes().enumerate().skip(1) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'[' => break,
                b']' => {
                    close = Some(at);
                    break;
                }
                _ => {}
            }
        }
        let address = close.and_then(|close| Some((close, rest[close + 1..].strip_prefix('(')?)));
        let Some((close, address)) = address.filter(|(_, address)| address.contains(')')) else {
            self.words.push('[');
            return Ok(1);
        };
        let end = address.find(')').expect("the filter above keeps only addresses that contain a closing parenthesis");
        let given = &address[..end];
        let link = Link::parse(given)
            .map_err(|error| RichError { address: given.chars().take(SHOWN_CHARACTERS_MAX).collect(), error })?;
        self.turn(|reader| reader.link = Some(link));
        let mut label = &rest[1..close];
        while !label.is_empty() {
            let taken = self.step(label)?;
            label = &label[taken..];
        }
        self.turn(|reader| reader.link = None);
        Ok(close + 1 + 1 + end + 1)
    }

    fn line_break(&mut self) {
        let kept = self.words.trim_end_matches(' ').len();
        self.words.truncate(kept);
        self.turn(|_| ());
        self.spans.push(Span::Break);
    }

    /// Ends the span that has the current style, then changes the style.
    fn turn(&mut self, change: impl FnOnce(&mut Self)) {
        if !self.words.is_empty() {
            let text = std::mem::take(&mut self.words);
            self.spans.push(Span::Words { text, bold: self.bold, italic: self.italic, link: self.link.clone() });
        }
        change(self);
    }

    fn finish<const MAX: usize>(mut self) -> Rich<MAX> {
        self.turn(|_| ());
        // Remove whitespace at both ends, even after markup without content, as in "****  a".
        let is_blank = |span: &Span| match span {
            Span::Words { text, .. } => text.trim().is_empty(),
            Span::Break => true,
        };
        let last = self.spans.iter().rposition(|span| !is_blank(span)).map_or(0, |last| last + 1);
        self.spans.truncate(last);
        let first = self.spans.iter().position(|span| !is_blank(span)).unwrap_or(0);
        self.spans.drain(..first);
        if let Some(Span::Words { text, .. }) = self.spans.last_mut() {
            text.truncate(text.trim_end().len());
        }
        if let Some(Span::Words { text, .. }) = self.spans.first_mut() {
            text.drain(..text.len() - text.trim_start().len());
        }
        // Several empty lines are equivalent to one empty line.
        let mut breaks = 0;
        self.spans.retain(|span| {
            breaks = if *span == Span::Break { breaks + 1 } else { 0 };
            breaks <= 2
        });
        Rich(self.spans)
    }
}

/// The error for inline text with a link whose address is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RichError {
    /// The start of the address.
    address: String,
    error: LinkError,
}

/// The maximum number of characters of an invalid address that the error message shows.
const SHOWN_CHARACTERS_MAX: usize = 80;

impl fmt::Display for RichError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The link {:?} in the text is invalid. {}", self.address, self.error)
    }
}

impl std::error::Error for RichError {}

impl<const MAX: usize> FromStr for Rich<MAX> {
    type Err = RichError;

    fn from_str(markup: &str) -> Result<Self, RichError> {
        Self::parse(markup)
    }
}

impl<const MAX: usize> Serialize for Rich<MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.markup())
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for Rich<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "a string with **bold**, *italic* and [links](https://example.com)")
    }
}

impl<const MAX: usize> JsonSchema for Rich<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Rich{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // The schema limits the length including markup and addresses, but the check counts only visible characters. The limit in the
        // schema is therefore higher.
        json_schema!({ "type": "string", "minLength": 1, "maxLength": MAX * 2 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Text = Rich<1000>;

    fn shape(markup: &str) -> String {
        let rich = Text::parse(markup).expect("the markup is valid");
        let span = |span: &Span| match span {
            Span::Break => "/".to_owned(),
            Span::Words { text, bold, italic, link } => {
                let style = [(*bold, "b"), (*italic, "i"), (link.is_some(), "a")];
                let style: String = style.into_iter().filter(|(on, _)| *on).map(|(_, c)| c).collect();
                format!("{style}({text})")
            }
        };
        rich.spans().iter().map(span).collect()
    }

    #[test]
    fn marks_are_parsed() {
        for (markup, spans) in [
            ("plain", "(plain)"),
            ("a **b** c", "(a )b(b)( c)"),
            ("*a* and ***b***", "i(a)( and )bi(b)"),
            ("see [the **sale**](https://example.com/x) now", "(see )a(the )ba(sale)( now)"),
            ("one  \ntwo\n\n\n\nthree", "(one)/(two)//(three)"),
            ("\\*not\\* \\[this\\]", "(*not* [this])"),
            ("2 * 3 * 4 and 5*", "(2 * 3 * 4 and 5*)"),
            ("**open", "(**open)"),
            ("[no link] (x)", "([no link] (x))"),
        ] {
            assert_eq!(shape(markup), spans, "{markup}");
        }
    }

    #[test]
    fn a_link_must_have_a_valid_address() {
        let error = Text::parse("[x](javascript:alert)").expect_err("the link has no valid address").to_string();
        assert!(
            error.starts_with("The link \"javascript:alert\" in the text is invalid. The URL does not start with https://"),
            "{error}"
        );
    }

    #[test]
    fn whitespace_at_the_ends_is_removed_even_behind_empty_markup() {
        for markup in ["**** a\t****", "a ****", "[](https://example.com/) a"] {
            let rich = Rich::<100>::parse(markup).expect("the markup is valid");
            assert_eq!(rich.markup().trim(), rich.markup(), "{markup}");
            assert_eq!(Rich::parse(&rich.markup()), Ok(rich), "{markup}");
        }
    }

    #[test]
    fn markup_round_trips() {
        for markup in
            ["a **b** c *d* [e](https://example.com/#x)\nf\n\ng \\* \\[h\\]", "***x***", "[**a**](mailto:a@example.com)"]
        {
            let rich = Text::parse(markup).expect("the markup is valid");
            assert_eq!(Text::parse(&rich.markup()).expect("the markup is valid"), rich, "{}", rich.markup());
        }
        assert_eq!(Text::parse(&Text::plain("**a** [b](c)").markup()).expect("the markup is valid").words(), "**a** [b](c)");
    }

    #[test]
    fn empty_lines_separate_paragraphs() {
        let rich = Text::parse("a\nb\n\nc").expect("the markup is valid");
        assert_eq!(rich.paragraphs().map(<[Span]>::len).collect::<Vec<_>>(), [3, 1]);
    }
}
