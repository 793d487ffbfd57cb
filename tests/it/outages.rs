//! Tests a relay outage during a campaign: the campaign continues automatically, no recipient is lost, and none gets two messages.
//!
//! `OUTAGE` sets the length of the outage in seconds:
//!
//!     OUTAGE=60 cargo test --test it outages -- --nocapture

use std::collections::{BTreeMap, HashSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::campaigns::is_complete;
use super::delivery::{CONNECTIONS, Report, audience, campaign, email, knob, statuses, taken, until, with_relay};
use super::support::mail_sink::{MailSink, SinkAction, SinkCapabilities, SmtpStage};
use super::support::{Client, Server, free_address};

const RECIPIENTS: usize = 1_000;
/// The campaign counts as half sent when this many recipients have it.
const MIDDLE: usize = 200;
/// The time that the relay takes for each message. With a faster relay, the campaign would end before the outage.
const PAUSE: Duration = Duration::from_millis(5);
/// A time that is longer than the pause before a retry.
const HALF_AN_HOUR_AND_MORE_MS: i64 = 31 * 60 * 1_000;

/// A relay that can be shut down: it ends the messages in flight, then closes, and refuses new connections.
struct Relay {
    sink: MailSink,
    goes: Arc<AtomicBool>,
    /// The connections with a message in flight.
    busy: Arc<Mutex<HashSet<usize>>>,
    /// Whether a connection was refused.
    refused: Arc<AtomicBool>,
}

impl Relay {
    fn at(address: &str) -> Self {
        let (goes, busy, refused) = (Arc::new(AtomicBool::new(false)), Arc::default(), Arc::new(AtomicBool::new(false)));
        let address: SocketAddr = address.parse().expect("an address");
        let (going, under_way, sent_away): (_, Arc<Mutex<HashSet<usize>>>, _) =
            (goes.clone(), Arc::clone(&busy), refused.clone());
        let sink = MailSink::at(address, SinkCapabilities::default(), false, move |talk, now| {
            let goes = going.load(Ordering::SeqCst);
            match now {
                SmtpStage::Greeting if goes => {
                    sent_away.store(true, Ordering::SeqCst);
                    SinkAction::SayThenClose("421 4.3.2 Going down".to_owned())
                }
                SmtpStage::Sender => {
                    under_way.lock().expect("unbroken").insert(talk.connection);
                    SinkAction::Usual
                }
                SmtpStage::Dot => {
                    under_way.lock().expect("unbroken").remove(&talk.connection);
                    if goes { SinkAction::UsualThenClose } else { SinkAction::Wait(PAUSE) }
                }
                _ => SinkAction::Usual,
            }
        });
        Self { sink, goes, busy, refused }
    }

    /// Waits for messages in flight.
    async fn finish(&self) {
        self.goes.store(true, Ordering::SeqCst);
        until(async || self.refused.load(Ordering::SeqCst) && self.busy.lock().expect("unbroken").is_empty()).await;
    }

    /// Returns how many messages the relay has accepted, after its client is killed and the rest of the client's data is read.
    async fn left(&self) -> usize {
        until(async || self.sink.open() == 0).await;
        self.sink.count()
    }

    /// Shuts the relay down; returns the messages that it accepted.
    fn gone(mut self) -> BTreeMap<String, usize> {
        self.sink.stop();
        taken(&self.sink, 0)
    }
}

/// Returns how many messages each recipient got from all of these relays.
fn taken_by(sinks: &[&BTreeMap<String, usize>]) -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    for (address, copies) in sinks.iter().flat_map(|taken| taken.iter()) {
        *all.entry(address.clone()).or_default() += copies;
    }
    all
}

async fn is_sent(client: &Client, campaign: &str) -> bool {
    is_complete(&client.data("campaigns.get", json!({ "id": campaign })).await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_campaign_waits_for_a_relay_outage_and_continues() {
    let outage = Duration::from_secs(knob("OUTAGE", 2));
    let address = free_address().to_string();
    let relay = Relay::at(&address);
    let server = Server::start(&with_relay(&relay.sink));
    let client = server.client("live", "all");
    let project = audience(&client, RECIPIENTS).await;
    let conversation = email(&client, &project).await;
    let id = campaign(&client, &project, &conversation, "Outage").await;
    until(async || relay.sink.count() >= MIDDLE).await;

    relay.finish().await;
    let first = relay.gone();
    let down = Instant::now();
    let mut told = String::new();
    while down.elapsed() < outage {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let now = client.data("campaigns.get", json!({ "id": id })).await;
        let status = now["status"].as_str().expect("a word").to_owned();
        assert!(status == "sending" || status == "throttled", "{now}");
        if status == "throttled" {
            assert!(now["error"].as_str().is_some_and(|error| error.contains("by itself")), "{now}");
        }
        told = status;
    }
    assert_eq!(first.len(), statuses(&client, &id).await.values().filter(|state| *state == "delivered").count());

    let relay = Relay::at(&address);
    let back = Instant::now();
    until(async || is_sent(&client, &id).await).await;
    let continued = back.elapsed();
    let mut report = Report { seconds: down.elapsed().as_secs_f64(), ..Report::default() };
    report.add(&statuses(&client, &id).await, &taken_by(&[&first, &taken(&relay.sink, 0)]));
    let (before, outage) = (first.len(), outage.as_secs());
    // A transport waits for its relay for a minute and a half before it reports the failure.
    assert!(outage < 120 || told == "throttled", "after {outage} s it is still called {told}");
    println!(
        "relay refuses connections for {outage} s after {before} messages; the campaign is called {told}, and all is sent \
         {continued:.1?} after it is back"
    );
    report.print();
    report.hold(CONNECTIONS);
    assert!(before < RECIPIENTS, "the relay went too late");
    assert_eq!((report.unknown, report.sent), (0, RECIPIENTS as u64));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_in_flight_at_a_crashed_relay_are_retried_or_unknown() {
    let address = free_address().to_string();
    let relay = Relay::at(&address);
    let mut server = Server::stopped(&with_relay(&relay.sink));
    let Some(faults) = server.faults() else { return };
    server.serve();
    let client = server.client("live", "all");
    let project = audience(&client, RECIPIENTS).await;
    let conversation = email(&client, &project).await;
    let id = campaign(&client, &project, &conversation, "Crash of a relay").await;
    until(async || relay.sink.count() >= MIDDLE).await;
    let began = Instant::now();
    // Every connection breaks at its current point: before the dot, or between the dot and the reply.
    let first = relay.gone();
    let relay = Relay::at(&address);

    let settled = async || {
        let numbers = client.data("campaigns.stats", json!({ "id": id })).await;
        let of = |name: &str| numbers[name].as_u64().expect("a number");
        (of("queued") == 0).then_some((of("totalSent"), of("deferred"), of("unknown")))
    };
    until(async || settled().await.is_some()).await;
    let (sent, deferred, unknown) = settled().await.expect("just so");
    assert_eq!(sent + deferred + unknown, RECIPIENTS as u64);
    // Advance the server's clock by half an hour.
    faults.clock_off_by_ms(HALF_AN_HOUR_AND_MORE_MS);
    until(async || is_sent(&client, &id).await).await;
    let mut report = Report { kills: 1, seconds: began.elapsed().as_secs_f64(), ..Report::default() };
    report.add(&statuses(&client, &id).await, &taken_by(&[&first, &taken(&relay.sink, 0)]));
    println!("relay crashes after {} messages: {deferred} were deferred, {unknown} are unknown", first.len());
    report.print();
    report.hold(CONNECTIONS);
    assert!(report.unknown <= CONNECTIONS, "one for each connection at most");
    assert!(deferred + unknown > 0, "nothing was in hand");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn graceful_stops_and_changed_settings_leave_no_unknown_deliveries() {
    let relays: Vec<Relay> = (0..4).map(|_| Relay::at("127.0.0.1:0")).collect();
    let mut server = Server::start(&with_relay(&relays[0].sink));
    let key = server.key("live", "all");
    let mut client = Client::new(server.address(), Some(key.clone()));
    let project = audience(&client, RECIPIENTS).await;
    let conversation = email(&client, &project).await;
    let id = campaign(&client, &project, &conversation, "Stops").await;
    let began = Instant::now();
    let mut stopped_after = Vec::new();
    for (number, relay) in relays.iter().enumerate().skip(1) {
        until(async || relays[number - 1].sink.count() >= MIDDLE).await;
        server.signal("TERM");
        assert!(server.wait().success(), "{}", server.log());
        stopped_after.push(relays[number - 1].sink.count());
        // Use another relay, and fewer connections than before.
        let fewer = CONNECTIONS / (1 << number);
        let changed = with_relay(&relay.sink).replace(&format!("connections = {CONNECTIONS}"), &format!("connections = {fewer}"));
        server.set(&changed);
        server.serve();
        client = Client::new(server.address(), Some(key.clone()));
    }
    until(async || is_sent(&client, &id).await).await;
    let by_relay: Vec<BTreeMap<String, usize>> = relays.iter().map(|relay| taken(&relay.sink, 0)).collect();
    let mut report = Report { seconds: began.elapsed().as_secs_f64(), ..Report::default() };
    report.add(&statuses(&client, &id).await, &taken_by(&by_relay.iter().collect::<Vec<_>>()));
    println!("stopped by TERM after {stopped_after:?} messages, each time another relay and fewer connections");
    report.print();
    report.hold(CONNECTIONS);
    assert_eq!((report.sent, report.unknown), (RECIPIENTS as u64, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_or_canceled_campaign_stays_so_through_a_kill_without_duplicates() {
    let relay = Relay::at("127.0.0.1:0");
    let mut server = Server::start(&with_relay(&relay.sink));
    let key = server.key("live", "all");
    let client = Client::new(server.address(), Some(key.clone()));
    let project = audience(&client, RECIPIENTS).await;
    let conversation = email(&client, &project).await;
    let id = campaign(&client, &project, &conversation, "Paused").await;
    until(async || relay.sink.count() >= MIDDLE).await;
    assert_eq!(client.data("campaigns.pause", json!({ "id": id })).await["status"], "paused");
    server.kill();
    let paused_at = relay.left().await;
    server.serve();
    let client = Client::new(server.address(), Some(key.clone()));
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(client.data("campaigns.get", json!({ "id": id })).await["status"], "paused");
    assert_eq!(relay.sink.count(), paused_at, "nothing is sent while it is paused");
    assert_eq!(client.data("campaigns.resume", json!({ "id": id })).await["status"], "sending");
    until(async || is_sent(&client, &id).await).await;
    let mut report = Report { kills: 1, ..Report::default() };
    report.add(&statuses(&client, &id).await, &taken(&relay.sink, 0));

    let (before, id) = (relay.sink.count(), campaign(&client, &project, &conversation, "Cancelled").await);
    until(async || relay.sink.count() >= before + MIDDLE).await;
    client.data("campaigns.cancel", json!({ "id": id })).await;
    server.kill();
    let cancelled_at = relay.left().await;
    server.serve();
    let client = Client::new(server.address(), Some(key));
    until(async || client.data("campaigns.stats", json!({ "id": id })).await["queued"] == 0).await;
    assert_eq!(client.data("campaigns.get", json!({ "id": id })).await["status"], "cancelled");
    assert_eq!(relay.sink.count(), cancelled_at, "nothing is sent after it was cancelled");
    let mut states = statuses(&client, &id).await;
    let all = states.len();
    states.retain(|_, state| state != "skipped");
    let skipped = all - states.len();
    let mut cancelled = Report { kills: 1, ..Report::default() };
    cancelled.add(&states, &taken(&relay.sink, before));
    println!("paused after {paused_at} messages and killed, then resumed:");
    report.print();
    println!("cancelled after {} messages and killed: {skipped} of {all} are skipped", cancelled_at - before);
    cancelled.print();
    report.hold(CONNECTIONS);
    cancelled.hold(CONNECTIONS);
    assert_eq!((all, skipped + states.len()), (RECIPIENTS, RECIPIENTS));
}
