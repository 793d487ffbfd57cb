//! Parses HTML into the tree that browsers build, traverses it in document order, and helps to serialize it.
//!
//! The traversal does not use the call stack, however deep the tree is, and stops if a limit is exceeded.

use scraper::{ElementRef, Html, Node};

use super::html_limits::HtmlRefusal;
use crate::vocab::limits::{DRAWN_LEVELS_MAX, DRAWN_NODES_MAX};

/// Whether the traversal visits an element's children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descend {
    Into,
    Past,
}

/// A visitor of nodes in document order.
pub trait Visitor {
    /// Called when an element starts.
    fn open(&mut self, element: ElementRef<'_>) -> Descend;
    /// Called at the end of an element whose children were visited.
    fn close(&mut self, name: &str);
    /// Called for a text node.
    fn text(&mut self, text: &str);
    /// Called for a comment.
    fn comment(&mut self, _: &str) {}
}

enum Step<'a> {
    Open(ElementRef<'a>),
    Close(&'a str),
    Text(&'a str),
    Comment(&'a str),
}

/// Parses HTML in standards mode, like email clients.
pub fn parse(html: &str) -> Html {
    Html::parse_document(&format!("<!doctype html>{html}"))
}

pub fn walk(html: &Html, visitor: &mut impl Visitor) -> Result<(), HtmlRefusal> {
    let mut steps = vec![Step::Open(html.root_element())];
    let (mut depth, mut nodes) = (0, 0);
    while let Some(step) = steps.pop() {
        nodes += 1;
        if nodes > 2 * DRAWN_NODES_MAX {
            return Err(HtmlRefusal::TooManyNodes);
        }
        match step {
            Step::Text(text) => visitor.text(text),
            Step::Comment(text) => visitor.comment(text),
            Step::Close(name) => {
                depth -= 1;
                visitor.close(name);
            }
            Step::Open(element) => {
                if visitor.open(element) == Descend::Past {
                    continue;
                }
                depth += 1;
                if depth > DRAWN_LEVELS_MAX {
                    return Err(HtmlRefusal::TooDeep);
                }
                steps.push(Step::Close(element.value().name()));
                for child in element.children().rev() {
                    match child.value() {
                        Node::Text(text) => steps.push(Step::Text(text)),
                        Node::Element(_) => steps.extend(ElementRef::wrap(child).map(Step::Open)),
                        Node::Comment(comment) => steps.push(Step::Comment(comment)),
                        Node::Document | Node::Fragment | Node::Doctype(_) | Node::ProcessingInstruction(_) => {}
                    }
                }
            }
        }
    }
    Ok(())
}

/// Returns the text of an element that contains only text, such as `style`.
pub fn raw_text(element: ElementRef<'_>) -> String {
    element.text().collect()
}

/// Returns whether an HTML element never has content or an end tag.
pub fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area" | "base" | "br" | "col" | "embed" | "hr" | "img" | "input" | "link" | "meta" | "source" | "track" | "wbr"
    )
}

/// Returns whether an HTML element starts and ends its own line. Table cells do not; see [`is_cell`].
pub fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name)
}

pub fn is_cell(name: &str) -> bool {
    matches!(name, "td" | "th")
}

/// The elements that start and end a line.
const BLOCKS: [&str; 42] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "tfoot",
    "thead",
    "tr",
    "ul",
];

/// Returns whether a name can be written as a tag or attribute name and is parsed back unchanged.
pub fn is_plain_name(name: &str) -> bool {
    let rest = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.');
    name.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && name.bytes().all(rest)
}

/// Appends `text` to `out`, escaped for HTML.
pub fn push_text(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\u{a0}' => out.push_str("&nbsp;"),
            '\0' => {}
            _ => out.push(c),
        }
    }
}

/// Appends an attribute as ` name="value"` to `out`, with the value escaped.
pub fn push_attribute(name: &str, value: &str, out: &mut String) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\0' => {}
            _ => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Outline(String);

    impl Visitor for Outline {
        fn open(&mut self, element: ElementRef<'_>) -> Descend {
            let name = element.value().name();
            self.0.push_str(&format!("<{name}>"));
            if name == "svg" { Descend::Past } else { Descend::Into }
        }

        fn close(&mut self, name: &str) {
            self.0.push_str(&format!("</{name}>"));
        }

        fn text(&mut self, text: &str) {
            self.0.push_str(text);
        }
    }

    #[test]
    fn the_tree_is_the_one_that_browsers_build() {
        let mut outline = Outline::default();
        walk(&parse("<table><p>a<tr><td>b<b>c</table>d<svg><p>"), &mut outline).expect("the HTML is small enough");
        let expected = "<html><head></head><body><p>a</p><table><tbody><tr><td>b<b>c</b></td></tr></tbody></table>d<svg><p></p>\
                        </body></html>";
        assert_eq!(outline.0, expected);
    }

    #[test]
    fn html_that_grows_during_parsing_is_rejected() {
        let open: String = (0..100).map(|number| format!("<b class={number}>")).collect();
        let grown = format!("<p>{open}{}", "<p>x".repeat(2_000));
        let refusal = walk(&parse(&grown), &mut Outline::default());
        assert!(refusal.is_err(), "{refusal:?}");
    }

    #[test]
    fn text_and_attributes_parse_back_unchanged() {
        let mut out = String::new();
        push_text("a<b>&\u{a0}\0", &mut out);
        push_attribute("title", "\"'<&>", &mut out);
        assert_eq!(out, "a&lt;b&gt;&amp;&nbsp; title=\"&quot;'&lt;&amp;&gt;\"");
        assert!(is_plain_name("v:rect") && !is_plain_name("a\"b") && !is_plain_name("") && !is_plain_name("1a"));
    }
}
