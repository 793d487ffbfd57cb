//! Bytes as base64 text: padded, or for URLs and tokens (RFC 4648 §5) without padding.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as base64 text.
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let c = LETTERS[(bits >> (18 - 6 * place)) as usize & 63];
            out.push(if place <= chunk.len() { c.into() } else { '=' });
        }
    }
    out
}

/// The bytes of base64 text, padded or not, with or without line breaks; `None` for any other text.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut letters, mut padded) = (0_u32, 0, false);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                padded = true;
                continue;
            }
            b' ' | b'\t' | b'\r' | b'\n' => continue,
            _ => return None,
        };
        if padded {
            return None;
        }
        (bits, letters) = (bits << 6 | u32::from(value), letters + 1);
        if letters == 4 {
            out.extend_from_slice(&bits.to_be_bytes()[1..]);
            (bits, letters) = (0, 0);
        }
    }
    match letters {
        0 => {}
        1 => return None,
        _ => out.extend_from_slice(&(bits << (6 * (4 - letters))).to_be_bytes()[1..letters]),
    }
    Some(out)
}

const URL_LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Bytes as base64url text without padding.
pub fn encode_url(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        out.extend((0..=chunk.len()).map(|place| char::from(URL_LETTERS[(bits >> (18 - 6 * place)) as usize & 63])));
    }
    out
}

/// The bytes of base64url text without padding; `None` for any text that [`encode_url`] does not write.
pub fn decode_url(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    for chunk in text.as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for c in chunk {
            bits = bits << 6 | u32::try_from(URL_LETTERS.iter().position(|known| known == c)?).ok()?;
        }
        bits <<= 6 * (4 - chunk.len());
        let bytes = &bits.to_be_bytes()[1..];
        let (kept, rest) = bytes.split_at(chunk.len().checked_sub(1)?);
        // One spelling for each value: neither a single leftover character nor bits beyond the last byte.
        if kept.is_empty() || (chunk.len() < 4 && rest.iter().any(|byte| *byte != 0)) {
            return None;
        }
        out.extend_from_slice(kept);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64url_text_decodes_back_and_has_one_spelling() {
        for length in 0..40_u8 {
            let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(37) ^ 0xF5).collect();
            assert_eq!(decode_url(&encode_url(&bytes)), Some(bytes));
        }
        for wrong in ["A", "AB", "AAAAB", "Zg==", "a+b/", "é"] {
            assert_eq!(decode_url(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_end_is_padded() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob\u{7f}", "Zm9vYn8=")];
        assert!(cases.iter().all(|(text, coded)| encode(text.as_bytes()) == *coded));
        assert!(cases.iter().all(|(text, coded)| decode(coded).as_deref() == Some(text.as_bytes())));
        assert_eq!(decode("Zm9v\r\nYn8=\n").as_deref(), Some(b"foob\x7f".as_slice()));
        for wrong in ["A", "Zm9-", "Zg==Zg", "é"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
