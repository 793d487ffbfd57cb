//! Invalid requests: 400, 405, 413 and 415 for every operation.

use http::{Method, StatusCode};
use mailmill::engine::api::operation::Takes;
use mailmill::engine::api::{Access, Entry};
use mailmill::operations::OPERATIONS;
use serde_json::{Value, json};

use super::support::client::Call;
use super::support::server::BOUNDLESS;
use super::support::{NO_PROJECT, Server, example, keyed, shared};

fn takes_json(entry: &&'static Entry) -> bool {
    entry.spec.verb.has_body() && matches!(entry.media.takes, Takes::Json)
}

fn call(entry: &'static Entry) -> Call {
    Call::new(entry, example(entry, NO_PROJECT))
}

#[tokio::test]
async fn broken_json_is_refused_with_line_and_column() {
    let client = shared().client();
    for entry in keyed().filter(takes_json) {
        let reply = client.send(call(entry).body("application/json", "{\n  ,\n}")).await;
        let reply = reply.refused(StatusCode::BAD_REQUEST, "MALFORMED_JSON");
        let data = &reply.json()["data"];
        assert_eq!((&data["line"], &data["column"]), (&json!(2), &json!(3)), "{}: {}", entry.spec.id, reply.error());
        assert!(reply.error().contains("line 2, column 3"), "{}", reply.error());
    }
}

#[tokio::test]
async fn a_body_that_is_not_an_object_is_refused() {
    let client = shared().client();
    for entry in keyed().filter(takes_json) {
        for body in ["[]", "null", "\"text\"", "7"] {
            let reply = client.send(call(entry).body("application/json", body)).await;
            assert_eq!((reply.status, reply.code().as_str()), (400, "INVALID_REQUEST"), "{} {body}", entry.spec.id);
        }
    }
}

#[tokio::test]
async fn an_unknown_field_is_refused_by_name() {
    let client = shared().client();
    for entry in keyed().filter(|entry| !matches!(entry.media.takes, Takes::Form(_))) {
        let mut call = call(entry);
        if entry.spec.verb.has_body() && takes_json(&entry) {
            let mut body: Value = serde_json::from_slice(&call.body.take().expect("a body")).expect("JSON");
            body["hue"] = "red".into();
            call = call.json(body);
        } else {
            let joint = if call.target.contains('?') { '&' } else { '?' };
            call.target = format!("{}{joint}hue=red", call.target);
        }
        let reply = client.send(call).await.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
        assert!(reply.error().contains("hue"), "{}: {}", entry.spec.id, reply.error());
    }
}

#[tokio::test]
async fn a_wrong_value_is_refused_by_its_field() {
    let client = shared().client();
    for entry in keyed().filter(takes_json) {
        let (input, _) = (entry.example)(&super::support::contract::ENVELOPE);
        let names: Vec<&str> = entry.spec.path_names().collect();
        for name in input.as_object().expect("an object").keys().filter(|name| !names.contains(&name.as_str())) {
            let mut call = call(entry);
            let mut body: Value = serde_json::from_slice(&call.body.take().expect("a body")).expect("JSON");
            // No field of any operation accepts this number.
            body[name] = json!(-7.5);
            let reply = client.send(call.json(body)).await;
            let refused = (reply.status, reply.code().as_str()) == (400, "INVALID_REQUEST");
            assert!(refused && reply.error().contains(name.as_str()), "{} {name}: {}", entry.spec.id, reply.error());
        }
    }
}

#[tokio::test]
async fn another_content_type_is_refused() {
    let client = shared().client();
    for entry in keyed().filter(takes_json) {
        for content_type in ["text/plain", "application/x-www-form-urlencoded", "application/xml", ""] {
            let body = call(entry).body.expect("a body");
            let reply = client.send(call(entry).body(content_type, body)).await;
            reply.refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE");
        }
        let body = call(entry).body.expect("a body");
        let reply = client.send(call(entry).body("Application/JSON; charset=utf-8", body)).await;
        assert_ne!(reply.status, 415, "{}", entry.spec.id);
    }
}

#[tokio::test]
async fn an_unsupported_method_is_refused_with_the_supported_ones() {
    let client = shared().client();
    let visible = || OPERATIONS.iter().filter(|entry| entry.spec.access != Access::Operator && entry.media.documented);
    for entry in visible() {
        let taken: Vec<&str> = visible()
            .filter(|other| std::iter::once(&other.spec.path).chain(other.spec.aliases).any(|path| *path == entry.spec.path))
            .map(|other| other.spec.verb.name())
            .collect();
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE"] {
            if taken.contains(&method) {
                continue;
            }
            let mut call = call(entry);
            call.method = Method::from_bytes(method.as_bytes()).expect("a method");
            let reply = client.send(call).await.refused(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED");
            let allowed = reply.header("allow").expect("the methods").to_owned();
            let allowed: Vec<&str> = allowed.split(", ").filter(|method| *method != "HEAD").collect();
            assert!(allowed.len() == taken.len() && allowed.iter().all(|method| taken.contains(method)), "{}", entry.spec.id);
        }
    }
}

#[tokio::test]
async fn operations_of_the_operator_do_not_exist_on_the_network() {
    let client = shared().client();
    for entry in OPERATIONS.iter().filter(|entry| entry.spec.access == Access::Operator) {
        let shares = OPERATIONS.iter().any(|other| other.spec.path == entry.spec.path && other.spec.access != Access::Operator);
        let reply = client.send(call(entry)).await;
        assert_eq!(reply.status, if shares { 405 } else { 404 }, "{}", entry.spec.id);
    }
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused() {
    let server = Server::start(&format!(
        "{BOUNDLESS}\n[limits]\nbody_bytes_default = 2048\nbody_bytes_bulk = 4096\nupload_bytes_max = 8192\n"
    ));
    let client = server.all();
    for entry in keyed().filter(takes_json) {
        let large = format!("{{\"padding\": \"{}\"}}", "x".repeat(10_000));
        let reply = client.send(call(entry).body("application/json", large)).await;
        let reply = reply.refused(StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE");
        assert!(reply.json()["data"]["maxBytes"].is_u64(), "{}", entry.spec.id);
    }
}
