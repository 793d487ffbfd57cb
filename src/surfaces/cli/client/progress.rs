//! A line on standard error that shows the progress of an upload or of work on the server. Nothing is written if there is no terminal.

use std::sync::Mutex;

use super::super::terminal::complain;

const BAR_CELLS: usize = 24;
/// The control sequence that returns to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[2K";

/// A progress line, which is removed when it is dropped.
pub struct Progress {
    label: String,
    is_shown: bool,
    /// The last line that was written. An identical line is not written again.
    last: Mutex<String>,
}

impl Progress {
    pub fn new(label: impl Into<String>, is_shown: bool) -> Self {
        Self { label: label.into(), is_shown, last: Mutex::new(String::new()) }
    }

    #[cfg(test)]
    pub fn hidden() -> Self {
        Self::new("", false)
    }

    /// Shows the percentage, if it is known, and a note.
    pub fn show(&self, percentage: Option<u8>, note: &str) {
        if !self.is_shown {
            return;
        }
        let line = line(&self.label, percentage, note);
        let Ok(mut last) = self.last.lock() else { return };
        if *last != line {
            complain(&format!("{CLEAR}{line}"));
            *last = line;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.last.lock().is_ok_and(|last| !last.is_empty()) {
            complain(CLEAR);
        }
    }
}

fn line(label: &str, percentage: Option<u8>, note: &str) -> String {
    let note = if note.is_empty() { String::new() } else { format!("  {note}") };
    let Some(percentage) = percentage.map(|percentage| percentage.min(100)) else { return format!("{label}…{note}") };
    let full = usize::from(percentage) * BAR_CELLS / 100;
    format!("{label} [{}{}] {percentage:>3}%{note}", "#".repeat(full), "-".repeat(BAR_CELLS - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_a_bar_of_constant_width() {
        assert_eq!(line("Importing", None, ""), "Importing…");
        assert_eq!(line("Importing", Some(50), "reading"), "Importing [############------------]  50%  reading");
        assert_eq!(line("Importing", Some(0), "").len(), line("Importing", Some(255), "").len());
    }
}
