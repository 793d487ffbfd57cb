//! Tests email generation under `kill -9` in every stage: afterward each email exists once and is complete, and its end was
//! reported exactly once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mailmill::base::clock::SystemClock;
use mailmill::base::random::SystemRandom;
use mailmill::engine::outbox;
use mailmill::engine::store::{Options, Store};
use mailmill::vocab::tables::DatabaseKind;
use mailmill::vocab::webhook_events::WebhookEvent;
use serde_json::{Value, json};

use super::support::server::BOUNDLESS;
use super::support::{Client, Server};

const LOOK: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_secs(300);

async fn status(client: &Client, conversation: &str) -> Value {
    client.data("emails.status", json!({ "conversationId": conversation })).await
}

/// Polls until at least this percentage is done.
async fn beyond(client: &Client, conversation: &str, percentage: u64) -> Value {
    let looking = async {
        loop {
            let now = status(client, conversation).await;
            let is_over = now["status"] == "completed" || now["status"] == "failed";
            if is_over || now["progress"]["percentage"].as_u64().expect("a number") >= percentage {
                return now;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(PATIENCE, looking).await.expect("the generation continues")
}

/// Returns the outbox events of a stopped server about a conversation.
fn emitted_events(server: &Server, conversation: &str) -> Vec<WebhookEvent> {
    let options = Options { database_kind: DatabaseKind::Environment, cache_bytes: 4 << 20 };
    let random = Arc::new(SystemRandom::default());
    let store = Store::open(&server.data().join("test.redb"), &options, Arc::new(SystemClock), random).expect("the store opens");
    let events = outbox::waiting(&store.read(), usize::MAX).expect("the outbox can be read");
    let own = events.into_iter().filter(|(_, event)| event.envelope()["metadata"]["conversationId"] == conversation);
    let kinds = own.map(|(_, event)| event.kind).collect();
    store.close();
    kinds
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_generation_killed_in_every_stage_ends_once_and_complete() {
    let mut server = Server::start(BOUNDLESS);
    let key = server.key("test", "all");
    let mut client = Client::new(server.address(), Some(key.clone()));
    let project = client.project("generation").await;
    // Events without a subscriber are not stored.
    let asks = ["email.generation.started", "email.generation.completed", "email.generation.failed"];
    let hook = json!({ "url": "https://acme.example/hook", "events": asks, "active": false });
    client.data("webhooks.create", hook).await;
    let wanted = json!({
        "projectId": project, "prompt": "Welcome series for new subscribers, 10% off with the code HELLO10",
        "languages": ["en", "de"], "count": 4,
    });
    let started = client.data("emails.generate", wanted).await;
    let conversation = started["conversationId"].as_str().expect("an id").to_owned();
    let mut strikes = 0;
    // Kill the server before the plan, right after it, and in each later stage.
    for percentage in [0, 5, 20, 40, 60, 80, 94] {
        let seen = beyond(&client, &conversation, percentage).await;
        strikes += u32::from(seen["status"] != "completed");
        server.kill();
        server.serve();
        client = Client::new(server.address(), Some(key.clone()));
        let kept = status(&client, &conversation).await;
        let done = |status: &Value| status["progress"]["percentage"].as_u64().expect("a number");
        assert!(done(&kept) >= done(&seen), "{} forgets {}", kept["progress"], seen["progress"]);
    }
    assert!(strikes >= 4, "the generation was too quick to be struck: {strikes}");
    let done = beyond(&client, &conversation, 101).await;
    assert_eq!(done["status"], "completed", "{}", done["error"]);
    let emails = done["result"]["emails"].as_array().expect("emails");
    let ids: BTreeSet<&str> = emails.iter().map(|email| email["id"].as_str().expect("an id")).collect();
    assert_eq!((emails.len(), ids.len()), (8, 8));
    for email in emails {
        assert_eq!((&email["status"], &email["version"]), (&json!("ready"), &json!(1)), "{email}");
        assert!(email["html"].as_str().is_some_and(|html| html.contains("</html>")));
        assert!(email["screenshotUrl"].is_string(), "{}", email["warnings"]);
    }
    server.signal("TERM");
    server.wait();
    assert_eq!(
        emitted_events(&server, &conversation),
        [WebhookEvent::EmailGenerationStarted, WebhookEvent::EmailGenerationCompleted]
    );
}
