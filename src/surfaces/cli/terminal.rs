//! Writes to standard output and standard error.

use std::fmt;
use std::io::{ErrorKind, Write};
use std::sync::OnceLock;

/// The first error when writing to standard output. A pipe closed by its reader is not an error.
static OUTPUT_FAILURE: OnceLock<String> = OnceLock::new();

/// Writes to standard error. `eprintln!` panics if the text cannot be written, for example because the disk is full.
pub fn complain(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Writes to standard output. Errors, such as a full disk, are stored for [`output_failure`]. A pipe closed by its reader is not an error,
/// because the reader wants no more output.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
        && error.kind() != ErrorKind::BrokenPipe
    {
        let _ = OUTPUT_FAILURE.set(error.to_string());
    }
}

/// Returns the error that made standard output incomplete, if any.
pub fn output_failure() -> Option<&'static str> {
    OUTPUT_FAILURE.get().map(String::as_str)
}

/// Writes a note for the user to standard error.
pub fn note(text: &str) {
    complain(&format!("{}\n", harmless(text)));
}

/// Replaces characters that could control the terminal or reverse the text direction with spaces. Line breaks are kept. The text may come
/// from servers, websites and contacts.
pub fn harmless(text: &str) -> String {
    text.chars().map(|character| if is_harmless(character) { character } else { ' ' }).collect()
}

/// Like [`harmless`], but for JSON: replaces the characters with escape sequences, so that the values stay the same. JSON contains these
/// characters only in strings.
pub fn harmless_json(json: &impl fmt::Display) -> String {
    let mut out = String::new();
    for character in json.to_string().chars() {
        match is_harmless(character) {
            true => out.push(character),
            false => out.push_str(&format!("\\u{:04x}", u32::from(character))),
        }
    }
    out
}

fn is_harmless(character: char) -> bool {
    let is_bidirectional = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character == '\n' || !(character.is_control() || is_bidirectional)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn json_keeps_its_values_without_characters_that_control_the_terminal() {
        let value = json!({ "name": "a\u{9b}2J\u{1b}[31m\u{202e}b\u{7f}\n北京" });
        let text = harmless_json(&value);
        assert!(!text.contains(['\u{9b}', '\u{1b}', '\u{202e}', '\u{7f}']), "{text:?}");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("it is JSON"), value);
        let pretty = harmless_json(&format_args!("{value:#}"));
        assert_eq!((pretty.lines().count(), serde_json::from_str::<Value>(&pretty).expect("it is JSON")), (3, value));
    }
}
