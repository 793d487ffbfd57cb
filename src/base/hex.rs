//! Bytes as hexadecimal digits.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The bytes as lowercase hexadecimal digits, two for each.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Exactly `N` bytes from twice as many digits, in either case.
pub fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != N * 2 {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_it_encoded() {
        let bytes: [u8; 256] = std::array::from_fn(|index| index as u8);
        assert_eq!(decode(&encode(&bytes)), Some(bytes));
        assert_eq!(decode(&encode(&bytes).to_uppercase()), Some(bytes));
    }

    #[test]
    fn rejects_wrong_digits_and_wrong_lengths() {
        for wrong in ["", "0", "000", "00000", "0g00", "+100", "é00"] {
            assert_eq!(decode::<2>(wrong), None, "{wrong}");
        }
    }
}
