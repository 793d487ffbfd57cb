//! Calls operations within the process: builds the request that an API client would send, without a socket.

use std::borrow::Cow;

use http::Method;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;

use crate::engine::api::http_types::{Body, Incoming, Peer, Reply, ReplyBody};
use crate::engine::api::input::Arguments;
use crate::engine::api::{Entry, Failure};

/// Returns the request that passes `input` to the operation `id`. Path parameters go into the path. All other values go into the JSON body
/// or, if the method has no body, into the query. A raw body in `given` replaces the JSON body.
pub fn request(operations: &[Entry], id: &str, input: Value, given: Option<(HeaderValue, Body)>, peer: Peer) -> Incoming {
    let entry = entry(operations, id);
    let Parts { path, query, body } = Parts::of(entry, input);
    let mut target = String::new();
    let mut values = path.iter();
    for part in entry.spec.path.split('/').skip(1) {
        target.push('/');
        match part.starts_with('{').then(|| values.next()).flatten() {
            Some((_, value)) => target.push_str(&escaped(value)),
            None => target.push_str(part),
        }
    }
    let mut headers = HeaderMap::new();
    let body = match (given, body) {
        (Some((content_type, body)), _) => {
            headers.insert(CONTENT_TYPE, content_type);
            body
        }
        (None, Some(body)) => {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            Body::Whole(body.into())
        }
        (None, None) => {
            if !query.is_empty() {
                target = format!("{target}?{query}");
            }
            Body::Empty
        }
    };
    let method: Method = entry.spec.verb.name().parse().expect("every verb is an HTTP method");
    // Path values are escaped, so parsing always succeeds; the default is only a fallback.
    let uri = target.parse().unwrap_or_default();
    Incoming { method, uri, headers, body, peer }
}

/// Checks whether `input` can be decoded as the input of the operation `id`, without calling the operation. The error names the invalid
/// field.
pub fn check(operations: &[Entry], id: &str, input: Value) -> Result<(), Failure> {
    let entry = entry(operations, id);
    let Parts { path, query, body } = Parts::of(entry, input);
    let path = path.iter().map(|(name, value)| (*name, Cow::Borrowed(value.as_str()))).collect();
    let body = body.as_deref().unwrap_or("{}").as_bytes();
    (entry.reads)(&Arguments { spec: entry.spec, path, query: &query, body, given: None })
}

fn entry<'a>(operations: &'a [Entry], id: &str) -> &'a Entry {
    let entry = operations.iter().find(|entry| entry.spec.id == id);
    entry.unwrap_or_else(|| panic!("there is no operation with the ID {id}"))
}

struct Parts {
    /// The path parameters in path order: names and values.
    path: Vec<(&'static str, String)>,
    query: String,
    /// The JSON body, if the method has a body.
    body: Option<String>,
}

impl Parts {
    fn of(entry: &Entry, input: Value) -> Self {
        let Value::Object(mut rest) = input else { panic!("the input of an operation must be an object") };
        let path = entry.spec.path_names().map(|name| (name, text(&rest.remove(name).unwrap_or_default()))).collect();
        if entry.spec.verb.has_body() {
            return Self { path, query: String::new(), body: Some(Value::Object(rest).to_string()) };
        }
        let pairs = rest.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name, text(&value)));
        let query = serde_urlencoded::to_string(pairs.collect::<Vec<_>>()).unwrap_or_default();
        Self { path, query, body: None }
    }
}

/// Returns the `data` of a successful response, or the whole response on failure.
pub fn data(id: &str, reply: Reply) -> Result<Value, Box<Reply>> {
    if !reply.status.is_success() {
        return Err(Box::new(reply));
    }
    assert!(
        matches!(reply.body, ReplyBody::Whole(_)),
        "the operation {id} streams its response, but the caller expects JSON data"
    );
    Ok(body(&reply)["data"].take())
}

/// Returns the response body as JSON; null if it is not JSON.
pub fn body(reply: &Reply) -> Value {
    match &reply.body {
        ReplyBody::Whole(bytes) => serde_json::from_slice(bytes).unwrap_or(Value::Null),
        ReplyBody::Stream(_) => Value::Null,
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Percent-encodes a path segment: every byte except ASCII letters, digits and `-_.~`. If the segment has at most two bytes, its dots are
/// encoded too, so that `..` cannot lead to another path.
fn escaped(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    for byte in part.bytes() {
        match byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~') || (byte == b'.' && part.len() > 2) {
            true => out.push(byte.into()),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::operations::OPERATIONS;

    #[test]
    fn an_input_is_checked_without_a_call() {
        let check = |id: &str, input: Value| check(OPERATIONS, id, input).map_err(|failure| failure.field.unwrap_or_default());
        let id = "0123456789abcdef01234567";
        assert_eq!(check("campaigns.send", json!({ "id": id })), Ok(()));
        assert_eq!(check("campaigns.send", json!({ "id": "x" })), Err("id".into()));
        assert_eq!(check("campaigns.send", json!({})), Err("id".into()));
        assert_eq!(check("contacts.delete", json!({ "id": id, "projectId": id })), Ok(()));
        assert_eq!(check("contacts.delete", json!({ "id": id, "projectId": id, "other": 1 })), Err("other".into()));
        assert_eq!(check("webhooks.create", json!({ "url": "x", "events": ["other"] })).map_err(|_| ()), Err(()));
    }

    #[test]
    fn a_value_stays_one_part_of_the_path() {
        assert_eq!(escaped("66f1a2b3"), "66f1a2b3");
        assert_eq!(escaped("../x?y#z/é"), "..%2Fx%3Fy%23z%2F%C3%A9");
        assert_eq!(escaped(".."), "%2E%2E");
    }
}
