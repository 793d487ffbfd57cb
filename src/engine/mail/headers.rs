//! Writes header values, encoded so that no value can break out of its header.
//!
//! Names and subjects are untrusted: line breaks and other control characters become spaces, non-ASCII text becomes encoded words (RFC
//! 2047), and lines do not exceed the allowed length.

use std::fmt;

use crate::base::email::EmailAddress;
use crate::base::text::one_line;
use crate::vocab::limits;
use data_encoding::BASE64;
use mail_builder::headers::Header;
use mail_builder::headers::address::Address;
use mail_builder::headers::text::Text;

/// The maximum length of an unencoded word. A word cannot be folded, and a line has at most 998 bytes (RFC 5322 §2.1.1), so longer words
/// become encoded words.
const WORD_BYTES_MAX: usize = 200;
/// The maximum length of a line with an encoded word (RFC 2047 §2). In an encoded word, 12 characters surround the text, and every 4
/// characters of the text encode 3 bytes.
const ENCODED_LINE_BYTES_MAX: usize = 76;

/// A display name with an email address.
#[derive(Clone, Copy, Debug)]
pub struct Mailbox<'a> {
    /// The name that email clients show. It may be empty.
    pub name: &'a str,
    pub address: &'a EmailAddress,
}

pub fn write(out: &mut Vec<u8>, name: &str, value: &impl Header) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    value.write_header(out, name.len() + 2);
}

/// Writes a header with text as its value.
pub fn write_text(out: &mut Vec<u8>, name: &str, text: &str) {
    let text = one_line(text);
    let text = text.trim();
    match is_foldable(text) {
        true => write(out, name, &Text::new(text)),
        false => {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            write_words(out, text, name.len() + 2);
            out.extend_from_slice(b"\r\n");
        }
    }
}

/// Writes a header with one email address. Returns whether only servers that support SMTPUTF8 accept the header.
pub fn write_mailbox(out: &mut Vec<u8>, name: &str, mailbox: Mailbox<'_>) -> bool {
    let address = ascii_domain(mailbox.address);
    let shown = one_line(mailbox.name);
    let shown = shown.trim();
    match is_foldable(shown) {
        true => write(out, name, &Address::new_address((!shown.is_empty()).then_some(shown), address.as_str())),
        false => {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            write_words(out, shown, name.len() + 2);
            out.extend_from_slice(format!("\r\n <{address}>\r\n").as_bytes());
        }
    }
    !address.is_ascii()
}

/// Returns the email address with its domain in ASCII.
pub fn ascii_domain(address: &EmailAddress) -> String {
    format!("{}@{}", address.local(), address.domain_ascii())
}

fn is_foldable(text: &str) -> bool {
    // Text that only looks like an encoded word is also encoded, because email clients would decode it.
    text.split(' ').all(|word| word.len() <= WORD_BYTES_MAX) && !text.contains("=?")
}

/// Writes text in encoded words. `column` is the number of characters that are already on the first line.
fn write_words(out: &mut Vec<u8>, text: &str, mut column: usize) {
    let mut rest = text;
    let mut separator = "";
    while !rest.is_empty() {
        // An encoded word gets at least one character, even after a long header name.
        let room = ENCODED_LINE_BYTES_MAX.saturating_sub(column + 12) / 4 * 3;
        let mut end = rest.len().min(room.max(6));
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        out.extend_from_slice(format!("{separator}=?utf-8?B?{}?=", BASE64.encode(&rest.as_bytes()[..end])).as_bytes());
        rest = &rest[end..];
        separator = "\r\n ";
        column = 1;
    }
}

/// Returns a URL for use between angle brackets: characters that are not allowed in URLs are percent-encoded.
pub fn url(text: &str) -> String {
    let mut url = String::with_capacity(text.len());
    for byte in text.trim().bytes() {
        match byte {
            b'<' | b'>' | b'"' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => url.push_str(&format!("%{byte:02X}")),
            b'!'..=b'~' => url.push(char::from(byte)),
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}

/// Returns the ID, reduced to ASCII letters, digits and `.-_@+=`.
pub fn id(text: &str) -> String {
    let allowed = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '@' | '+' | '=');
    text.chars().filter(allowed).collect()
}

/// An additional header, chosen by the sender of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtraHeader {
    name: String,
    value: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// The name is empty or too long, does not start with a letter, or contains a character other than a letter, digit or hyphen.
    Name(String),
    /// The header is reserved: Mailmill or a mail server sets it.
    Taken(String),
    /// The value contains line breaks or other control characters.
    Control(String),
    Long(String),
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Name(name) => {
                write!(
                    f,
                    "{name:?} is not a valid header name; start with a letter, and use at most {} letters, digits and hyphens",
                    limits::EXTRA_HEADER_NAME_BYTES_MAX
                )
            }
            HeaderError::Taken(name) => {
                write!(f, "the header {name} is reserved for Mailmill and mail servers; remove the header")
            }
            HeaderError::Control(name) => {
                write!(f, "the header {name} contains a line break or a control character; remove that character")
            }
            HeaderError::Long(name) => {
                write!(f, "the value of the header {name} is longer than {} bytes; shorten it", limits::EXTRA_HEADER_BYTES_MAX)
            }
        }
    }
}

impl std::error::Error for HeaderError {}

/// The names of headers that senders must not set, in lowercase. [`TAKEN_BEGINNINGS`] lists the prefixes of further such names.
const TAKEN: [&str; 17] = [
    "auto-submitted",
    "bcc",
    "cc",
    "date",
    "delivered-to",
    "dkim-signature",
    "domainkey-signature",
    "feedback-id",
    "from",
    "message-id",
    "mime-version",
    "received",
    "reply-to",
    "return-path",
    "sender",
    "subject",
    "to",
];
const TAKEN_BEGINNINGS: [&str; 6] = ["arc-", "authentication-", "content-", "list-", "received-", "resent-"];

impl ExtraHeader {
    pub fn parse(name: &str, value: &str) -> Result<Self, HeaderError> {
        let shown = || name.chars().take(80).collect::<String>();
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_name || name.len() > limits::EXTRA_HEADER_NAME_BYTES_MAX {
            return Err(HeaderError::Name(shown()));
        }
        let small = name.to_ascii_lowercase();
        if TAKEN.contains(&small.as_str()) || TAKEN_BEGINNINGS.iter().any(|beginning| small.starts_with(beginning)) {
            return Err(HeaderError::Taken(shown()));
        }
        if value.chars().any(char::is_control) {
            return Err(HeaderError::Control(shown()));
        }
        if value.len() > limits::EXTRA_HEADER_BYTES_MAX {
            return Err(HeaderError::Long(shown()));
        }
        Ok(Self { name: name.to_owned(), value: value.to_owned() })
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        write_text(out, &self.name, &self.value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_may_add_their_own_headers() {
        let header = ExtraHeader::parse("X-Order", "Größe 42").expect("the header is valid");
        let mut out = Vec::new();
        header.write(&mut out);
        assert_eq!(String::from_utf8_lossy(&out), "X-Order: =?utf-8?B?R3LDtsOfZSA0Mg==?=\r\n");
    }

    #[test]
    fn headers_of_the_service_and_invalid_ones_are_rejected() {
        for name in ["From", "SUBJECT", "List-Unsubscribe-Post", "Content-Type", "DKIM-Signature", "Resent-From", "Received"] {
            assert_eq!(ExtraHeader::parse(name, "x"), Err(HeaderError::Taken(name.to_owned())));
        }
        for name in ["", "X Y", "X:Y", "X\r\nY", "-x", "é"] {
            assert_eq!(ExtraHeader::parse(name, "x"), Err(HeaderError::Name(name.to_owned())));
        }
        for value in ["a\r\nBcc: x@example.org", "a\nb", "a\0b", "a\u{85}b"] {
            assert_eq!(ExtraHeader::parse("X-A", value), Err(HeaderError::Control("X-A".to_owned())));
        }
        let long = "x".repeat(limits::EXTRA_HEADER_BYTES_MAX + 1);
        assert_eq!(ExtraHeader::parse("X-A", &long), Err(HeaderError::Long("X-A".to_owned())));
    }
}
