//! The page that calls one operation of the API as the signed-in user, on test data. The documentation links to it.

use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde::Serialize;
use serde_json::{Value, json};

use crate::base::clock::Timestamp;
use crate::engine::api::http_types::ReplyBody;
use crate::engine::api::operation::Takes;
use crate::engine::api::response::{Envelope, RequestId};
use crate::engine::api::{Entry, Media};
use crate::features::projects;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::surfaces::docs_links;

/// The data for the page: the form for the input, and the response.
#[derive(Serialize)]
pub struct ApiCallPage {
    /// The operation's name in API clients, such as `contacts.create`.
    name: &'static str,
    summary: &'static str,
    method: &'static str,
    path: &'static str,
    /// The link to the operation's page in the API reference.
    docs: String,
    input: String,
    takes_file: bool,
    /// Whether the user's role allows them to call the operation.
    is_allowed: bool,
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
        is_allowed: true,
        response: response.map(str::to_owned),
    };
    vec![page(None), page(Some("{}")), Self { takes_file: true, ..page(None) }, Self { is_allowed: false, ..page(None) }]
});

/// Shows the form, prefilled with the example from the documentation.
pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let entry = entry(visit)?;
    let envelope = Envelope { timestamp: Timestamp(0), request: RequestId { boot: 0, number: 0 }, keeps_nulls: false };
    let (mut input, _) = (entry.example)(&envelope);
    // Examples contain made-up IDs, so the project ID is replaced with the ID of the brand that the user used last, or of the newest brand
    // if none is stored.
    if let Some(project) = input.get_mut("projectId")
        && let Some(brand) = brand(visit).await
    {
        *project = brand;
    }
    let text = serde_json::to_string_pretty(&input).unwrap_or_default();
    Ok(PageResponse::draw(&page(visit, entry, text, None)))
}

async fn brand(visit: &Visit) -> Option<Value> {
    if let Some(brand) = visit.jar.brand() {
        return Some(brand.into());
    }
    let listed = visit.ask::<projects::ops::list::List>(json!({ "limit": 1 })).await.ok()?;
    listed.items.first().map(|brand| brand.id.to_string().into())
}

/// Calls the operation with the submitted input, and shows the response.
pub async fn call(visit: &Visit) -> Result<PageResponse, PageError> {
    let entry = entry(visit)?;
    let text = visit.form.get("input").to_owned();
    let input = match serde_json::from_str::<Value>(&text) {
        Ok(input @ Value::Object(_)) => input,
        Ok(_) => return Ok(wrong(visit, entry, text, "The input must be a JSON object: write the fields between { and }.")),
        Err(error) => return Ok(wrong(visit, entry, text, &format!("The input is not valid JSON: {error}."))),
    };
    let result = visit.answer(entry.spec, input).await;
    Ok(match result {
        Ok(reply) => {
            let shown = match (&reply.body, reply.headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default())) {
                (ReplyBody::Whole(body), Some(Media::JSON_TYPE)) => pretty(body),
                (_, content_type) => format!("The response is a file. Content type: {}.", content_type.unwrap_or("unknown")),
            };
            PageResponse::draw(&page(visit, entry, text, Some(format!("Status {}\n\n{shown}", reply.status.as_u16()))))
        }
        Err(error) => {
            let code = error.code.map(|code| code.info().wire);
            let mut shown = json!({ "success": false, "error": error.message, "code": code });
            if let Some(data) = &error.data {
                shown["data"] = (**data).clone();
            }
            let response = format!("Status {}\n\n{}", error.status.as_u16(), pretty(shown.to_string().as_bytes()));
            PageResponse::draw_with(&page(visit, entry, text, Some(response)), Some(&error))
        }
    })
}

fn wrong(visit: &Visit, entry: &'static Entry, input: String, message: &str) -> PageResponse {
    let error = PageError::plain(StatusCode::BAD_REQUEST, message).in_field("input");
    PageResponse::draw_with(&page(visit, entry, input, None), Some(&error))
}

fn pretty(body: &[u8]) -> String {
    serde_json::from_slice::<Value>(body)
        .and_then(|mut value| {
            // Operations return null fields to pages but not to API clients, so these fields are removed.
            value.get_mut("data").into_iter().for_each(leave_out_nulls);
            serde_json::to_string_pretty(&value)
        })
        .unwrap_or_else(|_| String::from_utf8_lossy(body).into_owned())
}

fn leave_out_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(leave_out_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(leave_out_nulls),
        _ => {}
    }
}

/// Returns the operation whose client name is in the path. Operations that clients cannot call have no client name.
fn entry(visit: &Visit) -> Result<&'static Entry, PageError> {
    let name = visit.path_parameter("operation");
    let found = visit.api.operations().iter().find(|entry| entry.spec.client_name() == Some(name));
    found.ok_or_else(PageError::not_found)
}

fn page(visit: &Visit, entry: &'static Entry, input: String, response: Option<String>) -> ApiCallPage {
    let name = entry.spec.client_name().unwrap_or(entry.spec.id);
    ApiCallPage {
        name,
        summary: entry.spec.summary,
        method: entry.spec.verb.name(),
        path: entry.spec.path,
        docs: docs_links::address(name),
        input,
        takes_file: matches!(entry.media.takes, Takes::Form(_)),
        is_allowed: visit.may_ask(entry.spec),
        response,
    }
}
