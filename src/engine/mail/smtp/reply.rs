//! Parses SMTP replies of one or more lines, with enhanced status codes (RFC 3463). This module does no I/O.
//!
//! A reply is rejected if a line has no valid code, if its lines have different codes, or if it has too many lines. An enhanced code that
//! contradicts the reply code is ignored.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::vocab::limits::{SMTP_REPLY_LINE_BYTES_MAX, SMTP_REPLY_LINES_MAX};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The reply code, with three digits.
    pub code: u16,
    pub enhanced: Option<EnhancedCode>,
    /// The text after the codes, with its lines separated by line feeds. The text is untrusted.
    pub text: String,
}

/// An enhanced status code, such as 5.1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EnhancedCode {
    pub class: u8,
    pub subject: u16,
    pub detail: u16,
}

impl EnhancedCode {
    pub const fn new(class: u8, subject: u16, detail: u16) -> Self {
        Self { class, subject, detail }
    }

    /// Returns the code at the start of `text`, and the remaining text.
    fn parse(text: &str) -> Option<(Self, &str)> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let mut parts = word.split('.');
        let mut number = |digits_max: usize| {
            let part = parts.next()?;
            let is_number = (1..=digits_max).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
            if is_number { part.parse::<u16>().ok() } else { None }
        };
        let (class, subject, detail) = (number(1)?, number(3)?, number(3)?);
        let class = u8::try_from(class).ok().filter(|class| matches!(class, 2 | 4 | 5))?;
        parts.next().is_none().then_some((Self { class, subject, detail }, rest))
    }
}

impl fmt::Display for EnhancedCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.class, self.subject, self.detail)
    }
}

impl Reply {
    /// Creates a reply that no server sent, for a message that Mailmill rejects on a server's behalf.
    pub fn ours(code: u16, enhanced: EnhancedCode, text: impl Into<String>) -> Self {
        Self { code, enhanced: Some(enhanced), text: text.into() }
    }

    /// Returns whether the reply reports success (2yz).
    pub fn is_positive(&self) -> bool {
        self.code / 100 == 2
    }

    /// Returns whether the reply asks the client to continue (3yz).
    pub fn is_intermediate(&self) -> bool {
        self.code / 100 == 3
    }

    /// Returns whether the reply reports a temporary failure (4yz).
    pub fn is_transient(&self) -> bool {
        self.code / 100 == 4
    }

    /// Returns whether the reply reports a permanent failure (5yz).
    pub fn is_permanent(&self) -> bool {
        self.code / 100 == 5
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.code)?;
        if let Some(enhanced) = self.enhanced {
            write!(f, " {enhanced}")?;
        }
        if self.text.is_empty() { Ok(()) } else { write!(f, " {}", self.text.replace('\n', " / ")) }
    }
}

/// Assembles a reply, line by line.
#[derive(Default)]
pub struct ReplyParser {
    code: Option<u16>,
    lines: Vec<String>,
}

impl ReplyParser {
    /// Adds one line without its line end. Returns the reply when it is complete, or an error if it is not valid.
    pub fn take(&mut self, line: &[u8]) -> Result<Option<Reply>, String> {
        let (code, is_last, text) = split(line)?;
        if self.code.is_some_and(|first| first != code) {
            return Err(format!("the lines of the reply have different codes, {} and {code}", self.code.unwrap_or_default()));
        }
        self.code = Some(code);
        self.lines.push(printable(text));
        if is_last {
            return Ok(Some(assembled(code, std::mem::take(&mut self.lines))));
        }
        if self.lines.len() >= SMTP_REPLY_LINES_MAX {
            return Err(format!("the reply has more than {SMTP_REPLY_LINES_MAX} lines"));
        }
        Ok(None)
    }
}

fn assembled(code: u16, mut lines: Vec<String>) -> Reply {
    let class = u8::try_from(code / 100).expect("the first digit of a reply code is one digit");
    let found = lines.last().and_then(|line| EnhancedCode::parse(line)).map(|(enhanced, _)| enhanced);
    let enhanced = found.filter(|enhanced| enhanced.class == class);
    if enhanced.is_some() {
        for line in &mut lines {
            if let Some((_, rest)) = EnhancedCode::parse(line).filter(|(found, _)| Some(*found) == enhanced) {
                *line = rest.to_owned();
            }
        }
    }
    Reply { code, enhanced, text: lines.join("\n") }
}

/// Returns a line's code, whether the line is the last one of the reply, and the line's text.
fn split(line: &[u8]) -> Result<(u16, bool, &[u8]), String> {
    let strange = || format!("{:?}", printable(&line[..line.len().min(60)]));
    let [first @ b'2'..=b'5', second @ b'0'..=b'9', third @ b'0'..=b'9', rest @ ..] = line else { return Err(strange()) };
    let digit = |byte: &u8| u16::from(byte - b'0');
    let code = digit(first) * 100 + digit(second) * 10 + digit(third);
    match rest {
        [] => Ok((code, true, rest)),
        [b' ', text @ ..] => Ok((code, true, text)),
        [b'-', text @ ..] => Ok((code, false, text)),
        _ => Err(strange()),
    }
}

/// Returns untrusted bytes as text that is safe to display and store.
fn printable(bytes: &[u8]) -> String {
    let bytes = &bytes[..bytes.len().min(SMTP_REPLY_LINE_BYTES_MAX)];
    String::from_utf8_lossy(bytes).chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Result<Option<Reply>, String> {
        let mut assembly = ReplyParser::default();
        let mut last = Ok(None);
        for line in lines {
            last = assembly.take(line.as_bytes());
        }
        last
    }

    fn reply(lines: &[&str]) -> Reply {
        read(lines).expect("the reply is valid").expect("the reply is complete")
    }

    #[test]
    fn one_line_and_many_are_read() {
        assert_eq!(reply(&["250"]), Reply { code: 250, enhanced: None, text: String::new() });
        assert_eq!(reply(&["250 OK"]).to_string(), "250 OK");
        let many = reply(&["550-5.1.1 There is", "550-5.1.1 no user", "550 5.1.1 here"]);
        assert_eq!((many.code, many.enhanced), (550, Some(EnhancedCode::new(5, 1, 1))));
        assert_eq!(many.text, "There is\nno user\nhere");
        assert_eq!(many.to_string(), "550 5.1.1 There is / no user / here");
    }

    #[test]
    fn an_enhanced_code_counts_only_if_it_is_one_and_agrees_with_the_reply() {
        for (line, expected) in [
            ("450 4.2.1 slow", Some(EnhancedCode::new(4, 2, 1))),
            ("421 4.7.28 slow", Some(EnhancedCode::new(4, 7, 28))),
            ("550 5.7.515", Some(EnhancedCode::new(5, 7, 515))),
            ("550 4.2.1 slow", None),
            ("550 5.1 x", None),
            ("550 5.1.1.1 x", None),
            ("550 5.1000.1 x", None),
            ("250 2.x.1 x", None),
            ("250 10.0.0.1 hello", None),
        ] {
            assert_eq!(reply(&[line]).enhanced, expected, "{line}");
        }
        assert_eq!(reply(&["550 4.2.1 slow"]).text, "4.2.1 slow");
    }

    #[test]
    fn invalid_replies_are_rejected() {
        for lines in [&[""][..], &["25"], &["2x0 OK"], &["250_OK"], &["650 OK"], &["150 OK"], &["hello"], &["250-a", "251 b"]] {
            assert!(read(lines).is_err(), "{lines:?}");
        }
        let endless = vec!["250-more"; SMTP_REPLY_LINES_MAX];
        assert!(read(&endless).is_err());
        assert_eq!(read(&["250-more"]), Ok(None));
    }

    #[test]
    fn control_characters_are_removed() {
        let reply =
            ReplyParser::default().take(b"250 a\x1b[31m\xff\rb").expect("the reply is valid").expect("the reply is complete");
        assert_eq!(reply.text, "a [31m\u{fffd} b");
    }
}
