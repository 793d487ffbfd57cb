//! Converts MJML to HTML in the current process. Only this file uses the MJML library.
//!
//! The conversion fetches no files: an include is an error, and the HTML links only to fonts that the document itself declares.

use std::fmt;

use mrml::prelude::parser::{Error as ParseError, ParserOptions, Span};
use mrml::prelude::render::RenderOptions;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MjmlError {
    pub problem: String,
    /// The position of the problem, if the parser reports it.
    pub place: Option<Place>,
}

/// A position in MJML. Lines and columns start at 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for MjmlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(Place { line, column }) => write!(f, "line {line}, column {column}: {}", self.problem),
            None => f.write_str(&self.problem),
        }
    }
}

impl std::error::Error for MjmlError {}

/// Converts an MJML document to HTML, and inlines the styles from `mj-style inline="inline"` into the elements.
pub fn to_html(mjml: &str) -> Result<String, MjmlError> {
    // The parser panics on two kinds of input, which were found by fuzzing: a `>` directly after a multi-byte character, and truncated
    // conditional comments. Mailmill's templates contain neither. A call shares no state with other calls, so a panic leaves no
    // inconsistent state.
    std::panic::catch_unwind(|| convert(mjml)).unwrap_or_else(|_| {
        let problem = "this MJML cannot be parsed; write > as &gt; and close conditional comments".to_owned();
        Err(MjmlError { problem, place: None })
    })
}

fn convert(mjml: &str) -> Result<String, MjmlError> {
    let mjml = &referenced(mjml);
    // The default include loader loads no files. The default fonts are omitted, because the HTML would link to them on other servers.
    let parsed = mrml::parse_with_options(mjml, &ParserOptions::default()).map_err(|error| explain(mjml, &error))?;
    let options = RenderOptions { fonts: Default::default(), ..RenderOptions::default() };
    parsed.element.render(&options).map_err(|error| MjmlError { problem: error.to_string(), place: None })
}

/// Returns MJML in which the characters that the library would write into attributes as Rust escapes are replaced by character references.
/// Otherwise, a no-break space in an alt text would become `\u{a0}`. The title is also converted, because it becomes an attribute.
fn referenced(mjml: &str) -> String {
    let mut out = String::with_capacity(mjml.len());
    let (mut is_tag, mut is_title) = (false, false);
    for (at, c) in mjml.char_indices() {
        match c {
            '<' => (is_tag, is_title) = (true, mjml[at..].starts_with("<mj-title")),
            '>' => is_tag = false,
            _ => {}
        }
        let is_escaped = c == '\\' || !c.is_ascii() && c.escape_debug().next() == Some('\\');
        if (is_tag || is_title) && is_escaped { out.push_str(&format!("&#{};", u32::from(c))) } else { out.push(c) }
    }
    out
}

fn explain(mjml: &str, error: &ParseError) -> MjmlError {
    let at = |position: &Span| Some(place(mjml, position.start));
    let (problem, place) = match error {
        ParseError::UnexpectedElement { position, .. } => ("this element is not allowed here; move or remove it", at(position)),
        ParseError::UnexpectedToken { position, .. } => {
            ("this content is not allowed here; move or remove it, or close the element before it", at(position))
        }
        ParseError::MissingAttribute { name, position, .. } => {
            return MjmlError { problem: format!("the attribute {name} is missing; add it"), place: at(position) };
        }
        ParseError::InvalidAttribute { position, .. } => ("this attribute is invalid; correct or remove it", at(position)),
        ParseError::InvalidFormat { position, .. } => ("this part is not valid MJML; correct or remove it", at(position)),
        ParseError::IncludeLoaderError { position, .. } => {
            ("includes are not supported; write the content here instead", at(position))
        }
        ParseError::EndOfStream { .. } => ("the MJML ends inside an element; close the element", Some(place(mjml, mjml.len()))),
        ParseError::SizeLimit { .. } => ("the MJML is too long; shorten it", None),
        ParseError::NoRootNode => ("the mjml element is missing; wrap the whole document in an mjml element", None),
        ParseError::ParserError { source, .. } => {
            let place = Place { line: source.pos().row as usize, column: source.pos().col as usize };
            return MjmlError { problem: format!("the MJML is not well-formed: {source}"), place: Some(place) };
        }
    };
    MjmlError { problem: problem.to_owned(), place }
}

fn place(text: &str, offset: usize) -> Place {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line_start = before.rfind('\n').map_or(0, |feed| feed + 1);
    Place { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(inside: &str) -> String {
        format!("<mjml><mj-body>\n<mj-section><mj-column>{inside}</mj-column></mj-section></mj-body></mjml>")
    }

    #[test]
    fn draws_html_and_writes_inline_styles_into_elements() {
        let style = "<mj-head><mj-style inline=\"inline\">.red { color: red }</mj-style></mj-head>";
        let mjml = body("<mj-text><p class=\"red\">Hello</p></mj-text>").replace("<mj-body>", &format!("{style}<mj-body>"));
        let html = to_html(&mjml).expect("the MJML is valid");
        assert!(html.contains("<p class=\"red\" style=\"color: red;\">Hello</p>"), "{html}");
    }

    /// With Rust escapes, screen readers would read the attribute `aria-label="20\u{a0}% Rabatt"` literally.
    #[test]
    fn attributes_have_no_escapes_of_rust() {
        let title = "<mj-head><mj-title>20\u{a0}% Rabatt</mj-title><mj-style>.x { content: '\\201C' }</mj-style></mj-head>";
        let inside = "<mj-image src=\"https://example.com/a.png\" alt=\"Für\u{202f}dich \\o/ \u{200d}\" />";
        let html = to_html(&body(inside).replace("<mj-body>", &format!("{title}<mj-body>"))).expect("the MJML is valid");
        assert!(!html.contains("\\u{") && !html.contains("\\\\"), "{html}");
        let page = scraper::Html::parse_document(&html);
        let attribute = |css: &str, name: &str| {
            let found = page.select(&scraper::Selector::parse(css).expect("the selector is valid")).next();
            found.and_then(|element| element.attr(name).map(str::to_owned))
        };
        assert_eq!(attribute("[aria-label]", "aria-label").as_deref(), Some("20\u{a0}% Rabatt"));
        assert_eq!(attribute("img", "alt").as_deref(), Some("Für\u{202f}dich \\o/ \u{200d}"));
        assert!(html.contains("'\\201C'"), "{html}");
    }

    #[test]
    fn no_font_is_linked() {
        let html = to_html(&body("<mj-text font-family=\"Roboto\">Hello</mj-text>")).expect("the MJML is valid");
        assert!(!html.contains("fonts.") && !html.contains("@import"), "{html}");
    }

    #[test]
    fn an_error_is_reported_with_its_position() {
        let error = to_html(&body("<mj-text a b=></mj-text>")).expect_err("the attribute has no value");
        assert_eq!(error.place.map(|place| place.line), Some(2), "{error}");
        assert!(to_html("<mjml><mj-body>").is_err() && to_html("").is_err() && to_html("<p>").is_err());
    }

    /// Found by fuzzing: the parser splits `€` when it looks for `]]>`, and panics on a truncated conditional comment.
    #[test]
    fn text_that_makes_the_parser_panic_is_an_error() {
        for text in ["50 €> 40 €", "<![endif of a comment"] {
            let error = to_html(&body(&format!("<mj-text>{text}</mj-text>"))).expect_err(text);
            assert!(error.problem.contains("this MJML cannot be parsed"), "{error}");
        }
        assert!(to_html(&body("<mj-text>50 € &gt; 40 €</mj-text>")).is_ok());
    }

    #[test]
    fn nothing_is_included() {
        let error = to_html(
            &body("<mj-text>a</mj-text>").replace("<mj-section>", "<mj-include path=\"file:///etc/hostname\" /><mj-section>"),
        );
        assert!(error.is_err(), "{error:?}");
    }
}
