//! The failure of an operation: an error code, a message for the caller, and a private cause for the log.

use std::borrow::Cow;

use http::header::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::engine::store;
use crate::vocab::codes::Code;
use crate::vocab::limits;

/// Why an operation failed: a public message for the caller, and the private cause for the log.
///
/// The message, the field and the related operation are separate, because programs and dashboard users get different messages:
/// [`Failure::text`], for programs, contains all three; [`Failure::sentence`], for users, contains only the message.
#[derive(Debug)]
pub struct Failure {
    pub code: Code,
    /// The message for the caller, if it is more specific than the error code's own message. [`Failure::text`] adds the field and the
    /// related operation to it.
    pub message: Option<Cow<'static, str>>,
    /// The invalid input field.
    pub field: Option<Box<str>>,
    /// An operation that helps the caller resolve the failure.
    pub see: Option<Box<RelatedOperation>>,
    /// The `data` of the envelope. Boxed to keep a `Result` with a failure small.
    pub data: Option<Box<Value>>,
    /// The number of seconds in `Retry-After`.
    pub retry_after: Option<u64>,
    /// The cause of the failure, for the log only.
    pub cause: Option<String>,
}

/// An operation that helps the caller after a failure.
#[derive(Debug)]
pub struct RelatedOperation {
    pub id: &'static str,
    /// What the operation does, for programs: its method, its path and a verb, such as `GET /v1/tags lists them`.
    pub hint: Cow<'static, str>,
}

/// A failure of the pipeline, with a header for its response.
pub(super) struct Refusal {
    pub(super) failure: Failure,
    pub(super) header: Option<Box<(HeaderName, HeaderValue)>>,
}

impl<F: Into<Failure>> From<F> for Refusal {
    fn from(failure: F) -> Self {
        Self { failure: failure.into(), header: None }
    }
}

impl Failure {
    /// Creates a failure with the error code's own message.
    pub fn new(code: Code) -> Self {
        Self { code, message: None, field: None, see: None, data: None, retry_after: None, cause: None }
    }

    /// Creates a failure with this message instead of the error code's own.
    pub fn because(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: Some(message.into()), ..Self::new(code) }
    }

    /// Creates a failure with the code `InvalidRequest` for `field`.
    pub fn field(field: &str, message: impl std::fmt::Display) -> Self {
        Self::because(Code::InvalidRequest, message.to_string()).in_field(field)
    }

    pub fn in_field(mut self, field: &str) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Sets the operation that helps the caller, with a hint such as `GET /v1/tags lists them`.
    pub fn see(mut self, id: &'static str, hint: impl Into<Cow<'static, str>>) -> Self {
        self.see = Some(Box::new(RelatedOperation { id, hint: hint.into() }));
        self
    }

    /// Returns the message for programs: the field, the message, and the hint of the related operation.
    pub fn text(&self) -> String {
        let message = self.message.as_deref().unwrap_or(self.code.info().message);
        let field = self.field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default();
        let Some(see) = &self.see else { return format!("{field}{message}") };
        match message.strip_suffix('.') {
            Some(_) => format!("{field}{message} {}.", see.hint),
            None => format!("{field}{message}; {}", see.hint),
        }
    }

    /// Returns the message for dashboard users, as a sentence.
    pub fn sentence(&self) -> String {
        sentence(self.message.as_deref().unwrap_or(self.code.info().message))
    }

    pub fn with(mut self, data: Value) -> Self {
        self.data = Some(Box::new(data));
        self
    }

    /// Adds the request ID to an internal failure, so that pages can show it. The log contains the cause under this ID.
    pub(super) fn of_request(self, request: &impl std::fmt::Display) -> Self {
        if self.code == Code::Internal { self.with(json!({ "requestId": request.to_string() })) } else { self }
    }

    /// Sets the number of seconds to wait before a retry.
    pub fn after_seconds(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Creates an internal failure. The log gets the cause; the caller gets a general message and the ID of the request.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        Self { cause: Some(cause.to_string()), ..Self::new(Code::Internal) }
    }
}

/// Turns a message into a sentence: capitalizes the first word if it consists only of letters, and adds a period if the message has no
/// final punctuation.
fn sentence(text: &str) -> String {
    let word = text.split(' ').next().unwrap_or_default().trim_end_matches([',', ':', ';', '.']);
    let mut letters = text.chars();
    let first = match letters.next() {
        Some(first) if word.chars().all(char::is_alphabetic) => first.to_uppercase().to_string(),
        Some(first) => first.to_string(),
        None => return String::new(),
    };
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

impl From<Code> for Failure {
    fn from(code: Code) -> Self {
        Self::new(code)
    }
}

/// Converts an error from the store. A temporary error includes the time to wait before a retry.
impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        match &error {
            store::Error::Busy | store::Error::Closed | store::Error::Io(_) => {
                Self { cause: Some(error.to_string()), ..Self::new(Code::Unavailable).after_seconds(1) }
            }
            store::Error::NotLeader => {
                Self::because(Code::Unavailable, "This node of the cluster does not accept writes now; try again.")
                    .after_seconds(1)
            }
            store::Error::NoSpace => Self::new(Code::StorageFull).after_seconds(limits::STORAGE_FULL_RETRY_SECONDS),
            store::Error::Damaged { .. } => {
                let message = "The service cannot read some of its data, because a data file is damaged. Ask the operator of this \
                               installation to run `mailmill doctor`.";
                Self { cause: Some(error.to_string()), ..Self::because(Code::Internal, message) }
            }
            _ => Self::internal(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_is_named_in_the_log_and_not_to_the_caller() {
        let damaged = store::Error::Damaged { file: "/srv/mail/live.redb".into(), found: "a page has invalid contents".into() };
        let failure = Failure::from(damaged);
        let (cause, text) = (failure.cause.as_deref().unwrap_or_default(), failure.text());
        for detail in ["/srv/mail/live.redb", "a page has invalid contents", store::damage::RESTORE] {
            assert!(cause.contains(detail) && !text.contains(detail), "{detail}: {cause}; {text}");
        }
        assert!(failure.code == Code::Internal && text.contains("a data file is damaged"), "{text}");
    }

    #[test]
    fn programs_get_the_field_and_the_operation_and_users_a_sentence() {
        for (failure, text, sentence) in [
            (
                Failure::new(Code::NotFound),
                "The resource does not exist; check the path and the ID.",
                "The resource does not exist; check the path and the ID.",
            ),
            (Failure::field("role", "there is one owner"), "role: there is one owner", "There is one owner."),
            (
                Failure::field("events", "select at least one event")
                    .see("webhooks.events", "GET /v1/webhooks/events lists them"),
                "events: select at least one event; GET /v1/webhooks/events lists them",
                "Select at least one event.",
            ),
            (
                Failure::because(Code::NotFound, "There is no such tag.").see("tags.list", "GET /v1/tags lists them"),
                "There is no such tag. GET /v1/tags lists them.",
                "There is no such tag.",
            ),
            (
                Failure::because(Code::NameTaken, "news.example.com is taken").in_field("domain"),
                "domain: news.example.com is taken",
                "news.example.com is taken.",
            ),
        ] {
            assert_eq!((failure.text().as_str(), failure.sentence().as_str()), (text, sentence));
        }
    }

    #[test]
    fn an_internal_failure_has_the_id_of_its_request() {
        let data = |failure: Failure| failure.of_request(&"req_1").data.map(|data| *data);
        assert_eq!(data(Failure::internal("the cause")), Some(json!({ "requestId": "req_1" })));
        assert_eq!(data(Failure::new(Code::NotFound)), None);
    }
}
