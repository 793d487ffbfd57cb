//! The links of a template: finds them in the HTML and replaces them with tracked links.
//!
//! Replaces only attribute values that start like a web URL and are in complete tags. Values that start with a merge field and all other
//! targets stay unchanged. This module is independent of what happens when a link is clicked.

use crate::features::domains::Utm;
use crate::features::sending;
use crate::features::sending::merge_data::{CLICK, OPEN};
use crate::vocab::limits;

/// A template whose links are replaced by placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RewrittenHtml {
    pub html: String,
    /// The targets of the placeholders: URLs that may contain merge fields.
    pub links: Vec<String>,
}

/// Replaces web links with placeholders, up to [`limits::MAILING_LINKS_MAX`]. Equal URLs share a placeholder.
pub fn rewrite(html: &str) -> RewrittenHtml {
    let mut out = RewrittenHtml::default();
    let html = each_link(html, |address| out.number(address).map(|number| format!("{{{{ {CLICK}{number} }}}}")));
    RewrittenHtml { html, ..out }
}

/// Replaces the URL of each link with the value that `other` returns. If `other` returns `None`, the URL is kept.
fn each_link(html: &str, mut other: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(html.len());
    let mut done = 0;
    let mut at = 0;
    while let Some(open) = html[at..].find('<').map(|open| at + open) {
        let Some(tag) = Tag::read(html, open, &["a", "area"], "href") else {
            at = open + 1;
            continue;
        };
        at = tag.end;
        let Some((from, to)) = tag.value else { continue };
        let address = unescaped(html[from..to].trim());
        let Some(value) = other(&address) else { continue };
        out.push_str(&html[done..from]);
        out.push_str(&value);
        done = to;
    }
    out.push_str(&html[done..]);
    out
}

/// Returns whether this is a web URL without template statements or comments.
fn is_of_the_web(address: &str) -> bool {
    let Some((scheme, _)) = address.split_once("://") else { return false };
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    is_web && !address.contains("{%") && !address.contains("{#")
}

impl RewrittenHtml {
    /// Returns the number of the placeholder for a URL; returns `None` if the URL is not tracked or the email has too many links.
    fn number(&mut self, address: &str) -> Option<usize> {
        if !is_of_the_web(address) {
            return None;
        }
        if let Some(known) = self.links.iter().position(|link| link == address) {
            return Some(known);
        }
        if self.links.len() == limits::MAILING_LINKS_MAX {
            return None;
        }
        self.links.push(address.to_owned());
        Some(self.links.len() - 1)
    }
}

/// Adds UTM parameters to the web links. Links with merge fields stay unchanged, because the fields' values are not known here.
pub fn marked(html: &str, utm: &Utm) -> String {
    each_link(html, |address| {
        let is_plain = is_of_the_web(address) && !address.contains("{{");
        is_plain.then(|| sending::marked(address, utm).replace('&', "&amp;").replace('"', "&quot;").replace('\'', "&#39;"))
    })
}

/// Adds the tracking pixel at the end of the visible content.
pub fn with_pixel(html: &str) -> String {
    let pixel = format!(
        "<img src=\"{{{{ {OPEN} }}}}\" alt=\"\" width=\"1\" height=\"1\" style=\"display:block;border:0;width:1px;height:1px\">"
    );
    at_the_end(html, &pixel)
}

/// Adds an unsubscribe line at the end of the visible content.
pub fn with_unsubscribe(html: &str) -> String {
    let line = "<p style=\"margin:16px;text-align:center;font:12px/18px sans-serif;color:#666666\">\
                <a href=\"{{ unsubscribe_url }}\" style=\"color:#666666\">Unsubscribe</a></p>";
    at_the_end(html, line)
}

fn at_the_end(html: &str, more: &str) -> String {
    let end = html.to_ascii_lowercase().rfind("</body").unwrap_or(html.len());
    format!("{}{more}{}", &html[..end], &html[end..])
}

/// Returns whether a template contains an unsubscribe link.
pub fn offers_to_unsubscribe(text: &str) -> bool {
    text.contains("unsubscribe_url") || text.contains("unsubscribeUrl")
}

/// Returns the language that the HTML declares: the `lang` attribute of its `<html>` tag.
pub fn language(html: &str) -> Option<String> {
    let start = html.to_ascii_lowercase().find("<html")?;
    let tag = Tag::read(html, start, &["html"], "lang")?;
    let (from, to) = tag.value?;
    Some(html[from..to].trim().to_owned()).filter(|language| !language.is_empty())
}

/// A tag, and the position of one attribute's value.
struct Tag {
    /// The position after the tag's `>`.
    end: usize,
    /// The start and end of the attribute's value; `None` if the tag does not have the attribute, or if the value is unquoted.
    value: Option<(usize, usize)>,
}

impl Tag {
    /// Reads the tag that starts at `open`. Finds the value of the attribute `wanted` if the element is one of `elements`.
    fn read(html: &str, open: usize, elements: &[&str], wanted: &str) -> Option<Self> {
        let bytes = html.as_bytes();
        if bytes[open..].starts_with(b"<!--") {
            let end = html[open..].find("-->").map_or(html.len(), |end| open + end + 3);
            return Some(Self { end, value: None });
        }
        let mut at = open + 1;
        let name_end = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let name = &html[at..name_end];
        if name.is_empty() {
            return None;
        }
        let is_one = elements.iter().any(|element| name.eq_ignore_ascii_case(element));
        at = name_end;
        let mut found = None;
        loop {
            at += bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == b'/').count();
            match bytes.get(at) {
                None => return None,
                Some(b'>') => return Some(Self { end: at + 1, value: found }),
                Some(_) => {}
            }
            let from = at;
            at += bytes[at..].iter().take_while(|byte| !byte.is_ascii_whitespace() && !b"=>/".contains(byte)).count();
            let attribute = &html[from..at];
            let equals = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            if bytes.get(equals) != Some(&b'=') {
                // An unexpected character is skipped, so that the scan always ends.
                at = at.max(from + usize::from(at == from));
                continue;
            }
            at = equals + 1;
            at += bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let (start, end, behind) = match bytes.get(at)? {
                quote @ (b'"' | b'\'') => {
                    let end = at + 1 + bytes[at + 1..].iter().position(|byte| byte == quote)?;
                    (at + 1, end, end + 1)
                }
                _ => {
                    let end = at + bytes[at..].iter().take_while(|byte| !byte.is_ascii_whitespace() && **byte != b'>').count();
                    (at, end, end)
                }
            };
            // An unquoted value cannot contain a placeholder.
            if is_one && attribute.eq_ignore_ascii_case(wanted) && found.is_none() && behind > end {
                found = Some((start, end));
            }
            at = behind;
        }
    }
}

/// Decodes the HTML escapes that are common in URLs.
fn unescaped(value: &str) -> String {
    value
        .replace("&quot;", "\"")
        .replace("&#34;", "\"")
        .replace("&#39;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_links_become_placeholders_and_others_stay() {
        let html = r##"<p>1 < 2<a class="x" href="https://a.example/?a=1&amp;b=2">A</a><A HREF='http://b.example'>B</A>
<a href="mailto:x@y.example">M</a><a href="#top">T</a><a href="{{ unsubscribe_url }}">U</a><img src="https://c.example/i.png">
<!-- <a href="https://d.example">no</a> --><area shape=rect href="https://a.example/?a=1&amp;b=2"><a name=q href=https://e.example>E</a></p>"##;
        let rewritten = rewrite(html);
        assert_eq!(rewritten.links, ["https://a.example/?a=1&b=2", "http://b.example"]);
        assert_eq!(rewritten.html.matches("{{ __click_0 }}").count(), 2);
        assert_eq!(rewritten.html.matches("{{ __click_1 }}").count(), 1);
        for kept in
            ["mailto:x@y.example", "#top", "{{ unsubscribe_url }}", "https://c.example/i.png", "https://d.example", "1 < 2"]
        {
            assert!(rewritten.html.contains(kept), "{kept}");
        }
    }

    #[test]
    fn untracked_links_get_utm_parameters_in_place() {
        let utm = Utm { source: Some("a & b".parse().expect("the parameter is short enough")), ..Utm::default() };
        let html = "<a href=\"https://a.example/?q=1&amp;r=2#x\">A</a><a href='https://b.example/{{ plan }}'>B</a><a href=\"#top\">T</a>";
        let expected = html.replace("r=2#x", "r=2&amp;utm_source=a+%26+b#x");
        assert_eq!(marked(html, &utm), expected);
    }

    #[test]
    fn a_link_with_a_merge_field_keeps_it_for_its_target() {
        let rewritten = rewrite(r#"<a href="https://a.example/{{ plan | default(&quot;free&quot;) }}?x=1">A</a>"#);
        assert_eq!(rewritten.links, [r#"https://a.example/{{ plan | default("free") }}?x=1"#]);
        assert_eq!(rewritten.html, r#"<a href="{{ __click_0 }}">A</a>"#);
    }

    #[test]
    fn the_language_of_a_page_is_read_from_its_first_tag() {
        for (html, expected) in [
            ("<!doctype html><html dir=\"ltr\" lang=\"de-AT\"><body lang=\"fr\">", Some("de-AT")),
            ("<HTML xmlns='x' LANG='nl'>", Some("nl")),
            ("<html lang=\"\"><p>", None),
            ("<p lang=\"fr\">x</p>", None),
            ("<html", None),
        ] {
            assert_eq!(language(html).as_deref(), expected, "{html}");
        }
    }

    #[test]
    fn broken_tags_stay_and_the_scan_ends() {
        for html in [
            "<a href=\"https://a.example",
            "<a href=",
            "<a =x",
            "<",
            "<a",
            "a<a / = >",
            "<a href='https://a.example' \"=\"",
            "é<é",
        ] {
            let rewritten = rewrite(html);
            assert!(rewritten.links.len() <= 1, "{html}");
        }
        assert_eq!(rewrite("<a href=\"https://a.example").html, "<a href=\"https://a.example");
    }

    #[test]
    fn pixel_and_line_come_before_the_end_of_the_body() {
        assert!(with_pixel("<BODY>x</BODY></html>").ends_with("px\"></BODY></html>"));
        assert!(with_pixel("x").starts_with("x<img"));
        assert!(offers_to_unsubscribe(&with_unsubscribe("x")));
    }
}
