//! Errors shown to users: a status, a message, and the invalid field of the form.

use http::StatusCode;
use serde_json::Value;

use crate::engine::api::Failure;
use crate::vocab::codes::Code;

/// Why an action failed, as shown to users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageError {
    pub status: StatusCode,
    /// The API's error code; `None` for errors that do not come from the API.
    pub code: Option<Code>,
    pub message: String,
    /// The name of the form field with the error; empty if there is none.
    pub field: String,
    /// The `data` of the API's error.
    pub data: Option<Box<Value>>,
}

impl PageError {
    /// Creates an error that does not come from the API.
    pub fn plain(status: StatusCode, message: &str) -> Self {
        Self { status, code: None, message: message.to_owned(), field: String::new(), data: None }
    }

    /// Returns the error for a form that is from another site or has expired.
    pub fn invalid_form() -> Self {
        Self::plain(
            StatusCode::FORBIDDEN,
            "The form expired or came from another site, so nothing was changed. Go back, reload the page, and submit the form again.",
        )
    }

    /// Returns the error for a form that arrived incomplete.
    pub fn broken_form() -> Self {
        Self::plain(StatusCode::BAD_REQUEST, "The form arrived incomplete, so nothing was changed. Go back and submit it again.")
    }

    pub fn not_allowed() -> Self {
        Self::plain(
            StatusCode::FORBIDDEN,
            "Your role doesn't allow this. The owner or an admin of the account can change your role.",
        )
    }

    pub fn not_found() -> Self {
        Self::plain(StatusCode::NOT_FOUND, "Page not found. The URL may be incomplete, or the item may have been deleted.")
    }

    /// Returns the error for a form whose action is missing or unknown.
    pub fn unknown_action() -> Self {
        Self::plain(
            StatusCode::BAD_REQUEST,
            "The form was sent with an unknown action, so nothing was changed. Go back and use one of the buttons on the page.",
        )
    }

    /// Prepares the error for the error page: "Page not found" replaces a message about an unknown ID, because users do not see IDs.
    pub fn without_ids(self) -> Self {
        let is_for_users = TEXTS.iter().any(|(.., text)| *text == self.message);
        if self.code != Some(Code::NotFound) || is_for_users {
            return self;
        }
        Self { code: self.code, ..Self::not_found() }
    }

    /// Sets the form field that the error is about.
    pub fn in_field(mut self, field: &str) -> Self {
        self.field = field.to_owned();
        self
    }
}

/// TABLE: the messages that users see instead of the API's messages. Each row has the error code, the related operation (empty if none),
/// and the message.
const TEXTS: &[(Code, &str, &str)] = &[
    (Code::TransportNotConfigured, "", "Live sending isn't set up. Ask the server operator to configure a mail relay."),
    (Code::NotFound, "projects.list", "This brand doesn't exist. Choose another brand."),
    (Code::NotFound, "segments.list", "This segment no longer exists. Choose another segment."),
    (Code::NotFound, "tags.list", "This tag no longer exists. Choose another tag."),
    (Code::NotFound, "topics.list", "This topic no longer exists. Choose another topic."),
];

/// TABLE: the next steps on the dashboard, which are added to the API's messages. Each row has the error's related operation and the step.
const REMEDIES: &[(&str, &str)] = &[("domains.create", "Add the domain under Domains, and publish the DNS records shown there.")];

/// Returns the message that users see for an API failure with this error code, related operation and message.
pub fn for_users(code: &str, see: &str, message: String) -> String {
    if let Some((.., text)) = TEXTS.iter().find(|(known, id, _)| known.info().wire == code && *id == see) {
        return (*text).to_owned();
    }
    match REMEDIES.iter().find(|(id, _)| *id == see) {
        Some((_, remedy)) => format!("{message} {remedy}"),
        None => message,
    }
}

/// Returns the message for an internal failure, with the ID of the request if it is known.
fn internal(data: Option<&Value>) -> String {
    let retry = "Something went wrong on the server. Try again.";
    match data.and_then(|data| data["requestId"].as_str()) {
        Some(id) => format!("{retry} If the error persists, give the server operator this request ID: {id}."),
        None => retry.to_owned(),
    }
}

fn too_many(retry_after: Option<u64>) -> String {
    match retry_after {
        Some(seconds) if seconds > 1 => format!("Too many requests. Wait {seconds} seconds and try again."),
        _ => "Too many requests. Wait a second and try again.".to_owned(),
    }
}

impl From<Failure> for PageError {
    fn from(failure: Failure) -> Self {
        let info = failure.code.info();
        let status = StatusCode::from_u16(info.status).expect("the table contains valid HTTP statuses");
        let message = match failure.code {
            Code::Internal if failure.message.is_none() => internal(failure.data.as_deref()),
            Code::RateLimitExceeded => too_many(failure.retry_after),
            _ => for_users(info.wire, failure.see.as_ref().map_or("", |see| see.id), failure.sentence()),
        };
        let field = failure.field.map(String::from).unwrap_or_default();
        Self { status, code: Some(failure.code), message, field, data: failure.data }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn failures_of_the_server_are_explained_without_fields_and_settings() {
        let internal = Failure::internal("the cause").with(json!({ "requestId": "req_1" }));
        let id = "Something went wrong on the server. Try again. If the error persists, give the server operator this request ID: req_1.";
        let transport = Failure::because(Code::TransportNotConfigured, "Set [mail] relay = [\"smtp://host:587\"].");
        for (failure, message) in [
            (internal, id),
            (transport, "Live sending isn't set up. Ask the server operator to configure a mail relay."),
            (Failure::new(Code::RateLimitExceeded).after_seconds(3), "Too many requests. Wait 3 seconds and try again."),
        ] {
            assert_eq!(PageError::from(failure).message, message);
        }
    }

    #[test]
    fn a_failure_becomes_a_sentence_with_the_remedy_that_pages_have() {
        let error = PageError::from(Failure::field("role", "there is one owner"));
        assert_eq!(
            (error.status, error.field.as_str(), error.message.as_str()),
            (StatusCode::BAD_REQUEST, "role", "There is one owner.")
        );
        let unverified = Failure::because(Code::DomainNotVerified, "The domain a.example is not verified.").in_field("from");
        let error = PageError::from(unverified.see("domains.create", "POST /v1/domains adds it"));
        assert_eq!(
            error.message,
            "The domain a.example is not verified. Add the domain under Domains, and publish the DNS records shown there."
        );
    }
}
