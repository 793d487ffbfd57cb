//! Tests webhooks of the shipped program, with endpoints on loopback.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::StatusCode;
use mailmill::base::clock::{Clock, SystemClock};
use serde_json::{Value, json};

use super::continuous_backup::moment;
use super::support::hook_sink::{HookSink, Reaction};
use super::support::server::BOUNDLESS;
use super::support::{Client, Server};

const LOOK: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(300);
const SIGNATURE: &str = "x-service-signature";
const ALTERNATE: &str = "x-service-signature-alternate";

/// Settings that allow endpoints on this machine, with short pauses.
pub fn settings(more: &str) -> String {
    format!(
        "{BOUNDLESS}\n[outbound]\nallow_networks = [\"127.0.0.0/8\"]\n\n[webhooks]\nallow_http = true\nfirst_retry_seconds = 1\n\
         second_retry_seconds = 2\n{more}"
    )
}

/// Creates a webhook; returns its ID and secret.
pub async fn hook(client: &Client, url: &str, events: &[&str]) -> (String, String) {
    let made = client.data("webhooks.create", json!({ "url": url, "events": events })).await;
    let text = |name: &str| made[name].as_str().expect("text").to_owned();
    (text("id"), text("secret"))
}

/// Returns the deliveries of a webhook, newest first.
pub async fn deliveries(client: &Client, webhook: &str) -> Vec<Value> {
    let page = client.data("webhooks.deliveries", json!({ "webhookId": webhook, "limit": 100 })).await;
    let list = page["deliveries"].as_array().expect("a list").clone();
    assert!(page["total"].as_u64().expect("a total") >= list.len() as u64);
    list
}

/// Polls until there is a result.
async fn until<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let asking = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.expect("there is a result in time")
}

/// Returns the newest delivery when it has this status.
async fn newest(client: &Client, webhook: &str, status: &str) -> Value {
    until(async || deliveries(client, webhook).await.into_iter().next().filter(|delivery| delivery["status"] == status)).await
}

struct WebhookFixture {
    server: Server,
    client: Client,
    project: String,
}

impl WebhookFixture {
    async fn with(more: &str) -> Self {
        let server = Server::start(&settings(more));
        let client = server.all();
        let project = client.project("hooks").await;
        Self { server, client, project }
    }

    async fn new() -> Self {
        Self::with("").await
    }

    async fn contact(&self, email: &str) -> String {
        self.client.contact(&self.project, email).await
    }
}

#[tokio::test]
async fn an_event_arrives_with_the_documented_headers_and_is_recorded() {
    let fixture = WebhookFixture::new().await;
    let sink = HookSink::content().await;
    let (id, secret) = hook(&fixture.client, &sink.url(), &["subscriber.added"]).await;
    let contact = fixture
        .client
        .data("contacts.create", json!({ "projectId": fixture.project, "email": "zoe@example.com", "tags": ["Zoë & 北京 🎉"] }));
    let contact = contact.await;
    let got = sink.wait(1).await.remove(0);
    assert!(got.head.starts_with("POST /hook?shop=7 HTTP/1.1\r\n"), "{}", got.head);
    assert!(got.is_signed(SIGNATURE, &secret), "{got:?}");
    let event = got.json();
    for (name, value) in [
        ("content-type", "application/json"),
        ("user-agent", "Service-Webhooks/1.0"),
        ("x-service-event-type", "subscriber.added"),
        ("x-service-event-id", event["id"].as_str().expect("an id")),
    ] {
        assert_eq!(got.header(name), Some(value), "{name}");
    }
    for absent in ["x-service-test", "webhook-id", ALTERNATE, "accept-encoding"] {
        assert_eq!(got.header(absent), None, "{absent}");
    }
    assert_eq!((&event["type"], &event["apiVersion"]), (&json!("subscriber.added"), &json!("v1")));
    let data = json!({ "subscriberId": contact["id"], "projectId": fixture.project, "email": contact["email"], "tags": ["Zoë & 北京 🎉"] });
    assert_eq!(event["data"], data);
    assert_eq!(event["metadata"]["projectId"], json!(fixture.project));

    let delivery = newest(&fixture.client, &id, "success").await;
    assert_eq!((&delivery["eventId"], &delivery["attempts"]), (&event["id"], &json!(1)));
    assert_eq!(delivery["response"], json!({ "statusCode": 200, "body": "ok" }));
    let attempt = &delivery["attemptLog"][0];
    assert_eq!(attempt["id"].as_str(), got.header("x-service-delivery-id"));
    let one = json!({ "webhookId": id, "deliveryId": delivery["id"] });
    let mut details = fixture.client.data("webhooks.delivery", one.clone()).await;
    // The body is exactly the one that was sent, so its signature can be checked.
    assert_eq!(details["body"].take().as_str().map(str::as_bytes), Some(got.body.as_slice()));
    details.as_object_mut().expect("an object").remove("body");
    assert_eq!(details, delivery);
    let reader = fixture.server.client("test", "webhook:read").data("webhooks.delivery", one).await;
    assert_eq!(reader, delivery, "without webhook:write there is no body");
    let webhook = fixture.client.data("webhooks.get", json!({ "webhookId": id })).await;
    assert_eq!((&webhook["successCount"], &webhook["pendingCount"]), (&json!(1), &json!(0)));
    assert!(webhook["lastTriggeredAt"].is_string());
    let stats = fixture.client.data("webhooks.stats", json!({})).await;
    assert_eq!((&stats["successfulDeliveries"], &stats["successRate"]), (&json!(1), &json!(100.0)));
    assert_eq!(stats["days"][0]["successful"], 1);
    // The webhook does not subscribe to other event types.
    let change = json!({ "id": contact["id"], "projectId": fixture.project, "firstName": "Zoë" });
    fixture.client.data("contacts.update", change).await;
    fixture.contact("next@example.com").await;
    assert!(sink.wait(2).await[1].json()["data"]["email"] == "next@example.com");
}

#[tokio::test]
async fn three_attempts_with_pauses_the_same_bytes_and_distinct_ids_and_no_fourth() {
    let fixture = WebhookFixture::new().await;
    let sink = HookSink::start(|_, _| Reaction::Answer(500, "", "out of order\u{1b}[0m".into())).await;
    let (id, secret) = hook(&fixture.client, &sink.url(), &["subscriber.added"]).await;
    fixture.contact("ada@example.com").await;
    let delivery = newest(&fixture.client, &id, "failed").await;
    let got = sink.got();
    assert_eq!((got.len(), &delivery["attempts"]), (3, &json!(3)));
    let pauses: Vec<u128> = got.windows(2).map(|pair| (pair[1].at - pair[0].at).as_millis()).collect();
    // On a busy machine, an attempt may be late, but never early.
    assert!((800..20_000).contains(&pauses[0]) && (1_600..20_000).contains(&pauses[1]), "{pauses:?}");
    for (number, got) in got.iter().enumerate() {
        assert!(got.is_signed(SIGNATURE, &secret));
        assert_eq!((&got.body, got.header("x-service-event-id")), (&sink.got()[0].body, delivery["eventId"].as_str()));
        let attempt = &delivery["attemptLog"][number];
        assert_eq!(attempt["id"].as_str(), got.header("x-service-delivery-id"));
        assert_eq!((&attempt["statusCode"], &attempt["response"]), (&json!(500), &json!("out of order [0m")));
    }
    assert_ne!(delivery["attemptLog"][0]["id"], delivery["attemptLog"][1]["id"]);
    let webhook = fixture.client.data("webhooks.get", json!({ "webhookId": id })).await;
    assert_eq!((&webhook["failureCount"], &webhook["consecutiveFailures"]), (&json!(1), &json!(3)));
}

#[tokio::test]
async fn a_successful_second_attempt_is_the_last() {
    let fixture = WebhookFixture::new().await;
    let sink = HookSink::start(|_, number| match number {
        0 => Reaction::Close,
        _ => Reaction::status(204),
    });
    let sink = sink.await;
    let (id, _) = hook(&fixture.client, &sink.url(), &["subscriber.added"]).await;
    fixture.contact("ada@example.com").await;
    let delivery = newest(&fixture.client, &id, "success").await;
    assert_eq!((&delivery["attempts"], &delivery["error"], sink.got().len()), (&json!(2), &Value::Null, 2));
    assert!(delivery["attemptLog"][0]["error"].is_string() && delivery["attemptLog"][0]["statusCode"].is_null());
}

#[tokio::test]
async fn a_redirect_is_a_failure_and_is_not_followed() {
    let fixture = WebhookFixture::new().await;
    let other = HookSink::content().await;
    let target = Box::leak(format!("Location: {}\r\n", other.url()).into_boxed_str());
    let sink = HookSink::start(|_, _| Reaction::Answer(307, target, String::new())).await;
    let (id, _) = hook(&fixture.client, &sink.url(), &["subscriber.added"]).await;
    fixture.contact("ada@example.com").await;
    let delivery = newest(&fixture.client, &id, "failed").await;
    assert!(delivery["error"].as_str().is_some_and(|error| error.contains("redirects are not followed")), "{delivery}");
    assert_eq!((sink.got().len(), other.got().len()), (3, 0));
}

#[tokio::test]
async fn an_attempt_has_ten_seconds_whatever_the_endpoint_does_with_them() {
    let fixture = WebhookFixture::new().await;
    let silent = HookSink::start(|_, _| Reaction::Silence).await;
    let dripping = HookSink::start(|_, _| Reaction::Drip).await;
    let quick = HookSink::content().await;
    let (one, _) = hook(&fixture.client, &silent.url(), &["subscriber.added"]).await;
    let (two, _) = hook(&fixture.client, &dripping.url(), &["subscriber.added"]).await;
    hook(&fixture.client, &quick.url(), &["subscriber.added"]).await;
    fixture.contact("ada@example.com").await;
    quick.wait(1).await;
    let delivered = SystemClock.now();
    for id in [one, two] {
        let attempt = until(async || {
            let attempt = deliveries(&fixture.client, &id).await.first()?["attemptLog"][0].clone();
            (!attempt["endedAt"].is_null()).then_some(attempt)
        });
        let attempt = attempt.await;
        let took = attempt["responseTime"].as_u64().expect("a time");
        assert!((9_900..20_000).contains(&took), "{attempt}");
        assert!(moment(&attempt["endedAt"]) > delivered, "others do not wait for it: {attempt}");
        assert!(attempt["error"].as_str().is_some_and(|error| error.contains("within 10 seconds")), "{attempt}");
    }
}

#[tokio::test]
async fn an_endpoint_can_request_a_pause_or_report_that_it_is_gone() {
    let fixture = WebhookFixture::new().await;
    let waits = HookSink::start(|_, number| match number {
        0 => Reaction::Answer(429, "Retry-After: 3\r\n", String::new()),
        _ => Reaction::status(200),
    });
    let waits = waits.await;
    let gone = HookSink::start(|_, _| Reaction::status(410)).await;
    let (one, _) = hook(&fixture.client, &waits.url(), &["subscriber.added"]).await;
    let (two, _) = hook(&fixture.client, &gone.url(), &["subscriber.added"]).await;
    fixture.contact("ada@example.com").await;
    newest(&fixture.client, &one, "success").await;
    let got = waits.got();
    assert!((got[1].at - got[0].at).as_millis() >= 2_900, "it asked for three seconds");
    newest(&fixture.client, &two, "failed").await;
    let webhook = fixture.client.data("webhooks.get", json!({ "webhookId": two })).await;
    assert_eq!((&webhook["active"], &webhook["pauseReason"]), (&json!(true), &json!("gone")));
    assert_eq!(gone.got().len(), 1);
}

#[tokio::test]
async fn a_failing_endpoint_is_paused_visibly_and_probed_again() {
    let fixture = WebhookFixture::with("pause_after_failures = 3\npause_seconds = 2\n").await;
    let sink = HookSink::start(|_, number| Reaction::status(if number < 3 { 500 } else { 200 })).await;
    let (id, _) = hook(&fixture.client, &sink.url(), &["subscriber.added"]).await;
    for number in 0..8 {
        fixture.contact(&format!("r{number}@example.com")).await;
    }
    let webhook = until(async || {
        let webhook = fixture.client.data("webhooks.get", json!({ "webhookId": id })).await;
        (!webhook["pausedUntil"].is_null()).then_some(webhook)
    });
    let webhook = webhook.await;
    assert_eq!((&webhook["active"], &webhook["pauseReason"]), (&json!(true), &json!("failing")));
    // Two deliveries were in flight when the endpoint was paused. The rest waits.
    assert!((3..=5).contains(&sink.got().len()), "{}", sink.got().len());
    until(async || (sink.got().len() >= 11).then_some(())).await;
    let webhook = until(async || {
        let webhook = fixture.client.data("webhooks.get", json!({ "webhookId": id })).await;
        (webhook["successCount"] == 8).then_some(webhook)
    });
    let webhook = webhook.await;
    assert_eq!((&webhook["pausedUntil"], &webhook["consecutiveFailures"]), (&Value::Null, &json!(0)));
}

#[tokio::test]
async fn after_a_rotation_both_secrets_sign_and_each_is_first_once() {
    let fixture = WebhookFixture::new().await;
    let sink = HookSink::start(|_, number| Reaction::status(if number < 2 { 500 } else { 200 })).await;
    let made = fixture
        .client
        .data("webhooks.create", json!({ "url": sink.url(), "events": ["subscriber.added"], "standardSignature": true }));
    let made = made.await;
    let old = made["secret"].as_str().expect("a secret").to_owned();
    let rotated = fixture.client.data("webhooks.rotate_secret", json!({ "webhookId": made["id"] })).await;
    let new = rotated["secret"].as_str().expect("a secret").to_owned();
    fixture.contact("ada@example.com").await;
    let got = sink.wait(3).await;
    for (number, (first, second)) in [(&old, &new), (&new, &old), (&old, &new)].into_iter().enumerate() {
        assert!(got[number].is_signed(SIGNATURE, first) && got[number].is_signed(ALTERNATE, second), "attempt {number}");
        let both = got[number].header("webhook-signature").expect("the second form");
        assert_eq!(both.split(' ').filter(|one| one.starts_with("v1,")).count(), 2);
    }
    fixture.client.data("webhooks.rotate_secret", json!({ "webhookId": made["id"], "graceHours": 0 })).await;
    fixture.contact("bob@example.com").await;
    assert_eq!(sink.wait(4).await[3].header(ALTERNATE), None);
}

/// Regression test: while two secrets signed, a receiver that knows one secret and checks only the first header rejected every first
/// attempt. Under load that opened the breaker, and every probe was such a first attempt, so nothing arrived until the old secret expired.
#[tokio::test]
async fn in_the_time_of_two_secrets_a_receiver_that_knows_either_of_them_gets_everything_without_a_pause() {
    let fixture = WebhookFixture::with("pause_after_failures = 3\npause_seconds = 1\n").await;
    let known: Arc<Mutex<String>> = Arc::default();
    let knows = known.clone();
    let sink = HookSink::start(move |got, _| {
        let is_good = got.is_signed(SIGNATURE, &knows.lock().expect("no panic"));
        Reaction::status(if is_good { 200 } else { 401 })
    });
    let sink = sink.await;
    let (id, old) = hook(&fixture.client, &sink.url(), &["subscriber.added"]).await;
    known.lock().expect("no panic").clone_from(&old);
    let rotated = fixture.client.data("webhooks.rotate_secret", json!({ "webhookId": id })).await;
    let all_told = async |count: u64| {
        until(async || {
            let webhook = fixture.client.data("webhooks.get", json!({ "webhookId": id })).await;
            (webhook["successCount"] == count).then_some(())
        })
        .await;
    };
    for number in 0..40 {
        fixture.contact(&format!("before{number}@example.com")).await;
    }
    all_told(40).await;
    assert_eq!(sink.got().len(), 40, "a receiver with the old secret notices nothing");
    let new = rotated["secret"].as_str().expect("a secret").to_owned();
    known.lock().expect("no panic").clone_from(&new);
    for number in 0..40 {
        fixture.contact(&format!("after{number}@example.com")).await;
    }
    all_told(80).await;
    let failed = sink.got().iter().filter(|got| !got.is_signed(SIGNATURE, &old) && !got.is_signed(SIGNATURE, &new)).count();
    assert_eq!(failed, 0, "every delivery is signed by one of the two");
    let refused = sink.got().len() - 80;
    assert!(refused <= 20, "no more than what was under way when it changed, and a probe: {refused}");
}

#[tokio::test]
async fn custom_headers_are_sent_and_never_returned() {
    let fixture = WebhookFixture::new().await;
    let sink = HookSink::content().await;
    let secret = "Bearer canary-of-headers";
    let wanted = json!({
        "url": sink.url(), "events": ["subscriber.added"], "customHeaders": { "Authorization": secret, "X-Shop": "7" },
    });
    let made = fixture.client.data("webhooks.create", wanted).await;
    let (id, hidden) = (&made["id"], json!({ "Authorization": "********", "X-Shop": "********" }));
    let read = fixture.client.data("webhooks.get", json!({ "webhookId": id })).await;
    assert_eq!((&made["customHeaders"], &read["customHeaders"]), (&hidden, &hidden));
    // Writing back the values that were read changes nothing else.
    let change = json!({ "webhookId": id, "customHeaders": { "Authorization": "********", "X-Shop": "8" } });
    let changed = fixture.client.data("webhooks.update", change).await;
    let tested = fixture.client.data("webhooks.test", json!({ "webhookId": id })).await;
    fixture.contact("ada@example.com").await;
    for got in sink.wait(2).await {
        assert_eq!((got.header("authorization"), got.header("x-shop")), (Some(secret), Some("8")));
    }
    let list = fixture.client.data("webhooks.list", json!({})).await;
    let told = format!(
        "{made}{read}{changed}{tested}{list}{:?}{}",
        deliveries(&fixture.client, id.as_str().expect("an id")).await,
        fixture.server.log()
    );
    assert!(!told.contains("canary-of-headers"));
}

#[tokio::test]
async fn a_test_is_signed_and_marked_and_returns_its_result_at_once() {
    let fixture = WebhookFixture::new().await;
    let sink = HookSink::start(|_, number| Reaction::status(if number == 0 { 200 } else { 500 })).await;
    let (id, secret) = hook(&fixture.client, &sink.url(), &["subscriber.added"]).await;
    let tested = fixture.client.data("webhooks.test", json!({ "webhookId": id })).await;
    assert_eq!((&tested["success"], &tested["statusCode"]), (&json!(true), &json!(200)));
    let got = sink.wait(1).await.remove(0);
    assert!(got.is_signed(SIGNATURE, &secret));
    assert_eq!((got.header("x-service-test"), got.header("x-service-event-type")), (Some("true"), Some("webhook.test")));
    assert_eq!(got.json()["type"], "webhook.test");
    let tested = fixture.client.data("webhooks.test", json!({ "webhookId": id })).await;
    assert_eq!((&tested["success"], &tested["statusCode"]), (&json!(false), &json!(500)));
    let kept = deliveries(&fixture.client, &id).await;
    assert_eq!(kept.len(), 2);
    assert!(kept.iter().all(|delivery| delivery["test"] == true && delivery["attempts"] == 1));
    let again = json!({ "webhookId": id, "deliveryId": kept[0]["id"] });
    fixture.client.call("webhooks.retry", again).await.refused(StatusCode::CONFLICT, "WRONG_STATE");
}

#[tokio::test]
async fn failed_events_are_redelivered_one_by_one_or_by_time_range() {
    let fixture = WebhookFixture::new().await;
    let sink = HookSink::start(|_, number| Reaction::status(if number < 6 { 500 } else { 200 })).await;
    let (id, _) = hook(&fixture.client, &sink.url(), &["subscriber.added"]).await;
    let started = fixture.client.data("webhooks.get", json!({ "webhookId": id })).await["createdAt"].clone();
    fixture.contact("ada@example.com").await;
    fixture.contact("bob@example.com").await;
    until(async || {
        let failed = fixture.client.data("webhooks.deliveries", json!({ "webhookId": id, "status": "failed" })).await;
        (failed["total"] == 2).then_some(())
    })
    .await;
    let first = deliveries(&fixture.client, &id).await.remove(0);
    let made = fixture.client.data("webhooks.retry", json!({ "webhookId": id, "deliveryId": first["id"] })).await;
    assert_eq!((&made["redeliveryOf"], &made["eventId"]), (&first["id"], &first["eventId"]));
    let got = sink.wait(7).await;
    assert_eq!(got[6].header("x-service-event-id"), first["eventId"].as_str());
    // While the webhook is disabled, it receives nothing. The redelivery delivers the missed events.
    until(async || (deliveries(&fixture.client, &id).await.iter().all(|one| one["status"] != "pending")).then_some(())).await;
    fixture.client.data("webhooks.update", json!({ "webhookId": id, "active": false })).await;
    fixture.contact("cy@example.com").await;
    fixture.client.data("webhooks.update", json!({ "webhookId": id, "active": true })).await;
    let range = json!({ "webhookId": id, "from": started });
    fixture.client.data("webhooks.redeliver", range.clone()).await;
    let redelivery = until(async || {
        let webhook = fixture.client.data("webhooks.get", json!({ "webhookId": id })).await;
        (webhook["redelivery"]["status"] == "completed").then(|| webhook["redelivery"].clone())
    });
    assert_eq!(redelivery.await["queued"], 2, "the other that failed, and the one that was missed");
    let got = sink.wait(9).await;
    let mut emails: Vec<String> = got[6..].iter().map(|got| got.json()["data"]["email"].to_string()).collect();
    emails.sort();
    assert_eq!(emails, ["\"ada@example.com\"", "\"bob@example.com\"", "\"cy@example.com\""]);
    until(async || (deliveries(&fixture.client, &id).await.iter().all(|one| one["status"] != "pending")).then_some(())).await;
    fixture.client.data("webhooks.redeliver", range).await;
    let redelivery = until(async || {
        let webhook = fixture.client.data("webhooks.get", json!({ "webhookId": id })).await;
        (webhook["redelivery"]["status"] == "completed").then(|| webhook["redelivery"].clone())
    });
    assert_eq!(redelivery.await["queued"], 0, "all have arrived");
}

#[tokio::test]
async fn private_addresses_are_refused_unless_the_operator_allows_them() {
    let mut fixture = WebhookFixture::new().await;
    let sink = HookSink::content().await;
    let (id, _) = hook(&fixture.client, &sink.url(), &["subscriber.added"]).await;
    fixture.server.signal("TERM");
    assert!(fixture.server.wait().success());
    fixture.server.set(&format!("{BOUNDLESS}\n[webhooks]\nallow_http = true\n"));
    fixture.server.serve();
    let client = Client::new(fixture.server.address(), fixture.client.key().map(str::to_owned));
    let tested = client.data("webhooks.test", json!({ "webhookId": id })).await;
    assert!(tested["error"].as_str().is_some_and(|error| error.contains("an address that is not public")), "{tested}");
    let url = json!({ "url": sink.url(), "events": ["subscriber.added"] });
    let refused = client.call("webhooks.create", url).await.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
    assert!(refused.error().starts_with("url: "), "{}", refused.error());
    assert_eq!(sink.got().len(), 0);
}

// Waiting for the service to end blocks a thread, and the endpoint must respond meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attempts_in_flight_at_shutdown_are_recorded_and_the_rest_is_delivered_later() {
    let mut fixture = WebhookFixture::new().await;
    let sink = HookSink::start(|_, _| Reaction::Later(Duration::from_millis(700), 200)).await;
    let (id, _) = hook(&fixture.client, &sink.url(), &["subscriber.added"]).await;
    for number in 0..6 {
        fixture.contact(&format!("r{number}@example.com")).await;
    }
    sink.wait(1).await;
    fixture.server.signal("TERM");
    assert!(fixture.server.wait().success());
    fixture.server.serve();
    let client = Client::new(fixture.server.address(), fixture.client.key().map(str::to_owned));
    until(async || {
        let all = deliveries(&client, &id).await;
        (all.len() == 6 && all.iter().all(|delivery| delivery["status"] == "success")).then_some(())
    })
    .await;
    assert_eq!(sink.got().len(), 6, "nothing was attempted twice");
}

#[tokio::test]
async fn deleting_a_contact_erases_it_from_deliveries() {
    let fixture = WebhookFixture::new().await;
    let sink = HookSink::start(|got, _| Reaction::Answer(200, "", String::from_utf8_lossy(&got.body).into_owned())).await;
    let (id, _) = hook(&fixture.client, &sink.url(), &["subscriber.added", "subscriber.updated"]).await;
    let contact = fixture.contact("canary@example.com").await;
    let delivery = newest(&fixture.client, &id, "success").await;
    assert!(delivery.to_string().contains("canary@example.com"), "the endpoint repeats what it received");
    fixture.client.data("contacts.delete", json!({ "id": contact, "projectId": fixture.project })).await;
    until(async || {
        let said = deliveries(&fixture.client, &id).await;
        (!Value::Array(said).to_string().contains("canary@example.com")).then_some(())
    })
    .await;
    let again = json!({ "webhookId": id, "deliveryId": delivery["id"] });
    fixture.client.call("webhooks.retry", again).await.refused(StatusCode::CONFLICT, "WRONG_STATE");
}

#[tokio::test]
async fn a_deleted_webhook_receives_nothing_more() {
    let fixture = WebhookFixture::new().await;
    let sink = HookSink::start(|_, _| Reaction::status(500)).await;
    let (id, _) = hook(&fixture.client, &sink.url(), &["subscriber.added"]).await;
    fixture.contact("ada@example.com").await;
    sink.wait(1).await;
    fixture.client.data("webhooks.delete", json!({ "webhookId": id })).await;
    let other = HookSink::content().await;
    hook(&fixture.client, &other.url(), &["subscriber.added"]).await;
    fixture.contact("bob@example.com").await;
    other.wait(1).await;
    // A time that is longer than the first pause.
    tokio::time::sleep(Duration::from_millis(2_000)).await;
    assert_eq!(sink.got().len(), 1);
    let gone = fixture.client.call("webhooks.deliveries", json!({ "webhookId": id })).await;
    gone.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
}

#[tokio::test]
async fn engagement_events_are_sent_only_to_subscribed_webhooks() {
    let fixture = WebhookFixture::new().await;
    let client = &fixture.client;
    let (asks, silent) = (HookSink::content().await, HookSink::content().await);
    let kinds = ["email.delivered", "email.opened", "email.clicked", "email.bounced", "email.complained"];
    hook(client, &asks.url(), &kinds).await;
    hook(client, &silent.url(), &["subscriber.added", "subscriber.updated", "email.test.sent"]).await;
    let html =
        "<p>Hello</p><p><a href=\"https://example.com/a\">Read</a></p><p><a href=\"{{ unsubscribe_url }}\">Unsubscribe</a></p>";
    for whom in ["click", "hard-bounce", "complaint"] {
        let to = format!("{whom}@simulator.mailmill.example");
        let send = json!({
            "projectId": fixture.project, "recipientType": "email", "recipientEmail": to, "from": "news@example.com", "fromName": "News",
            "subject": "Hello", "template": html,
        });
        client.data("sending.send", send).await;
    }
    let told = until(async || {
        let mut told: Vec<String> =
            asks.got().iter().map(|got| got.json()["type"].as_str().expect("a type").to_owned()).collect();
        told.sort();
        told.dedup();
        (told.len() == 5).then_some(asks.got())
    });
    for got in told.await {
        let data = got.json()["data"].clone();
        assert!(data["sendId"].is_string() && data["email"].is_string() && data["occurredAt"].is_string(), "{data}");
        assert!(!data.as_object().expect("an object").values().any(Value::is_null), "{data}");
        match got.header("x-service-event-type") {
            Some("email.clicked") => assert_eq!(data["url"], "https://example.com/a"),
            Some("email.bounced") => assert_eq!(data["bounceType"], "hard"),
            _ => {}
        }
    }
    assert_eq!(silent.got().len(), 0);
}
