//! Tests messages with a third-party parser.

use mail_parser::{Address, HeaderName, MessageParser, MimeHeaders, PartType};
use proptest::prelude::*;

use super::*;
use crate::base::email::EmailAddress;

const ID: &str = "0123456789abcdef@example.com";

fn address(text: &str) -> EmailAddress {
    EmailAddress::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

/// Returns a message with this name, subject, plain text and HTML.
fn written(name: &str, subject: &str, text: &str, html: &str) -> Message {
    let (from, to) = (address("news@example.com"), address("ana@example.org"));
    let (text, html) = (Encoded::new(text), Encoded::new(html));
    OutgoingMessage {
        from: Mailbox { name, address: &from },
        to: Mailbox { name, address: &to },
        subject,
        text: Some(&text),
        html: Some(&html),
        ..plain(&from, &to)
    }
    .write()
}

fn plain<'a>(from: &'a EmailAddress, to: &'a EmailAddress) -> OutgoingMessage<'a> {
    OutgoingMessage {
        from: Mailbox { name: "", address: from },
        to: Mailbox { name: "", address: to },
        reply_to: None,
        subject: "Hello",
        text: None,
        html: None,
        images: &[],
        message_id: ID,
        date: Timestamp(1_795_255_445_123),
        list: None,
        feedback_id: None,
        is_automatic: false,
        extra: &[],
    }
}

fn assert_form(message: &Message) {
    let bytes = &message.bytes;
    assert!(bytes.ends_with(b"\r\n"));
    let text = String::from_utf8(bytes.clone()).expect("the message is UTF-8");
    let lines: Vec<&str> = text.split("\r\n").collect();
    for line in &lines {
        assert!(!line.contains(['\r', '\n', '\0']), "{line:?}");
        assert!(line.len() <= 998, "{} bytes", line.len());
        assert!(line.is_ascii() || message.needs_smtputf8, "{line:?}");
    }
    let head = lines.split(|line| line.is_empty()).next().expect("the message has a head");
    // A value without spaces cannot be folded, so its line may exceed 78 characters.
    let value = |line: &str| line.split_once(": ").map_or(line, |(_, value)| value).trim().to_owned();
    assert!(head.iter().all(|line| line.len() <= 78 || !value(line).contains(' ')), "{head:?}");
}

fn names(message: &Message) -> Vec<String> {
    let parsed = MessageParser::new().parse(&message.bytes).expect("the message can be read");
    parsed.headers().iter().map(|header| header.name().to_owned()).collect()
}

const NAMES: [&str; 8] = ["From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type", ""];

fn first(address: Option<&Address<'_>>) -> (Option<String>, Option<String>) {
    let first = address.and_then(|address| address.first()).expect("the header has an address");
    (first.name().map(str::to_owned), first.address().map(str::to_owned))
}

fn without_breaks(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Checks that the content is parsed back unchanged, except that line breaks in names and subjects become spaces.
fn assert_comes_back(name: &str, subject: &str, text: &str, html: &str) {
    let message = written(name, subject, text, html);
    assert_form(&message);
    assert_eq!(names(&message), NAMES[..7], "{name:?} {subject:?}");
    let parsed = MessageParser::new().parse(&message.bytes).expect("the message can be read");
    let line = |text: &str| one_line(text).trim().to_owned();
    let shown = Some(line(name)).filter(|name| !name.is_empty());
    assert_eq!(first(parsed.from()), (shown.clone(), Some("news@example.com".to_owned())));
    assert_eq!(first(parsed.to()), (shown, Some("ana@example.org".to_owned())));
    assert_eq!(parsed.subject().unwrap_or_default(), line(subject));
    assert_eq!(parsed.message_id(), Some(ID));
    assert_eq!(without_breaks(&parsed.body_text(0).expect("the message has a text part")), without_breaks(text));
    assert_eq!(without_breaks(&parsed.body_html(0).expect("the message has an HTML part")), without_breaks(html));
    assert_eq!((parsed.text_body_count(), parsed.html_body_count(), parsed.attachment_count()), (1, 1, 0));
}

#[test]
fn names_and_subjects_parse_back() {
    let words = "word ".repeat(60);
    let long = "x".repeat(1_900);
    let wide = "字".repeat(400);
    for words in [
        "Ana",
        "",
        "Ana Müller",
        "Zoë \"Zed\" O'Neil, Ltd. (UK) <x>",
        "back\\slash",
        "=?utf-8?Q?not_encoded?=",
        "a =?b?= c",
        "日本語の件名です",
        "שלום עולם",
        "مرحبا بالعالم",
        "\u{202e}turned\u{202c}",
        "🎉👩‍👩‍👧‍👦 party 🏳️‍🌈",
        "Ünïcödé and ascii mixed together in a subject that is long enough to be folded at least once or twice",
        "comma, semicolon; colon: at@sign [bracket]",
        "tab\tand  two spaces",
        " spaces around ",
        "a_b?c=d",
        "Re: [list] 100% off — “now”",
        "line\r\nBcc: eve@example.net",
        "line\nbreak\rreturn\0null",
        "\u{2028}separator\u{85}",
        words.trim(),
        &long,
        &wide,
        &"é".repeat(80),
        "i̇stanbul ﬁne cafe\u{301}",
    ] {
        let line = one_line(words);
        // Runs of spaces reach readers unchanged, whether they are encoded or folded.
        assert_comes_back(&line, words, "text", "<p>html</p>");
        let message = written(words, words, "", "");
        assert_form(&message);
        assert_eq!(names(&message), NAMES[..7], "{words:?}");
    }
}

#[test]
fn texts_parse_back() {
    let lines = "line\n".repeat(2_000);
    let long = "y".repeat(5_000);
    for text in [
        "",
        "\n",
        "one",
        "one\r\ntwo\nthree\rfour",
        "From the start\n.\n..\n.a dot\n",
        "trailing space \nand tab\t\n",
        "a=b =3D =\n",
        "--boundary\n--=_0123--\n",
        "Grüße 世界 🎉 שלום",
        "\n\n\n",
        &lines,
        &long,
        &"é".repeat(3_000),
    ] {
        assert_comes_back("Ana", "Hello", text, text);
    }
}

#[test]
fn the_same_message_has_the_same_bytes() {
    let once = written("Ana", "Hello", "a", "<p>a");
    assert_eq!(once, written("Ana", "Hello", "a", "<p>a"));
    let expected = "From: \"Ana\" <news@example.com>\r\n\
        To: \"Ana\" <ana@example.org>\r\n\
        Subject: Hello\r\n\
        Date: Sat, 21 Nov 2026 10:04:05 +0000\r\n\
        Message-ID: <0123456789abcdef@example.com>\r\n\
        MIME-Version: 1.0\r\n\
        Content-Type: multipart/alternative; boundary=\"B\"\r\n\r\n\r\n--B\r\n\
        Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\na\r\n--B\r\n\
        Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>a\r\n--B--\r\n";
    let text = String::from_utf8(once.bytes).expect("the message is ASCII");
    let boundary = text.split("boundary=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("the message has a boundary");
    assert_eq!(text.replace(boundary, "B").replace("\r\n\tboundary", " boundary"), expected);
}

#[test]
fn a_mailing_has_unsubscribe_headers() {
    let (from, to, reply) = (address("news@example.com"), address("ana@example.org"), address("help@example.com"));
    let html = Encoded::new("<p>Hello</p>");
    let extra = [ExtraHeader::parse("X-Order", "42").expect("the header is valid")];
    let message = OutgoingMessage {
        reply_to: Some(Mailbox { name: "Help", address: &reply }),
        html: Some(&html),
        list: Some(ListHeaders {
            unsubscribe_url: "https://mail.example.com/u/0123456789abcdef0123456789abcdef?x=a b>\r\nX: y",
            unsubscribe_mailto: Some("mailto:u+0123456789abcdef@bounce.example.com?subject=unsubscribe"),
            one_click: true,
            list_id: Some("news.example.com"),
        }),
        feedback_id: Some("c1:a1:campaign:mailmill"),
        is_automatic: true,
        extra: &extra,
        ..plain(&from, &to)
    }
    .write();
    assert_form(&message);
    let text =
        String::from_utf8(message.bytes.clone()).expect("the message is ASCII").replace("\r\n\t", " ").replace("\r\n ", " ");
    for line in [
        "Reply-To: \"Help\" <help@example.com>",
        "List-Unsubscribe: <https://mail.example.com/u/0123456789abcdef0123456789abcdef?x=a%20b%3E%0D%0AX:%20y>, \
         <mailto:u+0123456789abcdef@bounce.example.com?subject=unsubscribe>",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
        "List-ID: <news.example.com>",
        "Feedback-ID: c1:a1:campaign:mailmill",
        "Auto-Submitted: auto-generated",
        "X-Order: 42",
        "Content-Type: text/html; charset=utf-8",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
}

#[test]
fn images_are_next_to_the_html_that_shows_them() {
    let (from, to) = (address("news@example.com"), address("ana@example.org"));
    let (text, html) = (Encoded::new("Hello"), Encoded::new("<img src=\"cid:logo@mailmill\">"));
    let bytes: Vec<u8> = (0..=255).cycle().take(5_000).collect();
    let images = [
        Image::new("logo@mailmill", "image/png", "Größe \"1\" über alle Maßen lang und noch länger als eine Zeile.png", &bytes),
        Image::new("b>\r\nX: y", "text/html\r\nX: y", "a\r\nX: y", b"x"),
    ];
    let message = OutgoingMessage { text: Some(&text), html: Some(&html), images: &images, ..plain(&from, &to) }.write();
    assert_form(&message);
    let parsed = MessageParser::new().parse(&message.bytes).expect("the message can be read");
    let kinds: Vec<String> = parsed
        .parts
        .iter()
        .map(|part| {
            part.content_type().map_or_else(String::new, |kind| format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or("?")))
        })
        .collect();
    assert_eq!(
        kinds,
        ["multipart/alternative", "text/plain", "multipart/related", "text/html", "image/png", "application/octet-stream"]
    );
    let image = &parsed.parts[4];
    assert_eq!(image.content_id(), Some("logo@mailmill"));
    assert_eq!(image.attachment_name(), Some("Größe \"1\" über alle Maßen lang und noch länger als eine Zeile.png"));
    assert!(matches!(&image.body, PartType::InlineBinary(found) | PartType::Binary(found) if found.as_ref() == bytes));
    assert!(parsed.parts[5].headers.iter().all(|header| header.name() != "X"));
}

#[test]
fn international_addresses_need_smtputf8() {
    let ascii = address("news@example.com");
    let domain = address("info@bücher.example");
    let local = address("jürgen@bücher.example");
    let message = OutgoingMessage { to: Mailbox { name: "", address: &domain }, ..plain(&ascii, &domain) }.write();
    assert!(!message.needs_smtputf8);
    assert!(String::from_utf8_lossy(&message.bytes).contains("To: <info@xn--bcher-kva.example>\r\n"));
    let message = plain(&ascii, &local).write();
    assert!(message.needs_smtputf8);
    assert!(String::from_utf8_lossy(&message.bytes).contains("To: <jürgen@xn--bcher-kva.example>\r\n"));
}

#[test]
fn a_message_may_have_one_part_or_none() {
    let (from, to) = (address("news@example.com"), address("ana@example.org"));
    let (text, html) = (Encoded::new("Hello"), Encoded::new("<p>Hello"));
    for (message, kind) in [
        (OutgoingMessage { text: Some(&text), ..plain(&from, &to) }, "text/plain"),
        (OutgoingMessage { html: Some(&html), ..plain(&from, &to) }, "text/html"),
        (plain(&from, &to), "text/plain"),
    ] {
        let message = message.write();
        assert_form(&message);
        assert!(String::from_utf8_lossy(&message.bytes).contains(&format!("\r\nContent-Type: {kind};")));
        assert_eq!(names(&message).last().map(String::as_str), Some("Content-Transfer-Encoding"));
    }
}

#[test]
fn signatures_come_first() {
    let mut message = written("Ana", "Hello", "a", "b");
    let before = message.bytes.clone();
    message.put_first(b"DKIM-Signature: x\r\n");
    assert_eq!(message.bytes, [b"DKIM-Signature: x\r\n".as_slice(), &before].concat());
}

proptest! {
    #[test]
    fn no_value_can_add_a_header(
        name in ".{0,60}|[ -~\r\n\0]{0,120}",
        subject in ".{0,120}|[a-zA-Z:\r\n ]{0,200}",
        text in "[ -~\r\n\0é]{0,200}",
    ) {
        let (from, to) = (address("news@example.com"), address("ana@example.org"));
        let encoded = Encoded::new(&text);
        let message = OutgoingMessage {
            from: Mailbox { name: &name, address: &from },
            to: Mailbox { name: &subject, address: &to },
            reply_to: Some(Mailbox { name: &name, address: &from }),
            subject: &subject,
            text: Some(&encoded),
            list: Some(ListHeaders { unsubscribe_url: &name, unsubscribe_mailto: Some(&subject), one_click: true, list_id: Some(&name) }),
            feedback_id: Some(&subject),
            message_id: ID,
            ..plain(&from, &to)
        }
        .write();
        assert_form(&message);
        let expected = ["From", "To", "Reply-To", "Subject", "Date", "Message-ID", "List-Unsubscribe", "List-Unsubscribe-Post",
            "List-ID", "Feedback-ID", "MIME-Version", "Content-Type", "Content-Transfer-Encoding"];
        let found = names(&message);
        prop_assert!(found.iter().zip(expected).all(|(found, expected)| found.eq_ignore_ascii_case(expected)), "{:?}", found);
        prop_assert_eq!(found.len(), expected.len());
        let parsed = MessageParser::new().parse(&message.bytes).expect("the message can be read");
        prop_assert_eq!(first(parsed.from()).1, Some("news@example.com".to_owned()));
        prop_assert_eq!(first(parsed.to()).1, Some("ana@example.org".to_owned()));
        prop_assert_eq!(first(parsed.reply_to()).1, Some("news@example.com".to_owned()));
        prop_assert!(parsed.header(HeaderName::Bcc).is_none());
    }
}
