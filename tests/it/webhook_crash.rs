//! Tests webhooks under `kill -9`: every committed event arrives at every working endpoint at least once, and no delivery is
//! attempted a fourth time. `KILLS` sets the number of kills:
//!
//!     KILLS=50 cargo test --test it webhook_crash -- --nocapture

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mailmill::base::random::{Random, SystemRandom};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::support::client::Call;
use super::support::hook_sink::{HookSink, Reaction};
use super::support::{Client, Server, operation};
use super::webhooks::{hook, settings};

const WRITERS: usize = 4;
/// The time before a kill, counted from the moment when the server accepts requests.
const KILL_AFTER_MS: std::ops::Range<u64> = 100..900;
const PATIENCE: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(200);

/// The number of kills.
#[expect(clippy::disallowed_methods, reason = "the caller of the test sets its size")]
fn kills() -> u64 {
    std::env::var("KILLS").ok().and_then(|value| value.parse().ok()).unwrap_or(4)
}

fn within(random: &dyn Random, range: &std::ops::Range<u64>) -> u64 {
    range.start + u64::from(u32::from_be_bytes(random.bytes())) % (range.end - range.start)
}

/// Creates contacts until the server is killed; returns the acknowledged ones.
async fn write(client: Client, project: String, mark: String) -> BTreeSet<String> {
    let mut made = BTreeSet::new();
    for number in 0.. {
        let email = format!("{mark}-{number}@example.com");
        let call = Call::new(operation("contacts.create"), json!({ "projectId": project, "email": email }));
        match client.try_send(call).await {
            Ok(reply) if reply.status == 201 && !reply.bytes.is_empty() => made.insert(email),
            _ => break,
        };
    }
    made
}

/// Returns an endpoint's events: how often each attempt ID arrived, and the contacts.
fn received(sink: &HookSink) -> (BTreeSet<String>, BTreeMap<String, usize>) {
    let (mut emails, mut attempts) = (BTreeSet::new(), BTreeMap::new());
    for got in sink.got() {
        emails.insert(got.json()["data"]["email"].as_str().expect("an email").to_owned());
        let attempt = got.header("x-service-delivery-id").expect("an id").to_owned();
        let number: usize = attempt.rsplit('-').next().expect("a number").parse().expect("a number");
        assert!((1..=3).contains(&number), "{attempt}");
        *attempts.entry(attempt).or_default() += 1;
    }
    (emails, attempts)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_a_service_that_is_killed_arrive_everywhere_and_nothing_is_attempted_a_fourth_time() {
    let random = SystemRandom::default();
    let mut server = Server::start(&settings(""));
    let key = server.key("test", "all");
    let mut client = Client::new(server.address(), Some(key.clone()));
    let project = client.project("crash").await;
    let live = [HookSink::content().await, HookSink::start(|_, _| Reaction::Later(Duration::from_millis(20), 200)).await];
    // One endpoint fails every other time, and no server listens at another.
    let moody = HookSink::start(|_, number| Reaction::status(if number.is_multiple_of(2) { 500 } else { 200 })).await;
    let mut hooks = Vec::new();
    for url in [live[0].url(), live[1].url(), moody.url(), "http://127.0.0.1:1/".to_owned()] {
        hooks.push(hook(&client, &url, &["subscriber.added"]).await.0);
    }
    let mut made = BTreeSet::new();
    let started = Instant::now();
    for round in 0..kills() {
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            writers.spawn(write(client.clone(), project.clone(), format!("r{round}-w{writer}")));
        }
        tokio::time::sleep(Duration::from_millis(within(&random, &KILL_AFTER_MS))).await;
        server.kill();
        made.extend(writers.join_all().await.into_iter().flatten());
        server.serve();
        client = Client::new(server.address(), Some(key.clone()));
    }
    // Lost attempts are repeated after their pause. The test does not wait for the endpoint without a server.
    let pending = async {
        loop {
            let mut left = 0;
            for hook in &hooks[..3] {
                let page = json!({ "webhookId": hook, "status": "pending", "limit": 1 });
                left += client.data("webhooks.deliveries", page).await["total"].as_u64().expect("a total");
            }
            if left == 0 && live.iter().all(|sink| received(sink).0.is_superset(&made)) {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(PATIENCE, pending).await.expect("everything is delivered");
    println!("kills | events | deliveries at live endpoints | repeated | seconds");
    let repeated: usize = live.iter().map(|sink| sink.got().len() - received(sink).0.len()).sum();
    let delivered: usize = live.iter().map(|sink| sink.got().len()).sum();
    println!("{} | {} | {delivered} | {repeated} | {:.0}", kills(), made.len(), started.elapsed().as_secs_f64());
    for sink in live.iter().chain([&moody]) {
        let (_, attempts) = received(sink);
        let twice: Vec<_> = attempts.iter().filter(|(_, count)| **count > 1).collect();
        assert!(twice.is_empty(), "an attempt was made twice: {twice:?}");
    }
    for hook in &hooks {
        let mut offset = 0;
        loop {
            let page = client.data("webhooks.deliveries", json!({ "webhookId": hook, "limit": 100, "offset": offset })).await;
            let list = page["deliveries"].as_array().expect("a list");
            if list.is_empty() {
                break;
            }
            offset += list.len();
            assert!(list.iter().all(|delivery| delivery["attempts"].as_u64().is_some_and(|attempts| attempts <= 3)));
        }
        assert!(offset >= made.len(), "every event has its delivery");
    }
}
