//! Why an operation did not do what was asked.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::engine::store;
use crate::vocab::codes::Code;
use crate::vocab::limits;

/// A failure: public words for the caller, and the private cause for the log.
#[derive(Debug)]
pub struct Failure {
    pub code: Code,
    /// The sentence for the caller, where it says more than the code's own.
    pub detail: Option<Cow<'static, str>>,
    /// The envelope's `data`. Boxed, so that a result that may fail stays small.
    pub data: Option<Box<Value>>,
    /// Seconds for `Retry-After`.
    pub retry_after: Option<u64>,
    /// For the log only.
    pub cause: Option<String>,
}

impl Failure {
    /// A failure with the code's own sentence.
    pub fn new(code: Code) -> Self {
        Self { code, detail: None, data: None, retry_after: None, cause: None }
    }

    /// A failure that says which value and what to do next.
    pub fn because(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { detail: Some(detail.into()), ..Self::new(code) }
    }

    /// A wrong value in `field`; `detail` says what was expected.
    pub fn field(field: &str, detail: impl std::fmt::Display) -> Self {
        Self::because(Code::InvalidRequest, format!("{field}: {detail}")).with(json!({ "field": field }))
    }

    /// The same with `data`.
    pub fn with(mut self, data: Value) -> Self {
        self.data = Some(Box::new(data));
        self
    }

    /// The same with the time after which a repeat makes sense.
    pub fn after_seconds(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// A failure of ours: the caller learns nothing but the request's id, the log learns the cause.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        Self { cause: Some(cause.to_string()), ..Self::new(Code::Internal) }
    }
}

impl From<Code> for Failure {
    fn from(code: Code) -> Self {
        Self::new(code)
    }
}

/// The store fails either for a moment (the caller may repeat) or for good.
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
