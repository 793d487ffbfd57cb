//! Tests both protocols against a fake server that enforces them, with valid and invalid responses.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::base::random::SeededRandom;
use crate::engine::fetch::Fetch;
use crate::engine::settings;
use crate::testing::fake_model::{FakeModel, Reaction};
use crate::vocab::limits::LANGUAGE_MODEL_ANSWER_BYTES_MAX;

/// Creates a client for the fake server, with these additional settings.
fn client(protocol: &str, peer: &FakeModel, more: &[(&str, &str)]) -> Client {
    let url = if protocol == "openai" { peer.url() } else { format!("http://{}", peer.address) };
    let mut given = vec![("protocol", protocol), ("url", &url), ("model", "peer"), ("key", "secret-key"), ("repeats", "2")];
    given.extend_from_slice(more);
    let given: Vec<_> = given.iter().map(|(key, text)| (format!("models.peer.{key}"), (*text).to_owned())).collect();
    let settings = settings::load(settings::DEFAULT, None, &[], &given).expect("the settings are valid");
    let fetch = Arc::new(Fetch::new(&settings));
    Client::new("peer", &settings.models["peer"], fetch, Arc::new(SeededRandom::new(1))).expect("the model is enabled")
}

fn question() -> ModelRequest {
    ModelRequest {
        system: "You answer.".into(),
        turns: vec![Turn { speaker: Speaker::User, text: "Hello?".into() }],
        picture: None,
        schema: Some(AnswerSchema { name: "answer", about: "The answer.", schema: json!({ "type": "object" }) }),
    }
}

/// Sends a request, with retries, and waits for the outcome.
fn ask(client: &Client) -> (Result<Reply, ModelError>, Usage) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be built");
    runtime.block_on(client.ask(&question()))
}

type IsExpected = fn(&ModelError) -> bool;

const BOTH: [&str; 2] = ["openai", "anthropic"];
const QUICK: (&str, &str) = ("timeout_seconds", "1");

#[test]
fn a_reply_comes_with_its_cost() {
    for protocol in BOTH {
        let peer = FakeModel::with(vec![Reaction::Text("{\"a\":1}".into())]);
        let (reply, usage) = ask(&client(protocol, &peer, &[("input_price", "3"), ("output_price", "15")]));
        assert_eq!(reply.expect(protocol).text, "{\"a\":1}");
        let Usage { calls, input_tokens, output_tokens, micro_cost, .. } = usage;
        assert_eq!((calls, input_tokens, output_tokens, micro_cost), (1, 100, 20, 600));
        let asked = peer.asked();
        assert_eq!(asked.len(), 1);
        let (key, path) = match protocol {
            "openai" => (asked[0].header("authorization"), "/v1/chat/completions"),
            _ => (asked[0].header("x-api-key"), "/v1/messages"),
        };
        assert!(key.is_some_and(|key| key.ends_with("secret-key")));
        assert_eq!(asked[0].path, path);
    }
}

#[test]
fn a_busy_endpoint_is_retried_and_finally_given_up() {
    for protocol in BOTH {
        let busy = |status| Reaction::Status(status, "too many requests".into(), Some(0));
        let peer = FakeModel::with(vec![busy(429), busy(503), Reaction::Text("{}".into())]);
        assert!(ask(&client(protocol, &peer, &[])).0.is_ok());
        assert_eq!(peer.asked().len(), 3);

        let peer = FakeModel::with(vec![busy(529)]);
        let (reply, _) = ask(&client(protocol, &peer, &[]));
        assert!(matches!(&reply, Err(ModelError::Busy(cause)) if cause.contains("too many requests")), "{reply:?}");
        assert_eq!(peer.asked().len(), 3, "one call and two retries");
    }
}

#[test]
fn permanent_failures_are_not_retried() {
    for protocol in BOTH {
        let refused = Reaction::Status(401, "Incorrect API key provided.".into(), None);
        let cases: [(Reaction, IsExpected); 6] = [
            (
                refused,
                |trouble| matches!(trouble, ModelError::Rejected(cause) if cause.starts_with("Incorrect API key provided (401")),
            ),
            (Reaction::Refuse("I cannot help with that.".into()), |trouble| {
                *trouble == ModelError::Refused("I cannot help with that".into())
            }),
            (Reaction::Cut("{\"a\":".into()), |trouble| *trouble == ModelError::Truncated),
            (Reaction::Bytes(b"<html>".to_vec()), |trouble| matches!(trouble, ModelError::Malformed(_))),
            (Reaction::Text("  ".into()), |trouble| matches!(trouble, ModelError::Malformed(_))),
            (
                Reaction::Bytes(vec![b' '; LANGUAGE_MODEL_ANSWER_BYTES_MAX + 1]),
                |trouble| matches!(trouble, ModelError::Malformed(cause) if cause == "it is larger than 4194304 bytes"),
            ),
        ];
        for (reaction, is_expected) in cases {
            let peer = FakeModel::with(vec![reaction.clone()]);
            let (reply, _) = ask(&client(protocol, &peer, &[]));
            let trouble = reply.expect_err("the request fails");
            assert!(is_expected(&trouble), "{protocol} {reaction:?}: {trouble:?}");
            assert_eq!(peer.asked().len(), 1);
        }
    }
}

#[test]
fn a_broken_or_silent_endpoint_is_retried() {
    for protocol in BOTH {
        for bad in [Reaction::Broken, Reaction::Silent(Duration::from_secs(2))] {
            let peer = FakeModel::with(vec![bad, Reaction::Text("{}".into())]);
            assert!(ask(&client(protocol, &peer, &[QUICK])).0.is_ok());
            assert_eq!(peer.asked().len(), 2);
        }
    }
    let peer = FakeModel::with(vec![Reaction::Broken]);
    let unreachable = client("openai", &peer, &[("repeats", "0")]);
    drop(peer);
    assert!(matches!(ask(&unreachable).0, Err(ModelError::Unreachable(_))));
}

#[test]
fn an_endpoint_without_structured_output_gets_the_schema_in_the_prompt() {
    let peer = FakeModel::by(|asked| match asked.body.get("response_format") {
        Some(_) => Reaction::Status(400, "response_format is not supported by this server".into(), None),
        None => Reaction::Text("{}".into()),
    });
    let client = client("openai", &peer, &[]);
    assert!(ask(&client).0.is_ok());
    assert!(ask(&client).0.is_ok());
    let asked = peer.asked();
    assert_eq!(asked.len(), 3, "the client remembers that the server supports no schema");
    let system = asked[2].body["messages"][0]["content"].as_str().expect("the value is text");
    assert!(system.contains("JSON Schema") && system.contains("{\"type\":\"object\"}"), "{system}");
}

#[test]
fn an_image_is_sent_with_the_first_turn() {
    let picture = Picture::of(b"\x89PNG\r\n").expect("the format is one that models accept");
    assert_eq!(Picture::of(b"<svg"), None);
    for protocol in BOTH {
        let peer = FakeModel::with(vec![Reaction::Text("{}".into())]);
        let client = client(protocol, &peer, &[("vision", "true")]);
        assert!(client.sees());
        let question = ModelRequest { picture: Some(picture.clone()), ..question() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be built");
        assert!(runtime.block_on(client.ask(&question)).0.is_ok());
        let content =
            peer.asked()[0].body["messages"].as_array().expect("the body has messages").last().expect("the list has a last item")
                ["content"]
                .clone();
        let request = content.to_string();
        assert!(
            request.contains("image/png") && request.contains("iVBORw0K") && request.contains("Hello?"),
            "{protocol}: {request}"
        );
    }
}
