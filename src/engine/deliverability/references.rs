//! Decodes the character references of HTML.

/// The maximum length of a reference's name, with its semicolon.
const NAME_BYTES_MAX: usize = 32;

/// A character of the decoded text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    pub character: char,
    pub is_reference: bool,
}

/// Decodes the character references in `source`. Yields each character with its byte position in the source.
pub fn decode(source: &str) -> impl Iterator<Item = (usize, Decoded)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = source.get(at..)?;
        let first = rest.chars().next()?;
        let start = at;
        if first == '&'
            && let Some((character, length)) = numeric(rest).or_else(|| named(rest))
        {
            at += length;
            return Some((start, Decoded { character, is_reference: true }));
        }
        at += first.len_utf8();
        Some((start, Decoded { character: first, is_reference: false }))
    })
}

pub fn text(source: &str) -> String {
    decode(source).map(|(_, decoded)| decoded.character).collect()
}

fn numeric(text: &str) -> Option<(char, usize)> {
    let digits = text.strip_prefix("&#")?;
    let (digits, radix, prefix) = match digits.strip_prefix(['x', 'X']) {
        Some(hexadecimal) => (hexadecimal, 16, 3),
        None => (digits, 10, 2),
    };
    let length = digits.bytes().take_while(|byte| char::from(*byte).is_digit(radix)).take(10).count();
    let number = u32::from_str_radix(digits.get(..length).filter(|found| !found.is_empty())?, radix).ok()?;
    let semicolon = usize::from(digits.as_bytes().get(length) == Some(&b';'));
    // According to the HTML standard, the numbers 0x80 to 0x9F stand for Windows-1252 characters. Only the quotation marks, the dashes and
    // the ellipsis are converted here.
    let number = match number {
        0x85 => 0x2026,
        0x91 | 0x92 => 0x2019,
        0x93 => 0x201C,
        0x94 => 0x201D,
        0x96 => 0x2013,
        0x97 => 0x2014,
        other => other,
    };
    Some((char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER), prefix + length + semicolon))
}

fn named(text: &str) -> Option<(char, usize)> {
    let name = text.get(1..)?;
    let length = name.bytes().take(NAME_BYTES_MAX).take_while(u8::is_ascii_alphanumeric).count();
    let with_semicolon = length + usize::from(name.as_bytes().get(length) == Some(&b';'));
    // Without a semicolon, the longest known name is used: "&copy2026" is "©2026".
    let lengths = std::iter::once(with_semicolon).chain((2..=length.min(6)).rev());
    lengths.filter_map(|length| Some((name.get(..length)?, length))).find_map(|(name, length)| {
        let (first, _) = markup5ever::data::NAMED_ENTITIES.get(name)?;
        Some((char::from_u32(*first).filter(|first| *first != '\0')?, length + 1))
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_and_numbers_are_decoded() {
        assert_eq!(super::text("&lt;a&gt; &copy2026 &#x41;&#66; &#147; &unknown; &"), "<a> ©2026 AB “ &unknown; &");
        assert_eq!(super::text("&#99999999999999;"), "&#99999999999999;");
    }
}
