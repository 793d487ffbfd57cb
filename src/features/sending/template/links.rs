//! The links of a template: where they stand in its HTML, and how they become links that are counted.
//!
//! Only whole tags are looked at, and only values that begin like an address of the web: what a merge field decides, and what leads
//! elsewhere, stays as it is. It does not know what a click comes to.

use crate::features::sending::person::{CLICK, OPEN};
use crate::vocab::limits;

/// A template with its links taken out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    pub html: String,
    /// Where each hole leads: addresses that may have merge fields.
    pub links: Vec<String>,
}

/// Give every link of the web a hole; the same address gets the same one.
pub fn rewrite(html: &str) -> Rewritten {
    let mut out = Rewritten { html: String::with_capacity(html.len()), links: Vec::new() };
    let mut done = 0;
    let mut at = 0;
    while let Some(open) = html[at..].find('<').map(|open| at + open) {
        let Some(tag) = Tag::read(html, open) else {
            at = open + 1;
            continue;
        };
        at = tag.end;
        let Some((from, to)) = tag.href else { continue };
        let address = unescaped(html[from..to].trim());
        let Some(number) = out.number(&address) else { continue };
        out.html.push_str(&html[done..from]);
        out.html.push_str(&format!("{{{{ {CLICK}{number} }}}}"));
        done = to;
    }
    out.html.push_str(&html[done..]);
    out
}

impl Rewritten {
    /// The number of an address, if it is one that is counted and there is room for it.
    fn number(&mut self, address: &str) -> Option<usize> {
        let scheme = address.split_once("://").map(|(scheme, _)| scheme)?;
        if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
            return None;
        }
        // Statements of the merge language could be opened within and closed without.
        if address.contains("{%") || address.contains("{#") {
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

/// Put the pixel at the end of what is shown.
pub fn with_pixel(html: &str) -> String {
    let pixel = format!(
        "<img src=\"{{{{ {OPEN} }}}}\" alt=\"\" width=\"1\" height=\"1\" style=\"display:block;border:0;width:1px;height:1px\">"
    );
    at_the_end(html, &pixel)
}

/// Put a line to unsubscribe by at the end of what is shown.
pub fn with_unsubscribe(html: &str) -> String {
    let line = "<p style=\"margin:16px;text-align:center;font:12px/18px sans-serif;color:#666666\">\
                <a href=\"{{ unsubscribe_url }}\" style=\"color:#666666\">Unsubscribe</a></p>";
    at_the_end(html, line)
}

fn at_the_end(html: &str, more: &str) -> String {
    let end = html.to_ascii_lowercase().rfind("</body").unwrap_or(html.len());
    format!("{}{more}{}", &html[..end], &html[end..])
}

/// Whether a text offers its reader to unsubscribe.
pub fn offers_to_unsubscribe(text: &str) -> bool {
    text.contains("unsubscribe_url") || text.contains("unsubscribeUrl")
}

/// An `<a>` or `<area>` tag.
struct Tag {
    /// Behind its `>`.
    end: usize,
    /// Where the value of its `href` stands.
    href: Option<(usize, usize)>,
}

impl Tag {
    fn read(html: &str, open: usize) -> Option<Self> {
        let bytes = html.as_bytes();
        if bytes[open..].starts_with(b"<!--") {
            let end = html[open..].find("-->").map_or(html.len(), |end| open + end + 3);
            return Some(Self { end, href: None });
        }
        let mut at = open + 1;
        let name_end = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let name = &html[at..name_end];
        if name.is_empty() {
            return None;
        }
        let is_link = name.eq_ignore_ascii_case("a") || name.eq_ignore_ascii_case("area");
        at = name_end;
        let mut href = None;
        loop {
            at += bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == b'/').count();
            match bytes.get(at) {
                None => return None,
                Some(b'>') => return Some(Self { end: at + 1, href }),
                Some(_) => {}
            }
            let from = at;
            at += bytes[at..].iter().take_while(|byte| !byte.is_ascii_whitespace() && !b"=>/".contains(byte)).count();
            let attribute = &html[from..at];
            let value = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            if bytes.get(value) != Some(&b'=') {
                // A lone sign that is no name must not hold us up.
                at = at.max(from + usize::from(at == from));
                continue;
            }
            at = value + 1;
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
            // Without quotes there is no place for a hole.
            if is_link && attribute.eq_ignore_ascii_case("href") && href.is_none() && behind > end {
                href = Some((start, end));
            }
            at = behind;
        }
    }
}

/// The value of an attribute without the escapes that addresses commonly have.
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
    fn links_of_the_web_become_holes_and_others_stay() {
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
    fn a_link_with_a_merge_field_keeps_it_for_its_target() {
        let rewritten = rewrite(r#"<a href="https://a.example/{{ plan | default(&quot;free&quot;) }}?x=1">A</a>"#);
        assert_eq!(rewritten.links, [r#"https://a.example/{{ plan | default("free") }}?x=1"#]);
        assert_eq!(rewritten.html, r#"<a href="{{ __click_0 }}">A</a>"#);
    }

    #[test]
    fn broken_tags_stay_and_end() {
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
    fn pixel_and_line_stand_before_the_end_of_the_body() {
        assert!(with_pixel("<BODY>x</BODY></html>").ends_with("px\"></BODY></html>"));
        assert!(with_pixel("x").starts_with("x<img"));
        assert!(offers_to_unsubscribe(&with_unsubscribe("x")));
    }
}
