//! Writes to standard output and standard error.

use std::io::{ErrorKind, Write};
use std::sync::OnceLock;

/// The first error on standard output, unless the reader closed its end.
static OUTPUT_FAILURE: OnceLock<String> = OnceLock::new();

/// Writes to standard error. `eprintln!` would panic if the text cannot be written, for example because the disk is full.
pub fn complain(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Writes to standard output. [`output_failure`] reports errors, such as a full disk. A closed pipe is not an error, because its reader
/// needs no more output.
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

/// Replaces characters that could control the terminal or reverse the text direction with spaces; keeps line breaks. The text may come
/// from servers, websites and contacts.
pub fn harmless(text: &str) -> String {
    let is_bidirectional =
        |character| matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_kept = |character: char| character == '\n' || !(character.is_control() || is_bidirectional(character));
    text.chars().map(|character| if is_kept(character) { character } else { ' ' }).collect()
}
