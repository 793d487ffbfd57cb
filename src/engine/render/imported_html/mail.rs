//! Imports a mail file (.eml): its longest HTML part with the attached images, or else its plain text as simple HTML.

use std::collections::HashMap;

use data_encoding::BASE64;
use image::ImageFormat;
use mail_parser::{HeaderName, Message, MessageParser, MimeHeaders};

use super::{ImportedHtml, clean};
use crate::engine::render::html_limits::HtmlRefusal;
use crate::engine::render::tree::push_text;
use crate::vocab::limits::DRAWN_INPUT_BYTES_MAX;

/// The maximum number of parts that are searched for attached images. Newsletters have up to fifty images.
const PARTS_MAX: usize = 200;
const SUBJECT_CHARACTERS_MAX: usize = 300;

/// Reads a mail file and sanitizes it.
pub fn mail(file: &[u8]) -> Result<ImportedHtml, HtmlRefusal> {
    if file.len() > DRAWN_INPUT_BYTES_MAX {
        return Err(HtmlRefusal::InputTooLarge(file.len()));
    }
    let message = MessageParser::default().parse(file).ok_or(HtmlRefusal::NoMail)?;
    let html = html(&message).ok_or(HtmlRefusal::NoMail)?;
    let mut parts = HashMap::new();
    for part in message.parts.iter().take(PARTS_MAX) {
        let kind = match image::guess_format(part.contents()) {
            Ok(kind @ (ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::Gif | ImageFormat::WebP)) => kind.to_mime_type(),
            _ => continue,
        };
        if let Some(id) = part.content_id() {
            let data = format!("data:{kind};base64,{}", BASE64.encode(part.contents()));
            parts.insert(id.trim_matches(['<', '>']).to_owned(), data);
        }
    }
    let mut imported_html = clean::html(&html, &parts)?;
    let subject = message.subject().map(|subject| subject.split_whitespace().collect::<Vec<_>>().join(" "));
    if let Some(subject) = subject.filter(|subject| !subject.is_empty()) {
        imported_html.subject = Some(subject.chars().take(SUBJECT_CHARACTERS_MAX).collect());
    }
    Ok(imported_html)
}

/// The unmodified HTML of a mail file, with the headers that checks read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailSource {
    pub html: String,
    pub subject: Option<String>,
    pub from_name: Option<String>,
    pub from_email: Option<String>,
    /// The URLs of the `List-Unsubscribe` header.
    pub unsubscribe_urls: Vec<String>,
}

/// Reads the HTML of a mail file without sanitizing it.
pub fn source(file: &[u8]) -> Result<MailSource, HtmlRefusal> {
    if file.len() > DRAWN_INPUT_BYTES_MAX {
        return Err(HtmlRefusal::InputTooLarge(file.len()));
    }
    let message = MessageParser::default().parse(file).ok_or(HtmlRefusal::NoMail)?;
    let from = message.from().and_then(|from| from.first());
    let unsubscribe = message.header_raw(HeaderName::ListUnsubscribe).unwrap_or_default();
    let urls = unsubscribe.split('<').skip(1).filter_map(|part| Some(part.split_once('>')?.0));
    Ok(MailSource {
        html: html(&message).ok_or(HtmlRefusal::NoMail)?,
        subject: message.subject().map(str::to_owned),
        from_name: from.and_then(|from| from.name()).map(str::to_owned),
        from_email: from.and_then(|from| from.address()).map(str::to_owned),
        // Long URLs are folded across lines, so remove the white space in them.
        unsubscribe_urls: urls.map(|url| url.split_whitespace().collect()).collect(),
    })
}

/// Returns the longest HTML part, or else the plain text as simple HTML.
fn html(message: &Message<'_>) -> Option<String> {
    let html = (0..message.html_body_count())
        .filter_map(|number| message.html_part(number as u32))
        .filter(|part| part.is_text_html())
        .filter_map(|part| part.text_contents())
        .max_by_key(|text| text.len())
        .map(str::to_owned);
    html.or_else(|| message.body_text(0).map(|text| from_text(&text)))
}

/// Converts plain text to HTML paragraphs.
fn from_text(text: &str) -> String {
    let mut out =
        "<div style=\"max-width:600px;margin:0 auto;padding:16px;font-family:Arial,sans-serif;font-size:15px\">".to_owned();
    for paragraph in text.replace("\r\n", "\n").split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        let mut lines = Vec::new();
        for line in paragraph.trim_matches('\n').lines() {
            let mut escaped = String::new();
            push_text(line, &mut escaped);
            lines.push(escaped);
        }
        out.push_str(&format!("<p>{}</p>", lines.join("<br>")));
    }
    out.push_str("</div>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_html_of_a_message_is_read_with_its_images() {
        let pixel = BASE64.encode(b"\x89PNG\r\n\x1a\n0000");
        let file = format!(
            "From: a@x.example\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n\
             --b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\nContent-Type: text/plain\r\n\r\nplain\r\n--c\r\n\
             Content-Type: text/html; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
             <p>Gr=FC=DFe<img src=3D\"cid:p1\"><script>x</script>\r\n--c--\r\n--b\r\nContent-Type: image/png\r\nContent-ID: <p1>\r\n\
             Content-Transfer-Encoding: base64\r\n\r\n{pixel}\r\n--b--\r\n"
        );
        let imported_html = mail(file.as_bytes()).expect("the file is an email");
        assert_eq!(imported_html.subject.as_deref(), Some("Grüße"));
        assert!(
            imported_html.html.contains(&format!("<p>Grüße<img src=\"data:image/png;base64,{pixel}\">")),
            "{}",
            imported_html.html
        );
        assert_eq!(imported_html.removed, ["element script"]);
    }

    #[test]
    fn text_becomes_paragraphs() {
        let file = b"Subject: Hi\r\nContent-Type: text/plain\r\n\r\nOne <b>\r\ntwo\r\n\r\nthree\r\n";
        let imported_html = mail(file).expect("the file is an email");
        assert!(imported_html.html.contains("<p>One &lt;b&gt;<br>two</p><p>three</p>"), "{}", imported_html.html);
    }

    #[test]
    fn a_file_that_is_not_a_message_is_rejected() {
        assert_eq!(mail(b"").err(), Some(HtmlRefusal::NoMail));
    }
}
