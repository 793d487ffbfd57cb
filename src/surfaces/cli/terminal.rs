//! Writes to standard output and standard error.

use std::io::Write;

/// Writes to standard error. `eprintln!` would panic if the text cannot be written, for example because the disk is full.
pub fn complain(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Writes to standard output. Errors are ignored, because the reader may have closed its end.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes a note for the user to standard error.
pub fn note(text: &str) {
    complain(&format!("{text}\n"));
}
