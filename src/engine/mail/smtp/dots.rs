//! A message as it goes over the wire (RFC 5321 §4.5.2): lines end with CRLF, and a dot that begins a line is doubled, so that nothing
//! in the message can end it. Pure.

/// A message on its way through, piece by piece.
pub struct Stuffed<'a> {
    rest: &'a [u8],
    /// Whether the last byte that went out ended a line.
    at_line_start: bool,
}

impl<'a> Stuffed<'a> {
    /// The whole of `message`.
    pub fn new(message: &'a [u8]) -> Self {
        Self { rest: message, at_line_start: true }
    }

    /// Fill `piece` up to about `bytes_max`; false when nothing was left. After the last piece the final dot may follow.
    pub fn next(&mut self, piece: &mut Vec<u8>, bytes_max: usize) -> bool {
        piece.clear();
        while piece.len() < bytes_max {
            let Some(first) = self.rest.first() else {
                if !self.at_line_start {
                    piece.extend_from_slice(b"\r\n");
                    self.at_line_start = true;
                }
                break;
            };
            if self.at_line_start && *first == b'.' {
                piece.push(b'.');
            }
            let room = self.rest.len().min(bytes_max);
            let end = self.rest[..room].iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            piece.extend_from_slice(&self.rest[..end.unwrap_or(room)]);
            self.rest = &self.rest[end.unwrap_or(room)..];
            self.at_line_start = end.is_some();
            if end.is_some() {
                piece.extend_from_slice(b"\r\n");
                self.rest = self.rest.strip_prefix(b"\r\n").unwrap_or(&self.rest[1..]);
            }
        }
        !piece.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stuffed(message: &[u8], bytes_max: usize) -> Vec<u8> {
        let (mut stuffed, mut piece, mut all) = (Stuffed::new(message), Vec::new(), Vec::new());
        while stuffed.next(&mut piece, bytes_max) {
            all.extend_from_slice(&piece);
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

    proptest! {
        #[test]
        fn nothing_in_a_message_ends_it_and_the_receiver_gets_it_back(
            message in "[a.\r\n]{0,40}",
            bytes_max in 1..20_usize,
        ) {
            let wire = String::from_utf8(stuffed(message.as_bytes(), bytes_max)).expect("ASCII");
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
