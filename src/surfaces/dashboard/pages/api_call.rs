//! The page that calls one operation of the API as the signed-in user, on test data. The documentation links to it.

use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde::Serialize;
use serde_json::Value;

use crate::base::clock::Timestamp;
use crate::engine::api::http_types::ReplyBody;
use crate::engine::api::operation::Takes;
use crate::engine::api::response::{Envelope, RequestId};
use crate::engine::api::{Entry, Media};
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};
use crate::surfaces::docs_links;

/// The data of the page with the form for the input, and the response.
#[derive(Serialize)]
pub struct ApiCallPage {
    /// The name in clients, such as `contacts.create`.
    name: &'static str,
    summary: &'static str,
    method: &'static str,
    path: &'static str,
    /// The page of the reference.
    docs: String,
    input: String,
    takes_file: bool,
    /// The response; `None` before the call.
    response: Option<String>,
}

page_context!(ApiCallPage, "api_call.html", {
    let page = |response: Option<&str>| Self {
        name: "tags.create",
        summary: "Create a tag",
        method: "POST",
        path: "/v1/tags",
        docs: "/docs/api/tags#create".into(),
        input: "{}".into(),
        takes_file: false,
        response: response.map(str::to_owned),
    };
    vec![page(None), page(Some("{}")), Self { takes_file: true, ..page(None) }]
});

/// Shows the form with the example of the documentation.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    let entry = entry(visit)?;
    let envelope = Envelope { timestamp: Timestamp(0), request: RequestId { boot: 0, number: 0 }, keeps_nulls: false };
    let (mut input, _) = (entry.example)(&envelope);
    // Examples contain made-up IDs, so the ID of the user's last brand replaces the ID of the project.
    if let (Some(project), Some(brand)) = (input.get_mut("projectId"), visit.jar.brand()) {
        *project = brand.into();
    }
    let text = serde_json::to_string_pretty(&input).unwrap_or_default();
    Ok(Outcome::draw(&page(entry, text, None)))
}

/// Calls the operation.
pub async fn call(visit: &Visit) -> Result<Outcome, PageError> {
    let entry = entry(visit)?;
    let text = visit.form.get("input").to_owned();
    let input = match serde_json::from_str::<Value>(&text) {
        Ok(input @ Value::Object(_)) => input,
        Ok(_) => return Ok(wrong(entry, text, "The input must be a JSON object: write the fields between { and }.")),
        Err(error) => return Ok(wrong(entry, text, &format!("The input is not valid JSON: {error}."))),
    };
    let result = visit.answer(entry.spec, input).await;
    Ok(match result {
        Ok(reply) => {
            let shown = match (&reply.body, reply.headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default())) {
                (ReplyBody::Whole(body), Some(Media::JSON_TYPE)) => pretty(body),
                (_, content_type) => format!("A file with the content type {}.", content_type.unwrap_or("unknown")),
            };
            Outcome::draw(&page(entry, text, Some(format!("Status {}\n\n{shown}", reply.status.as_u16()))))
        }
        Err(error) => Outcome::draw_with(&page(entry, text, None), Some(&error)),
    })
}

fn wrong(entry: &'static Entry, input: String, message: &str) -> Outcome {
    let error = PageError::plain(StatusCode::BAD_REQUEST, message).in_field("input");
    Outcome::draw_with(&page(entry, input, None), Some(&error))
}

fn pretty(body: &[u8]) -> String {
    serde_json::from_slice::<Value>(body)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| String::from_utf8_lossy(body).into_owned())
}

/// Returns the operation in the path, if clients can call it.
fn entry(visit: &Visit) -> Result<&'static Entry, PageError> {
    let name = visit.name("operation");
    let found = visit.api.operations().iter().find(|entry| entry.spec.client_name() == Some(name));
    found.ok_or_else(PageError::not_found)
}

fn page(entry: &'static Entry, input: String, response: Option<String>) -> ApiCallPage {
    let name = entry.spec.client_name().unwrap_or(entry.spec.id);
    ApiCallPage {
        name,
        summary: entry.spec.summary,
        method: entry.spec.verb.name(),
        path: entry.spec.path,
        docs: docs_links::address(name),
        input,
        takes_file: matches!(entry.media.takes, Takes::Form(_)),
        response,
    }
}
