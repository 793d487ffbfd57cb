//! Tests incoming webhooks of the shipped program: the requests of each documented recipe, what survives a kill, and that no secret is
//! stored or logged.

use http::StatusCode;
use serde_json::{Value, json};

use super::support::client::Call;
use super::support::server::BOUNDLESS;
use super::support::{Client, Reply, Server, operation};

async fn create(client: &Client, project: &str, more: Value) -> (String, String) {
    let mut input = json!({ "projectId": project, "name": "Form" });
    input.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    let made = client.data("hooks.create", input).await;
    let text = |name: &str| made[name].as_str().expect("text").to_owned();
    (text("id"), text("url"))
}

/// Sends a body to the URL as another system does, without a key.
async fn send(client: &Client, url: &str, content_type: &str, body: &str) -> Reply {
    let token = url.rsplit('/').next().expect("a URL has parts");
    let call = Call::new(operation("hooks.receive"), json!({ "token": token })).body(content_type, body.to_owned());
    client.with_key(None).try_send(call).await.expect("the server answers")
}

async fn contacts(client: &Client, project: &str) -> Vec<Value> {
    let page = client.data("contacts.list", json!({ "projectId": project, "limit": 100 })).await;
    page["contacts"].as_array().expect("a list").clone()
}

/// The requests have the forms that each service's documentation shows, as in the recipes in `assets/docs/incoming-webhooks.md`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_documented_recipes_add_contacts_and_events() {
    let server = Server::start(BOUNDLESS);
    let client = server.all();
    let project = client.project("Acme").await;
    let nested = json!({
        "consentSource": "Form", "mapping": { "email": "data.fields.1.value", "firstName": "data.fields.0.value" },
    });
    let (_, plain) = create(&client, &project, json!({ "tags": ["zapier"] })).await;
    let (_, nested) = create(&client, &project, nested).await;
    let (_, form) = create(&client, &project, json!({ "redirectUrl": "https://acme.example/thanks" })).await;
    let events = json!({
        "kind": "events", "eventName": "order.paid",
        "mapping": { "email": "customer.email", "externalOrderId": "id", "dedupeKey": "id", "properties.value": "total" },
    });
    let (_, events) = create(&client, &project, events).await;
    let json_type = "application/json";
    let tally =
        json!({ "data": { "fields": [{ "label": "Name", "value": "Bea" }, { "label": "Email", "value": "bea@example.com" }] } });
    let order = json!({ "id": 7, "total": 12.5, "customer": { "email": "ada@example.com" } }).to_string();
    for (what, url, content_type, body, status, result) in [
        ("zapier", &plain, "application/json; charset=utf-8", r#"{"email":"ada@example.com","firstName":"Ada"}"#, 200, "created"),
        ("zapier as a form", &plain, "application/x-www-form-urlencoded", "email=ada%40example.com&lastName=L", 200, "updated"),
        ("make", &plain, json_type, r#"{"email":"cy@example.com","customFields":{"plan":"pro"}}"#, 200, "created"),
        ("nested", &nested, json_type, &tally.to_string(), 200, "created"),
        ("html form", &form, "application/x-www-form-urlencoded", "email=dora%40example.com&firstName=D", 303, "created"),
        ("n8n order", &events, json_type, &order, 200, "recorded"),
        ("n8n again", &events, json_type, &order, 200, "unchanged"),
    ] {
        let reply = send(&client, url, content_type, body).await;
        assert_eq!((reply.status, reply.json()["data"]["result"].as_str()), (status, Some(result)), "{what}");
        if status == 303 {
            assert_eq!(reply.header("location"), Some("https://acme.example/thanks"));
        }
    }
    let found = contacts(&client, &project).await;
    let status = |email: &str| found.iter().find(|one| one["email"] == email).map(|one| one["status"].clone());
    assert_eq!(status("bea@example.com"), Some(json!("subscribed")));
    assert_eq!(status("dora@example.com"), Some(json!("non-subscribed")));
    assert_eq!(found.len(), 4, "{found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn accepted_contacts_survive_a_kill_and_the_url_is_not_readable() {
    let mut server = Server::start(BOUNDLESS);
    let client = server.all();
    let project = client.project("Acme").await;
    let (id, url) = create(&client, &project, json!({})).await;
    for number in 0..50 {
        let reply = send(&client, &url, "application/x-www-form-urlencoded", &format!("email=c{number}@example.com")).await;
        assert_eq!(reply.status, 200);
    }
    send(&client, &url, "application/json", "{\"email\":\"wrong-canary\"}")
        .await
        .refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
    server.kill();
    server.serve();
    let client = client.at(server.address());
    assert_eq!(contacts(&client, &project).await.len(), 50);
    let shown = client.data("hooks.get", json!({ "hook": id })).await;
    assert_eq!((&shown["acceptedCount"], &shown["rejectedCount"]), (&json!(50), &json!(1)));
    let listed = client.data("hooks.deliveries", json!({ "hook": id })).await;
    let token = url.rsplit('/').next().expect("a URL has parts");
    let backup = server.data().with_file_name("backup");
    let output = server.run(&["backup", "--to", backup.to_str().expect("UTF-8")]);
    assert!(output.status.success(), "{output:?}");
    let mut places =
        vec![("responses".to_owned(), format!("{shown}{listed}").into_bytes()), ("log".to_owned(), server.log().into_bytes())];
    for folder in [server.data(), backup] {
        for entry in std::fs::read_dir(&folder).expect("readable").map(|entry| entry.expect("readable")) {
            if entry.file_type().expect("known").is_file() {
                places.push((entry.path().display().to_string(), std::fs::read(entry.path()).expect("readable")));
            }
        }
    }
    for (place, bytes) in &places {
        for secret in [token, "wrong-canary"] {
            assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{place} contains {secret}");
        }
    }
}
