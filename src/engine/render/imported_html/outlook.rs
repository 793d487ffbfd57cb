//! Decides which conditional comments for Outlook on Windows may stay in imported HTML: those with only tables and VML shapes.
//!
//! Comments with text or links are removed, because sending replaces neither merge fields nor links in comments. A comment can open a table
//! that a later comment closes, so an email keeps either all its comments or none.

use crate::base::html_scanner::{Scanner, Tag, TokenKind};
use crate::engine::render::tree::push_attribute;

const TAGS: [&str; 11] =
    ["table", "tbody", "tr", "td", "th", "center", "v:rect", "v:roundrect", "v:image", "v:fill", "v:textbox"];
const ATTRIBUTES: [&str; 30] = [
    "align",
    "arcsize",
    "aspect",
    "bgcolor",
    "border",
    "cellpadding",
    "cellspacing",
    "class",
    "color",
    "colspan",
    "dir",
    "fill",
    "fillcolor",
    "height",
    "inset",
    "opacity",
    "origin",
    "position",
    "role",
    "rowspan",
    "size",
    "src",
    "stroke",
    "strokecolor",
    "stroked",
    "strokeweight",
    "style",
    "type",
    "valign",
    "width",
];
/// The shapes to which the VML namespace attribute is added. Outlook draws no shapes without it.
const SHAPES: [&str; 3] = ["v:rect", "v:roundrect", "v:image"];
const NAMESPACE: &str = "urn:schemas-microsoft-com:vml";
const END: &str = "<![endif]";
/// The entry in the list of open elements for a part that Outlook hides and other clients show.
const REVEALED: &str = "!";
const EXPRESSION_BYTES_MAX: usize = 100;

/// Returns whether a comment is a conditional comment, or the end of one.
pub fn is_conditional(comment: &str) -> bool {
    comment.starts_with("[if") || comment.starts_with(END) || comment.starts_with("[endif]")
}

/// The conditional comments of an email.
#[derive(Debug, Default)]
pub struct Comments {
    /// The elements that comments have opened, each with the number of email elements that are open around it.
    open: Vec<(String, usize)>,
    has_unsafe: bool,
}

impl Comments {
    /// Returns whether all comments can stay: they contain only harmless elements, and every element that they open is closed, possibly by
    /// a later comment.
    pub fn can_stay(&self) -> bool {
        self.open.is_empty() && !self.has_unsafe
    }

    /// Returns a comment in its sanitized form, or `None` if the comment cannot stay. `depth` is the number of email elements that are open
    /// around the comment. `clean` returns the sanitized value of an attribute, or `None` if the comment cannot stay because of the
    /// attribute.
    pub fn sanitized(
        &mut self,
        comment: &str,
        depth: usize,
        clean: &mut dyn FnMut(&str, &str) -> Option<String>,
    ) -> Option<String> {
        let written = self.read(comment, depth, clean).filter(|written| {
            let inside = written.trim_start_matches("<!--").trim_end_matches("-->").trim_end_matches("><!");
            !inside.contains("--") && !inside.contains("{{")
        });
        self.has_unsafe |= written.is_none();
        written
    }

    fn read(&mut self, comment: &str, depth: usize, clean: &mut dyn FnMut(&str, &str) -> Option<String>) -> Option<String> {
        if comment == END {
            self.close(REVEALED, depth)?;
            return Some(format!("<!--{END}-->"));
        }
        let (expression, rest) = comment.strip_prefix("[if")?.split_once("]>")?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || " ()|&!.".contains(c);
        if expression.len() > EXPRESSION_BYTES_MAX || !expression.chars().all(is_plain) {
            return None;
        }
        if matches!(rest, "" | "<!") {
            self.open.push((REVEALED.to_owned(), depth));
            return Some(format!("<!--[if{expression}]><!-->"));
        }
        let tags = self.tags(rest.strip_suffix(END)?, depth, clean)?;
        Some(format!("<!--[if{expression}]>{tags}{END}-->"))
    }

    fn close(&mut self, name: &str, depth: usize) -> Option<()> {
        let (open, place) = self.open.pop()?;
        (open == name && place == depth).then_some(())
    }

    /// Returns the sanitized tags of a comment.
    fn tags(&mut self, source: &str, depth: usize, clean: &mut dyn FnMut(&str, &str) -> Option<String>) -> Option<String> {
        let mut out = String::new();
        for piece in Scanner::new(source) {
            match piece.kind {
                TokenKind::Text => {
                    let text = source.get(piece.start..piece.end)?;
                    if !text.trim().is_empty() {
                        return None;
                    }
                }
                TokenKind::Open(tag) => {
                    let name = tag.name.to_ascii_lowercase();
                    write_tag(&name, &tag, clean, &mut out)?;
                    if !tag.closes_itself {
                        self.open.push((name, depth));
                    }
                }
                TokenKind::Close(name) => {
                    let name = name.to_ascii_lowercase();
                    self.close(&name, depth)?;
                    out.push_str(&format!("</{name}>"));
                }
                TokenKind::RawText | TokenKind::Comment => return None,
            }
        }
        Some(out)
    }
}

fn write_tag(name: &str, tag: &Tag<'_>, clean: &mut dyn FnMut(&str, &str) -> Option<String>, out: &mut String) -> Option<()> {
    if !TAGS.contains(&name) {
        return None;
    }
    out.push('<');
    out.push_str(name);
    if SHAPES.contains(&name) {
        push_attribute("xmlns:v", NAMESPACE, out);
    }
    for attribute in tag.attributes() {
        let own = attribute.name.to_ascii_lowercase();
        if own == "href" {
            return None;
        }
        if ATTRIBUTES.contains(&own.as_str()) {
            let value = clean(&own, &decoded(attribute.value))?;
            if !value.is_empty() {
                push_attribute(&own, &value, out);
            }
        }
    }
    out.push_str(if tag.closes_itself { "/>" } else { ">" });
    Some(())
}

/// Decodes the character references that the sanitizer writes.
fn decoded(value: &str) -> String {
    value.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the sanitized comments; `None` if they cannot stay.
    fn kept(comments: &[(&str, usize)]) -> Option<String> {
        let mut all = Comments::default();
        let mut clean = |_: &str, value: &str| Some(value.to_owned());
        let written: Vec<Option<String>> =
            comments.iter().map(|(comment, depth)| all.sanitized(comment, *depth, &mut clean)).collect();
        all.can_stay().then(|| written.into_iter().flatten().collect())
    }

    #[test]
    fn tables_and_shapes_are_kept() {
        let table =
            kept(&[("[if mso]><TABLE width=600 onclick=x><tr><td><![endif]", 2), ("[if mso]></td></tr></table><![endif]", 2)]);
        let expected = "<!--[if mso]><table width=\"600\"><tr><td><![endif]--><!--[if mso]></td></tr></table><![endif]-->";
        assert_eq!(table.as_deref(), Some(expected));
        let shape = kept(&[
            ("[if gte mso 9]><v:rect fill=\"true\"><v:fill src=\"https://x.example/a.png\" /><v:textbox><![endif]", 1),
            ("[if gte mso 9]></v:textbox></v:rect><![endif]", 1),
        ]);
        assert!(
            shape.is_some_and(|shape| shape.contains(NAMESPACE) && shape.contains("<v:fill src=\"https://x.example/a.png\"/>"))
        );
        assert_eq!(kept(&[("[if !mso]><!", 1), ("<![endif]", 1)]).as_deref(), Some("<!--[if !mso]><!--><!--<![endif]-->"));
    }

    #[test]
    fn other_comments_are_removed() {
        for comments in [
            &[("[if mso]>text<![endif]", 0)][..],
            &[("[if mso]><a href=\"https://x.example\"></a><![endif]", 0)],
            &[("[if mso]><v:roundrect href=\"https://x.example\"></v:roundrect><![endif]", 0)],
            &[("[if mso]><script>x</script><![endif]", 0)],
            &[("[if mso]><table><![endif]", 0)],
            &[("[if mso]><table><![endif]", 0), ("[if mso]></table><![endif]", 1)],
            &[("[if mso]></table><![endif]", 0)],
            &[("[if !mso]><!", 0)],
            &[("[if mso]><table class=\"{{ name }}\"></table><![endif]", 0)],
            &[("[if mso]><table class=\"a--b\"></table><![endif]", 0)],
            &[("[if <x>]><table></table><![endif]", 0)],
            &[("[endif]", 0)],
        ] {
            assert_eq!(kept(comments), None, "{comments:?}");
        }
    }
}
