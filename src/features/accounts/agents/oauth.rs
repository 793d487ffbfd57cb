//! Requests and responses for agents in the form that OAuth specifies: no envelope, OAuth error codes, and bodies in JSON or as a form.

use std::collections::BTreeSet;

use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use schemars::Schema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::engine::api::call::body_failure;
use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::{Failure, RawRequest};
use crate::vocab::limits;

/// An OAuth 2 error code (RFC 6749 §5.2, RFC 7591 §3.2.2, RFC 8628 §3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    InvalidRequest,
    InvalidClientMetadata,
    InvalidScope,
    UnsupportedGrantType,
    AuthorizationPending,
    ExpiredToken,
    InvalidGrant,
}

impl ErrorCode {
    const fn text(self) -> &'static str {
        match self {
            ErrorCode::InvalidRequest => "invalid_request",
            ErrorCode::InvalidClientMetadata => "invalid_client_metadata",
            ErrorCode::InvalidScope => "invalid_scope",
            ErrorCode::UnsupportedGrantType => "unsupported_grant_type",
            ErrorCode::AuthorizationPending => "authorization_pending",
            ErrorCode::ExpiredToken => "expired_token",
            ErrorCode::InvalidGrant => "invalid_grant",
        }
    }
}

/// Matches a token that this server signs: three base64url parts separated by dots.
pub const TOKEN_PATTERN: &str = r"^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$";

/// Marks these fields as required in a request schema and adds the given rules to each. Other fields are allowed, because they are ignored
/// (RFC 6749 §3.2).
pub fn require(schema: &mut Schema, fields: &[(&str, Value)]) {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    schema.insert("required".to_owned(), json!(names));
    schema.insert("additionalProperties".to_owned(), json!(true));
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut).expect("the schema describes an object");
    for field in properties.values_mut().filter_map(Value::as_object_mut) {
        field.remove("default");
    }
    for (name, more) in fields {
        let field = properties.get_mut(*name).and_then(Value::as_object_mut).expect("the type has this field");
        field.extend(more.as_object().expect("the rules are an object").clone());
    }
}

/// Returns an OAuth error response with status 400.
pub fn refusal(word: ErrorCode, description: impl Into<String>) -> Reply {
    reply(StatusCode::BAD_REQUEST, &json!({ "error": word.text(), "error_description": description.into() }))
}

/// Returns a response that must not be cached.
pub fn reply(status: StatusCode, body: &Value) -> Reply {
    document(status, body, "no-store")
}

/// Returns a response with this `Cache-Control` value.
pub fn document(status: StatusCode, body: &Value, cache: &'static str) -> Reply {
    let body = body.to_string();
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    Reply { status, headers, body: ReplyBody::Whole(body.into()) }
}

/// Parses a request's fields: as a form if the content type is `application/x-www-form-urlencoded`, and otherwise as JSON. If the fields
/// are invalid or a field is repeated, the inner `Err` is the OAuth error response. `T` must ignore unknown fields, as RFC 6749 §3.2
/// requires for the token endpoint.
pub async fn fields<T: DeserializeOwned>(request: RawRequest) -> Result<Result<T, Reply>, Failure> {
    let is_form = request.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).is_some_and(|value| {
        value.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/x-www-form-urlencoded")
    });
    let max = limits::AGENT_BODY_BYTES_MAX;
    let body = request.body.collect(max).await.map_err(|error| body_failure(error, max))?;
    let invalid = |description: String| refusal(ErrorCode::InvalidRequest, description);
    if is_form {
        if let Some(name) = repeated(&body) {
            return Ok(Err(invalid(format!(
                "The field {name} appears in the form more than once. Send it only once (RFC 6749 §3.2)."
            ))));
        }
        let fields = serde_urlencoded::from_bytes(&body);
        return Ok(fields.map_err(|error| invalid(format!("The form data in the body is invalid: {error}."))));
    }
    // serde would also accept an array and assign its elements to the fields by position.
    if !body.trim_ascii_start().starts_with(b"{") {
        return Ok(Err(invalid(
            "The body is invalid: send a JSON object, or a form with Content-Type: application/x-www-form-urlencoded.".into(),
        )));
    }
    let fields = serde_json::from_slice(&body);
    Ok(fields.map_err(|error| invalid(format!("The JSON body is invalid: {error}."))))
}

/// Returns the first name that occurs twice in a form.
fn repeated(form: &[u8]) -> Option<String> {
    let mut names = BTreeSet::new();
    let mut fields = url::form_urlencoded::parse(form);
    fields.find(|(name, _)| !names.insert(name.clone())).map(|(name, _)| name.into_owned())
}
