//! The result of asking another server where mail goes: its type and how it fails.

use std::fmt;
use std::pin::Pin;

/// Why a look-up has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookupError {
    /// The name does not exist.
    NoSuchName,
    /// Nobody could be asked, or the answer makes no sense; why.
    Failed(String),
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchName => f.write_str("there is no such name"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

/// A look-up on its way.
pub type Lookup<'a, T> = Pin<Box<dyn Future<Output = Result<T, LookupError>> + Send + 'a>>;
