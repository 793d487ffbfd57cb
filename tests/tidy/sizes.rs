//! Sizes of files and functions, and words that must not ship.

use super::none;
use super::source::{Source, braces, line_of, sources};

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 70;
const ALL: [&str; 3] = ["src", "tests", "benches"];

/// The marker that allows a longer one, followed by the reason: in a file's first lines, or right above a function or in its first line.
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
fn functions_are_not_too_long() {
    let mut findings = Vec::new();
    for source in sources(&ALL) {
        for (at, _) in source.code.match_indices("fn ") {
            let before = source.code[..at].bytes().next_back();
            if before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                continue;
            }
            let Some(open) = source.code[at..].find(['{', ';']).map(|found| at + found) else { continue };
            if source.code.as_bytes()[open] == b';' {
                continue;
            }
            let (first, last) = (line_of(&source.code, at), line_of(&source.code, braces(&source.code, open).end));
            let around: Vec<&str> = source.text.lines().skip(first.saturating_sub(3)).take(6).collect();
            let marked = around.iter().any(|line| line.trim_start().starts_with(MARK));
            if last - first + 1 > FUNCTION_LINES_MAX && !marked {
                findings.push(format!("{}:{first} has {} lines", source.path, last - first + 1));
            }
        }
    }
    none("functions beyond 70 lines without a reason", findings);
}

#[test]
fn every_file_has_a_description() {
    let silent = |source: &Source| (!source.text.starts_with("//!")).then(|| source.path.clone());
    none("files without a sentence about themselves", sources(&ALL).iter().filter_map(silent).collect());
}

#[test]
fn shipped_code_has_no_unwrap_and_no_open_tasks() {
    let mut findings = Vec::new();
    for source in sources(&ALL) {
        for (number, line) in source.shipped.lines().enumerate() {
            if line.contains(".unwrap()") || line.contains("todo!(") || line.contains("unimplemented!(") || line.contains("dbg!(")
            {
                findings.push(format!("{}:{} {}", source.path, number + 1, line.trim()));
            }
        }
        for (number, line) in source.text.lines().enumerate() {
            // Split, so that this file does not match itself.
            if [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:")].iter().any(|word| line.contains(word)) {
                findings.push(format!("{}:{} {}", source.path, number + 1, line.trim()));
            }
        }
    }
    none("left for later", findings);
}
