//! Decodes a page or style sheet. The charset comes from the byte order mark, the Content-Type header or the document's own declaration;
//! otherwise, it is guessed.

use encoding_rs::{EUC_JP, Encoding, SHIFT_JIS, UTF_8, WINDOWS_1252};

/// The number of bytes at the start of a page that are searched for the charset declaration. Browsers search 1,024.
const PRESCAN_BYTES: usize = 4096;

/// Returns the text of a page and the name of its charset.
pub fn decode(bytes: &[u8], content_type: &str) -> (String, &'static str) {
    decode_for(bytes, content_type, None)
}

/// Decodes a style sheet. If it does not declare a charset and is not valid UTF-8, the charset of the page that uses it (`page`) applies.
pub fn decode_for(bytes: &[u8], content_type: &str, page: Option<&str>) -> (String, &'static str) {
    let encoding = encoding_of(bytes, content_type, page.and_then(|name| Encoding::for_label(name.as_bytes())));
    let (text, used, _) = encoding.decode(bytes);
    (text.into_owned(), used.name())
}

fn encoding_of(bytes: &[u8], content_type: &str, fallback: Option<&'static Encoding>) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding;
    }
    let head = &bytes[..bytes.len().min(PRESCAN_BYTES)];
    let declared = label_after(content_type.as_bytes(), b"charset=").or_else(|| own_word(head));
    // Check whether the bytes are valid UTF-8 even if UTF-8 is declared, because it is often declared wrongly.
    match declared {
        Some(encoding) if encoding != UTF_8 => encoding,
        Some(_) | None if std::str::from_utf8(bytes).is_ok() => UTF_8,
        Some(_) if is_mostly_utf_8(bytes) => UTF_8,
        Some(_) | None => fallback.filter(|fallback| *fallback != UTF_8).unwrap_or_else(|| guess(bytes)),
    }
}

/// Returns the charset that the document declares in a `@charset` rule, a `meta` element or an XML declaration.
fn own_word(head: &[u8]) -> Option<&'static Encoding> {
    let lowered = head.to_ascii_lowercase();
    let of_sheet = lowered.strip_prefix(b"@charset").and_then(|_| label_after(&lowered, b"@charset"));
    let found = of_sheet
        .or_else(|| label_after(&lowered, b"charset="))
        .or_else(|| if lowered.starts_with(b"<?xml") { label_after(&lowered, b"encoding=") } else { None });
    // If the declaration can be read as ASCII, the page cannot be in UTF-16.
    found.map(|encoding| if encoding.name().starts_with("UTF-16") { UTF_8 } else { encoding })
}

fn label_after(bytes: &[u8], mark: &[u8]) -> Option<&'static Encoding> {
    let lowered = bytes.to_ascii_lowercase();
    let at = lowered.windows(mark.len()).position(|window| window == mark)? + mark.len();
    let rest = &bytes[at..];
    let start = rest.iter().position(|byte| !matches!(byte, b'"' | b'\'' | b' '))?;
    let end = rest[start..].iter().position(|byte| !(byte.is_ascii_alphanumeric() || b"-_:.".contains(byte)));
    Encoding::for_label(&rest[start..end.map_or(rest.len(), |end| start + end)])
}

/// Returns whether the text is UTF-8 with only a few invalid bytes, such as a truncated end or a pasted word.
fn is_mostly_utf_8(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let broken = text.matches('\u{fffd}').count();
    let good = text.chars().filter(|character| !character.is_ascii() && *character != '\u{fffd}').count();
    good >= broken * 4
}

/// Guesses the charset from the bytes. Kana indicate Japanese. All other text is decoded as Western European, as in browsers.
fn guess(bytes: &[u8]) -> &'static Encoding {
    for encoding in [SHIFT_JIS, EUC_JP] {
        let (text, _, broken) = encoding.decode(bytes);
        let foreign = text.chars().filter(|character| !character.is_ascii()).count();
        // Count only full-width kana, because Western accented characters decode to half-width kana in Shift_JIS.
        let kana = text.chars().filter(|character| matches!(character, '\u{3041}'..='\u{30ff}')).count();
        if !broken && foreign > 20 && kana * 4 > foreign {
            return encoding;
        }
    }
    WINDOWS_1252
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], content_type: &str) -> (String, &'static str) {
        decode(bytes, content_type)
    }

    #[test]
    fn the_charset_comes_from_the_header_the_page_or_the_byte_order_mark() {
        for (bytes, content_type, text) in [
            (&b"caf\xe9"[..], "text/html; charset=ISO-8859-1", "café"),
            (b"<meta charset=\"windows-1252\">\x80 5", "text/html", "<meta charset=\"windows-1252\">€ 5"),
            (
                b"<META HTTP-EQUIV=Content-Type CONTENT='text/html; Charset=ISO-8859-2'>\xb1",
                "",
                "<META HTTP-EQUIV=Content-Type CONTENT='text/html; Charset=ISO-8859-2'>ą",
            ),
            (b"\xef\xbb\xbfna\xc3\xafve", "text/html; charset=latin1", "naïve"),
            (b"<?xml version='1.0' encoding='ISO-8859-1'?>\xe4", "", "<?xml version='1.0' encoding='ISO-8859-1'?>ä"),
            (b"<meta charset=utf-8>na\xc3\xafve", "", "<meta charset=utf-8>naïve"),
        ] {
            assert_eq!(read(bytes, content_type).0, text);
        }
    }

    #[test]
    fn a_page_that_wrongly_declares_utf_8_is_decoded_correctly() {
        assert_eq!(read(b"<meta charset=utf-8>f\xfcr Gr\xf6\xdfe", "").0, "<meta charset=utf-8>für Größe");
        let slip = "für Größe und Güte".as_bytes().iter().copied().chain(*b" \xff end").collect::<Vec<u8>>();
        assert_eq!(read(&slip, "text/html; charset=utf-8").1, "UTF-8");
    }

    #[test]
    fn japanese_without_a_declared_charset_is_recognized() {
        let text = "こんにちは、わたしたちのお店へようこそ。焼きたてのパンをどうぞ。";
        for encoding in [SHIFT_JIS, EUC_JP] {
            let (bytes, _, _) = encoding.encode(text);
            assert_eq!(read(&bytes, "").0, text, "{}", encoding.name());
        }
    }
}
