//! Checks that files are not too long, that each file states its purpose, and that no work is left for later. Clippy checks
//! functions.

use super::none;
use super::source::{Source, sources};

const FILE_LINES_MAX: usize = 600;
const ALL: [&str; 3] = ["src", "tests", "benches"];

/// The mark in a file's first lines that allows a longer file, followed by the reason.
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
    // The words are written in parts, so that the test does not find this file.
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
