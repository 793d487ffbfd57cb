//! Tests the shape of responses: lists with a count, omitted fields, paths, and the fields that each permission shows.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::support::client::Call;
use super::support::{Client, Reply, operation, shared};

/// Sends any request, without checking the contract.
async fn ask(client: &Client, method: Method, target: &str) -> Reply {
    let call = Call { entry: operation("emails.get"), method, target: target.to_owned(), headers: Vec::new(), body: None };
    client.try_send(call).await.expect("the server answers")
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[tokio::test]
async fn lists_have_a_top_level_count_in_both_shapes() {
    let client = shared().client();
    let project = client.project("counted").await;
    for number in 0..3 {
        client.contact(&project, &format!("c{number}@example.com")).await;
    }
    let by_offset = client.call("contacts.list", json!({ "projectId": project, "limit": 2 })).await.json();
    assert_eq!((&by_offset["count"], &by_offset["data"]["total"]), (&json!(3), &json!(3)));
    let by_page = client.call("contacts.list", json!({ "projectId": project, "limit": 2, "page": 1 })).await.json();
    assert_eq!((&by_page["count"], by_page["data"].as_array().map(Vec::len)), (&json!(3), Some(2)));
    for id in ["tags.list", "segments.list", "topics.list", "emails.list", "campaigns.list"] {
        let list = client.call(id, json!({ "projectId": project })).await.json();
        assert_eq!(list["count"], 0, "{id}: {list}");
    }
    for id in ["projects.list", "webhooks.list", "suppressions.list", "webhooks.events", "exports.formats"] {
        let list = client.call(id, json!({})).await.json();
        assert!(list["count"].is_u64() && list["count"] == list["data"]["total"], "{id}: {list}");
    }
    let domains = client.call("domains.list", json!({ "limit": 1 })).await.json();
    assert!(domains["count"].as_u64() >= domains["data"].as_array().map(|list| list.len() as u64), "{domains}");
}

#[tokio::test]
async fn a_field_without_a_value_is_omitted_and_a_phone_is_null() {
    let client = shared().client();
    let project = client.project("sparse").await;
    let contact = client.data("contacts.create", json!({ "projectId": project, "email": "sparse@example.com" })).await;
    let expected = ["id", "email", "phone", "tags", "customFields", "status", "createdAt", "updatedAt"];
    assert_eq!((keys(&contact), &contact["phone"]), (expected.to_vec(), &Value::Null));
    let id = &contact["id"];
    let cleared =
        json!({ "id": id, "projectId": project, "firstName": null, "customFields": { "a": { "b": null }, "c": [null] } });
    let contact = client.data("contacts.update", cleared).await;
    assert_eq!(
        contact["customFields"],
        json!({ "a": { "b": null }, "c": [null] }),
        "values of the customer's own stay as they are"
    );

    let tag = client.data("tags.create", json!({ "projectId": project, "name": "vip" })).await;
    assert_eq!(keys(&tag), ["id", "name", "subscriberCount", "createdAt", "updatedAt"]);
    let hook = json!({ "url": "https://hooks.example.com/a", "events": ["subscriber.added"] });
    let hook = client.data("webhooks.create", hook).await;
    assert!(!keys(&hook).iter().any(|key| hook[*key].is_null()), "{hook}");
    let whole = client.data("projects.get", json!({ "projectId": project })).await;
    assert_eq!(whole["logoUrls"], json!({ "primary": null, "secondary": null, "favicon": null }), "logos are listed by place");
    assert_eq!(keys(&whole["brand"]["palette"]), Vec::<&str>::new());
}

#[tokio::test]
async fn a_literal_segment_takes_precedence_over_an_id_for_every_method() {
    let client = shared().client();
    let no_such_path = "This path does not exist";
    for (method, target) in [
        // `validate` starts other paths, so this path does not delete an email with the ID "validate".
        ("DELETE", "/v1/emails/validate"),
        // A word that starts other paths is never an ID, neither at the end nor before another segment.
        ("GET", "/v1/emails/%70reviews"),
        ("GET", "/v1/emails/test"),
        ("GET", "/v1/emails/%74est"),
        ("GET", "/v1/emails/test/versions"),
        ("POST", "/v1/domains/streams/verify"),
        ("POST", "/v1/domains/setup/rotate"),
        ("GET", "/v1/webhooks/stats/deliveries"),
        ("GET", "/v1/sending/batches"),
        ("GET", "/v1/contacts/bulk-delete/events"),
    ] {
        let reply =
            ask(&client, method.parse().expect("a method"), target).await.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
        assert!(reply.error().starts_with(no_such_path), "{method} {target}: {}", reply.error());
    }
    for (method, target, allowed) in [
        ("GET", "/v1/emails/previews", "POST"),
        ("GET", "/v1/domains/setup", "POST"),
        ("DELETE", "/v1/contacts/bulk", "POST"),
        ("POST", "/v1/webhooks/stats", "HEAD, GET"),
        ("POST", "/v1/emails/66f1a2b3d4e5f60718293a4b", "HEAD, GET"),
        ("PUT", "/v1/domains/acme.example", "HEAD, GET, PATCH, DELETE"),
    ] {
        let method: Method = method.parse().expect("a method");
        let reply = ask(&client, method, target).await.refused(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED");
        assert_eq!(reply.header("allow"), Some(allowed), "{target}");
    }
    let malformed = ask(&client, Method::GET, "/v1/emails/66f1a2b3").await.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
    assert!(malformed.error().starts_with("emailId: "), "{}", malformed.error());
}

#[tokio::test]
async fn any_key_lists_projects_and_its_permissions_determine_the_fields() {
    let server = &shared().server;
    let project = shared().client().project("for every key").await;
    let common = ["id", "_id", "name", "status", "domain", "createdAt", "updatedAt"];
    for permission in mailmill::vocab::permissions::Permission::ALL {
        let client = server.client("test", permission.word());
        let listed = client.data("projects.list", json!({ "limit": 100 })).await;
        let found = listed["projects"].as_array().expect("projects").iter().find(|one| one["id"] == project.as_str());
        let found = found.unwrap_or_else(|| panic!("{permission} does not list the project"));
        assert!(common.iter().all(|key| found.get(key).is_some()), "{permission}: {found}");
        let reads = ["email:read", "project:write", "audience:read", "campaign:read"].contains(&permission.word());
        assert_eq!(found.get("urls").is_some() && found.get("palette").is_some(), reads, "{permission}: {found}");
        if !reads {
            assert_eq!(keys(found), common, "{permission}");
        }
    }
}

#[tokio::test]
async fn a_key_that_may_only_send_reads_no_emails() {
    let client = shared().server.client("test", "email:send");
    let (project, id) = ("66f1a2b3d4e5f60718293a4b", "66f1a2b3d4e5f60718293a4c");
    for (operation, input) in [
        ("emails.list", json!({ "projectId": project })),
        ("emails.get", json!({ "emailId": id })),
        ("emails.html", json!({ "emailId": id })),
        ("emails.versions", json!({ "emailId": id })),
        ("emails.status", json!({ "conversationId": id })),
        ("emails.references", json!({ "projectId": project })),
        ("sending.timeline", json!({})),
        ("sending.inbox_list", json!({})),
        ("tracking.logs", json!({ "emailId": id })),
        ("exports.html", json!({ "conversationId": id })),
    ] {
        client.call(operation, input).await.refused(StatusCode::FORBIDDEN, "INSUFFICIENT_PERMISSIONS");
    }
    // A key may read the result of its own sends.
    client.call("sending.get", json!({ "sendId": id })).await.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
}
