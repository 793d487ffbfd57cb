//! Why a command did not do what was asked, for people: what failed and what to do.

use std::fmt;

/// A failed command.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    message: String,
    code: u8,
}

/// The exit code of a command that failed.
const FAILED: u8 = 1;
/// The exit code of a command that was asked wrongly: arguments, settings. The same as for arguments that cannot be read.
const MISUSED: u8 = 2;

impl Problem {
    /// Something failed.
    pub fn failed(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), code: FAILED }
    }

    /// It was asked for in a way that cannot be.
    pub fn misused(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), code: MISUSED }
    }

    /// The process's exit code.
    pub fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
