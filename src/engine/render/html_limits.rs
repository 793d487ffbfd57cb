//! Checks HTML before it is parsed, and rejects HTML that is too large or too deep, or that would take disproportionately long to parse.
//!
//! The checks take linear time.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use takumi::prelude::{FromHtmlOptions, HtmlError};
use takumi::unstable::html::parse_html;

use crate::vocab::limits::{DRAWN_ATTRIBUTES_MAX, DRAWN_HTML_BYTES_MAX, DRAWN_INPUT_BYTES_MAX, DRAWN_LEVELS_MAX};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HtmlRefusal {
    /// The size of the HTML, including embedded images, exceeds the limit. The value is the size in bytes.
    InputTooLarge(usize),
    /// The size of the HTML, excluding embedded images, exceeds the limit. The value is the size in bytes.
    TooLarge(usize),
    TooDeep,
    TooManyNodes,
    TooManyAttributes,
    NoMail,
}

impl fmt::Display for HtmlRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InputTooLarge(bytes) => {
                let (size, max) = (megabytes(*bytes), megabytes(DRAWN_INPUT_BYTES_MAX));
                write!(f, "The email is {size}; shorten it to at most {max}.")
            }
            Self::TooLarge(bytes) => {
                let (size, max) = (megabytes(*bytes), megabytes(DRAWN_HTML_BYTES_MAX));
                write!(f, "Without its images, the HTML is {size}; shorten it to at most {max}.")
            }
            Self::TooDeep => write!(f, "The HTML elements are nested more than {DRAWN_LEVELS_MAX} levels deep; flatten them."),
            Self::TooManyNodes => f.write_str("The HTML has too many elements, text nodes and comments; simplify it."),
            Self::NoMail => {
                f.write_str("The file is not an email with HTML or text; use a message with headers, an empty line, and a body.")
            }
            Self::TooManyAttributes => {
                write!(f, "The HTML has a tag with more than {DRAWN_ATTRIBUTES_MAX} attributes; remove some of them.")
            }
        }
    }
}

impl std::error::Error for HtmlRefusal {}

/// Returns a size in megabytes (2^20 bytes), rounded up, so that a size slightly above a limit is not displayed as the limit.
pub fn megabytes(bytes: usize) -> String {
    let tenths = (bytes * 10).div_ceil(1024 * 1024);
    match tenths % 10 {
        0 => format!("{} MB", tenths / 10),
        rest => format!("{}.{rest} MB", tenths / 10),
    }
}

/// HTML that passed the checks, with embedded base64 images replaced by placeholder URLs.
pub struct CheckedHtml<'a> {
    pub html: Cow<'a, str>,
    /// The data URLs of the embedded images, indexed by the numbers in their placeholder URLs ([`stand_in`]).
    pub embedded: Vec<&'a str>,
}

/// Checks HTML. Returns the HTML without embedded images, or the reason for rejecting it.
pub fn admit(html: &str) -> Result<CheckedHtml<'_>, HtmlRefusal> {
    if html.len() > DRAWN_INPUT_BYTES_MAX {
        return Err(HtmlRefusal::InputTooLarge(html.len()));
    }
    let admitted = take_out_images(html);
    let text = admitted.html.as_ref();
    if text.len() > DRAWN_HTML_BYTES_MAX {
        return Err(HtmlRefusal::TooLarge(text.len()));
    }
    if has_too_many_attributes(text) {
        return Err(HtmlRefusal::TooManyAttributes);
    }
    let options = FromHtmlOptions::builder().max_depth(DRAWN_LEVELS_MAX).build();
    match parse_html(text, options) {
        Ok(_) => Ok(admitted),
        Err(HtmlError::MaxDepthExceeded(_)) => Err(HtmlRefusal::TooDeep),
        // A newer version of the parser may report other errors; HTML that causes one of them is rejected as well.
        Err(_) => Err(HtmlRefusal::TooManyNodes),
    }
}

const EMBEDDED: &str = "data:image/";
const BASE64: &str = ";base64,";

/// Returns the placeholder URL for the embedded image with this number.
pub fn stand_in(number: usize) -> String {
    format!("embedded-image:{number}")
}

/// Returns the number in a placeholder URL from [`stand_in`].
pub fn stood_in(address: &str) -> Option<usize> {
    address.strip_prefix("embedded-image:")?.parse().ok()
}

fn take_out_images(html: &str) -> CheckedHtml<'_> {
    let mut embedded = Vec::new();
    let mut out = String::new();
    let mut kept = 0;
    let mut from = 0;
    while let Some(at) = html[from..].find(EMBEDDED).map(|found| from + found) {
        let after = at + EMBEDDED.len();
        from = after;
        let kind =
            html[after..].bytes().take(40).take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
        let Some(data) = html[after + kind..].strip_prefix(BASE64) else { continue };
        let is_data = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=%\r\n".contains(byte);
        let end = html.len() - data.len() + data.bytes().take_while(is_data).count();
        out.push_str(&html[kept..at]);
        out.push_str(&stand_in(embedded.len()));
        embedded.push(&html[at..end]);
        (kept, from) = (end, end);
    }
    if embedded.is_empty() {
        return CheckedHtml { html: Cow::Borrowed(html), embedded };
    }
    out.push_str(&html[kept..]);
    CheckedHtml { html: Cow::Owned(out), embedded }
}

/// Returns whether any tag in the HTML has too many attributes. Comments, style sheets and scripts contain no tags.
fn has_too_many_attributes(html: &str) -> bool {
    let bytes = html.as_bytes();
    let mut at = 0;
    while let Some(open) = html[at..].find('<').map(|found| at + found) {
        let rest = &html[open..];
        at = open + 1;
        if let Some(comment) = rest.strip_prefix("<!--") {
            at = open + comment.find("-->").map_or(4, |end| end + 7);
            continue;
        }
        if !bytes.get(open + 1).is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let (attributes, end) = count_attributes(bytes, open + 1);
        if attributes > DRAWN_ATTRIBUTES_MAX {
            return true;
        }
        at = end;
        for raw in ["style", "script"] {
            let begins = |length: usize| bytes.get(open + 1..open + 1 + length);
            if begins(raw.len()).is_some_and(|name| name.eq_ignore_ascii_case(raw.as_bytes())) {
                at = html[end..].find("</").map_or(html.len(), |found| end + found);
            }
        }
    }
    false
}

/// Returns the number of attributes of the tag whose name starts at `at`, and the end of the tag.
fn count_attributes(bytes: &[u8], mut at: usize) -> (usize, usize) {
    let blank = |byte: u8| byte.is_ascii_whitespace() || byte == b'/';
    let skip = |mut at: usize, what: &dyn Fn(u8) -> bool| {
        while bytes.get(at).is_some_and(|byte| what(*byte)) {
            at += 1;
        }
        at
    };
    at = skip(at, &|byte| !blank(byte) && byte != b'>');
    let mut attributes = 0;
    loop {
        at = skip(at, &blank);
        match bytes.get(at) {
            None | Some(b'>') => return (attributes, (at + 1).min(bytes.len())),
            Some(_) => attributes += 1,
        }
        // An attribute name may even start with "=", so its first character is skipped without a check.
        at = skip(at + 1, &|byte| !blank(byte) && byte != b'>' && byte != b'=');
        let value = skip(at, &|byte| byte.is_ascii_whitespace());
        if bytes.get(value) != Some(&b'=') {
            continue;
        }
        at = skip(value + 1, &|byte| byte.is_ascii_whitespace());
        at = match bytes.get(at) {
            Some(quote @ (b'"' | b'\'')) => skip(at + 1, &|byte| byte != *quote) + 1,
            _ => skip(at, &|byte| !byte.is_ascii_whitespace() && byte != b'>'),
        };
        if at >= bytes.len() {
            return (attributes, bytes.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(html: &str) -> Option<HtmlRefusal> {
        admit(html).err()
    }

    #[test]
    fn embedded_images_do_not_count_as_html() {
        let image = format!("data:image/png;base64,{}", "A".repeat(DRAWN_HTML_BYTES_MAX));
        let html = format!("<p>a<img src=\"{image}\">b<i style='background:url({image})'>");
        let admitted = admit(&html).expect("the HTML is allowed");
        assert_eq!(admitted.embedded, [image.as_str(), image.as_str()]);
        assert_eq!(admitted.html, "<p>a<img src=\"embedded-image:0\">b<i style='background:url(embedded-image:1)'>");
        assert_eq!(stood_in(&stand_in(7)), Some(7));
    }

    #[test]
    fn html_too_large_or_too_deep_is_rejected() {
        assert_eq!(refusal(&"x".repeat(DRAWN_HTML_BYTES_MAX + 1)), Some(HtmlRefusal::TooLarge(DRAWN_HTML_BYTES_MAX + 1)));
        let refused = HtmlRefusal::TooLarge(DRAWN_HTML_BYTES_MAX + 1).to_string();
        assert_eq!(refused, "Without its images, the HTML is 2.1 MB; shorten it to at most 2 MB.");
        assert_eq!(refusal(&"<div>".repeat(100_000)), Some(HtmlRefusal::TooDeep));
        assert_eq!(refusal(&"<p>x</p>".repeat(1000)), None);
    }

    #[test]
    fn a_tag_with_too_many_attributes_is_rejected_wherever_it_is() {
        let many: String = (0..=DRAWN_ATTRIBUTES_MAX).map(|number| format!(" a{number}='>' ")).collect();
        assert_eq!(refusal(&format!("<p{many}>")), Some(HtmlRefusal::TooManyAttributes));
        assert_eq!(refusal(&format!("<!-- x --><style>a{{}}</style><b><img{many}/>")), Some(HtmlRefusal::TooManyAttributes));
        assert_eq!(refusal(&format!("<!-- <p{many}> --><script>a<b {many}</script><p>")), None);
        assert_eq!(refusal("<a href=x title='<<<< a b c d'>a < b < c</a><"), None);
    }
}
