//! Positions in source text, such as the HTML of an email: byte ranges, lines and columns.

/// A range of bytes of the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Self {
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        Self { start, end: u32::try_from(end).unwrap_or(u32::MAX).max(start) }
    }

    /// Returns the text of the span, or an empty string if the span is outside `source`.
    pub fn of(self, source: &str) -> &str {
        source.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// Returns whether this span completely contains the other span.
    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// The number of preceding characters is stored for each offset that is a multiple of this number, so that columns in very long lines
/// are found quickly.
const STEP: usize = 128;

/// Converts byte offsets to lines and columns.
pub struct Lines<'a> {
    source: &'a str,
    /// The offset of the start of each line.
    starts: Vec<u32>,
    /// The number of characters before each offset that is a multiple of [`STEP`].
    characters: Vec<u32>,
}

impl<'a> Lines<'a> {
    pub fn new(source: &'a str) -> Self {
        let mut starts = vec![0];
        let mut characters = Vec::with_capacity(source.len() / STEP + 1);
        let mut count = 0;
        for (offset, byte) in source.bytes().enumerate() {
            if offset % STEP == 0 {
                characters.push(count);
            }
            // Bytes of the form 10xxxxxx continue a character.
            count += u32::from(byte & 0xC0 != 0x80);
            if byte == b'\n' {
                starts.push(u32::try_from(offset + 1).unwrap_or(u32::MAX));
            }
        }
        Self { source, starts, characters }
    }

    /// Returns the text that the offsets refer to.
    pub fn source(&self) -> &'a str {
        self.source
    }

    /// Returns the line and the column of an offset. Both count from 1; columns count characters.
    pub fn position(&self, offset: u32) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        let column = self.characters_before(offset).saturating_sub(self.characters_before(start)) + 1;
        (u32::try_from(line).unwrap_or(u32::MAX), column)
    }

    fn characters_before(&self, offset: u32) -> u32 {
        let offset = (offset as usize).min(self.source.len());
        let step = offset / STEP;
        let known = self.characters.get(step).copied().unwrap_or_default();
        let bytes = self.source.as_bytes().get(step * STEP..offset).unwrap_or_default();
        let more = bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        known + u32::try_from(more).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let source = "añb\nc\r\n";
        let lines = Lines::new(source);
        assert_eq!(
            [0, 1, 3, 4, 5, 6, 8].map(|offset| lines.position(offset)),
            [(1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2), (3, 1)]
        );
        let long = "é".repeat(3000);
        assert_eq!(Lines::new(&long).position(4000), (1, 2001));
        assert_eq!(Lines::new("").position(9), (1, 1));
    }
}
