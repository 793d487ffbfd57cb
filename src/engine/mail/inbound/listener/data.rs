//! Finds the end of a message: CRLF, a dot and CRLF. Some servers accept other sequences as the end; a message with such a sequence is
//! rejected. If two servers disagreed on the end, attackers could hide a second message in the first one.

/// Reads a message from bytes as they arrive.
#[derive(Default)]
pub struct Data {
    place: LinePosition,
    bytes_max: usize,
    /// The message, without the dots that the protocol adds.
    bytes: Vec<u8>,
    has_bare_ends: bool,
    is_too_large: bool,
}

/// The position of the next byte in its line.
#[derive(Clone, Copy, Default)]
enum LinePosition {
    #[default]
    Start,
    Text,
    AfterReturn,
    AfterDot,
    AfterDotReturn,
}

#[derive(Debug, PartialEq, Eq)]
pub enum DataResult {
    Whole(Vec<u8>),
    /// The message has a line feed without a carriage return before it, or a carriage return without a line feed after it.
    BareEnds,
    TooLarge,
}

impl Data {
    /// Creates a reader for a message of at most `bytes_max` bytes.
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes_max, ..Self::default() }
    }

    /// Returns the number of bytes in memory.
    pub fn kept(&self) -> usize {
        self.bytes.len()
    }

    /// Discards the bytes in memory. The message is still read to its end, but not used.
    pub fn give_up(&mut self) {
        self.is_too_large = true;
        self.bytes = Vec::new();
    }

    /// Adds bytes. If they contain the end of the message, returns the number of bytes up to and including that end.
    pub fn feed(&mut self, given: &[u8]) -> Option<usize> {
        for (at, byte) in given.iter().enumerate() {
            if self.step(*byte) {
                return Some(at + 1);
            }
        }
        None
    }

    /// Returns the result, once the end of the message has been read.
    pub fn finish(self) -> DataResult {
        match (self.is_too_large, self.has_bare_ends) {
            (true, _) => DataResult::TooLarge,
            (false, true) => DataResult::BareEnds,
            (false, false) => DataResult::Whole(self.bytes),
        }
    }

    fn step(&mut self, byte: u8) -> bool {
        self.place = match (self.place, byte) {
            (LinePosition::AfterDotReturn, b'\n') => return true,
            (LinePosition::Start, b'.') => LinePosition::AfterDot,
            (LinePosition::AfterDot, b'\r') => LinePosition::AfterDotReturn,
            (LinePosition::AfterReturn, b'\n') => {
                self.keep(b"\r\n");
                LinePosition::Start
            }
            (LinePosition::Start | LinePosition::Text, b'\r') => LinePosition::AfterReturn,
            // After a lone carriage return or line feed, the next byte does not start a line.
            (LinePosition::AfterReturn | LinePosition::AfterDotReturn, _) | (_, b'\n') => {
                self.has_bare_ends = true;
                if byte == b'\r' { LinePosition::AfterReturn } else { LinePosition::Text }
            }
            // A dot at the start of a line is not kept, because the protocol added it (dot-stuffing).
            (LinePosition::Start | LinePosition::Text | LinePosition::AfterDot, byte) => {
                self.keep(&[byte]);
                LinePosition::Text
            }
        };
        false
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.bytes.len() + bytes.len() > self.bytes_max {
            self.give_up();
        }
        if !self.is_too_large {
            self.bytes.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &[u8]) -> Option<(usize, DataResult)> {
        let mut data = Data::new(100);
        let end = data.feed(given)?;
        Some((end, data.finish()))
    }

    #[test]
    fn only_a_dot_alone_between_whole_line_ends_is_the_end() {
        assert_eq!(read(b"a\r\n.\r\n"), Some((6, DataResult::Whole(b"a\r\n".to_vec()))));
        assert_eq!(read(b".\r\nMAIL"), Some((3, DataResult::Whole(Vec::new()))));
        assert_eq!(read(b"..a\r\n.b\r\n...\r\n.\r\n").map(|read| read.1), Some(DataResult::Whole(b".a\r\nb\r\n..\r\n".to_vec())));
        for smuggled in ["a\n.\r\n", "a\r\n.\n", "a\n.\n", "a\r.\r\n", "a\r\n.\r", "a\r\n.\r\r\n", "\r.\r\n", "a\r\r\n.\n"] {
            assert_eq!(read(smuggled.as_bytes()), None, "{smuggled:?}");
            let whole = format!("{smuggled}MAIL\r\n.\r\n");
            let (end, read) = read(whole.as_bytes()).expect("the data has an end");
            assert_eq!((end, read), (whole.len(), DataResult::BareEnds), "{smuggled:?}");
        }
    }

    #[test]
    fn the_chunking_of_the_bytes_makes_no_difference() {
        let given = b"..a\r\n\r\nb\r\n.\r\n";
        let mut data = Data::new(100);
        let ends: Vec<_> = given.iter().map(|byte| data.feed(&[*byte])).collect();
        assert_eq!(ends.iter().flatten().count(), 1);
        assert_eq!(data.finish(), DataResult::Whole(b".a\r\n\r\nb\r\n".to_vec()));
    }

    #[test]
    fn a_message_too_large_is_read_to_its_end_and_discarded() {
        let mut data = Data::new(100);
        assert_eq!(data.feed(&[b'a'; 10_000]), None);
        assert_eq!(data.kept(), 0);
        assert_eq!(data.feed(b"\r\n.\r\n"), Some(5));
        assert_eq!(data.finish(), DataResult::TooLarge);
    }
}
