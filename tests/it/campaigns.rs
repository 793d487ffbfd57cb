//! Tests campaigns on the shipped server with a test key: from an email to the inbox, with interruptions and with `kill -9`.

use std::time::Duration;

use serde_json::{Value, json};

use super::support::client::Call;
use super::support::{Client, Server, operation};

const LOOK: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(300);
/// The time until a scheduled campaign starts, in which even a busy machine schedules it.
const START_AFTER_MS: i64 = 8_000;

/// Returns settings with a plan of this many recipients per second.
pub fn settings(per_second: u32) -> String {
    format!(
        r#"
[accounts]
owner_plan = "tests"
plan = "tests"
[log]
level = "warn"
[plans.tests]
recipients_per_second = {per_second}
daily_emails = 1_000_000
monthly_emails = 1_000_000
[plans.tests.budgets]
general = 1_000_000_000
sending = 1_000_000_000
emails = 1_000_000_000
campaigns = 1_000_000_000
imports = 1_000_000_000
"#
    )
}

/// A project with a finished email.
pub struct Stage {
    pub project: String,
    pub conversation: String,
}

impl Stage {
    pub async fn new(client: &Client) -> Self {
        let html = "<html lang=\"en\"><head><title>Winter teas for {{ firstName }}</title></head><body><h1>Winter teas</h1>\
                    <p>Hello {{ firstName }}, <a href=\"https://acme.example/teas\">look at them</a>.</p>\
                    <p><a href=\"{{ unsubscribe_url }}\">Unsubscribe</a></p></body></html>";
        Self::of(client, html).await
    }

    /// Creates a project with an email of this HTML.
    pub async fn of(client: &Client, html: &str) -> Self {
        let project = client.project("campaigns").await;
        let started = client.data("emails.import_html", json!({ "projectId": project, "html": html })).await;
        let conversation = started["conversationId"].as_str().expect("an id").to_owned();
        until(async || {
            let status = client.data("emails.status", json!({ "conversationId": conversation })).await;
            (status["status"] == "completed").then_some(())
        })
        .await;
        Self { project, conversation }
    }

    pub async fn contacts(&self, client: &Client, contacts: Value) {
        let input = json!({ "projectId": self.project, "subscribers": contacts });
        let done = client.data("contacts.bulk", input).await;
        assert_eq!(done["failed"], 0, "{done}");
    }

    /// Creates this many ordinary contacts.
    pub async fn crowd(&self, client: &Client, many: usize) {
        let contact = |number| json!({ "email": format!("reader{number}@example.com"), "firstName": format!("Reader {number}") });
        self.contacts(client, (0..many).map(contact).collect()).await;
    }

    /// Creates a draft for all contacts of the project.
    pub async fn campaign(&self, client: &Client) -> String {
        let input = json!({
            "projectId": self.project, "name": "Winter teas", "conversationId": self.conversation, "from": "news@acme.example",
            "fromName": "Acme", "recipientType": "audience",
        });
        client.data("campaigns.create", input).await["id"].as_str().expect("an id").to_owned()
    }
}

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

pub async fn act(client: &Client, action: &str, id: &str) -> Value {
    client.data(&format!("campaigns.{action}"), json!({ "id": id })).await
}

/// Returns the campaign when it has this status and, for `sent`, when no retries are left.
pub async fn becomes(client: &Client, id: &str, status: &str) -> Value {
    let is_it = |campaign: &Value| if status == "sent" { is_complete(campaign) } else { campaign["status"] == status };
    until(async || Some(act(client, "get", id).await).filter(is_it)).await
}

/// Returns whether every recipient of the campaign has an outcome.
pub fn is_complete(campaign: &Value) -> bool {
    campaign["status"] == "sent" && campaign["completedAt"].is_string()
}

pub async fn stats(client: &Client, id: &str) -> Value {
    act(client, "stats", id).await
}

/// Returns every row of the log, page by page.
pub async fn logs(client: &Client, id: &str, status: Option<&str>) -> Vec<Value> {
    let (mut rows, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let mut input = json!({ "id": id, "limit": 7 });
        if let Some(status) = status {
            input["status"] = status.into();
        }
        if let Some(cursor) = cursor.as_str() {
            input["cursor"] = cursor.into();
        }
        let part = client.data("campaigns.logs", input).await;
        rows.extend(part["emails"].as_array().expect("rows").iter().cloned());
        assert_eq!(part["hasMore"], json!(part["nextCursor"].is_string()));
        if part["hasMore"] == false {
            return rows;
        }
        cursor = part["nextCursor"].clone();
    }
}

/// Returns how many messages of a mailing are in the inbox.
pub async fn kept(client: &Client, batch: &Value) -> u64 {
    let found = client.data("sending.inbox_list", json!({ "sendId": batch, "limit": 1 })).await;
    found["total"].as_u64().expect("a total")
}

/// Returns the time this many milliseconds from now.
pub fn in_ms(ms: i64) -> String {
    use mailmill::base::clock::{Clock, SystemClock};
    SystemClock.now().plus_ms(ms).to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_campaign_goes_from_an_email_to_the_inbox_and_reports_everything() {
    let server = Server::start(&settings(1_000));
    let client = server.all();
    let stage = Stage::new(&client).await;
    stage.crowd(&client, 20).await;
    let others = json!([
        { "email": "gone@example.com", "firstName": "Gone", "status": "unsubscribed" },
        { "email": "never@example.com", "firstName": "Never", "status": "non-subscribed" },
        { "email": "nameless@example.com" },
    ]);
    stage.contacts(&client, others).await;
    let id = stage.campaign(&client).await;

    let outlook = act(&client, "dry_run", &id).await;
    assert_eq!(
        (&outlook["total"], &outlook["recipients"], &outlook["ready"]),
        (&json!(23), &json!(20), &json!(true)),
        "{outlook}"
    );
    let reasons = json!({ "missing_field": 1, "not_subscribed": 1, "unsubscribed": 1 });
    assert_eq!((&outlook["skippedReasons"], &outlook["missingFields"]), (&reasons, &json!({ "firstName": 1 })));
    let codes: Vec<&Value> = outlook["warnings"].as_array().expect("warnings").iter().map(|warning| &warning["code"]).collect();
    assert_eq!(codes, ["NO_POSTAL_ADDRESS", "MISSING_FIELDS"]);

    let send = || Call::new(operation("campaigns.send"), json!({ "id": id })).header("idempotency-key", "send-once");
    let first = client.send(send()).await;
    assert_eq!(first.status, 200, "{}", first.error());
    let again = client.send(send()).await;
    assert_eq!((again.status, again.header("idempotent-replayed"), &again.bytes), (200, Some("true"), &first.bytes));
    let second = client.call("campaigns.send", json!({ "id": id })).await;
    assert_eq!((second.status, second.code().as_str()), (409, "WRONG_STATE"));

    let sent = becomes(&client, &id, "sent").await;
    assert!(sent["completedAt"].is_string() && sent["sentAt"].is_string(), "{sent}");
    assert_eq!((&sent["estimatedRecipients"], &sent["skipped"]), (&json!(20), &json!(3)));
    assert_eq!(kept(&client, &sent["batchId"]).await, 20);

    let numbers = stats(&client, &id).await;
    assert_eq!((&numbers["recipients"], &numbers["totalSent"], &numbers["skipped"]), (&json!(23), &json!(20), &json!(3)));
    assert_eq!((&numbers["skippedReasons"], numbers.get("conversion")), (&reasons, None));
    assert_eq!((&numbers["openRate"], &numbers["clickRate"]), (&json!(0.0), &json!(0.0)));

    let all = logs(&client, &id, None).await;
    assert_eq!(all.len(), 23);
    let delivered = logs(&client, &id, Some("delivered")).await;
    assert_eq!(delivered.len(), 20);
    assert!(delivered.iter().all(|row| row["from_email"] == "news@acme.example" && row["sent_at"].is_string()));
    let skipped = logs(&client, &id, Some("skipped")).await;
    let told: Vec<(&str, &str)> = skipped
        .iter()
        .map(|row| (row["to_email"].as_str().expect("an address"), row["suppression_type"].as_str().expect("a word")))
        .collect();
    let expected = [
        ("gone@example.com", "unsubscribed"),
        ("never@example.com", "not_subscribed"),
        ("nameless@example.com", "missing_field"),
    ];
    assert_eq!(told, expected);
    assert!(skipped[2]["suppression_reason"].as_str().is_some_and(|reason| reason.contains("firstName")), "{}", skipped[2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_behavior_of_simulated_recipients_is_counted() {
    let server = Server::start(&settings(1_000));
    let client = server.all();
    let stage = Stage::new(&client).await;
    let at = |name: &str| json!({ "email": format!("{name}@simulator.mailmill.example"), "firstName": name });
    stage.contacts(&client, ["delivered", "open", "click", "hard-bounce", "complaint"].into_iter().map(at).collect()).await;
    let id = stage.campaign(&client).await;
    act(&client, "send", &id).await;
    becomes(&client, &id, "sent").await;
    let numbers = until(async || {
        let numbers = stats(&client, &id).await;
        let all = numbers["uniqueClicks"] == 1 && numbers["bounces"] == 1 && numbers["complaints"] == 1;
        (all && numbers["uniqueOpens"].as_u64() >= Some(1)).then_some(numbers)
    })
    .await;
    assert_eq!(numbers["totalDelivered"], 4, "{numbers}");
    for (status, name) in [("clicked", "click"), ("bounced", "hard-bounce"), ("complained", "complaint")] {
        let rows = logs(&client, &id, Some(status)).await;
        let to: Vec<&Value> = rows.iter().map(|row| &row["to_email"]).collect();
        assert_eq!(to, [&json!(format!("{name}@simulator.mailmill.example"))], "{status}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_campaign_is_paused_resumed_and_canceled_while_it_is_sent() {
    const MANY: u64 = 200;
    let server = Server::start(&settings(25));
    let client = server.all();
    let stage = Stage::new(&client).await;
    stage.crowd(&client, usize::try_from(MANY).expect("few")).await;
    let id = stage.campaign(&client).await;
    let batch = act(&client, "send", &id).await["batchId"].clone();
    let some = async |least: u64| until(async || Some(kept(&client, &batch).await).filter(|kept| *kept >= least)).await;
    some(3).await;

    assert_eq!(act(&client, "pause", &id).await["status"], "paused");
    // Messages in flight still arrive, but no others follow.
    let stopped = kept(&client, &batch).await;
    assert!(stopped < MANY, "it was too quick to be paused");
    tokio::time::sleep(Duration::from_millis(600)).await;
    let later = kept(&client, &batch).await;
    assert!(later <= stopped + 16, "{stopped} became {later}");
    assert_eq!(act(&client, "get", &id).await["status"], "paused");

    assert_eq!(act(&client, "resume", &id).await["status"], "sending");
    some(later + 3).await;
    let cancelled = act(&client, "cancel", &id).await;
    assert_eq!(cancelled["status"], "cancelled");
    let numbers = until(async || {
        let numbers = stats(&client, &id).await;
        (numbers["queued"] == 0).then_some(numbers)
    })
    .await;
    let (sent, skipped) = (numbers["totalSent"].as_u64().expect("a number"), numbers["skipped"].as_u64().expect("a number"));
    assert_eq!((sent, sent + skipped), (kept(&client, &batch).await, MANY), "{numbers}");
    assert_eq!(numbers["skippedReasons"], json!({ "cancelled": skipped }));
    assert!(sent > later && sent < MANY);
    assert_eq!(client.call("campaigns.resume", json!({ "id": id })).await.status, 409);
    assert_eq!(act(&client, "get", &id).await["status"], "cancelled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scheduled_campaign_starts_by_itself_and_once_also_when_its_time_passes_while_the_service_is_dead() {
    let mut server = Server::start(&settings(1_000));
    let key = server.key("test", "all");
    let mut client = Client::new(server.address(), Some(key.clone()));
    let stage = Stage::new(&client).await;
    stage.crowd(&client, 12).await;

    let alive = stage.campaign(&client).await;
    let scheduled = client.data("campaigns.schedule", json!({ "id": alive, "scheduledAt": in_ms(START_AFTER_MS) })).await;
    assert_eq!(scheduled["status"], "scheduled");
    let sent = becomes(&client, &alive, "sent").await;
    assert_eq!(kept(&client, &sent["batchId"]).await, 12);

    let dead = stage.campaign(&client).await;
    client.data("campaigns.schedule", json!({ "id": dead, "scheduledAt": in_ms(START_AFTER_MS) })).await;
    server.kill();
    // The start time passes while the service is stopped.
    tokio::time::sleep(Duration::from_millis(START_AFTER_MS as u64 + 100)).await;
    server.serve();
    client = Client::new(server.address(), Some(key.clone()));
    let sent = becomes(&client, &dead, "sent").await;
    assert_eq!(kept(&client, &sent["batchId"]).await, 12);
    server.kill();
    server.serve();
    client = Client::new(server.address(), Some(key));
    assert_eq!(act(&client, "get", &dead).await["batchId"], sent["batchId"]);
    assert_eq!(kept(&client, &sent["batchId"]).await, 12);
    let messages = client.data("sending.inbox_list", json!({ "limit": 1 })).await;
    assert_eq!(messages["total"], 24, "each of two campaigns reached each of twelve readers once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_campaign_beyond_the_plan_waits_and_says_until_when() {
    let settings = settings(1_000).replace("daily_emails = 1_000_000", "daily_emails = 5");
    let server = Server::start(&settings);
    let client = server.all();
    let stage = Stage::new(&client).await;
    stage.crowd(&client, 8).await;
    let id = stage.campaign(&client).await;
    let outlook = act(&client, "dry_run", &id).await;
    let codes: Vec<&Value> = outlook["warnings"].as_array().expect("warnings").iter().map(|warning| &warning["code"]).collect();
    assert!(codes.contains(&&json!("QUOTA_EXCEEDED")), "{outlook}");
    act(&client, "send", &id).await;
    let waiting = becomes(&client, &id, "throttled").await;
    assert!(waiting["error"].as_str().is_some_and(|error| error.contains("used up")), "{waiting}");
    let numbers = stats(&client, &id).await;
    assert_eq!((&numbers["totalSent"], &numbers["queued"]), (&json!(5), &json!(3)), "{numbers}");
    assert_eq!(act(&client, "pause", &id).await["status"], "paused");
    assert_eq!(act(&client, "cancel", &id).await["status"], "cancelled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_live_campaign_without_a_transport_is_refused_and_its_dry_run_says_so() {
    let server = Server::start(&settings(1_000));
    let client = server.client("live", "all");
    let stage = Stage::new(&client).await;
    let id = stage.campaign(&client).await;
    let outlook = act(&client, "dry_run", &id).await;
    assert_eq!(outlook["ready"], false);
    let stops = outlook["warnings"].as_array().expect("warnings").iter().find(|warning| warning["stops"] == true);
    assert_eq!(stops.map(|warning| &warning["code"]), Some(&json!("TRANSPORT_NOT_CONFIGURED")), "{outlook}");
    for (action, input) in [("send", json!({ "id": id })), ("schedule", json!({ "id": id, "scheduledAt": in_ms(60_000) }))] {
        let refused = client.call(&format!("campaigns.{action}"), input).await;
        assert_eq!((refused.status, refused.code().as_str()), (409, "TRANSPORT_NOT_CONFIGURED"), "{action}");
        assert!(refused.error().contains("relay"), "{}", refused.error());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recipients_get_it_at_their_local_time() {
    let server = Server::start(&settings(1_000));
    let client = server.all();
    let stage = Stage::new(&client).await;
    let somewhere = |name: &str, more: Value| {
        let mut contact = json!({ "email": format!("{name}@example.com"), "firstName": name });
        for (field, value) in more.as_object().expect("an object") {
            contact[field] = value.clone();
        }
        contact
    };
    let contacts = json!([
        somewhere("kiritimati", json!({ "customFields": { "timezone": "Pacific/Kiritimati" } })),
        somewhere("tokyo", json!({ "country": "JP" })),
        somewhere("honolulu", json!({ "customFields": { "timeZone": "US/Hawaii" } })),
        somewhere("anywhere", json!({ "country": "US" })),
    ]);
    stage.contacts(&client, contacts).await;
    let id = stage.campaign(&client).await;
    // The start time is a moment from now in UTC: it has already passed in the east, and is hours ahead in the west.
    let input = json!({ "id": id, "scheduledAt": in_ms(2_500), "timezoneMode": "recipient" });
    let scheduled = client.data("campaigns.schedule", input).await;
    assert!(
        scheduled["scheduleNotice"].as_str().is_some_and(|notice| notice.contains("when the campaign starts")),
        "{scheduled}"
    );

    let delivered = async |many: usize| {
        let ask = async || Some(logs(&client, &id, Some("delivered")).await).filter(|rows| rows.len() == many);
        let rows = until(ask).await;
        rows.iter().map(|row| row["to_email"].as_str().expect("an address").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(delivered(2).await, ["kiritimati@example.com", "tokyo@example.com"]);
    assert_eq!(delivered(3).await, ["kiritimati@example.com", "tokyo@example.com", "anywhere@example.com"]);
    let waiting = logs(&client, &id, Some("deferred")).await;
    assert_eq!((waiting.len(), &waiting[0]["to_email"]), (1, &json!("honolulu@example.com")));
    let next: jiff::Timestamp = waiting[0]["next_attempt_at"].as_str().expect("a time").parse().expect("a time");
    let at: jiff::Timestamp = scheduled["scheduledAt"].as_str().expect("a time").parse().expect("a time");
    assert_eq!(next.as_second() - at.as_second(), 10 * 60 * 60);
    assert_eq!(act(&client, "get", &id).await["status"], "sending");

    act(&client, "cancel", &id).await;
    let skipped = until(async || Some(logs(&client, &id, Some("skipped")).await).filter(|rows| !rows.is_empty())).await;
    assert_eq!(skipped[0]["suppression_type"], "cancelled");
}
