//! Calls operations within the process: builds the request that a program would send, but does not use a socket.

use http::Method;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;

use crate::engine::api::Entry;
use crate::engine::api::http_types::{Body, Incoming, Peer, Reply, ReplyBody};

/// Returns the request that passes `input` to the operation `id`. Path parameters are put into the path. The other values are put into the
/// JSON body if the method has a body, otherwise into the query. If `given` is a raw body, it replaces them.
pub fn request(operations: &[Entry], id: &str, input: Value, given: Option<(HeaderValue, Body)>, peer: Peer) -> Incoming {
    let entry = operations.iter().find(|entry| entry.spec.id == id);
    let entry = entry.unwrap_or_else(|| panic!("there is no operation with the ID {id}"));
    let Value::Object(mut rest) = input else { panic!("the input of an operation must be an object") };
    let mut target = String::new();
    for part in entry.spec.path.split('/').skip(1) {
        target.push('/');
        match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            Some(name) => target.push_str(&escaped(&text(&rest.remove(name).unwrap_or_default()))),
            None => target.push_str(part),
        }
    }
    let mut headers = HeaderMap::new();
    let body = match given {
        Some((content_type, body)) => {
            headers.insert(CONTENT_TYPE, content_type);
            body
        }
        None if entry.spec.verb.has_body() => {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            Body::Whole(Value::Object(rest).to_string().into())
        }
        None => {
            let pairs: Vec<(String, String)> =
                rest.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name, text(&value))).collect();
            if !pairs.is_empty() {
                target = format!("{target}?{}", serde_urlencoded::to_string(pairs).unwrap_or_default());
            }
            Body::Empty
        }
    };
    let method: Method = entry.spec.verb.name().parse().expect("every verb is an HTTP method");
    // Path values are escaped, so the URI is valid; if it is not, an empty URI is used.
    let uri = target.parse().unwrap_or_default();
    Incoming { method, uri, headers, body, peer }
}

/// Returns the `data` of the operation's response, or the response itself on failure.
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

/// Returns the response's body as JSON, or null if it is not JSON.
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

/// Returns a path part in which every byte except ASCII letters, digits and `-_.~` is escaped, and also the dots of
/// `.` and `..`, so that the value cannot lead to another path.
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
    use super::*;

    #[test]
    fn a_value_stays_one_part_of_the_path() {
        assert_eq!(escaped("66f1a2b3"), "66f1a2b3");
        assert_eq!(escaped("../x?y#z/é"), "..%2Fx%3Fy%23z%2F%C3%A9");
        assert_eq!(escaped(".."), "%2E%2E");
    }
}
