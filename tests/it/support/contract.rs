//! Checks responses against the declaration of their operation in the published OpenAPI document.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use jsonschema::Validator;
use mailmill::base::clock::Timestamp;
use mailmill::engine::api::response::{Envelope, RequestId};
use mailmill::engine::api::{Access, Entry, Media, openapi};
use mailmill::operations::OPERATIONS;
use serde_json::{Value, json};

use super::Reply;

pub const ENVELOPE: Envelope =
    Envelope { timestamp: Timestamp(0), request: RequestId { boot: 1, number: 1 }, keeps_nulls: false };

/// The published OpenAPI document.
pub fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| openapi::document(OPERATIONS, None))
}

/// Panics unless the operation declares `reply`.
pub fn check(entry: &'static Entry, reply: &Reply) {
    let spec = entry.spec;
    if spec.access == Access::Operator || !entry.media.documented {
        return;
    }
    let shown = || format!("{}: {} {}", spec.id, reply.status, String::from_utf8_lossy(&reply.bytes));
    let id = reply.header("x-request-id").unwrap_or_else(|| panic!("{} has no request id", shown()));
    let method = spec.verb.name().to_ascii_lowercase();
    let mut response = &document()["paths"][spec.path][method]["responses"][reply.status.to_string()];
    if let Some(at) = response.get("$ref").and_then(Value::as_str) {
        response = document().pointer(at.trim_start_matches('#')).expect("references lead somewhere");
    }
    assert!(response.is_object(), "undeclared status: {}", shown());
    check_headers(response, reply, &shown());
    let content_type = reply.header("content-type").unwrap_or_default();
    assert!(response["content"].get(content_type).is_some(), "undeclared content type {content_type}: {}", shown());
    if content_type != Media::JSON_TYPE {
        return;
    }
    let body = reply.json();
    let validator = validator(spec.id, reply.status, &response["content"][content_type]["schema"]);
    let complaints: Vec<String> =
        validator.iter_errors(&body).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(complaints.is_empty(), "{}\n  {}", shown(), complaints.join("\n  "));
    if let Some(code) = body.get("code").and_then(Value::as_str) {
        let declared = spec.codes().iter().any(|declared| declared.info().wire == code && declared.info().status == reply.status);
        assert!(declared, "undeclared code: {}", shown());
    }
    // A replayed response has the time and ID of the first request.
    if body.get("metadata").is_some() && reply.header("idempotent-replayed").is_none() {
        assert_eq!(body["metadata"]["requestId"], id, "{}", shown());
        assert!(body["metadata"]["timestamp"].is_string(), "{}", shown());
    }
}

fn check_headers(response: &Value, reply: &Reply, shown: &str) {
    let declared = response["headers"].as_object().expect("every response has headers");
    for name in ["x-ratelimit-limit", "retry-after", "idempotent-replayed", "www-authenticate", "allow"] {
        let announced = declared.keys().any(|other| other.eq_ignore_ascii_case(name));
        assert!(announced || reply.header(name).is_none(), "undeclared header {name}: {shown}");
    }
    let limited = reply.headers.keys().filter(|name| name.as_str().starts_with("x-ratelimit-")).count();
    assert!(matches!(limited, 0 | 3), "some of the budget's headers are missing: {shown}");
    match reply.status {
        401 => assert!(reply.header("www-authenticate").is_some(), "no challenge: {shown}"),
        405 => assert!(reply.header("allow").is_some(), "no methods: {shown}"),
        429 | 503 => assert!(reply.header("retry-after").is_some(), "no time: {shown}"),
        _ => {}
    }
}

/// Returns the validator of a response, which is compiled once.
fn validator(id: &'static str, status: u16, schema: &Value) -> Arc<Validator> {
    type Made = Mutex<HashMap<(&'static str, u16), Arc<Validator>>>;
    static MADE: OnceLock<Made> = OnceLock::new();
    let mut made = MADE.get_or_init(Mutex::default).lock().expect("no holder of this lock panics");
    let make = || {
        let whole = json!({ "allOf": [schema], "components": { "schemas": document()["components"]["schemas"] } });
        Arc::new(jsonschema::options().should_validate_formats(true).build(&whole).expect("the schema is one"))
    };
    made.entry((id, status)).or_insert_with(make).clone()
}
