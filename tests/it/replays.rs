//! Tests repeated requests with an `Idempotency-Key` (`assets/docs/idempotency.md`).

use http::StatusCode;
use mailmill::engine::api::{Entry, Replay};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::support::client::Call;
use super::support::{NO_PROJECT, Reply, example, keyed, operation, shared};

/// Operations whose example needs another server, so their first response can be a failure that is not stored.
const OUTWARD: [&str; 2] = ["connections.create", "storefront.connect"];

fn replayed() -> impl Iterator<Item = &'static Entry> {
    keyed().filter(|entry| entry.spec.replay == Replay::Keyed)
}

fn is_replay(reply: &Reply) -> bool {
    reply.header("idempotent-replayed") == Some("true")
}

fn creation(project: &str, email: &str, key: &str) -> Call {
    let input = json!({ "projectId": project, "email": email });
    Call::new(operation("contacts.create"), input).header("idempotency-key", key)
}

#[tokio::test]
async fn a_repeat_gets_the_same_bytes_and_another_request_a_conflict() {
    let client = shared().client();
    assert!(replayed().count() >= 2);
    for entry in replayed().filter(|entry| !OUTWARD.contains(&entry.spec.id)) {
        let id = entry.spec.id;
        let project = client.project(id).await;
        let key = format!("sweep {id}");
        let call = Call::new(entry, example(entry, &project)).header("idempotency-key", key.clone());
        let first = client.send(call.clone()).await;
        let again = client.send(call.clone()).await;
        assert!(first.status < 429 && !is_replay(&first) && is_replay(&again), "{id}: {first:?} {again:?}");
        assert_eq!((first.status, &first.bytes), (again.status, &again.bytes), "{id}");
        assert_ne!(first.header("x-request-id"), again.header("x-request-id"), "{id}");
        let mut body: Value = serde_json::from_slice(call.body.as_ref().expect("a body")).expect("JSON");
        body["somethingElse"] = true.into();
        client.send(call.json(body)).await.refused(StatusCode::CONFLICT, "IDEMPOTENCY_CONFLICT");
    }
}

#[tokio::test]
async fn a_repeat_has_no_second_effect() {
    let client = shared().client();
    let project = client.project("one effect").await;
    let first = client.send(creation(&project, "one@example.com", "effect")).await;
    let id = first.json()["data"]["id"].as_str().expect("an id").to_owned();
    client.data("contacts.delete", json!({ "id": id, "projectId": project })).await;
    let again = client.send(creation(&project, "one@example.com", "effect")).await;
    // A moment later, no data about the contact is returned, not even by a stored response.
    match again.status {
        201 => assert!(is_replay(&again)),
        status => assert_eq!((status, again.json()["code"].clone()), (410, json!("ANSWER_ERASED"))),
    }
    assert_eq!(client.total(json!({ "projectId": project })).await, 0);
}

#[tokio::test]
async fn the_same_request_in_another_notation_is_the_same() {
    let client = shared().client();
    let project = client.project("spelling").await;
    let call = creation(&project, "spelling@example.com", "spelling");
    let first = client.send(call.clone()).await;
    let spelt = format!("{{ \"email\": \"spelling@ex\\u0061mple.com\",\n \"projectId\": \"{project}\" }}");
    let again = client.send(call.body("application/json", spelt)).await;
    assert_eq!((first.status, again.status, is_replay(&again)), (201, 201, true));
}

#[tokio::test]
async fn a_failed_request_is_stored_too() {
    let client = shared().client();
    let first = client.send(creation(NO_PROJECT, "gone@example.com", "kept failure")).await;
    let again = client.send(creation(NO_PROJECT, "gone@example.com", "kept failure")).await;
    assert_eq!((first.status, again.status, &first.bytes), (404, 404, &again.bytes));
    assert!(is_replay(&again));
}

#[tokio::test]
async fn a_key_of_the_wrong_length_is_refused() {
    let client = shared().client();
    let project = client.project("lengths").await;
    for entry in replayed() {
        let call = Call::new(entry, example(entry, &project));
        for wrong in ["x".repeat(101), String::new()] {
            let reply = client.send(call.clone().header("idempotency-key", wrong)).await;
            reply.refused(StatusCode::BAD_REQUEST, "IDEMPOTENCY_KEY_INVALID");
        }
    }
    assert_eq!(client.send(creation(&project, "long@example.com", &"x".repeat(100))).await.status, 201);
}

#[tokio::test]
async fn two_api_keys_do_not_share_idempotency_keys() {
    let shared = shared();
    let (one, two) = (shared.client(), shared.server.all());
    let project = one.project("scopes").await;
    assert_eq!(one.send(creation(&project, "one@example.com", "scope")).await.status, 201);
    let other = two.send(creation(&project, "two@example.com", "scope")).await;
    assert_eq!((other.status, is_replay(&other)), (201, false));
}

#[tokio::test]
async fn of_many_simultaneous_requests_one_takes_effect() {
    let client = shared().client();
    let project = client.project("at once").await;
    let mut running = JoinSet::new();
    for _ in 0..32 {
        let (client, call) = (client.clone(), creation(&project, "once@example.com", "at once"));
        running.spawn(async move { client.send(call).await });
    }
    let replies = running.join_all().await;
    let fresh = replies.iter().filter(|reply| reply.status == 201 && !is_replay(reply)).count();
    assert_eq!(fresh, 1);
    for reply in &replies {
        match reply.status {
            201 => assert_eq!(reply.bytes, replies.iter().find(|reply| reply.status == 201).expect("one succeeded").bytes),
            503 => assert_eq!((reply.code().as_str(), reply.header("retry-after")), ("IDEMPOTENCY_IN_PROGRESS", Some("1"))),
            other => panic!("{other}: {reply:?}"),
        }
    }
    assert_eq!(client.total(json!({ "projectId": project })).await, 1);
}
