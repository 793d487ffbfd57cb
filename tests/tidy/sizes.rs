//! How long files are, that each says what it is, and that nothing is left for later. Functions are checked by clippy.

use super::none;
use super::source::{Source, sources};

const FILE_LINES_MAX: usize = 600;
const ALL: [&str; 3] = ["src", "tests", "benches"];

/// The mark that allows more, with the reason after it, in a file's first lines.
const MARK: &str = "// long: ";

#[test]
fn files_are_not_too_long() {
    let long = |source: &Source| {
        let lines = source.text.lines().count();
        let marked = source.text.lines().take(20).any(|line| line.trim_start().starts_with(MARK));
        (lines > FILE_LINES_MAX && !marked).then(|| format!("{} has {lines} lines", source.path))
    };
    none("files beyond 600 lines without a reason", sources(&ALL).iter().filter_map(long).collect());
}

#[test]
fn every_file_says_what_it_is() {
    let silent = |source: &Source| (!source.text.starts_with("//!")).then(|| source.path.clone());
    none("files without a sentence about themselves", sources(&ALL).iter().filter_map(silent).collect());
}

#[test]
fn nothing_is_left_for_later() {
    // Written in parts, so that this file does not find itself.
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:")];
    let mut findings = Vec::new();
    for source in sources(&ALL) {
        for (number, line) in source.text.lines().enumerate() {
            if marks.iter().any(|mark| line.contains(mark)) {
                findings.push(format!("{}:{} {}", source.path, number + 1, line.trim()));
            }
        }
    }
    none("left for later", findings);
}
