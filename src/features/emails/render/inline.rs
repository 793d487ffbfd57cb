//! Renders inline text as HTML. The text is escaped, and links have a color that suits their background.
//!
//! This module escapes the text that it converts to markup. The templates escape other strings.

use std::fmt::Write;

use super::glue::glued;
use crate::base::text::Color;
use crate::features::emails::document::{Rich, Span};

/// The style of links.
#[derive(Clone, Copy, Debug)]
pub struct Ink {
    pub color: Color,
    /// The class that changes the color in dark mode.
    pub class: &'static str,
}

/// Escapes text for HTML and for the MJML parser, in elements and attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(character),
        }
    }
    out
}

/// Escapes visible text and puts no-break spaces inside its numbers, dates and telephone numbers.
pub fn words(text: &str) -> String {
    escape(&glued(text))
}

/// Renders the spans of a paragraph as HTML.
pub fn line(spans: &[Span], ink: Ink) -> String {
    let mut out = String::new();
    for span in spans {
        let Span::Words { text, bold, italic, link } = span else {
            out.push_str("<br />");
            continue;
        };
        let (open, close) = match (*bold, *italic) {
            (true, true) => ("<strong><em>", "</em></strong>"),
            (true, false) => ("<strong>", "</strong>"),
            (false, true) => ("<em>", "</em>"),
            (false, false) => ("", ""),
        };
        let words = words(text);
        match link {
            Some(link) => {
                let href = escape(link.as_str());
                let Ink { color, class } = ink;
                let style = format!("color:{color};text-decoration:underline");
                write!(out, "<a class=\"{class}\" href=\"{href}\" target=\"_blank\" style=\"{style}\">{open}{words}{close}</a>")
            }
            None => write!(out, "{open}{words}{close}"),
        }
        .expect("writing to memory cannot fail");
    }
    out
}

/// Renders inline text without paragraph elements. Line breaks separate the paragraphs.
pub fn whole<const MAX: usize>(text: &Rich<MAX>, ink: Ink) -> String {
    text.paragraphs().map(|spans| line(spans, ink)).collect::<Vec<_>>().join("<br /><br />")
}

/// Renders inline text as paragraphs with `room` pixels between them.
pub fn paragraphs<const MAX: usize>(text: &Rich<MAX>, ink: Ink, room: u16) -> String {
    let lines: Vec<String> = text.paragraphs().map(|spans| line(spans, ink)).collect();
    let last = lines.len().saturating_sub(1);
    let mut out = String::new();
    for (index, line) in lines.iter().enumerate() {
        let below = if index == last { 0 } else { room };
        write!(out, "<p style=\"margin:0 0 {below}px\">{line}</p>").expect("writing to memory cannot fail");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::color::BLACK;

    const INK: Ink = Ink { color: BLACK, class: "ac" };

    #[test]
    fn words_are_escaped_and_links_are_links() {
        let rich: Rich<99> = Rich::parse("<script>\"&\" **b** [*c*](https://example.com/?a=1&b=2)").expect("the markup is valid");
        let html = line(rich.spans(), INK);
        assert!(html.starts_with("&lt;script&gt;&quot;&amp;&quot; <strong>b</strong> <a class=\"ac\""), "{html}");
        assert!(html.contains("href=\"https://example.com/?a=1&amp;b=2\"") && html.ends_with("<em>c</em></a>"), "{html}");
    }

    #[test]
    fn paragraphs_have_room_between_but_not_after() {
        let rich: Rich<99> = Rich::parse("a\nb\n\nc").expect("the markup is valid");
        let html = paragraphs(&rich, INK, 9);
        assert_eq!(html, "<p style=\"margin:0 0 9px\">a<br />b</p><p style=\"margin:0 0 0px\">c</p>");
    }
}
