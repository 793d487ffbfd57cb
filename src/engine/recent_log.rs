//! The last lines of the log, in memory, for users without shell access.
//!
//! The tracing layer of this module receives the same filtered events as the layer that writes the log. A process has one log, so the lines
//! are a global value.

use std::collections::VecDeque;
use std::fmt::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use crate::base::clock::{Clock, SystemClock, Timestamp};
use crate::vocab::limits;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub at: Timestamp,
    /// The level of the line, such as `warn`.
    pub level: &'static str,
    pub text: String,
}

static LINES: Mutex<VecDeque<Line>> = Mutex::new(VecDeque::new());

fn lines() -> MutexGuard<'static, VecDeque<Line>> {
    // A line is added completely or not at all, so a poisoned lock is harmless.
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the stored lines, newest first.
pub fn newest() -> Vec<Line> {
    lines().iter().rev().cloned().collect()
}

/// The tracing layer that stores the lines.
pub struct RecentLogLayer;

impl<S: Subscriber> Layer<S> for RecentLogLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text::default();
        event.record(&mut text);
        let level = match *event.metadata().level() {
            Level::ERROR => "error",
            Level::WARN => "warn",
            Level::INFO => "info",
            Level::DEBUG => "debug",
            Level::TRACE => "trace",
        };
        keep(&mut lines(), Line { at: SystemClock.now(), level, text: text.finish() });
    }
}

fn keep(lines: &mut VecDeque<Line>, line: Line) {
    while lines.len() >= limits::LOG_LINES_KEPT {
        lines.pop_front();
    }
    lines.push_back(line);
}

/// Collects the message and the fields of a log event as text.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Text {
    fn finish(self) -> String {
        let whole = self.message + &self.fields;
        whole.chars().take(limits::LOG_LINE_CHARACTERS_MAX).collect()
    }
}

impl Visit for Text {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing into a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[test]
    fn the_newest_lines_are_kept_with_their_fields_and_are_bounded() {
        let log = tracing_subscriber::registry().with(RecentLogLayer);
        tracing::subscriber::with_default(log, || {
            tracing::warn!(worker = "sweep", "a step failed");
            tracing::info!("{}", "x".repeat(10_000));
        });
        let found = newest();
        let place = found.iter().position(|line| line.text == "a step failed worker=sweep").expect("the line is kept");
        assert_eq!(found[place].level, "warn");
        assert!(found.iter().any(|line| line.text.len() == limits::LOG_LINE_CHARACTERS_MAX));
    }

    #[test]
    fn old_lines_are_dropped() {
        let mut lines = VecDeque::new();
        for number in 0..=limits::LOG_LINES_KEPT {
            keep(&mut lines, Line { at: Timestamp(0), level: "info", text: number.to_string() });
        }
        assert_eq!((lines.len(), lines[0].text.as_str()), (limits::LOG_LINES_KEPT, "1"));
    }
}
