//! A message in its wire format: headers and parts, with every line ended by CRLF.
//!
//! The same input produces the same bytes: boundaries are derived from the Message-ID, and the date is an argument. So a retry sends an
//! identical message, which receivers can recognize.

use data_encoding::HEXLOWER;
use mail_builder::encoders::Base64Encoder;
use mail_builder::headers::content_type::ContentType;
use mail_builder::headers::date::Date;
use mail_builder::headers::message_id::MessageId;
use mail_builder::headers::url::URL;

use super::body::Encoded;
use super::headers::{self, ExtraHeader, Mailbox};
use crate::base::clock::Timestamp;
use crate::base::secret::sha256;
use crate::base::text::one_line;

#[derive(Clone, Copy)]
pub struct OutgoingMessage<'a> {
    pub from: Mailbox<'a>,
    pub to: Mailbox<'a>,
    /// The address for replies, if it differs from the sender.
    pub reply_to: Option<Mailbox<'a>>,
    pub subject: &'a str,
    /// The plain-text part, for email clients without HTML and for readers who prefer it.
    pub text: Option<&'a Encoded>,
    pub html: Option<&'a Encoded>,
    /// The images that the HTML refers to by `cid:`.
    pub images: &'a [Image],
    /// The Message-ID without angle brackets.
    pub message_id: &'a str,
    pub date: Timestamp,
    /// The unsubscribe headers; `None` for a transactional message.
    pub list: Option<ListHeaders<'a>>,
    /// The `Feedback-ID` for Gmail's statistics: identifiers separated by colons; the last one identifies the sender.
    pub feedback_id: Option<&'a str>,
    /// Whether a program wrote the message. If so, a header asks other programs not to reply.
    pub is_automatic: bool,
    /// Additional headers chosen by the sender.
    pub extra: &'a [ExtraHeader],
}

/// How recipients unsubscribe from a mailing.
#[derive(Clone, Copy)]
pub struct ListHeaders<'a> {
    /// The URL of the unsubscribe page, which identifies the recipient and the mailing.
    pub unsubscribe_url: &'a str,
    /// The `mailto:…` URL for unsubscribing by mail.
    pub unsubscribe_mailto: Option<&'a str>,
    /// Whether a POST request to the URL unsubscribes immediately (RFC 8058).
    pub one_click: bool,
    /// The ID that all messages of the list share, such as `news.example.com`.
    pub list_id: Option<&'a str>,
}

#[derive(Clone, Debug)]
pub struct Image {
    part: Vec<u8>,
}

impl Image {
    /// Creates an image to which HTML refers by the URL `cid:` followed by this ID. The image is encoded here, once for all messages.
    pub fn new(cid: &str, media_type: &str, file_name: &str, bytes: &[u8]) -> Self {
        let kind = media_type.strip_prefix("image/").unwrap_or_default();
        let is_kind =
            !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
        let media_type = if is_kind { media_type } else { "application/octet-stream" };
        let file_name = one_line(file_name);
        let mut part = Vec::with_capacity(bytes.len() * 3 / 2 + 300);
        headers::write(&mut part, "Content-Type", &ContentType::new(media_type).attribute("name", file_name.as_ref()));
        headers::write(&mut part, "Content-Disposition", &ContentType::new("inline").attribute("filename", file_name.as_ref()));
        headers::write(&mut part, "Content-ID", &MessageId::new(headers::id(cid)));
        part.extend_from_slice(b"Content-Transfer-Encoding: base64\r\n\r\n");
        Base64Encoder::new().wrap_lines().encode_into(bytes, &mut part);
        Self { part }
    }
}

/// A message, ready to be signed and sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The bytes of the message, with CRLF at the end of each line.
    pub bytes: Vec<u8>,
    /// Whether only servers that offer SMTPUTF8 can accept the message, because the local part of an address is not ASCII.
    pub needs_smtputf8: bool,
}

impl Message {
    /// Puts signatures, which are complete headers, before the message.
    pub fn put_first(&mut self, signatures: &[u8]) {
        self.bytes.splice(0..0, signatures.iter().copied());
    }
}

impl OutgoingMessage<'_> {
    pub fn write(&self) -> Message {
        let texts = [self.text, self.html].into_iter().flatten().map(|text| text.as_bytes().len() + 300).sum::<usize>();
        let images = self.images.iter().map(|image| image.part.len() + 100).sum::<usize>();
        // Reserve space for the headers, and for two signatures that `Message::put_first` adds.
        let mut out = Vec::with_capacity(texts + images + 4_000);
        let mut needs_smtputf8 = headers::write_mailbox(&mut out, "From", self.from);
        needs_smtputf8 |= headers::write_mailbox(&mut out, "To", self.to);
        if let Some(reply_to) = self.reply_to {
            needs_smtputf8 |= headers::write_mailbox(&mut out, "Reply-To", reply_to);
        }
        headers::write_text(&mut out, "Subject", self.subject);
        headers::write(&mut out, "Date", &Date::new(self.date.seconds()));
        headers::write(&mut out, "Message-ID", &MessageId::new(headers::url(self.message_id)));
        if let Some(list) = &self.list {
            list.write(&mut out);
        }
        if let Some(feedback_id) = self.feedback_id {
            headers::write_text(&mut out, "Feedback-ID", feedback_id);
        }
        if self.is_automatic {
            out.extend_from_slice(b"Auto-Submitted: auto-generated\r\n");
        }
        self.extra.iter().for_each(|header| header.write(&mut out));
        out.extend_from_slice(b"MIME-Version: 1.0\r\n");
        self.write_parts(&mut out);
        if !out.ends_with(b"\r\n") {
            out.extend_from_slice(b"\r\n");
        }
        Message { bytes: out, needs_smtputf8 }
    }

    /// Writes the headers that describe the content, an empty line, and the content.
    fn write_parts(&self, out: &mut Vec<u8>) {
        match (self.text, self.html) {
            (Some(text), Some(html)) => {
                let boundary = self.boundary("alternative");
                write_multipart(out, &ContentType::new("multipart/alternative"), &boundary);
                write_boundary(out, &boundary);
                write_text(out, "text/plain", text);
                write_boundary(out, &boundary);
                self.write_html(out, html);
                write_end(out, &boundary);
            }
            (None, Some(html)) => self.write_html(out, html),
            (Some(text), None) => write_text(out, "text/plain", text),
            (None, None) => write_text(out, "text/plain", &Encoded::new("")),
        }
    }

    fn write_html(&self, out: &mut Vec<u8>, html: &Encoded) {
        if self.images.is_empty() {
            return write_text(out, "text/html", html);
        }
        let boundary = self.boundary("related");
        write_multipart(out, &ContentType::new("multipart/related").attribute("type", "text/html"), &boundary);
        write_boundary(out, &boundary);
        write_text(out, "text/html", html);
        for image in self.images {
            write_boundary(out, &boundary);
            out.extend_from_slice(&image.part);
        }
        write_end(out, &boundary);
    }

    /// Returns a boundary that occurs in no part, because `=_` occurs neither in quoted-printable nor in base64.
    fn boundary(&self, purpose: &str) -> String {
        let sum = sha256(format!("{purpose} {}", self.message_id).as_bytes());
        format!("=_{}", HEXLOWER.encode(&sum[..12]))
    }
}

impl ListHeaders<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        let mut urls = vec![headers::url(self.unsubscribe_url)];
        urls.extend(self.unsubscribe_mailto.map(headers::url));
        headers::write(out, "List-Unsubscribe", &URL { url: urls.into_iter().map(Into::into).collect() });
        if self.one_click {
            out.extend_from_slice(b"List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n");
        }
        if let Some(list_id) = self.list_id {
            headers::write(out, "List-ID", &MessageId::new(headers::id(list_id)));
        }
    }
}

fn write_multipart(out: &mut Vec<u8>, kind: &ContentType<'_>, boundary: &str) {
    headers::write(out, "Content-Type", &kind.clone().attribute("boundary", boundary));
    out.extend_from_slice(b"\r\n");
}

fn write_boundary(out: &mut Vec<u8>, boundary: &str) {
    // The line break before a boundary belongs to the boundary, not to the part before it.
    out.extend_from_slice(b"\r\n--");
    out.extend_from_slice(boundary.as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn write_end(out: &mut Vec<u8>, boundary: &str) {
    out.extend_from_slice(b"\r\n--");
    out.extend_from_slice(boundary.as_bytes());
    out.extend_from_slice(b"--\r\n");
}

fn write_text(out: &mut Vec<u8>, kind: &str, text: &Encoded) {
    out.extend_from_slice(b"Content-Type: ");
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n");
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests;
