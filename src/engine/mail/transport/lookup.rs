//! The result of asking another server where mail goes: its type and how it fails.

use std::fmt;
use std::pin::Pin;

/// Why a look-up failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookupError {
    /// The name does not exist.
    NoSuchName,
    /// No name server could be reached, or the response is invalid; with the cause.
    Failed(String),
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchName => f.write_str("the name does not exist"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

/// A running look-up.
pub type Lookup<'a, T> = Pin<Box<dyn Future<Output = Result<T, LookupError>> + Send + 'a>>;
