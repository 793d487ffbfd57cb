//! The problem that made a command fail: a message for the user, and an exit code.

use std::fmt;
use std::io;

use super::terminal::harmless;

/// TABLE: the exit codes of failed commands. `mailmill doctor` and `mailmill check` have different exit codes, which their help
/// describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The command failed for another reason.
    Failed = 1,
    /// The arguments, the settings or the input are invalid. clap uses this code for arguments that cannot be parsed.
    Misused = 2,
    /// The key is missing or invalid, or it lacks a permission; or no server is selected, or a sign-in was not approved.
    Denied = 3,
    /// The object does not exist.
    NotFound = 4,
    /// The state of the object does not allow the command.
    Conflict = 5,
    /// The request budget or a quota is used up.
    Limited = 6,
    /// The server cannot be reached or has a problem.
    Unavailable = 7,
    /// The user did not confirm the command.
    Unconfirmed = 8,
    /// The user pressed Ctrl-C: 128 plus the signal's number, as in shells.
    Interrupted = 130,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    message: String,
    exit: Exit,
}

impl Problem {
    pub fn new(exit: Exit, message: impl fmt::Display) -> Self {
        Self { message: harmless(&message.to_string()), exit }
    }

    pub fn failed(message: impl fmt::Display) -> Self {
        Self::new(Exit::Failed, message)
    }

    pub fn misused(message: impl fmt::Display) -> Self {
        Self::new(Exit::Misused, message)
    }

    /// Returns the problem for a file that cannot be read, or for standard input if `file` is `-`. The message starts with `prefix`.
    pub fn unreadable(prefix: &str, file: &str, error: &io::Error) -> Self {
        let name = named(file);
        match error.kind() {
            io::ErrorKind::InvalidData => Self::misused(format_args!("{prefix}{name} is not UTF-8 text; convert it to UTF-8")),
            _ if file == "-" => Self::misused(format_args!("{prefix}cannot read standard input: {error}")),
            _ => Self::misused(format_args!("{prefix}cannot read {file}: {error}; check the path and the file's permissions")),
        }
    }

    /// Returns the same problem with a different message.
    pub fn reworded(self, reword: impl FnOnce(&str) -> String) -> Self {
        Self { message: reword(&self.message), exit: self.exit }
    }

    pub fn code(&self) -> u8 {
        self.exit as u8
    }
}

/// Returns the name that messages use for a file; `-` is standard input.
pub fn named(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
