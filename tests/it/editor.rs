//! Direct edits of documents on the shipped program: designs, two editors, repeats, permissions, previews, saved blocks.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};

use super::support::client::Call;
use super::support::{Client, operation, shared};

const PATIENCE: Duration = Duration::from_secs(300);

/// Creates an email from a design; returns the email.
async fn created(client: &Client, design: &str) -> Value {
    let project = client.project(&format!("editor {design}")).await;
    client.data("emails.create", json!({ "projectId": project, "design": design })).await
}

fn set(path: &str, value: &str) -> Value {
    json!({ "op": "set", "path": path, "value": value })
}

async fn update(client: &Client, email: &Value, operations: Value, version: u64) -> Value {
    client.data("emails.document_update", json!({ "emailId": email["id"], "operations": operations, "version": version })).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_design_becomes_an_email_that_can_be_exported() {
    let client = shared().client();
    let project = client.project("all designs").await;
    let designs = client.data("emails.designs", json!({})).await;
    let names: Vec<&str> = designs["designs"].as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names.len(), 25, "{names:?}");
    for name in names {
        let email = client.data("emails.create", json!({ "projectId": project, "design": name })).await;
        assert_eq!((&email["status"], &email["version"]), (&json!("ready"), &json!(1)), "{name}");
        let html = email["html"].as_str().expect("text");
        assert!(html.len() < 102 * 1024 && html.contains("unsubscribe_url"), "{name}: {} bytes", html.len());
        let call = Call::new(operation("emails.design_html"), json!({ "design": name, "projectId": project }));
        assert_eq!(client.try_send(call).await.expect("the server answers").status, 200, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_second_of_two_editors_gets_a_conflict_and_loses_nothing() {
    let client = shared().client();
    let email = created(&client, "blank").await;
    let first = update(&client, &email, json!([set("subject", "First")]), 1).await;
    assert_eq!((&first["subject"], &first["version"]), (&json!("First"), &json!(2)));
    let wanted = json!({ "emailId": email["id"], "operations": [set("preheader", "Second")], "version": 1 });
    let refused = client.call("emails.document_update", wanted).await.refused(StatusCode::CONFLICT, "VERSION_CONFLICT");
    assert_eq!(refused.json()["data"]["version"], 2);
    let second = update(&client, &email, json!([set("preheader", "Second")]), 2).await;
    assert_eq!((&second["subject"], &second["preheader"]), (&json!("First"), &json!("Second")));
    // If several requests change the same version at the same time, exactly one is saved.
    let calls = (0..8).map(|number| {
        let wanted = json!({ "emailId": email["id"], "operations": [set("subject", &format!("{number}"))], "version": 3 });
        client.call("emails.document_update", wanted)
    });
    let replies = futures_util::future::join_all(calls).await;
    let saved = replies.iter().filter(|reply| reply.status == 200).count();
    let conflicts = replies.iter().filter(|reply| reply.status == 409).count();
    assert_eq!((saved, conflicts), (1, 7));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeated_request_saves_one_version() {
    let client = shared().client();
    let email = created(&client, "note").await;
    let wanted = json!({ "emailId": email["id"], "operations": [{ "op": "duplicate", "id": "text-1" }] });
    let call = Call::new(operation("emails.document_update"), wanted).header("idempotency-key", "direct edit once");
    let first = client.send(call.clone()).await;
    let again = client.send(call).await;
    assert_eq!((first.status, again.header("idempotent-replayed"), &again.bytes), (200, Some("true"), &first.bytes));
    assert_eq!(client.data("emails.get", json!({ "emailId": email["id"] })).await["version"], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_operations_are_refused_and_save_nothing() {
    let client = shared().client();
    let email = created(&client, "sale").await;
    let hero = "blocks.hero-1";
    for (operations, expected) in [
        (json!([]), "operations: "),
        (json!([{ "op": "remove" }]), "operations[0].id: "),
        (json!([set(hero, "x")]), "operations[0].value: "),
        (json!([set("subject", "Fine"), set(&format!("{hero}.button.href"), "javascript:alert(1)")]), "operations[1].value: "),
        (
            json!([{ "op": "insert", "after": "hero-1", "value": { "type": "hero", "title": "Another" } }]),
            "operations[0].value: ",
        ),
        (json!([{ "op": "move", "id": "footer", "before": "hero-1" }]), "operations[0]: "),
        (json!(vec![json!({ "op": "duplicate", "id": "hero-1" }); 101]), "operations: "),
        (json!(vec![json!({ "op": "duplicate", "id": "button-1" }); 60]), "operations["),
    ] {
        let reply = client.call("emails.document_update", json!({ "emailId": email["id"], "operations": operations })).await;
        let reply = reply.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
        assert!(reply.error().starts_with(expected), "{}", reply.error());
    }
    assert_eq!(client.data("emails.get", json!({ "emailId": email["id"] })).await["version"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_saved_block_is_inserted_in_another_email_and_screenshots_follow() {
    let client = shared().client();
    let email = created(&client, "event").await;
    let project = &email["projectId"];
    let table = email["document"]["blocks"].as_array().expect("blocks").iter().find(|block| block["type"] == "table");
    let wanted = json!({ "projectId": project, "name": "When and where", "block": table });
    let saved = client.data("saved_blocks.create", wanted).await;
    let other = client.data("emails.create", json!({ "projectId": project, "design": "note" })).await;
    let operations = json!([{ "op": "insert", "before": "footer", "value": saved["block"] }]);
    let changed = update(&client, &other, operations, 1).await;
    assert!(changed["html"].as_str().is_some_and(|html| html.contains("When and where")));
    let looking = async {
        loop {
            let email = client.data("emails.get", json!({ "emailId": other["id"] })).await;
            if email["screenshotUrl"].is_string() {
                return email;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let email = tokio::time::timeout(PATIENCE, looking).await.expect("the screenshots follow");
    assert_eq!((&email["version"], &email["thumbnailUrl"].is_string()), (&json!(2), &true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_preview_and_a_dark_page_show_the_email() {
    let client = shared().client();
    let email = created(&client, "welcome").await;
    let wanted = json!({ "emailId": email["id"], "operations": [set("subject", "Only shown")], "preview": true });
    let shown = client.data("emails.document_update", wanted).await;
    assert_eq!((&shown["subject"], &shown["document"]["subject"]), (&json!("Only shown"), &json!("Only shown")));
    assert_eq!(client.data("emails.get", json!({ "emailId": email["id"] })).await["subject"], email["subject"]);
    for (dark, expected) in [(true, "@media all"), (false, "@media not all")] {
        let call = Call::new(operation("emails.html"), json!({ "emailId": email["id"], "dark": dark }));
        let reply = client.try_send(call).await.expect("the server answers");
        assert!(String::from_utf8_lossy(&reply.bytes).contains(expected), "{dark}");
    }
}
