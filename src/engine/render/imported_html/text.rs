//! Converts an email's HTML to plain text, for the plain-text part of a message and for search.

use scraper::ElementRef;

use super::addresses::is_listed;
use crate::engine::render::html_limits::HtmlRefusal;
use crate::engine::render::tree::{Descend, Visitor, is_block, is_cell, parse, walk};

/// The elements that have space above and below.
const PARAGRAPHS: [&str; 10] = ["h1", "h2", "h3", "h4", "h5", "h6", "p", "ol", "ul", "blockquote"];
/// The elements whose text is invisible.
const UNSEEN: [&str; 4] = ["style", "title", "script", "head"];

/// Returns the plain text of a sanitized email, and the language that its HTML declares.
pub fn of(html: &str) -> Result<(String, Option<String>), HtmlRefusal> {
    let tree = parse(html);
    let language = tree.root_element().attr("lang").map(str::trim).filter(|lang| !lang.is_empty()).map(str::to_owned);
    let mut writer = Writer::default();
    walk(&tree, &mut writer)?;
    Ok((writer.finish(), language))
}

#[derive(Default)]
struct Writer {
    out: String,
    /// The number of line breaks to write before the next word: one ends a line, two end a paragraph.
    breaks: usize,
    /// Whether to write a space before the next word.
    spaced: bool,
    /// For each open link, the position in the output at which its text starts, and the URL to show, if any.
    links: Vec<(usize, Option<String>)>,
    /// Whether the output ends with the text or with the URL of a link; `None` if it ends with neither.
    ends_with: Option<Ending>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Link,
    Address,
}

impl Writer {
    fn end(&mut self, breaks: usize) {
        self.breaks = self.breaks.max(breaks);
        self.spaced = false;
    }

    fn word(&mut self, word: &str) {
        if self.breaks > 0 {
            if !self.out.is_empty() {
                self.out.extend(std::iter::repeat_n('\n', self.breaks));
            }
        } else if (self.spaced || self.ends_with == Some(Ending::Address) && word.starts_with(char::is_alphanumeric))
            && !self.out.is_empty()
        {
            self.out.push(' ');
        }
        (self.breaks, self.spaced, self.ends_with) = (0, false, None);
        self.out.push_str(word);
    }

    fn finish(mut self) -> String {
        self.out.push('\n');
        self.out
    }
}

impl Visitor for Writer {
    fn open(&mut self, element: ElementRef<'_>) -> Descend {
        let name = element.value().name();
        match name {
            name if UNSEEN.contains(&name) => return Descend::Past,
            "br" | "hr" => self.breaks = (self.breaks + 1).min(2),
            "img" => {
                let words = element.attr("alt").map(str::trim).filter(|words| !words.is_empty());
                words.inspect(|words| self.word(words));
            }
            "a" => {
                // Adjacent links are often separated only by their styles. Without a space, their text would run together.
                self.spaced |= self.ends_with.is_some();
                let href = element.attr("href").map(str::trim).filter(|href| is_listed(href));
                self.links.push((self.out.len(), href.map(str::to_owned)));
            }
            name if is_cell(name) => self.spaced = true,
            name if is_block(name) => self.end(if PARAGRAPHS.contains(&name) { 2 } else { 1 }),
            _ => {}
        }
        if name == "li" {
            self.word("*");
            self.spaced = true;
        }
        Descend::Into
    }

    fn close(&mut self, name: &str) {
        match name {
            "a" => {
                let Some((from, href)) = self.links.pop().filter(|(from, _)| self.out.len() > *from) else { return };
                match href.filter(|href| !self.out[from..].contains(href.as_str())) {
                    Some(href) => {
                        let is_apart = std::mem::take(&mut self.spaced);
                        self.spaced = true;
                        self.word(&format!("({href})"));
                        (self.spaced, self.ends_with) = (is_apart, Some(Ending::Address));
                    }
                    None => self.ends_with = Some(Ending::Link),
                }
            }
            name if is_block(name) => self.end(if PARAGRAPHS.contains(&name) { 2 } else { 1 }),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        // Characters that pad a preheader are invisible, so they are trimmed from words.
        let is_filler = |c: char| matches!(c, '\u{ad}' | '\u{34f}' | '\u{200b}'..='\u{200f}' | '\u{2007}' | '\u{feff}');
        self.spaced |= text.starts_with(char::is_whitespace);
        for word in text.split_whitespace().map(|word| word.trim_matches(is_filler)).filter(|word| !word.is_empty()) {
            self.word(word);
            self.spaced = true;
        }
        self.spaced = text.ends_with(char::is_whitespace) && self.breaks == 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_paragraphs_lists_links_and_images_become_text() {
        let html = "<html lang=\"en\"><head><title>T</title><style>p{}</style></head><body><h1>Hello</h1><p>One <b>bold</b>, two.<br>Three</p>\
                    <table><tr><td>a</td><td>1</td></tr><tr><td>b</td><td>2</td></tr></table><ul><li>x</li><li>y</li></ul>\
                    <p><a href=\"https://a.example/\">Shop now</a> <img alt=\"A pot\"></p>";
        let text = "Hello\n\nOne bold, two.\nThree\n\na 1\nb 2\n\n* x\n* y\n\nShop now (https://a.example/) A pot\n";
        assert_eq!(of(html).expect("the HTML is small enough"), (text.to_owned(), Some("en".to_owned())));
    }

    #[test]
    fn urls_that_browsers_execute_are_omitted() {
        let html = "<p><a href=\"javascript:alert(1)\">One</a> <a href=\" JAVA\nSCRIPT:x\">two</a> <a href=\"data:text/html,x\">three</a> \
                    <a href=\"vbscript:x\">four</a> <a href=\"{{ link }}\">five</a> <a href=\"mailto:a@b.example\">six</a></p>";
        assert_eq!(
            of(html).expect("the HTML is small enough").0,
            "One two three four five ({{ link }}) six (mailto:a@b.example)\n"
        );
    }

    #[test]
    fn links_are_separated_from_each_other_and_from_words() {
        let html = "<p><a href=\"https://a.example/\">Home</a><a href=\"https://b.example/\">Shop</a>, <a \
                    href=\"https://c.example/\"><img alt=\"Us\"></a>now<a href=\"javascript:x\">x</a><a href=\"https://d.example/\">y</a>.</p>";
        let text = "Home (https://a.example/) Shop (https://b.example/), Us (https://c.example/) nowx y (https://d.example/).\n";
        assert_eq!(of(html).expect("the HTML is small enough").0, text);
    }
}
