//! Escapes cells that a spreadsheet would interpret as formulas, and removes the escaping from imported cells.
//!
//! A cell that starts with one of the [`FORMULA_STARTS`] gets a leading apostrophe, which makes spreadsheets treat the cell as text. Text
//! that already looks escaped gets another apostrophe, so that an import restores exactly the exported text.

/// Characters that make a spreadsheet interpret a cell as a formula.
const FORMULA_STARTS: [u8; 6] = [b'=', b'+', b'-', b'@', b'\t', b'\r'];

/// Returns whether the cell needs an apostrophe: its first character other than an apostrophe can start a formula.
fn needs_apostrophe(cell: &[u8]) -> bool {
    cell.iter().find(|byte| **byte != b'\'').is_some_and(|first| FORMULA_STARTS.contains(first))
}

/// Returns the cell without the apostrophe that [`write_cell`] adds.
pub fn unescape(cell: &[u8]) -> &[u8] {
    match cell {
        [b'\'', rest @ ..] if needs_apostrophe(rest) => rest,
        cell => cell,
    }
}

/// Appends `text` as a CSV cell, quoted if necessary and escaped if a spreadsheet would interpret it as a formula.
pub fn write_cell(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    let quoted = bytes.iter().any(|byte| matches!(byte, b'"' | b',' | b'\n' | b'\r' | b'\t')) || text != text.trim();
    if !quoted {
        if needs_apostrophe(bytes) {
            out.push(b'\'');
        }
        out.extend_from_slice(bytes);
        return;
    }
    out.push(b'"');
    if needs_apostrophe(bytes) {
        out.push(b'\'');
    }
    for &byte in bytes {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::records::Records;
    use super::*;

    #[test]
    fn formulas_are_written_as_text() {
        for (given, expected) in [
            ("=1+1", "'=1+1"),
            ("+49 30 1", "'+49 30 1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\tx", "\"'\tx\""),
            ("\r=x", "\"'\r=x\""),
            ("=a,\"b\"", "\"'=a,\"\"b\"\"\""),
            ("plain", "plain"),
            ("'plain", "'plain"),
            ("'=1", "''=1"),
        ] {
            let mut out = Vec::new();
            write_cell(&mut out, given);
            assert_eq!(String::from_utf8(out).expect("the cell is UTF-8"), expected);
        }
    }

    proptest! {
        #[test]
        fn a_written_cell_reads_back(text in "['=+@\",\r\n\ta-]{1,8}") {
            let mut out = Vec::new();
            write_cell(&mut out, &text);
            out.extend_from_slice(b",end\n");
            let mut records = Records::new(out.as_slice(), b',', 0);
            let record = records.read().expect("the line is well formed").expect("the line has a record");
            prop_assert_eq!(unescape(record.cell(0)), text.as_bytes());
        }
    }
}
