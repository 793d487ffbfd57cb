//! Marks each tag of an email's HTML with its position in the source, because parsers that build a tree do not keep positions.
//!
//! The mark is an attribute that is added to the opening tags before parsing. The mark stays with its element, wherever the parser moves
//! the element.

use serde::{Deserialize, Serialize};

use crate::base::html_scanner::{Scanner, TokenKind};
use crate::base::source::{Lines, Span};
use crate::engine::render::imported_html::dom::Dom;

/// The attribute that contains the byte positions of the tag's start and end.
pub const MARK: &str = "mailmill-span";
/// Elements whose content is text, in which character references are decoded.
const TEXT_ELEMENTS: [&str; 2] = ["title", "textarea"];
/// The maximum number of characters in an excerpt.
const EXCERPT_CHARACTERS_MAX: usize = 160;
/// The maximum length of an attribute value that is parsed. Longer values are embedded images, and only their start matters.
const VALUE_BYTES_MAX: usize = 64 * 1024;

/// A place in the source of an email.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRange {
    /// The line, starting at 1.
    pub line: u32,
    /// The column in characters, starting at 1.
    pub column: u32,
    pub end_line: u32,
    /// The column after the last character, starting at 1.
    pub end_column: u32,
    /// The source text at this place, shortened.
    pub excerpt: String,
}

impl SourceRange {
    /// Returns the place of the bytes from `start` to `end`.
    pub fn of(lines: &Lines<'_>, start: usize, end: usize) -> Self {
        let span = Span::new(start, end);
        let ((line, column), (end_line, end_column)) = (lines.position(span.start), lines.position(span.end));
        Self { line, column, end_line, end_column, excerpt: shortened(span.of(lines.source())) }
    }
}

/// Returns the text on one line, shortened.
pub fn shortened(text: &str) -> String {
    let mut out = String::new();
    for (count, word) in text.split_whitespace().enumerate() {
        if count > 0 {
            out.push(' ');
        }
        out.extend(word.chars().take(EXCERPT_CHARACTERS_MAX));
        if out.len() > 4 * EXCERPT_CHARACTERS_MAX {
            break;
        }
    }
    match out.char_indices().nth(EXCERPT_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &out[..end]),
        None => out,
    }
}

/// Returns the HTML with a mark in its opening tags. Long attribute values are cut.
pub fn marked(source: &str) -> String {
    let mut out = String::with_capacity(source.len() + source.len() / 4);
    let mut inside: Option<&str> = None;
    for piece in Scanner::new(source) {
        let text = source.get(piece.start..piece.end).unwrap_or_default();
        match (piece.kind, inside) {
            (TokenKind::Close(name), Some(open)) if name.eq_ignore_ascii_case(open) => inside = None,
            (TokenKind::Open(tag), None) => {
                inside = TEXT_ELEMENTS.into_iter().find(|name| tag.name.eq_ignore_ascii_case(name));
                let name_end = 1 + tag.name.len();
                out.push_str(text.get(..name_end).unwrap_or_default());
                out.push_str(&format!(" {MARK}=\"{}-{}\"", piece.start, piece.end));
                let mut from = piece.start + name_end;
                for long in tag.attributes().filter(|attribute| attribute.value.len() > VALUE_BYTES_MAX) {
                    let kept = floor(source, long.value_start + VALUE_BYTES_MAX);
                    out.push_str(source.get(from..kept).unwrap_or_default());
                    from = long.value_start + long.value.len();
                }
                out.push_str(source.get(from..piece.end).unwrap_or_default());
                continue;
            }
            _ => {}
        }
        out.push_str(text);
    }
    out
}

/// Returns the last character boundary at or before a byte position.
fn floor(source: &str, mut at: usize) -> usize {
    while at > 0 && !source.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns the span of an element's opening tag in the source. Elements that the parser added have none.
pub fn span(dom: &Dom, node: usize) -> Option<(usize, usize)> {
    let (start, end) = dom.attribute(node, MARK)?.split_once('-')?;
    Some((start.parse().ok()?, end.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_has_the_position_of_its_tag() {
        let source = "<p>é\n<b title=\"a>b\">x</b>\n<title><i></title><table><tr><td><a\nhref=x>";
        let dom = Dom::read(&marked(source)).expect("the HTML is small enough");
        let lines = Lines::new(source);
        let place = |name: &str| {
            let (start, end) = span(&dom, dom.first(name).expect("the element exists")).expect("the element has a tag");
            let place = SourceRange::of(&lines, start, end);
            (place.line, place.column, place.end_line, place.end_column, place.excerpt)
        };
        assert_eq!(place("p"), (1, 1, 1, 4, "<p>".into()));
        assert_eq!(place("b"), (2, 1, 2, 16, "<b title=\"a>b\">".into()));
        assert_eq!(place("a"), (3, 34, 4, 8, "<a href=x>".into()));
        assert!(dom.first("i").is_none());
        assert_eq!(span(&dom, dom.first("tbody").expect("the parser adds it")), None);
    }

    #[test]
    fn long_values_are_cut_at_a_character() {
        let source = format!("<img src=\"{}\" alt=x>y", "é".repeat(VALUE_BYTES_MAX));
        let dom = Dom::read(&marked(&source)).expect("the HTML is small enough");
        let image = dom.first("img").expect("the element exists");
        assert_eq!(dom.attribute(image, "alt"), Some("x"));
        assert!(dom.attribute(image, "src").is_some_and(|value| value.len() <= VALUE_BYTES_MAX));
    }
}
