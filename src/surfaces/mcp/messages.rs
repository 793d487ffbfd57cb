//! Checks JSON-RPC messages before they are handled or forwarded. Rejects the messages to which the `rmcp` library would respond with an
//! HTTP status and plain text, which clients cannot parse.

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The message is not JSON (JSON-RPC 2.0 §5.1).
pub const PARSE_ERROR: i32 = -32700;
/// The message is JSON, but not a JSON-RPC message.
pub const INVALID_REQUEST: i32 = -32600;
/// The limit up to which a floating-point number represents every integer exactly: 2^53.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// The members of a message. Their values are not parsed.
type Members<'a> = HashMap<String, &'a RawValue>;

/// Returns the response to a body that is not a JSON-RPC message; `None` if it is one.
pub fn fault(body: &[u8]) -> Option<Value> {
    let Ok(text) = std::str::from_utf8(body) else {
        return Some(response(&Value::Null, PARSE_ERROR, "the message is not JSON in UTF-8; encode it in UTF-8"));
    };
    let members: Members<'_> = match serde_json::from_str(text) {
        Ok(members) => members,
        Err(error) if error.is_data() => {
            let reason = "the message must be a JSON object; send the messages of a batch one by one";
            return Some(response(&Value::Null, INVALID_REQUEST, reason));
        }
        Err(error) => {
            return Some(response(&Value::Null, PARSE_ERROR, &format!("the message is not valid JSON ({error}); correct it")));
        }
    };
    let id: Value = members.get("id").and_then(|id| serde_json::from_str(id.get()).ok()).unwrap_or_default();
    let reason = reason(&members, &id)?;
    Some(response(if is_id(&id) { &id } else { &Value::Null }, INVALID_REQUEST, reason))
}

/// Returns a JSON-RPC error response to the message with this ID.
pub fn response(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// Returns whether the value can be the ID of a message: a string or an integer.
pub fn is_id(id: &Value) -> bool {
    let is_whole = |number: f64| number.fract() == 0.0 && number.abs() < EXACT_MAX;
    id.is_string() || id.as_i64().is_some() || id.as_f64().is_some_and(is_whole)
}

/// Returns why the members do not form a message; `None` if they do.
fn reason(members: &Members<'_>, id: &Value) -> Option<&'static str> {
    let has = |name: &str| members.contains_key(name);
    let starts_with = |name: &str, mark: char| members.get(name).is_some_and(|json| json.get().starts_with(mark));
    if members.get("jsonrpc").is_none_or(|version| version.get() != "\"2.0\"") {
        return Some("jsonrpc: set it to \"2.0\"");
    }
    // The ID of an error response may be `null`, because the ID of an unreadable request is unknown.
    if has("id") && !is_id(id) && !(has("error") && id.is_null()) {
        return Some("id: use a string or an integer; a notification has no ID");
    }
    if !has("method") {
        return match (has("result"), has("error")) {
            (true, false) if !has("id") => Some("id: add the ID of the request"),
            (false, true) if !starts_with("error", '{') => Some("error: use an object with `code` and `message`"),
            (true, false) | (false, true) => None,
            (true, true) => Some("result: a response has either a result or an error; remove `result` or `error`"),
            (false, false) => Some("method: add the name of a method"),
        };
    }
    if has("result") || has("error") {
        return Some("method: a message with a method has no result and no error; remove `result` and `error`");
    }
    if !starts_with("method", '"') {
        return Some("method: use the name of a method, as a string");
    }
    let has_wrong_params = has("params") && !starts_with("params", '{') && !starts_with("params", 'n');
    has_wrong_params.then_some("params: use an object")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_pass_and_others_get_the_reason() {
        for message in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#" { "jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": { "name": "x" } } "#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":null}"#,
            r#"{"jsonrpc":"2.0","id":1.0,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#,
        ] {
            assert_eq!(fault(message.as_bytes()), None, "{message}");
        }
        for (message, id, code, part) in [
            ("not json", Value::Null, PARSE_ERROR, "not valid JSON"),
            ("", Value::Null, PARSE_ERROR, "not valid JSON"),
            ("[]", Value::Null, INVALID_REQUEST, "JSON object"),
            (r#"{"id":7,"method":"tools/list"}"#, json!(7), INVALID_REQUEST, "jsonrpc:"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, Value::Null, INVALID_REQUEST, "id:"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#, Value::Null, INVALID_REQUEST, "id:"),
            (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, json!(7), INVALID_REQUEST, "method:"),
            (r#"{"jsonrpc":"2.0","id":7}"#, json!(7), INVALID_REQUEST, "method: add"),
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[1]}"#, json!(7), INVALID_REQUEST, "params:"),
            (r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{}}"#, json!(7), INVALID_REQUEST, "result:"),
        ] {
            let answer = fault(message.as_bytes()).unwrap_or_else(|| panic!("{message} is not a message"));
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{message}");
            assert!(answer["error"]["message"].as_str().is_some_and(|text| text.contains(part)), "{answer}");
        }
        assert_eq!(fault(b"\xff").expect("the body is not text")["error"]["code"], PARSE_ERROR);
    }
}
