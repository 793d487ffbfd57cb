//! The MIME parts of a message, with limits on their number, nesting and size.
//!
//! The mail parser reads the headers. The walk through the parts is implemented here, because the parser's own walk limits neither the
//! depth nor the number of parts, and attackers control both.

use std::borrow::Cow;
use std::fmt;

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Message, MessageParser, MimeHeaders};

use crate::vocab::limits::{
    INBOUND_BYTES_MAX, INBOUND_HEAD_BYTES_MAX, INBOUND_NESTING_MAX, INBOUND_PARTS_MAX, INBOUND_TEXT_BYTES_MAX,
};

/// A part of a message, or the whole message.
pub struct Part<'a> {
    pub head: Message<'a>,
    /// The body, still encoded.
    body: &'a [u8],
    /// The inner parts: those of a multipart, or the single attached message.
    pub inside: Vec<Part<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    TooLarge,
    TooManyParts,
    TooDeep,
    NoMessage,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "the message is too large; shorten it",
            Self::TooManyParts => "the message has too many parts; remove some of them",
            Self::TooDeep => "the parts of the message are nested too deeply; flatten them",
            Self::NoMessage => "the data is not an email message: no header fields were found; use a message with its headers",
        })
    }
}

impl std::error::Error for Refusal {}

pub fn read(raw: &[u8]) -> Result<Part<'_>, Refusal> {
    if raw.len() > INBOUND_BYTES_MAX {
        return Err(Refusal::TooLarge);
    }
    let mut left = INBOUND_PARTS_MAX;
    part(raw, 0, &mut left)?.ok_or(Refusal::NoMessage)
}

/// Parses a part. Returns `None` if the whole message has no header; an inner part may have none.
fn part<'a>(raw: &'a [u8], depth: usize, left: &mut usize) -> Result<Option<Part<'a>>, Refusal> {
    if depth > INBOUND_NESTING_MAX {
        return Err(Refusal::TooDeep);
    }
    *left = left.checked_sub(1).ok_or(Refusal::TooManyParts)?;
    let (head, body) = split(raw);
    let head = &head[..head.len().min(INBOUND_HEAD_BYTES_MAX)];
    let Some(head) = MessageParser::default().parse_headers(head) else {
        // A part of a multipart may have no header, but a message must have one.
        let head = Message { parts: vec![Default::default()], raw_message: Cow::Borrowed(b""), ..Default::default() };
        return Ok((depth > 0).then_some(Part { head, body, inside: Vec::new() }));
    };
    let mut this = Part { head, body, inside: Vec::new() };
    match this.kind().as_str() {
        kind if kind.starts_with("multipart/") => {
            let boundary = this.head.content_type().and_then(|kind| kind.attribute("boundary")).unwrap_or_default().to_owned();
            for raw in between(body, boundary.as_bytes(), *left)? {
                this.inside.extend(part(raw, depth + 1, left)?);
            }
        }
        "message/rfc822" | "message/global" | "text/rfc822-headers" | "message/rfc822-headers" | "message/global-headers" => {
            this.inside.extend(part(body, depth + 1, left)?);
        }
        _ => {}
    }
    Ok(Some(this))
}

/// Splits a part into its header, including the empty line that ends the header, and its body.
fn split(raw: &[u8]) -> (&[u8], &[u8]) {
    // A part that starts with an empty line has no header.
    for start in [b"\r\n".as_slice(), b"\n"] {
        if let Some(body) = raw.strip_prefix(start) {
            return (&raw[..0], body);
        }
    }
    let mut at = 0;
    while let Some(end) = raw[at..].iter().position(|byte| *byte == b'\n').map(|found| at + found + 1) {
        let rest = &raw[end..];
        let empty = if rest.starts_with(b"\r\n") { 2 } else { usize::from(rest.starts_with(b"\n")) };
        if empty > 0 {
            return (&raw[..end + empty], &rest[empty..]);
        }
        at = end;
    }
    (raw, &raw[raw.len()..])
}

/// Returns the parts of the body between the lines with this boundary.
fn between<'a>(body: &'a [u8], boundary: &[u8], parts_max: usize) -> Result<Vec<&'a [u8]>, Refusal> {
    let mut parts = Vec::new();
    if boundary.is_empty() {
        return Ok(parts);
    }
    let (mut at, mut start) = (0, None);
    while at < body.len() {
        let end = body[at..].iter().position(|byte| *byte == b'\n').map_or(body.len(), |found| at + found + 1);
        let mark = body[at..end].strip_prefix(b"--").and_then(|line| line.strip_prefix(boundary)).map(<[u8]>::trim_ascii_end);
        if let Some(rest @ (b"" | b"--")) = mark {
            if let Some(start) = start.take() {
                parts.push(&body[start..at]);
            }
            if parts.len() > parts_max {
                return Err(Refusal::TooManyParts);
            }
            if rest == b"--" {
                return Ok(parts);
            }
            start = Some(end);
        }
        at = end;
    }
    // A truncated message has no final boundary, so its last part extends to the end.
    parts.extend(start.map(|start| &body[start..]));
    Ok(parts)
}

impl Part<'_> {
    /// Returns the content type in lowercase, such as `text/plain`.
    pub fn kind(&self) -> String {
        match self.head.content_type() {
            Some(kind) => format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or_default()).to_ascii_lowercase(),
            None => "text/plain".to_owned(),
        }
    }

    /// Returns a parameter of the content type, in lowercase.
    pub fn parameter(&self, name: &str) -> Option<String> {
        self.head.content_type()?.attribute(name).map(str::to_ascii_lowercase)
    }

    /// Returns the first header field with this name, with its lines joined.
    pub fn field(&self, name: &str) -> Option<String> {
        self.fields()
            .find(|(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| super::one_line(value, INBOUND_HEAD_BYTES_MAX))
    }

    /// Returns every header field, unmodified.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.head.headers_raw()
    }

    /// Returns the first address in `From`.
    pub fn from(&self) -> Option<String> {
        self.head.from()?.first()?.address().map(str::to_owned)
    }

    /// Returns the body of this part as decoded text. Reads only the first [`INBOUND_TEXT_BYTES_MAX`] bytes.
    pub fn text(&self) -> String {
        let encoding = self.head.content_transfer_encoding().unwrap_or_default().to_ascii_lowercase();
        let body = &self.body[..self.body.len().min(INBOUND_TEXT_BYTES_MAX)];
        let bytes: Cow<'_, [u8]> = match encoding.as_str() {
            "base64" => base64_decode(body).map_or(Cow::Borrowed(body), Cow::Owned),
            "quoted-printable" => quoted_printable_decode(body).map_or(Cow::Borrowed(body), Cow::Owned),
            _ => Cow::Borrowed(body),
        };
        let charset = self.parameter("charset").and_then(|name| charset_decoder(name.as_bytes()));
        match charset {
            Some(decode) => decode(&bytes),
            None => String::from_utf8_lossy(&bytes).into_owned(),
        }
    }

    /// Returns this part and all parts inside it, outermost first.
    pub fn all(&self) -> Vec<&Self> {
        let mut parts = vec![self];
        let mut next = 0;
        while next < parts.len() {
            parts.extend(&parts[next].inside);
            next += 1;
        }
        parts
    }

    /// Returns the first part with one of these content types. Parts inside attached messages are not searched.
    pub fn find(&self, kinds: &[&str]) -> Option<&Self> {
        if kinds.contains(&self.kind().as_str()) {
            return Some(self);
        }
        let is_multipart = self.kind().starts_with("multipart/");
        self.inside.iter().filter(|_| is_multipart).find_map(|part| part.find(kinds))
    }

    /// Returns the attached message, or its header if only the header is attached.
    pub fn original(&self) -> Option<&Self> {
        let kinds =
            ["message/rfc822", "message/global", "text/rfc822-headers", "message/rfc822-headers", "message/global-headers"];
        self.find(&kinds).and_then(|part| part.inside.first())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_with_either_line_end_and_without_an_end() {
        for end in ["\r\n", "\n"] {
            let lines = [
                "From: a@b.example",
                "Content-Type: multipart/mixed; boundary=\"x y\"",
                "",
                "before",
                "--x y",
                "",
                "first",
                "--x y  ",
                "Content-Type: TEXT/Plain; charset=iso-8859-1",
                "Content-Transfer-Encoding: quoted-printable",
                "",
                "caf=E9",
                "--x yz",
                "--x y",
                "Content-Type: message/rfc822",
                "",
                "Subject: inner",
                "",
                "body",
            ];
            let raw = lines.join(end);
            let message = read(raw.as_bytes()).expect("the message can be read");
            assert_eq!(message.inside.len(), 3);
            assert_eq!(message.inside[0].text().trim(), "first");
            assert_eq!(message.inside[1].text().lines().next(), Some("café"));
            assert_eq!(message.original().and_then(|inner| inner.field("subject")).as_deref(), Some("inner"));
        }
    }

    #[test]
    fn bombs_are_rejected() {
        let deep = "Content-Type: message/rfc822\r\n\r\n".repeat(300_000);
        assert_eq!(read(deep.as_bytes()).err(), Some(Refusal::TooDeep));
        let many = format!("Content-Type: multipart/mixed; boundary=b\r\n\r\n{}", "--b\r\n\r\n".repeat(1_000_000));
        assert_eq!(read(many.as_bytes()).err(), Some(Refusal::TooManyParts));
        let mut nested = String::new();
        for level in 0..40 {
            nested += &format!("Content-Type: multipart/mixed; boundary=b{level}\r\n\r\n--b{level}\r\n");
        }
        assert_eq!(read(nested.as_bytes()).err(), Some(Refusal::TooDeep));
        // Parts that repeat their parent's boundary must not cause endless recursion.
        let circle = "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n".repeat(10_000);
        assert!(matches!(read(circle.as_bytes()), Err(Refusal::TooManyParts | Refusal::TooDeep)));
        assert_eq!(read(&vec![b'a'; INBOUND_BYTES_MAX + 1]).err(), Some(Refusal::TooLarge));
        assert_eq!(read(b"").err(), Some(Refusal::NoMessage));
        let fields = "a:\r\n".repeat(1_000_000);
        assert!(read(fields.as_bytes()).is_ok());
    }
}
