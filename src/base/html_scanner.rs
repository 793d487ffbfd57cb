//! Splits HTML into tags, text and comments, each with its place in the source.
//!
//! HTML parsers that build a tree do not keep byte positions. The spelling check needs positions but no tree, so this scanner implements
//! only the parts of the HTML standard's tokenizer (section 13.2.5) that affect text and positions. It takes linear time, however deeply
//! the elements are nested.

/// A piece of the source. `start` and `end` are byte positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    pub kind: TokenKind<'a>,
    pub start: usize,
    pub end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind<'a> {
    Text,
    /// The content of an element, such as a script, that can contain neither child elements nor character references.
    RawText,
    Comment,
    Open(Tag<'a>),
    Close(&'a str),
}

/// An opening tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag<'a> {
    pub name: &'a str,
    /// The source between the tag's name and the end of the tag.
    attributes: &'a str,
    attributes_start: usize,
    pub closes_itself: bool,
}

/// An attribute of a tag, as written: character references are not decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribute<'a> {
    pub name: &'a str,
    pub value: &'a str,
    pub value_start: usize,
}

/// The maximum number of attributes that the scanner reads from one tag.
const ATTRIBUTES_MAX: usize = 200;

/// Elements whose content is raw text.
const RAW_TEXT: [&str; 7] = ["script", "style", "xmp", "iframe", "noembed", "noframes", "plaintext"];

pub struct Scanner<'a> {
    source: &'a str,
    position: usize,
    /// The element whose raw text comes next.
    raw: Option<&'a str>,
}

impl<'a> Scanner<'a> {
    pub fn new(source: &'a str) -> Self {
        Self { source, position: 0, raw: None }
    }

    fn rest(&self) -> &'a str {
        self.source.get(self.position..).unwrap_or_default()
    }

    /// Advances by `length` bytes, but by at least one, and returns these bytes as a token.
    fn take(&mut self, length: usize, kind: TokenKind<'a>) -> Token<'a> {
        let start = self.position;
        self.position = (start + length.max(1)).min(self.source.len());
        Token { kind, start, end: self.position }
    }

    fn raw_text(&mut self, name: &str) -> Option<Token<'a>> {
        let rest = self.rest();
        let length = if name == "plaintext" { rest.len() } else { find_closing_tag(rest, name).unwrap_or(rest.len()) };
        (length > 0).then(|| self.take(length, TokenKind::RawText))
    }

    fn markup(&mut self) -> Option<Token<'a>> {
        let rest = self.rest();
        let after = rest.get(1..)?;
        match after.bytes().next()? {
            b'!' | b'?' => {
                let length = comment_length(rest);
                Some(self.take(length, TokenKind::Comment))
            }
            b'/' if after.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic) => {
                let name = tag_name(after.get(1..)?);
                let (end, _) = tag_end(rest, 2 + name.len());
                Some(self.take(end, TokenKind::Close(name)))
            }
            b'/' => {
                let length = rest.find('>').map_or(rest.len(), |at| at + 1);
                Some(self.take(length, TokenKind::Comment))
            }
            byte if byte.is_ascii_alphabetic() => {
                let name = tag_name(after);
                let (end, attributes_end) = tag_end(rest, 1 + name.len());
                let attributes = rest.get(1 + name.len()..attributes_end).unwrap_or_default();
                let tag = Tag {
                    name,
                    attributes,
                    attributes_start: self.position + 1 + name.len(),
                    closes_itself: attributes.ends_with('/'),
                };
                self.raw = RAW_TEXT.into_iter().find(|raw| name.eq_ignore_ascii_case(raw));
                Some(self.take(end, TokenKind::Open(tag)))
            }
            _ => None,
        }
    }
}

impl<'a> Iterator for Scanner<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if let Some(name) = self.raw.take()
            && let Some(piece) = self.raw_text(name)
        {
            return Some(piece);
        }
        let rest = self.rest();
        if rest.is_empty() {
            return None;
        }
        if rest.starts_with('<')
            && let Some(piece) = self.markup()
        {
            return Some(piece);
        }
        // A "<" that starts neither a tag nor a comment is text.
        let mut length = rest.len();
        for (at, _) in rest.match_indices('<').filter(|(at, _)| *at > 0) {
            if rest.as_bytes().get(at + 1).is_some_and(|next| next.is_ascii_alphabetic() || b"/!?".contains(next)) {
                length = at;
                break;
            }
        }
        Some(self.take(length, TokenKind::Text))
    }
}

fn tag_name(text: &str) -> &str {
    let end = text.find(|c: char| c.is_ascii_whitespace() || c == '/' || c == '>').unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// Returns the byte positions where the tag and its attributes end. A ">" in a quoted value does not end the tag.
fn tag_end(text: &str, from: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let mut quote = None;
    let mut after_equals = false;
    for (at, byte) in bytes.iter().copied().enumerate().skip(from) {
        match quote {
            Some(mark) if byte == mark => quote = None,
            Some(_) => {}
            None if byte == b'>' => return (at + 1, at),
            None if after_equals && (byte == b'"' || byte == b'\'') => quote = Some(byte),
            None => {}
        }
        if !byte.is_ascii_whitespace() {
            after_equals = byte == b'=' && quote.is_none();
        }
    }
    // A tag without a ">" extends to the end of the source. The HTML standard drops such a tag, but this scanner returns it.
    (text.len(), text.len())
}

fn comment_length(text: &str) -> usize {
    let Some(inner) = text.strip_prefix("<!--") else {
        return text.find('>').map_or(text.len(), |at| at + 1);
    };
    // A ">" or "->" directly after the start ends the comment: "<!-->", "<!--->".
    for (short, length) in [(">", 5), ("->", 6)] {
        if inner.starts_with(short) {
            return length;
        }
    }
    inner.find("-->").map_or(text.len(), |at| at + 7)
}

fn find_closing_tag(text: &str, name: &str) -> Option<usize> {
    text.match_indices("</").map(|(at, _)| at).find(|at| {
        text.get(at + 2..at + 2 + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name))
            && text.as_bytes().get(at + 2 + name.len()).is_none_or(|next| !next.is_ascii_alphanumeric())
    })
}

impl<'a> Tag<'a> {
    /// Returns the attributes in the order of the source.
    pub fn attributes(&self) -> impl Iterator<Item = Attribute<'a>> + use<'a> {
        let text = self.attributes;
        let base = self.attributes_start;
        let mut position = 0;
        std::iter::from_fn(move || next_attribute(text, base, &mut position)).take(ATTRIBUTES_MAX)
    }

    /// Returns the first attribute with this name, ignoring case.
    pub fn attribute(&self, name: &str) -> Option<Attribute<'a>> {
        self.attributes().find(|attribute| attribute.name.eq_ignore_ascii_case(name))
    }
}

fn next_attribute<'a>(text: &'a str, base: usize, position: &mut usize) -> Option<Attribute<'a>> {
    let skip = |from: usize, more: &str| {
        let rest = text.get(from..).unwrap_or_default();
        from + rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || more.contains(c)).len()
    };
    let start = skip(*position, "/");
    let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
    // An equals sign at the start of an attribute belongs to the attribute's name (HTML standard).
    let stop = |c: char| c.is_ascii_whitespace() || c == '/' || c == '=';
    let first = rest.chars().next()?.len_utf8();
    let name_end = rest.get(first..)?.find(stop).map_or(text.len(), |at| start + first + at);
    let name = text.get(start..name_end)?;
    let equals = skip(name_end, "");
    if text.as_bytes().get(equals) != Some(&b'=') {
        *position = name_end;
        return Some(Attribute { name, value: "", value_start: base + name_end });
    }
    let value_start = skip(equals + 1, "");
    let value = text.get(value_start..).unwrap_or_default();
    let (from, length, after) = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let inner = value.get(1..).unwrap_or_default();
            let length = inner.find(quote).unwrap_or(inner.len());
            (value_start + 1, length, value_start + length + 2)
        }
        _ => {
            let length = value.find(|c: char| c.is_ascii_whitespace()).unwrap_or(value.len());
            (value_start, length, value_start + length)
        }
    };
    *position = after.min(text.len());
    Some(Attribute { name, value: text.get(from..from + length)?, value_start: base + from })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(source: &str) -> Vec<(&str, &str)> {
        Scanner::new(source)
            .map(|piece| {
                let kind = match piece.kind {
                    TokenKind::Text => "text",
                    TokenKind::RawText => "raw",
                    TokenKind::Comment => "comment",
                    TokenKind::Open(_) => "open",
                    TokenKind::Close(_) => "close",
                };
                (kind, &source[piece.start..piece.end])
            })
            .collect()
    }

    #[test]
    fn splits_tags_text_and_comments() {
        assert_eq!(
            pieces("<p title=\"a>b\">1 < 2<br/></p><!-- x > y --><script>a</b></script>"),
            [
                ("open", "<p title=\"a>b\">"),
                ("text", "1 < 2"),
                ("open", "<br/>"),
                ("close", "</p>"),
                ("comment", "<!-- x > y -->"),
                ("open", "<script>"),
                ("raw", "a</b>"),
                ("close", "</script>"),
            ]
        );
    }

    #[test]
    fn an_unquoted_apostrophe_starts_no_quotation() {
        assert_eq!(pieces("<p class=it's>a</p>"), [("open", "<p class=it's>"), ("text", "a"), ("close", "</p>")]);
    }

    #[test]
    fn reads_attributes_with_their_positions() {
        let source = "<img  alt = 'Red shoe' hidden width=10/>";
        let Some(Token { kind: TokenKind::Open(tag), .. }) = Scanner::new(source).next() else { panic!("no tag") };
        let found: Vec<_> = tag.attributes().map(|a| (a.name, a.value)).collect();
        assert_eq!(found, [("alt", "Red shoe"), ("hidden", ""), ("width", "10/")]);
        let alt = tag.attribute("ALT").expect("an alt text");
        assert_eq!(&source[alt.value_start..alt.value_start + 8], "Red shoe");
    }

    #[test]
    fn conditional_comments_are_comments_and_downlevel_revealed_content_is_text() {
        let source = "<!--[if mso]><p>Word</p><![endif]--><!--[if !mso]><!--><b>all</b><!--<![endif]-->";
        assert_eq!(pieces(source).iter().filter(|(kind, _)| *kind == "text").collect::<Vec<_>>(), [&("text", "all")]);
    }
}
