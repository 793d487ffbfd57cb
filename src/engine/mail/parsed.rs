//! Parses a finished message into headers, plain text and HTML.

use mail_parser::MessageParser;

/// A message as its recipient sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedMessage {
    /// Every header in order, unfolded but still encoded.
    pub headers: Vec<(String, String)>,
    pub html: Option<String>,
    pub text: Option<String>,
}

impl ParsedMessage {
    /// Parses a message. Parts that cannot be read are absent.
    pub fn of(bytes: &[u8]) -> Self {
        let Some(message) = MessageParser::default().parse(bytes) else { return Self::default() };
        let headers = message.headers_raw().map(|(name, value)| (name.to_owned(), unfolded(value))).collect();
        let html = message.body_html(0).map(std::borrow::Cow::into_owned);
        let text = message.body_text(0).map(std::borrow::Cow::into_owned);
        Self { headers, html, text }
    }
}

/// Returns the header value on one line.
fn unfolded(value: &str) -> String {
    value.split(['\r', '\n']).filter(|line| !line.is_empty()).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_unfolded_and_texts_decoded() {
        let message = b"Subject: a\r\n b\r\nX-One: 1\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\n\
            Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=C3=BC=C3=9Fe\r\n--c\r\n\
            Content-Type: text/html; charset=utf-8\r\n\r\n<p>x</p>\r\n--c--\r\n";
        let opened = ParsedMessage::of(message);
        assert!(opened.headers.contains(&("Subject".into(), "a b".into())), "{:?}", opened.headers);
        assert_eq!(opened.text.as_deref().map(str::trim), Some("Gr\u{fc}\u{df}e"));
        assert_eq!(opened.html.as_deref().map(str::trim), Some("<p>x</p>"));
        assert_eq!(ParsedMessage::of(b""), ParsedMessage::default());
    }
}
