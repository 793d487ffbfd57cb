//! Reads the sources as text, with and without comments, literals and tests.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Returns the folder of the crate.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A Rust file.
pub struct Source {
    /// The path from the root, with `/`, like `src/base/clock.rs`.
    pub path: String,
    pub text: String,
    /// The text without test-only code, with comments and the contents of literals blanked out; line numbers are unchanged.
    pub shipped: String,
}

impl Source {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("a source file is UTF-8");
        let path = path.strip_prefix(root()).expect("inside the root").to_string_lossy().replace('\\', "/");
        let is_test = path.contains("/tests/") || path.ends_with("/tests.rs") || path.starts_with("tests/");
        let shipped = if is_test { String::new() } else { without_tests(&blank(&text)) };
        Self { path, text, shipped }
    }

    /// Returns the folder or file under `src`, like `engine`.
    pub fn layer(&self) -> &str {
        let inside = self.path.strip_prefix("src/").unwrap_or(&self.path);
        inside.split(['/', '.']).next().unwrap_or(inside)
    }

    /// Returns the module of this file, like `["features", "contacts", "store"]`.
    pub fn module(&self) -> Vec<&str> {
        let inside = self.path.strip_prefix("src/").unwrap_or(&self.path);
        let inside = inside.strip_suffix(".rs").unwrap_or(inside);
        let inside = inside.strip_suffix("/mod").unwrap_or(inside);
        inside.split('/').filter(|part| !matches!(*part, "lib" | "main")).collect()
    }

    /// Returns the string literals of shipped code, each with the code before it.
    pub fn literals(&self) -> Vec<(&str, &str)> {
        let is_shipped = !self.shipped.is_empty();
        let text = self.text.split("#[cfg(test)]\nmod tests {").next().filter(|_| is_shipped).unwrap_or_default();
        let mut found = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let end = skipped(text.as_bytes(), at);
            if text.as_bytes()[at] == b'"' {
                found.push((&text[..at], &text[at + 1..end - 1]));
            }
            at = end.max(at + 1);
        }
        found
    }

    /// Returns every path that starts with `crate::` or `super::` in shipped code, with braces expanded, from the crate's root.
    pub fn paths(&self) -> Vec<(usize, Vec<String>)> {
        let mut paths = Vec::new();
        for at in word_starts(&self.shipped) {
            let rest = &self.shipped[at..];
            let before = self.shipped[..at].chars().next_back();
            if before == Some(':') || !(rest.starts_with("crate::") || rest.starts_with("super::")) {
                continue;
            }
            let mut trees = Vec::new();
            expand(rest, &mut Vec::new(), &mut trees);
            let line = line_of(&self.shipped, at);
            paths.extend(trees.into_iter().map(|tree| (line, self.absolute(tree))));
        }
        paths
    }

    fn absolute(&self, path: Vec<String>) -> Vec<String> {
        let ups = path.iter().take_while(|part| *part == "super").count();
        if ups == 0 {
            return path.into_iter().skip(1).collect();
        }
        let module = self.module();
        let kept = module[..module.len().saturating_sub(ups)].iter().map(|part| (*part).to_owned());
        kept.chain(path.into_iter().skip(ups)).collect()
    }
}

/// Returns all files under `folder`, sorted.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    found.sort();
    found.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Returns every Rust file under these folders of the root.
pub fn sources(folders: &[&str]) -> Vec<Source> {
    let all = folders.iter().flat_map(|folder| files(&root().join(folder)));
    all.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).map(|path| Source::read(&path)).collect()
}

/// Returns the line number of a position, from 1.
pub fn line_of(text: &str, at: usize) -> usize {
    text[..at].bytes().filter(|byte| *byte == b'\n').count() + 1
}

/// Returns whether `text` contains `word` as a whole word.
pub fn has_word(text: &str, word: &str) -> bool {
    let letter = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    text.match_indices(word).any(|(at, _)| {
        let bytes = text.as_bytes();
        !letter(at.checked_sub(1).and_then(|before| bytes.get(before))) && !letter(bytes.get(at + word.len()))
    })
}

/// Returns the positions where words start.
fn word_starts(text: &str) -> impl Iterator<Item = usize> {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = text.as_bytes();
    (0..bytes.len()).filter(move |&at| letter(bytes[at]) && (at == 0 || !letter(bytes[at - 1])))
}

/// Reads `a::b::{c, d::e}` from the start of `text`; returns the remaining text.
fn expand<'a>(text: &'a str, prefix: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> &'a str {
    let end = text.find(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == '*')).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let depth = prefix.len();
    if !word.is_empty() {
        prefix.push(word.to_owned());
    }
    let after = match rest.strip_prefix("::") {
        Some(tail) if tail.starts_with('{') => group(&tail[1..], prefix, found),
        Some(tail) if tail.starts_with(|letter: char| letter.is_alphabetic() || letter == '_' || letter == '*') => {
            expand(tail, prefix, found)
        }
        _ => {
            found.push(prefix.clone());
            rest
        }
    };
    prefix.truncate(depth);
    after
}

fn group<'a>(mut text: &'a str, prefix: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> &'a str {
    loop {
        text = text.trim_start_matches(|letter: char| letter.is_whitespace() || letter == ',');
        if text.is_empty() {
            return text;
        }
        if let Some(rest) = text.strip_prefix('}') {
            return rest;
        }
        text = expand(text, prefix, found);
        // `as name` does not affect the path.
        let end = text.find([',', '}']).unwrap_or(text.len());
        text = &text[end..];
    }
}

/// Blanks out comments and the contents of literals.
fn blank(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = skipped(bytes, at);
        if end == at {
            at += 1;
            continue;
        }
        out[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        at = end;
    }
    String::from_utf8(out).expect("whole literals and comments were blanked")
}

/// Returns the end of a comment or literal that starts at `at`; `at` if there is none.
fn skipped(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let find = |needle: &[u8], from: usize| {
        rest[from..].windows(needle.len()).position(|window| window == needle).map_or(bytes.len(), |found| at + from + found)
    };
    let after_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    match rest {
        [b'/', b'/', ..] => find(b"\n", 2),
        [b'/', b'*', ..] => (find(b"*/", 2) + 2).min(bytes.len()),
        [b'r', b'"' | b'#', ..] if !after_word || bytes[at - 1] == b'b' => {
            let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
            if rest.get(1 + hashes) != Some(&b'"') {
                return at;
            }
            let end = [&b"\""[..], &b"#".repeat(hashes)].concat();
            (find(&end, 2 + hashes) + end.len()).min(bytes.len())
        }
        [b'"', ..] => quoted(bytes, at, b'"'),
        [b'\'', b'\\', ..] => quoted(bytes, at, b'\''),
        [b'\'', ..] => {
            // A character literal, not a lifetime, if a quote follows one character later.
            let width = std::str::from_utf8(&rest[1..rest.len().min(5)])
                .or_else(|error| std::str::from_utf8(&rest[1..1 + error.valid_up_to()]))
                .ok()
                .and_then(|text| text.chars().next())
                .map_or(1, char::len_utf8);
            if rest.get(1 + width) == Some(&b'\'') { at + width + 2 } else { at }
        }
        _ => at,
    }
}

fn quoted(bytes: &[u8], at: usize, quote: u8) -> usize {
    let mut place = at + 1;
    while place < bytes.len() && bytes[place] != quote {
        place += if bytes[place] == b'\\' { 2 } else { 1 };
    }
    (place + 1).min(bytes.len())
}

/// Returns the range of the braces that open at `open`.
pub fn braces(code: &str, open: usize) -> Range<usize> {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return open..at + 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    open..code.len()
}

fn without_tests(code: &str) -> String {
    let mut out = code.to_owned();
    while let Some(at) = out.find("#[cfg(test)]") {
        let end = match out[at..].find(['{', ';']).map(|found| at + found) {
            Some(found) if out.as_bytes()[found] == b'{' => braces(&out, found).end,
            Some(found) => found + 1,
            None => out.len(),
        };
        let lines: String = out[at..end].chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }).collect();
        out.replace_range(at..end, &lines);
    }
    out
}

#[test]
fn comments_literals_and_tests_are_separated_from_code() {
    let text = "a // x\n\"b\\\"{\" 'c' '\\'' &'d e r#\"f\"# /* g */\n#[cfg(test)]\nmod tests { h }\ni";
    let code = blank(text);
    let words: Vec<&str> = code.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    assert_eq!(words, ["a", "d", "e", "cfg", "test", "mod", "tests", "h", "i"]);
    assert!(!has_word(&without_tests(&code), "h") && has_word(&without_tests(&code), "i"));
    assert_eq!(without_tests(&code).lines().count(), text.lines().count());
}

#[test]
fn grouped_imports_are_expanded() {
    let mut found = Vec::new();
    let rest = expand("crate::a::{b, c::{d as x, self}, e::*};", &mut Vec::new(), &mut found);
    let found: Vec<String> = found.iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["crate::a::b", "crate::a::c::d", "crate::a::c::self", "crate::a::e::*"]);
    assert_eq!(rest, ";");
}
