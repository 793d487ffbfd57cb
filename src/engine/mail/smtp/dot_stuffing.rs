//! Converts a message to the form in which SMTP transmits it (RFC 5321 §4.5.2): lines end with CRLF, and a dot at the start of a line is
//! doubled, so that no line of the message can end the message early. This module does no I/O.

/// A message that is being sent, chunk by chunk.
pub struct DotStuffer<'a> {
    rest: &'a [u8],
    /// Whether the last byte that was sent ended a line.
    at_line_start: bool,
}

impl<'a> DotStuffer<'a> {
    pub fn new(message: &'a [u8]) -> Self {
        Self { rest: message, at_line_start: true }
    }

    /// Returns the next chunk, of at most about `bytes_max` bytes, or `None` at the end. The final dot may be sent only after the last
    /// chunk.
    pub fn next<'p>(&mut self, scratch: &'p mut Vec<u8>, bytes_max: usize) -> Option<&'p [u8]>
    where
        'a: 'p,
    {
        let clean = self.take_clean(bytes_max);
        // Only a full chunk, or the last one, is returned without being copied. Shorter unchanged chunks would each become a separate
        // packet, so they are copied into one chunk with the bytes that follow.
        if clean.len() == bytes_max || (self.rest.is_empty() && self.at_line_start) {
            return (!clean.is_empty()).then_some(clean);
        }
        scratch.clear();
        scratch.extend_from_slice(clean);
        while scratch.len() < bytes_max && self.change(scratch) {
            let clean = self.take_clean(bytes_max.saturating_sub(scratch.len()));
            scratch.extend_from_slice(clean);
        }
        (!scratch.is_empty()).then_some(scratch)
    }

    /// Returns the bytes that need no change, up to `bytes_max`.
    fn take_clean(&mut self, bytes_max: usize) -> &'a [u8] {
        let window = &self.rest[..self.rest.len().min(bytes_max)];
        let mut end = 0;
        let mut at_line_start = self.at_line_start;
        while end < window.len() {
            if at_line_start && window[end] == b'.' {
                break;
            }
            let line = &window[end..];
            match line_break(line) {
                None => {
                    end = window.len();
                    at_line_start = false;
                }
                Some(place) if self.rest[end + place..].starts_with(b"\r\n") => {
                    // A line break that does not fit completely in this chunk goes into the next chunk.
                    if end + place + 2 > window.len() {
                        end += place;
                        at_line_start &= place == 0;
                        break;
                    }
                    end += place + 2;
                    at_line_start = true;
                }
                Some(place) => {
                    end += place;
                    at_line_start &= place == 0;
                    break;
                }
            }
        }
        let (clean, rest) = self.rest.split_at(end);
        (self.rest, self.at_line_start) = (rest, at_line_start);
        clean
    }

    /// Appends the next byte or line end, and a second dot if the byte is a dot at the start of a line. Every line end, including a
    /// missing line end at the end of the message, becomes CRLF. Returns false if the message has been written.
    fn change(&mut self, scratch: &mut Vec<u8>) -> bool {
        match self.rest {
            [] if self.at_line_start => return false,
            [] | [b'\r' | b'\n', ..] => {
                scratch.extend_from_slice(b"\r\n");
                self.rest = self.rest.strip_prefix(b"\r\n").unwrap_or(self.rest.get(1..).unwrap_or_default());
                self.at_line_start = true;
            }
            [first, rest @ ..] => {
                if self.at_line_start && *first == b'.' {
                    scratch.push(b'.');
                }
                scratch.push(*first);
                (self.rest, self.at_line_start) = (rest, false);
            }
        }
        true
    }
}

/// Returns the position of the first CR or LF. The function processes eight bytes at a time for speed, because every byte of a message
/// passes through it.
fn line_break(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let (words, tail) = bytes.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let zero_at = |c: u8| {
            let other = word ^ (ONES * u64::from(c));
            other.wrapping_sub(ONES) & !other & HIGH
        };
        let found = zero_at(b'\r') | zero_at(b'\n');
        if found != 0 {
            // The lowest set bit is always correct, because a borrow can set wrong bits only above it.
            return Some(number * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    tail.iter().position(|byte| matches!(byte, b'\r' | b'\n')).map(|place| words.len() * 8 + place)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stuffed(message: &[u8], bytes_max: usize) -> Vec<u8> {
        let (mut stuffed, mut piece, mut all) = (DotStuffer::new(message), Vec::new(), Vec::new());
        while let Some(piece) = stuffed.next(&mut piece, bytes_max) {
            all.extend_from_slice(piece);
        }
        all
    }

    #[test]
    fn dots_are_doubled_and_lines_ended() {
        for (message, wire) in [
            ("", ""),
            (".", "..\r\n"),
            ("a", "a\r\n"),
            ("a\r\n", "a\r\n"),
            ("a\n.\nb", "a\r\n..\r\nb\r\n"),
            ("a\r.\rb", "a\r\n..\r\nb\r\n"),
            ("\r\n.\r\n", "\r\n..\r\n"),
            ("\n\r", "\r\n\r\n"),
            ("...\r\n.a.\r\n", "....\r\n..a.\r\n"),
        ] {
            for bytes_max in [1, 2, 3, 1000] {
                let found = stuffed(message.as_bytes(), bytes_max);
                assert_eq!(String::from_utf8_lossy(&found), wire, "{message:?} by {bytes_max}");
            }
        }
    }

    #[test]
    fn correct_messages_are_not_copied() {
        let message = "A line of a newsletter.\r\n".repeat(400);
        let (mut stuffed, mut scratch) = (DotStuffer::new(message.as_bytes()), Vec::new());
        assert_eq!(stuffed.next(&mut scratch, 128 * 1024).map(<[u8]>::len), Some(message.len()));
        assert!(stuffed.next(&mut scratch, 128 * 1024).is_none() && scratch.capacity() == 0);
    }

    #[test]
    fn line_breaks_are_found_wherever_they_are() {
        for length in 0..40 {
            let mut bytes = vec![b'a'; length];
            assert_eq!(line_break(&bytes), None);
            for (place, c) in (0..length).zip([b'\r', b'\n', b'\x0b', 0x8d].into_iter().cycle()) {
                bytes.fill(0x0c);
                bytes[place] = c;
                assert_eq!(line_break(&bytes), matches!(c, b'\r' | b'\n').then_some(place));
            }
        }
    }

    proptest! {
        #[test]
        fn no_content_ends_a_message_and_the_receiver_restores_it(
            message in "[a.\r\n]{0,40}",
            bytes_max in 1..20_usize,
        ) {
            let wire = String::from_utf8(stuffed(message.as_bytes(), bytes_max)).expect("the message is ASCII");
            prop_assert!(wire.is_empty() || wire.ends_with("\r\n"));
            let lines: Vec<&str> = wire.split_terminator("\r\n").collect();
            prop_assert!(lines.iter().all(|line| *line != "." && !line.contains(['\r', '\n'])));
            let undone: String = lines.iter().map(|line| format!("{}\n", line.strip_prefix('.').unwrap_or(line))).collect();
            let mut expected = message.replace("\r\n", "\n").replace('\r', "\n");
            if !expected.is_empty() && !expected.ends_with('\n') {
                expected.push('\n');
            }
            prop_assert_eq!(undone, expected);
        }
    }
}
