//! The result type and the errors of DNS and policy lookups for routing mail.

use std::fmt;
use std::pin::Pin;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookupError {
    NoSuchName,
    /// The lookup failed, and a retry may succeed. Contains the reason.
    Failed(String),
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchName => f.write_str("the domain name does not exist"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

pub type Lookup<'a, T> = Pin<Box<dyn Future<Output = Result<T, LookupError>> + Send + 'a>>;
