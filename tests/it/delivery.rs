//! Tests campaigns under `kill -9` at random moments, with a relay that records each message before it replies.
//!
//! Afterward the relay's list is compared with the recipient rows: no recipient is lost silently, none got two messages, none is
//! marked as sent without a message, and at most two recipients per connection and kill are unknown. `KILLS` and `RECIPIENTS` set
//! how many:
//!
//!     KILLS=200 RECIPIENTS=20000 cargo test --release --test it delivery -- --nocapture

use std::collections::BTreeMap;
use std::time::Duration;

use mailmill::base::random::{Random, SystemRandom};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::campaigns::is_complete;
use super::support::mail_sink::{MailSink, SinkAction, SinkCapabilities, SmtpStage};
use super::support::server::BOUNDLESS;
use super::support::{Client, Server};

pub const CONNECTIONS: u64 = 32;
/// The time before a kill, counted from the moment when the server accepts requests.
const KILL_AFTER_MS: std::ops::Range<u64> = 50..250;
const BULK: usize = 5_000;
const LOOK: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(600);

/// The size of a crash test.
#[expect(clippy::disallowed_methods, reason = "the caller of the test sets its size")]
pub fn knob(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// The time that a slow relay takes to confirm a message.
const PAUSE_MICROSECONDS: std::ops::Range<u64> = 500..3_500;

/// Returns a number in the range.
fn within(random: &dyn Random, range: &std::ops::Range<u64>) -> u64 {
    range.start + u64::from(u32::from_be_bytes(random.bytes())) % (range.end - range.start)
}

/// Starts a slow relay.
pub fn relay() -> MailSink {
    let random = SystemRandom::default();
    let pause = move || SinkAction::Wait(Duration::from_micros(within(&random, &PAUSE_MICROSECONDS)));
    let address = "127.0.0.1:0".parse().expect("an address");
    MailSink::at(
        address,
        SinkCapabilities::default(),
        false,
        move |_, now| if now == SmtpStage::Dot { pause() } else { SinkAction::Usual },
    )
}

/// Returns how many messages each recipient was sent, after the first `before` messages.
pub fn taken(sink: &MailSink, before: usize) -> BTreeMap<String, usize> {
    let mut taken = BTreeMap::new();
    for message in &sink.messages()[before..] {
        let address = message.talk.recipient.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
        let address = address.expect("the recipient is in angle brackets").0;
        *taken.entry(address.to_owned()).or_default() += 1;
    }
    taken
}

/// Returns settings of a live service whose relay is the sink.
pub fn with_relay(sink: &MailSink) -> String {
    let address = sink.address;
    BOUNDLESS.to_owned()
        + &format!("\n[mail]\nrelay = [\"smtp://{address}\"]\nconnections = {CONNECTIONS}\nrequire_verified_domain = false\n")
}

/// Creates a project with this many contacts.
pub async fn audience(client: &Client, recipients: usize) -> String {
    let project = client.project("delivery").await;
    let numbers: Vec<usize> = (0..recipients).collect();
    for chunk in numbers.chunks(BULK) {
        let contacts: Vec<Value> = chunk
            .iter()
            .map(|number| json!({ "email": address(*number), "firstName": format!("Name{number}"), "status": "subscribed" }))
            .collect();
        let done = client.data("contacts.bulk", json!({ "projectId": project, "subscribers": contacts })).await;
        assert_eq!(done["success"], contacts.len(), "{done}");
    }
    project
}

fn address(number: usize) -> String {
    format!("r{number}@example.com")
}

/// Creates a finished email of the project; returns its conversation.
pub async fn email(client: &Client, project: &str) -> String {
    let html = "<html><body><p>Hello {{ first_name | default(\"there\") }}</p><p><a href=\"https://example.com/a\">Read</a></p>\
                <p><a href=\"{{ unsubscribe_url }}\">Unsubscribe</a></p></body></html>";
    let given = client.data("emails.import_html", json!({ "projectId": project, "html": html, "name": "Crash" })).await;
    let conversation = given["conversationId"].as_str().expect("an id").to_owned();
    until(async || client.data("emails.status", json!({ "conversationId": conversation })).await["status"] == "completed").await;
    conversation
}

/// Polls until the condition holds.
pub async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let asking = async {
        while !holds().await {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.expect("the condition holds in time");
}

/// Sends a campaign to all contacts.
pub async fn campaign(client: &Client, project: &str, conversation: &str, name: &str) -> String {
    let campaign = draft(client, project, conversation, name).await;
    client.data("campaigns.send", json!({ "id": campaign })).await;
    campaign
}

/// Creates a campaign to all contacts without sending it.
pub async fn draft(client: &Client, project: &str, conversation: &str, name: &str) -> String {
    let wanted = json!({
        "projectId": project, "name": name, "conversationId": conversation, "subject": "Hello {{ firstName | default(\"you\") }}",
        "from": "news@example.com", "fromName": "News", "recipientType": "audience",
    });
    client.data("campaigns.create", wanted).await["id"].as_str().expect("an id").to_owned()
}

/// Returns the status of every recipient of a campaign, by address.
pub async fn statuses(client: &Client, campaign: &str) -> BTreeMap<String, String> {
    let mut states = BTreeMap::new();
    let mut cursor = Value::Null;
    loop {
        let mut input = json!({ "id": campaign, "limit": 100 });
        if !cursor.is_null() {
            input["cursor"] = cursor;
        }
        let page = client.data("campaigns.logs", input).await;
        for row in page["emails"].as_array().expect("a list") {
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            let before = states.insert(text("to_email"), text("status"));
            assert_eq!(before, None, "{} has two rows", row["to_email"]);
        }
        if page["hasMore"] != true {
            return states;
        }
        cursor = page["nextCursor"].clone();
    }
}

/// The result of comparing campaigns with the messages that relays accepted.
#[derive(Default)]
pub struct Report {
    pub campaigns: u64,
    pub recipients: u64,
    /// How often the server was killed or ended.
    pub kills: u64,
    pub accepted: u64,
    pub sent: u64,
    pub unknown: u64,
    pub unknown_accepted: u64,
    pub lost: u64,
    pub repeated: u64,
    pub sent_without_acceptance: u64,
    pub seconds: f64,
}

impl Report {
    /// Compares one campaign's recipient rows with the messages that the relay accepted since the last campaign.
    pub fn add(&mut self, states: &BTreeMap<String, String>, taken: &BTreeMap<String, usize>) {
        self.campaigns += 1;
        self.recipients += states.len() as u64;
        self.accepted += taken.len() as u64;
        self.repeated += taken.values().filter(|copies| **copies > 1).count() as u64;
        for (address, state) in states {
            let accepted = taken.contains_key(address);
            match state.as_str() {
                "unknown" => {
                    self.unknown += 1;
                    self.unknown_accepted += u64::from(accepted);
                }
                "delivered" => {
                    self.sent += 1;
                    self.sent_without_acceptance += u64::from(!accepted);
                }
                // All recipients are eligible and the relay accepts everything, so any other state is a loss.
                _ => self.lost += 1,
            }
        }
        self.lost += taken.keys().filter(|address| !states.contains_key(*address)).count() as u64;
    }

    /// The column names of [`Self::line`].
    pub const HEAD: &str = "campaigns | recipients | kills | accepted | sent | unknown (accepted) | lost | repeated | \
                            sent without acceptance | seconds";

    /// Returns the numbers as one line of a table.
    pub fn line(&self) -> String {
        let Self { campaigns, recipients, kills, accepted, sent, unknown, unknown_accepted, lost, repeated, .. } = self;
        let (false_sent, seconds) = (self.sent_without_acceptance, self.seconds);
        format!(
            "{campaigns} | {recipients} | {kills} | {accepted} | {sent} | {unknown} ({unknown_accepted}) | {lost} | {repeated} | \
             {false_sent} | {seconds:.0}"
        )
    }

    pub fn print(&self) {
        println!("{}\n{}", Self::HEAD, self.line());
    }

    /// Checks that no recipient is lost, none got two messages, none is marked as sent without a message, and no more are unknown
    /// than the guarantee allows.
    pub fn hold(&self, connections: u64) {
        let line = self.line();
        assert_eq!((self.lost, self.repeated, self.sent_without_acceptance), (0, 0, 0), "{}\n{line}", Self::HEAD);
        let unknown_max = 2 * connections * self.kills;
        assert!(self.unknown <= unknown_max, "{} unknown, at most {unknown_max} were expected\n{line}", self.unknown);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_campaigns_lose_no_one_and_repeat_no_one() {
    let (kills, recipients) = (knob("KILLS", 12), knob("RECIPIENTS", 3_000));
    let random = SystemRandom::default();
    let sink = relay();
    let mut server = Server::start(&with_relay(&sink));
    let key = server.key("live", "all");
    let mut client = Client::new(server.address(), Some(key.clone()));
    let project = audience(&client, usize::try_from(recipients).expect("a small number")).await;
    let conversation = email(&client, &project).await;
    let mut report = Report::default();
    let started = Instant::now();
    while report.kills < kills {
        let before = sink.messages().len();
        let campaign = campaign(&client, &project, &conversation, &format!("Crash {}", report.campaigns)).await;
        loop {
            tokio::time::sleep(Duration::from_millis(within(&random, &KILL_AFTER_MS))).await;
            if is_complete(&client.data("campaigns.get", json!({ "id": campaign })).await) {
                break;
            }
            if report.kills < kills {
                server.kill();
                report.kills += 1;
                server.serve();
                client = Client::new(server.address(), Some(key.clone()));
            }
        }
        let states = statuses(&client, &campaign).await;
        assert_eq!(states.len() as u64, recipients, "every recipient has a row");
        report.add(&states, &taken(&sink, before));
    }
    report.seconds = started.elapsed().as_secs_f64();
    report.print();
    report.hold(CONNECTIONS);
}
