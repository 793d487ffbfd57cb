//! Why an operation failed.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::engine::store;
use crate::vocab::codes::Code;
use crate::vocab::limits;

/// A failure: a public message for the caller, and the private cause for the log.
#[derive(Debug)]
pub struct Failure {
    pub code: Code,
    /// The message for the caller, if it is more specific than the code's own.
    pub detail: Option<Cow<'static, str>>,
    /// The envelope's `data`. Boxed, so that a result that may fail stays small.
    pub data: Option<Box<Value>>,
    /// Seconds for `Retry-After`.
    pub retry_after: Option<u64>,
    /// For the log only.
    pub cause: Option<String>,
}

impl Failure {
    /// A failure with the code's own message.
    pub fn new(code: Code) -> Self {
        Self { code, detail: None, data: None, retry_after: None, cause: None }
    }

    /// A failure whose message names the value and the remedy.
    pub fn because(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { detail: Some(detail.into()), ..Self::new(code) }
    }

    /// An invalid value in `field`; `detail` describes what was expected.
    pub fn field(field: &str, detail: impl std::fmt::Display) -> Self {
        Self::because(Code::InvalidRequest, format!("{field}: {detail}")).with(json!({ "field": field }))
    }

    /// Adds `data`.
    pub fn with(mut self, data: Value) -> Self {
        self.data = Some(Box::new(data));
        self
    }

    /// Adds the time after which a retry makes sense.
    pub fn after_seconds(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// An internal failure: the caller sees only the request's id, the log gets the cause.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        Self { cause: Some(cause.to_string()), ..Self::new(Code::Internal) }
    }
}

impl From<Code> for Failure {
    fn from(code: Code) -> Self {
        Self::new(code)
    }
}

/// The store fails either temporarily (the caller may retry) or permanently.
impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        match &error {
            store::Error::Busy | store::Error::Closed | store::Error::Io(_) => {
                Self { cause: Some(error.to_string()), ..Self::new(Code::Unavailable).after_seconds(1) }
            }
            store::Error::NoSpace => Self::new(Code::StorageFull).after_seconds(limits::STORAGE_FULL_RETRY_SECONDS),
            _ => Self::internal(error),
        }
    }
}
