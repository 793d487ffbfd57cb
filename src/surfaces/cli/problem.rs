//! Why a command failed, for people: what failed and what to do.

use std::fmt;

/// A failed command.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    message: String,
    code: u8,
}

/// The exit code of a command that failed.
const FAILED: u8 = 1;
/// The exit code for wrong arguments or settings; the same as for arguments that do not parse.
const MISUSED: u8 = 2;

impl Problem {
    /// Returns the problem of a failed command.
    pub fn failed(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), code: FAILED }
    }

    /// Returns the problem of wrong usage.
    pub fn misused(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), code: MISUSED }
    }

    /// Returns the exit code of the process.
    pub fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
