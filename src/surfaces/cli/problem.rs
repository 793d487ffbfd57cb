//! The problem that made a command fail: a message for the user, and an exit code.

use std::fmt;

/// A problem that made a command fail.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    message: String,
    code: u8,
}

/// The exit code of a command that failed.
const FAILED: u8 = 1;
/// The exit code for wrong arguments or settings, the same as clap's for arguments that cannot be parsed.
const MISUSED: u8 = 2;

impl Problem {
    /// Returns a problem that reports a failed command.
    pub fn failed(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), code: FAILED }
    }

    /// Returns a problem that reports incorrect usage.
    pub fn misused(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), code: MISUSED }
    }

    /// Returns the process's exit code for the problem.
    pub fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
