//! Tests customer events on the shipped server: from a campaign through a click to revenue, repeated events, batches, and `kill -9`
//! under load.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::campaigns::in_ms;
use super::support::client::Call;
use super::support::server::BOUNDLESS;
use super::support::{Client, Server, operation};

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";
const PATIENCE: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(20);
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const WRITERS: usize = 16;
const ROUNDS: usize = 3;
const LOAD: Duration = Duration::from_millis(1200);

/// Polls until there is a result.
pub async fn until<T>(mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.expect("what is waited for happens")
}

/// A campaign whose message is in Ada's inbox.
pub struct Stage {
    pub project: String,
    pub ada: String,
    campaign: String,
    email: String,
    /// The token of the link in Ada's message.
    token: String,
}

impl Stage {
    pub async fn new(client: &Client) -> Self {
        let project = client.project("shop").await;
        let html = "<html lang=\"en\"><head><title>Winter teas</title></head><body><h1>Winter teas</h1>\
                    <p><a href=\"https://acme.example/teas\">look at them</a>.</p>\
                    <p><a href=\"{{ unsubscribe_url }}\">Unsubscribe</a></p></body></html>";
        let started = client.data("emails.import_html", json!({ "projectId": project, "html": html })).await;
        let conversation = started["conversationId"].as_str().expect("an id").to_owned();
        until(async || {
            let status = client.data("emails.status", json!({ "conversationId": conversation })).await;
            (status["status"] == "completed").then_some(())
        })
        .await;
        let ada = client.contact(&project, "ada@example.com").await;
        let draft = json!({
            "projectId": project, "name": "Winter teas", "conversationId": conversation, "from": "news@acme.example",
            "fromName": "Acme", "recipientType": "audience",
        });
        let campaign = client.data("campaigns.create", draft).await["id"].as_str().expect("an id").to_owned();
        client.data("campaigns.send", json!({ "id": campaign })).await;
        let sent = until(async || {
            Some(client.data("campaigns.get", json!({ "id": campaign })).await).filter(|campaign| campaign["status"] == "sent")
        })
        .await;
        let email = sent["emailId"].as_str().expect("an id").to_owned();
        let inbox = client.data("sending.inbox_list", json!({ "sendId": sent["batchId"] })).await;
        let message = client.data("sending.inbox_get", json!({ "id": inbox["messages"][0]["id"] })).await;
        let html = message["html"].as_str().expect("HTML");
        Self { project, ada, campaign, email, token: token(html) }
    }

    /// Clicks the link in Ada's message.
    pub async fn click(&self, client: &Client) {
        click(client, &self.token).await;
    }

    /// Waits until the click is stored, a moment after the response.
    async fn until_clicked(&self, client: &Client) {
        until(async || {
            let stats = client.data("campaigns.stats", json!({ "id": self.campaign })).await;
            (stats["uniqueClicks"] == 1).then_some(())
        })
        .await;
    }

    fn event(&self, name: &str, order: &str, value: Value) -> Value {
        json!({
            "projectId": self.project, "name": name, "identifiers": { "email": "ada@example.com", "externalOrderId": order },
            "properties": { "value": value, "currency": "EUR" },
        })
    }

    async fn conversion(&self, client: &Client) -> Option<Value> {
        client.data("campaigns.stats", json!({ "id": self.campaign })).await.get("conversion").cloned()
    }

    pub async fn until_conversion(&self, client: &Client, wanted: Value) {
        until(async || (self.conversion(client).await.as_ref() == Some(&wanted)).then_some(())).await;
    }
}

/// Requests the link as a person's browser does.
async fn click(client: &Client, token: &str) {
    let call = Call { method: Method::GET, ..Call::new(operation("tracking.click"), json!({ "token": token })) };
    let reply = client.with_key(None).try_send(call.header("user-agent", BROWSER)).await.expect("the server answers");
    assert_eq!(reply.status, 302);
}

/// Returns the token of the first tracked link.
fn token(html: &str) -> String {
    let (_, rest) = html.split_once("/t/c/").expect("a tracked link");
    let token = rest.split(|letter: char| !(letter.is_ascii_alphanumeric() || "-_".contains(letter))).next();
    token.expect("a token").to_owned()
}

/// Returns settings with budgets and quotas that no test uses up.
fn settings() -> String {
    BOUNDLESS.to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_click_becomes_revenue_and_a_refund_subtracts_it() {
    let server = Server::start(&settings());
    let client = server.all();
    let stage = Stage::new(&client).await;
    assert_eq!(stage.conversion(&client).await, None, "nothing was reported");
    client.data("events.record", stage.event("order.paid", "early", json!(10))).await;
    assert_eq!(stage.conversion(&client).await, None, "no one has clicked");

    stage.click(&client).await;
    // The purchase must be later than the click by the same clock.
    tokio::time::sleep(Duration::from_millis(20)).await;
    let paid = stage.event("order.paid", "o-1", json!(49.9));
    let recorded = client.data("events.record", paid.clone()).await;
    assert_eq!((&recorded["stored"], &recorded["dedupeKey"]), (&json!(true), &Value::Null));
    let conversion = |conversions: u64, revenue: f64| json!({ "conversions": conversions, "revenue": revenue, "currency": "EUR", "source": "events" });
    stage.until_conversion(&client, conversion(1, 49.9)).await;
    client.data("events.record", paid).await;
    client.data("events.record", stage.event("order.refunded", "o-1", json!(19.9))).await;
    stage.until_conversion(&client, json!({ "conversions": 1, "revenue": 30, "currency": "EUR", "source": "events" })).await;
    client.data("events.record", stage.event("Order Cancelled", "o-1", json!(49.9))).await;
    stage.until_conversion(&client, json!({ "conversions": 1, "revenue": -19.9, "currency": "EUR", "source": "events" })).await;

    // A refund whose time is before that of its payment counts on the day when the order was paid.
    let mut early = stage.event("order.refunded", "o-3", json!(2));
    early["occurredAt"] = in_ms(-2 * DAY_MS).into();
    client.data("events.record", early).await;
    client.data("events.record", stage.event("order.paid", "o-3", json!(5))).await;
    stage.until_conversion(&client, json!({ "conversions": 2, "revenue": -16.9, "currency": "EUR", "source": "events" })).await;
    let report = client.data("campaigns.report", json!({ "id": stage.campaign })).await;
    let days = report["days"].as_array().expect("a list");
    let daily: Vec<&Value> = days.iter().flat_map(|day| day["revenue"].as_array().expect("a list")).collect();
    assert_eq!(daily, [&json!({ "currency": "EUR", "conversions": 2, "revenue": -16.9 })], "the totals of the days are the same");

    let mut dollars = stage.event("order.paid", "o-2", json!(7));
    dollars["properties"]["currency"] = "usd".into();
    client.data("events.record", dollars).await;
    let both =
        until(async || stage.conversion(&client).await.filter(|conversion| conversion.get("otherCurrencies").is_some())).await;
    assert_eq!(both["currency"], "EUR");
    assert_eq!(both["otherCurrencies"], json!([{ "currency": "USD", "conversions": 1, "revenue": 7 }]));
    let metrics = client.data("tracking.metrics", json!({ "emailId": stage.email })).await;
    assert_eq!(metrics["conversion"], both, "the email's numbers are those of its only campaign");
    let kept = client.data("tracking.personal_data", json!({ "id": stage.ada, "projectId": stage.project })).await;
    assert_eq!((kept["events"].as_array().map(Vec::len), kept["profile"]["status"].as_str()), (Some(8), Some("subscribed")));
}

#[tokio::test]
async fn a_first_order_after_a_click_in_a_direct_send_is_credited_to_it() {
    let server = Server::start(&settings());
    let client = server.all();
    let stage = Stage::new(&client).await;
    let send = json!({
        "recipientType": "email", "recipientEmail": "Grace@example.com", "from": "news@acme.example", "fromName": "Acme",
        "emailId": stage.email, "projectId": stage.project,
    });
    let sent = client.data("sending.send", send).await;
    let message = until(async || {
        let inbox = client.data("sending.inbox_list", json!({ "sendId": sent["sendId"] })).await;
        inbox["messages"][0]["id"].as_str().map(str::to_owned)
    })
    .await;
    let message = client.data("sending.inbox_get", json!({ "id": message })).await;
    click(&client, &token(message["html"].as_str().expect("HTML"))).await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    let mut paid = stage.event("order.paid", "first", json!(12.5));
    paid["identifiers"]["email"] = "grace@example.com".into();
    // The click is stored a moment after the response.
    until(async || {
        let metrics = client.data("tracking.metrics", json!({ "emailId": stage.email })).await;
        (metrics["summary"]["clicked"] == 1).then_some(())
    })
    .await;
    client.data("events.record", paid).await;
    let metrics = client.data("tracking.metrics", json!({ "emailId": stage.email })).await;
    let conversion = json!({ "conversions": 1, "revenue": 12.5, "currency": "EUR", "source": "events" });
    assert_eq!((&metrics["conversion"], stage.conversion(&client).await), (&conversion, None), "the email's, and no campaign's");
}

#[tokio::test]
async fn repeats_are_harmless_with_either_key_and_a_batch_accepts_only_dedupe_keys() {
    let server = Server::start(&settings());
    let client = server.all();
    let project = client.project("shop").await;
    let event =
        json!({ "projectId": project, "name": "login", "identifiers": { "email": "new@example.com" }, "dedupeKey": "l-1" });
    let once = || Call::new(operation("events.record"), event.clone()).header("idempotency-key", "once");
    let first = client.send(once()).await;
    let again = client.send(once()).await;
    assert_eq!((again.status, again.header("idempotent-replayed"), &again.bytes), (200, Some("true"), &first.bytes));
    let duplicate = client.data("events.record", event.clone()).await;
    assert_eq!((&duplicate["stored"], &duplicate["duplicate"]), (&json!(false), &json!(true)));
    assert_eq!(duplicate["eventId"], first.json()["data"]["eventId"]);

    let mut row = event.clone();
    row.as_object_mut().expect("an object").remove("projectId");
    let mut other = row.clone();
    other["dedupeKey"] = "l-2".into();
    let rows = json!({ "projectId": project, "events": [row, other, { "name": "x", "identifiers": {} }] });
    let result = client.data("events.batch", rows.clone()).await;
    assert_eq!((&result["accepted"], &result["duplicates"]), (&json!(1), &json!(1)));
    assert_eq!((&result["invalid"][0]["index"], &result["invalid"][0]["field"]), (&json!(2), &json!("identifiers")));
    assert_eq!(result["results"].as_array().map(Vec::len), Some(3));
    let refused = client.send(Call::new(operation("events.batch"), rows).header("idempotency-key", "once")).await;
    assert_eq!((refused.status, refused.code().as_str()), (400, "INVALID_REQUEST"));
    assert_eq!(client.total(json!({ "projectId": project, "status": "non-subscribed" })).await, 1);
}

/// Reports events until the server is killed. Returns all attempted events, and the acknowledged ones.
async fn report(
    client: Client,
    project: String,
    (round, writer): (usize, usize),
    count: Arc<AtomicUsize>,
) -> (Vec<Value>, BTreeSet<String>) {
    let (mut tried, mut acknowledged) = (Vec::new(), BTreeSet::new());
    for number in 0.. {
        let key = format!("w{writer}-r{round}-n{number}");
        let mut event = json!({
            "name": "order.paid", "identifiers": { "email": "ada@example.com", "externalOrderId": key },
            "properties": { "value": 0.01 }, "dedupeKey": key,
        });
        tried.push(event.clone());
        let single = number % 3 != 0;
        let call = if single {
            event["projectId"] = project.as_str().into();
            Call::new(operation("events.record"), event)
        } else {
            Call::new(operation("events.batch"), json!({ "projectId": project, "events": [event] }))
        };
        match client.try_send(call).await {
            Ok(reply) if reply.status == 200 && !reply.bytes.is_empty() => acknowledged.insert(key),
            _ => return (tried, acknowledged),
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
    unreachable!("the server ends before the numbers do")
}

/// Returns the keys of all stored events of a contact, page by page.
async fn keys(client: &Client, stage: &Stage) -> Vec<String> {
    let (mut keys, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let mut input = json!({ "id": stage.ada, "projectId": stage.project, "limit": 100 });
        if let Some(cursor) = cursor.as_str() {
            input["cursor"] = cursor.into();
        }
        let part = client.data("events.list", input).await;
        keys.extend(
            part["events"].as_array().expect("a list").iter().filter_map(|event| event["dedupeKey"].as_str().map(str::to_owned)),
        );
        if part["hasMore"] == false {
            return keys;
        }
        cursor = part["nextCursor"].clone();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_event_survives_a_kill_and_is_counted_once() {
    let mut server = Server::start(&settings());
    let key = server.key("test", "all");
    let client = Client::new(server.address(), Some(key.clone()));
    let stage = Stage::new(&client).await;
    stage.click(&client).await;
    stage.until_clicked(&client).await;
    let (mut tried, mut acknowledged) = (Vec::new(), BTreeSet::new());
    for round in 0..ROUNDS {
        let (mut writers, count) = (JoinSet::new(), Arc::new(AtomicUsize::new(0)));
        for writer in 0..WRITERS {
            let client = Client::new(server.address(), Some(key.clone()));
            writers.spawn(report(client, stage.project.clone(), (round, writer), count.clone()));
        }
        tokio::time::sleep(LOAD).await;
        until(async || (count.load(Ordering::Relaxed) > WRITERS).then_some(())).await;
        server.kill();
        for (attempts, answered) in writers.join_all().await {
            tried.extend(attempts);
            acknowledged.extend(answered);
        }
        server.serve();
    }
    assert!(acknowledged.len() > ROUNDS * WRITERS, "the load was too small to prove anything");
    let client = Client::new(server.address(), Some(key));
    let there = keys(&client, &stage).await;
    let known: BTreeSet<&str> = there.iter().map(String::as_str).collect();
    assert_eq!(known.len(), there.len(), "nothing is there twice");
    let lost: Vec<&String> = acknowledged.iter().filter(|key| !known.contains(key.as_str())).collect();
    assert!(lost.is_empty(), "{} acknowledged events are lost, like {:?}", lost.len(), lost.first());
    // A client without a response repeats its requests: nothing is stored or counted twice.
    for rows in tried.chunks(500) {
        let result = client.data("events.batch", json!({ "projectId": stage.project, "events": rows })).await;
        assert_eq!(result["invalid"], json!([]));
    }
    assert_eq!(keys(&client, &stage).await.len(), tried.len());
    let conversion = until(async || stage.conversion(&client).await).await;
    assert_eq!(conversion["conversions"], tried.len(), "{conversion}");
    let cents = conversion["revenue"].as_f64().expect("a number") * 100.0;
    assert_eq!(cents.round() as usize, tried.len());
}

/// Clicks by curl count as a bot's, so the command in the documentation must set a browser's User-Agent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_documented_click_counts_as_a_persons() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/docs/api-tutorial.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let command = page.lines().find(|line| line.contains("/t/c/TOKEN")).expect("a command that follows a link");
    let agent = command.split('\'').nth(1).expect("the name of a browser");
    let server = Server::start(&settings());
    let client = server.all();
    let stage = Stage::new(&client).await;
    let call = Call { method: Method::GET, ..Call::new(operation("tracking.click"), json!({ "token": stage.token })) };
    let reply = client.with_key(None).try_send(call.header("user-agent", agent)).await.expect("the server answers");
    assert_eq!(reply.status, 302);
    stage.until_clicked(&client).await;
}
