//! Tests that objects of another project return 404, with exactly the same response as objects that never existed.

use http::StatusCode;
use mailmill::engine::api::Entry;
use serde_json::{Value, json};

use super::support::client::Call;
use super::support::{Client, NO_PROJECT, Reply, example, keyed, operation, shared};

/// Returns a reply without the parts that differ between requests.
fn words(reply: &Reply) -> Value {
    let mut body = reply.json();
    body["metadata"] = Value::Null;
    body
}

fn has_project(entry: &Entry) -> bool {
    (entry.example)(&super::support::contract::ENVELOPE).0.get("projectId").is_some()
}

#[tokio::test]
async fn a_project_of_another_account_does_not_exist_for_any_operation() {
    let client = shared().client();
    let mut seen = 0;
    for entry in keyed().filter(|entry| has_project(entry)) {
        let reply = client.send(Call::new(entry, example(entry, NO_PROJECT))).await;
        let reply = reply.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
        assert!(!reply.error().contains(NO_PROJECT), "{}", entry.spec.id);
        seen += 1;
    }
    assert!(seen >= 8);
}

/// Returns the path parameters of an operation that identify objects within a project.
fn object_names(entry: &Entry) -> Vec<&'static str> {
    let is_id = |name: &&str| *name == "id" || name.ends_with("Id") && *name != "projectId";
    entry.spec.path_names().filter(is_id).collect()
}

#[tokio::test]
async fn an_object_of_another_project_gets_the_same_response_as_a_missing_one() {
    let client = shared().client();
    let (ours, other) = (client.project("ours").await, client.project("another").await);
    let mut seen = 0;
    for entry in keyed().filter(|entry| has_project(entry)) {
        let names = object_names(entry);
        let [name] = names.as_slice() else { continue };
        let create = format!("{}.create", entry.spec.noun());
        let Some(create) = keyed().find(|entry| entry.spec.id == create) else { continue };
        let theirs = object(&client, create, &other).await;
        let ask = |id: &str| {
            let mut input = example(entry, &ours);
            input[*name] = id.into();
            client.send(Call::new(entry, input))
        };
        let foreign = ask(&theirs).await.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
        let nothing = ask("0123456789abcdef01234567").await.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
        assert_eq!(words(&foreign), words(&nothing), "{}", entry.spec.id);
        seen += 1;
    }
    assert!(seen >= 3);
}

/// Creates an object of this kind in `project` from the operation's example, without references to objects that do not exist.
async fn object(client: &Client, create: &'static Entry, project: &str) -> String {
    let mut input = example(create, project);
    loop {
        let reply = client.send(Call::new(create, input.clone())).await;
        let data = reply.json()["data"].take();
        if let Some(id) = data["id"].as_str() {
            return id.to_owned();
        }
        let field = data["field"].as_str().unwrap_or_else(|| panic!("{}: {}", create.spec.id, reply.error()));
        let field = field.split(['.', '[']).next().expect("a part").to_owned();
        assert!(input.as_object_mut().expect("an object").remove(&field).is_some(), "{}: {}", create.spec.id, reply.error());
    }
}

#[tokio::test]
async fn a_contact_of_another_project_cannot_be_changed() {
    let client = shared().client();
    let (ours, theirs) = (client.project("ours").await, client.project("theirs").await);
    let id = client.contact(&theirs, "safe@example.com").await;
    let before = client.data("contacts.get", json!({ "id": id, "projectId": theirs })).await;
    for entry in keyed().filter(|entry| entry.spec.noun() == "contacts" && object_names(entry) == ["id"]) {
        // A key that can read both projects may resolve the contact.
        if entry.spec.id == "contacts.project" {
            continue;
        }
        let mut input = example(entry, &ours);
        input["id"] = id.as_str().into();
        client.send(Call::new(entry, input)).await.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
    }
    assert_eq!(client.data("contacts.get", json!({ "id": id, "projectId": theirs })).await, before);
    assert_eq!(client.total(json!({ "projectId": ours })).await, 0);
    // Deleting by email does not reach the other project either.
    let deleted = client.call("contacts.bulk_delete", json!({ "projectId": ours, "emails": ["safe@example.com"] })).await;
    assert_eq!(deleted.status, 200);
    assert_eq!(client.total(json!({ "projectId": theirs })).await, 1);
    assert_eq!(operation("contacts.get").spec.verb.name(), "GET");
}
