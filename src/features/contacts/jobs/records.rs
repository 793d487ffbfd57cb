//! Reads the records of a CSV file, starting at any record. The reader uses the state machine of the `csv_core` crate, limits the length of
//! records, and reports the offset after each record.
//!
//! This file handles only bytes, quotes and delimiters; `columns.rs` interprets the columns.

use std::borrow::Cow;

use csv_core::{ReadRecordResult, ReaderBuilder};
use serde::{Deserialize, Serialize};

use crate::engine::api::Failure;
use crate::vocab::limits;

/// The text encoding of a stored file. A UTF-16 file is converted to UTF-8 when it is uploaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Encoding {
    Utf8,
    /// The encoding used by old office programs. Every byte sequence is valid in this encoding.
    Windows1252,
}

impl Encoding {
    pub fn text(self, bytes: &[u8]) -> Cow<'_, str> {
        match self {
            Encoding::Utf8 => String::from_utf8_lossy(bytes),
            Encoding::Windows1252 => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0,
        }
    }
}

/// Detects the encoding of a file during its upload, removes a byte order mark, and converts UTF-16 to UTF-8.
pub struct Sniffer {
    state: SniffState,
    /// Received bytes that are kept for the next call, because they may belong to a byte order mark or are only the start of a character.
    rest: Vec<u8>,
}

enum SniffState {
    Start,
    /// All bytes so far are valid UTF-8.
    Utf8,
    Windows1252,
    Utf16(encoding_rs::Decoder),
}

impl Default for Sniffer {
    fn default() -> Self {
        Self { state: SniffState::Start, rest: Vec::new() }
    }
}

impl Sniffer {
    /// Processes the next bytes of the file, and appends to `out` the bytes that must be stored.
    pub fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        match &mut self.state {
            SniffState::Start => {
                self.rest.extend_from_slice(bytes);
                if self.rest.len() >= 3 {
                    self.begin(out);
                }
            }
            SniffState::Utf8 => {
                out.extend_from_slice(bytes);
                self.check(bytes);
            }
            SniffState::Windows1252 => out.extend_from_slice(bytes),
            SniffState::Utf16(decoder) => decode(decoder, bytes, false, out),
        }
    }

    /// Processes the end of the file: appends any remaining bytes to `out`, and returns the detected encoding.
    pub fn end(mut self, out: &mut Vec<u8>) -> Encoding {
        if matches!(self.state, SniffState::Start) {
            self.begin(out);
        }
        match &mut self.state {
            SniffState::Utf16(decoder) => {
                decode(decoder, &[], true, out);
                Encoding::Utf8
            }
            SniffState::Utf8 if self.rest.is_empty() => Encoding::Utf8,
            SniffState::Utf8 | SniffState::Windows1252 | SniffState::Start => Encoding::Windows1252,
        }
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        let start = std::mem::take(&mut self.rest);
        let (state, mark) = match start.as_slice() {
            [0xFF, 0xFE, ..] => (SniffState::Utf16(encoding_rs::UTF_16LE.new_decoder_without_bom_handling()), 2),
            [0xFE, 0xFF, ..] => (SniffState::Utf16(encoding_rs::UTF_16BE.new_decoder_without_bom_handling()), 2),
            [0xEF, 0xBB, 0xBF, ..] => (SniffState::Utf8, 3),
            _ => (SniffState::Utf8, 0),
        };
        self.state = state;
        self.take(&start[mark..], out);
    }

    /// Checks whether the file is still valid UTF-8 with these bytes; if not, treats the file as Windows-1252.
    fn check(&mut self, bytes: &[u8]) {
        let joined;
        let mut bytes = bytes;
        if !self.rest.is_empty() {
            self.rest.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.rest);
            bytes = &joined;
        }
        if let Err(error) = std::str::from_utf8(bytes) {
            match error.error_len() {
                // Keep the incomplete last character, which has at most three bytes, until more bytes arrive.
                None => self.rest = bytes[error.valid_up_to()..].to_vec(),
                Some(_) => self.state = SniffState::Windows1252,
            }
        }
    }
}

fn decode(decoder: &mut encoding_rs::Decoder, mut bytes: &[u8], last: bool, out: &mut Vec<u8>) {
    let mut buffer = [0; 4096];
    loop {
        let (result, read, written, _) = decoder.decode_to_utf8(bytes, &mut buffer, last);
        out.extend_from_slice(&buffer[..written]);
        bytes = &bytes[read..];
        if result == encoding_rs::CoderResult::InputEmpty {
            return;
        }
    }
}

/// Why the rest of a file cannot be read.
#[derive(Debug)]
pub enum RecordError {
    TooLong,
    TooManyColumns,
    Source(std::io::Error),
}

/// Reads the records of a CSV file one by one.
pub struct Records<S> {
    source: S,
    parser: csv_core::Reader,
    buffer: Box<[u8]>,
    /// The range of `buffer` that has not been parsed.
    unread: std::ops::Range<usize>,
    ended: bool,
    /// The file offset of the next byte to parse.
    offset: u64,
    output: Vec<u8>,
    ends: Vec<usize>,
}

/// A record of the file: its cells, without the quotes around them.
pub struct RecordRef<'r> {
    bytes: &'r [u8],
    ends: &'r [usize],
}

impl<'r> RecordRef<'r> {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether every cell is empty.
    pub fn is_blank(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the cell in a column; returns an empty cell if the record has fewer columns.
    pub fn cell(&self, column: usize) -> &'r [u8] {
        let Some(&end) = self.ends.get(column) else { return &[] };
        let start = if column == 0 { 0 } else { self.ends[column - 1] };
        &self.bytes[start..end]
    }
}

const BUFFER_BYTES: usize = 64 * 1024;

impl<S: std::io::Read> Records<S> {
    /// Creates a reader for `source`, which must be positioned at the start of a record, at byte `offset` of its file.
    pub fn new(source: S, delimiter: u8, offset: u64) -> Self {
        Self {
            source,
            parser: ReaderBuilder::new().delimiter(delimiter).build(),
            buffer: vec![0; BUFFER_BYTES].into(),
            unread: 0..0,
            ended: false,
            offset,
            output: vec![0; limits::CONTACT_IMPORT_ROW_BYTES_MAX],
            ends: vec![0; limits::CONTACT_IMPORT_COLUMNS_MAX],
        }
    }

    /// Returns the file offset after the last record that was read.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads the next record, skipping empty lines; returns `None` at the end of the file.
    pub fn read(&mut self) -> Result<Option<RecordRef<'_>>, RecordError> {
        let (mut written, mut cells) = (0, 0);
        loop {
            if self.unread.is_empty() && !self.ended {
                let count = self.source.read(&mut self.buffer).map_err(RecordError::Source)?;
                self.unread = 0..count;
                self.ended = count == 0;
            }
            let input = &self.buffer[self.unread.clone()];
            let (result, read, wrote, ended) =
                self.parser.read_record(input, &mut self.output[written..], &mut self.ends[cells..]);
            self.unread.start += read;
            self.offset += read as u64;
            written += wrote;
            cells += ended;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => return Err(RecordError::TooLong),
                ReadRecordResult::OutputEndsFull => return Err(RecordError::TooManyColumns),
                ReadRecordResult::Record => break,
                ReadRecordResult::End => return Ok(None),
            }
        }
        Ok(Some(RecordRef { bytes: &self.output[..written], ends: &self.ends[..cells] }))
    }
}

/// Returns the headers of a file that starts with the bytes `head`, and the offset after the headers. The failure names the field `file`;
/// callers whose request has no file replace the field.
pub fn headers(head: &[u8], delimiter: u8, encoding: Encoding) -> Result<(Vec<String>, u64), Failure> {
    if head.starts_with(b"PK\x03\x04") {
        let detail = "the file is an Excel workbook or another archive; save the sheet as CSV and upload the CSV file";
        return Err(Failure::field("file", detail));
    }
    if head.contains(&0) {
        return Err(Failure::field(
            "file",
            "the file contains null characters, so it is not CSV text; save the table as CSV in UTF-8, and upload that file",
        ));
    }
    let mut records = Records::new(head, delimiter, 0);
    let found = match records.read() {
        Ok(found) => found,
        Err(_) => {
            let detail =
                "the first row, which must contain the headers, is too long or has too many columns; check the delimiter";
            return Err(Failure::field("file", detail));
        }
    };
    let Some(record) = found.filter(|record| !record.is_blank()) else {
        return Err(Failure::field(
            "file",
            "the file is empty, or its first row is blank; upload a file whose first row contains the headers",
        ));
    };
    let headers = (0..record.len()).map(|column| encoding.text(record.cell(column)).trim().to_owned()).collect();
    Ok((headers, records.offset()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_all(bytes: &[u8], offset: usize) -> Vec<(u64, Vec<String>)> {
        let mut records = Records::new(&bytes[offset..], b',', offset as u64);
        let mut all = Vec::new();
        while let Some(record) = records.read().expect("the file is well formed") {
            let cells = (0..record.len()).map(|at| String::from_utf8_lossy(record.cell(at)).into_owned()).collect();
            all.push((0, cells));
            all.last_mut().expect("a record was just added").0 = records.offset();
        }
        all
    }

    fn sniffed(parts: &[&[u8]]) -> (Encoding, Vec<u8>) {
        let (mut sniffer, mut out) = (Sniffer::default(), Vec::new());
        parts.iter().for_each(|part| sniffer.take(part, &mut out));
        (sniffer.end(&mut out), out)
    }

    #[test]
    fn quotes_line_ends_and_short_records_are_parsed() {
        let text = "a,\"b, \"\"c\"\"\"\r\n\r\n\"two\nlines\",\r\nlast";
        let cells: Vec<Vec<String>> = read_all(text.as_bytes(), 0).into_iter().map(|(_, cells)| cells).collect();
        assert_eq!(cells, [vec!["a", "b, \"c\""], vec!["two\nlines", ""], vec!["last"]]);
    }

    #[test]
    fn overlong_records_and_too_many_columns_are_refused() {
        let endless = format!("a\n\"{}", "x,y\n".repeat(limits::CONTACT_IMPORT_ROW_BYTES_MAX));
        let mut records = Records::new(endless.as_bytes(), b',', 0);
        assert!(records.read().is_ok());
        assert!(matches!(records.read(), Err(RecordError::TooLong)));
        let wide = ",".repeat(limits::CONTACT_IMPORT_COLUMNS_MAX);
        assert!(matches!(Records::new(wide.as_bytes(), b',', 0).read(), Err(RecordError::TooManyColumns)));
    }

    #[test]
    fn workbooks_and_other_binary_files_are_refused() {
        let refusal = |head: &[u8]| headers(head, b',', Encoding::Utf8).expect_err("the file is refused").text();
        assert!(refusal(b"PK\x03\x04\x14\0\x06\0[Content_Types].xml").contains("Excel"));
        assert!(refusal(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0").contains("null characters"));
        assert_eq!(headers(b"email,name\na@example.com,A", b',', Encoding::Utf8).expect("the file is CSV").0, ["email", "name"]);
    }

    #[test]
    fn encodings_are_detected_however_the_bytes_arrive() {
        let utf16 = |big: bool| -> Vec<u8> {
            let mark = std::iter::once(0xFEFF_u16).chain("e,ü😀\n".encode_utf16());
            mark.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
        };
        let samples: [(&[u8], Encoding, &[u8]); 6] = [
            ("\u{feff}e,ü😀\n".as_bytes(), Encoding::Utf8, "e,ü😀\n".as_bytes()),
            ("e,ü😀\n".as_bytes(), Encoding::Utf8, "e,ü😀\n".as_bytes()),
            (&utf16(true), Encoding::Utf8, "e,ü😀\n".as_bytes()),
            (&utf16(false), Encoding::Utf8, "e,ü😀\n".as_bytes()),
            (b"e,\xFC\n", Encoding::Windows1252, b"e,\xFC\n"),
            (b"a", Encoding::Utf8, b"a"),
        ];
        for (bytes, encoding, kept) in samples {
            for size in 1..=bytes.len() {
                assert_eq!(sniffed(&bytes.chunks(size).collect::<Vec<_>>()), (encoding, kept.to_vec()), "{bytes:?} by {size}");
            }
        }
        // Text that ends within a character is not valid UTF-8.
        assert_eq!(sniffed(&[b"ab\xC3"]).0, Encoding::Windows1252);
        assert_eq!(Encoding::Windows1252.text(b"M\xFCller \x80"), "Müller €");
    }

    proptest! {
        #[test]
        fn reading_from_any_record_returns_the_rest(text in "[ab,\"\n\r]{0,60}") {
            let all = read_all(text.as_bytes(), 0);
            for (index, (offset, _)) in all.iter().enumerate() {
                prop_assert_eq!(&read_all(text.as_bytes(), *offset as usize)[..], &all[index + 1..]);
            }
        }
    }
}
