//! The throughput of durable customer events, compared with the bare store writing rows of the same size in the same run. Run with `cargo
//! bench --bench events`.
//!
//! The events come over HTTP: from 64 clients with one event per request, and from four clients with 500 events per request. Consecutive
//! events are about different contacts, and half of them are orders. `EVENT_CONTACTS` sets the number of contacts in the project (20,000 by
//! default), `EVENT_CACHE_MIB` the memory of the store (the settings' default). Events are acknowledged before they are in the indexes by
//! contact and by key; the second figure includes that time too, which is the sustained rate.

#[path = "shared/raw.rs"]
mod raw;
#[path = "shared/server.rs"]
mod server;
mod shared;

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mailmill::base::bounded::Bounded;
use mailmill::base::clock::SystemClock;
use mailmill::base::random::SystemRandom;
use mailmill::engine::store::{Error, Options as StoreOptions, Store, Table};
use mailmill::engine::tasks::Tasks;
use mailmill::features::events;
use mailmill::vocab::environment::Environment;
use mailmill::vocab::ids::ProjectId;
use mailmill::vocab::tables::{CONTACTS, CONTACTS_BY_EMAIL, DatabaseKind};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use self::raw::read_answer;
use self::server::{connect, start};
use self::shared::BenchApp;

/// The number of clients with one event per request. Each client is a thread.
const CLIENTS: usize = 64;
const EVENTS_PER_CLIENT: usize = 100;
/// The number of clients with batches. Each client is a thread.
const BATCHERS: usize = 4;
const BATCHES_PER_CLIENT: usize = 10;
const BATCH: usize = 500;
const ROUNDS: usize = 7;
/// The size of an event's row.
const ROW_BYTES: usize = 300;

const ROWS: Table<(ProjectId, u64), Vec<u8>> = Table::new(CONTACTS);
const INDEX: Table<(ProjectId, [u8; 16]), u32> = Table::new(CONTACTS_BY_EMAIL);
const PROJECT: ProjectId = ProjectId::from_bytes([7; 12]);

#[expect(clippy::disallowed_methods, reason = "a benchmark measures the machine's own time")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "the caller of a benchmark sets its size")]
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// An app with a project that has many contacts.
struct Fixture {
    app: BenchApp,
    project: String,
    contacts: u64,
    next: AtomicU64,
    _folder: tempfile::TempDir,
}

async fn fixture(folder: tempfile::TempDir) -> Fixture {
    let app = BenchApp::open(folder.path(), Environment::Test, |settings| {
        if let Some(mib) = number("EVENT_CACHE_MIB") {
            settings.data.cache_mib = Bounded::new(mib).expect("a size that the settings take");
        }
    });
    let project = app.project().await;
    let contacts = number("EVENT_CONTACTS").unwrap_or(20_000);
    for first in (0..contacts).step_by(5_000) {
        let rows: Vec<Value> =
            (first..contacts.min(first + 5_000)).map(|number| json!({ "email": format!("p{number}@example.com") })).collect();
        app.post("/v1/contacts/bulk", json!({ "projectId": project, "subscribers": rows })).await;
    }
    Fixture { app, project, contacts, next: AtomicU64::new(0), _folder: folder }
}

impl Fixture {
    /// Returns the next event, without its project.
    fn event(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        // Consecutive events are not adjacent in the table.
        let contact = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % self.contacts;
        let (name, order) = match number % 2 {
            0 => ("product.viewed", String::new()),
            _ => ("purchase.completed", format!(r#","externalOrderId":"order-{number}""#)),
        };
        format!(
            r#""name":"{name}","identifiers":{{"email":"p{contact}@example.com"{order}}},"properties":{{"value":49.90,"currency":"EUR","sku":"T-{number}","title":"Winter tea"}},"dedupeKey":"event-{number}""#
        )
    }

    fn single(&self) -> (&'static str, String) {
        ("/v1/events", format!(r#"{{"projectId":"{}",{}}}"#, self.project, self.event()))
    }

    fn batch(&self) -> (&'static str, String) {
        let rows: Vec<String> = (0..BATCH).map(|_| format!("{{{}}}", self.event())).collect();
        ("/v1/events/batch", format!(r#"{{"projectId":"{}","events":[{}]}}"#, self.project, rows.join(",")))
    }
}

/// Sends requests with several clients, each of which sends `each` requests in sequence; returns the total time.
fn load(
    address: SocketAddr,
    key: &str,
    (clients, each): (usize, usize),
    request: impl Fn() -> (&'static str, String) + Sync,
) -> Duration {
    // Bodies are created beforehand, so that only the server's work is measured.
    let bodies: Vec<Vec<(&str, String)>> = (0..clients).map(|_| (0..each).map(|_| request()).collect()).collect();
    let began = now();
    std::thread::scope(|scope| {
        for bodies in bodies {
            scope.spawn(move || {
                let mut stream = connect(address);
                let mut scrap = vec![0; 256 * 1024];
                for (path, body) in bodies {
                    let head = format!(
                        "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\
                         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
                        body.len()
                    );
                    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).expect("the server takes it");
                    let length = read_answer(&mut stream, &mut scrap);
                    let answer = String::from_utf8_lossy(&scrap[..length]);
                    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
                    assert!(!answer.contains("\"stored\":false"), "{answer}");
                }
            });
        }
    });
    began.elapsed()
}

/// A measurement of the store alone: each event is a row at the end of a table, and two small rows at random positions.
struct Bare {
    store: Arc<Store>,
    next: AtomicU64,
}

fn scattered(number: u64) -> [u8; 16] {
    let word = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ (word >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((u128::from(word) << 64) | u128::from(word ^ (word >> 32))).to_be_bytes()
}

impl Bare {
    fn new(folder: &Path) -> Self {
        let options = StoreOptions { database_kind: DatabaseKind::Environment, cache_bytes: 256 << 20 };
        let store = Store::open(&folder.join("bare.redb"), &options, Arc::new(SystemClock), Arc::new(SystemRandom::default()));
        Self { store: Arc::new(store.expect("a new store")), next: AtomicU64::new(0) }
    }

    fn load(&self, runtime: &tokio::runtime::Runtime, (clients, each): (usize, usize), per_command: u64) -> Duration {
        let began = now();
        runtime.block_on(async {
            let mut writers = JoinSet::new();
            for _ in 0..clients {
                let first = self.next.fetch_add(each as u64 * per_command, Ordering::Relaxed);
                let store = self.store.clone();
                writers.spawn(async move {
                    for command in 0..each as u64 {
                        let from = first + command * per_command;
                        let wrote = store.write(move |tx| {
                            for number in from..from + per_command {
                                tx.put(ROWS, &(PROJECT, number), &vec![number as u8; ROW_BYTES]);
                                tx.put(INDEX, &(PROJECT, scattered(number * 2)), &0);
                                tx.put(INDEX, &(PROJECT, scattered(number * 2 + 1)), &0);
                            }
                            Ok::<_, Error>(())
                        });
                        wrote.await.expect("written").expect("no refusal");
                    }
                });
            }
            while let Some(outcome) = writers.join_next().await {
                outcome.expect("no writer panics");
            }
        });
        began.elapsed()
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A path and a body.
type Request = (&'static str, String);
/// The name, the clients and requests per client, the events per request, and the request builder.
type Kind = (&'static str, (usize, usize), u64, fn(&Fixture) -> Request);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let tasks = Tasks::new(runtime.handle().clone());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bare = Bare::new(folder.path());
    let fixture = runtime.block_on(fixture(folder));
    let (_running, address) = runtime.block_on(start(fixture.app.api.clone(), &fixture.app.api.0, &tasks));
    println!("{} contacts", fixture.contacts);
    let kinds: [Kind; 2] = [
        ("POST /v1/events, 64 clients", (CLIENTS, EVENTS_PER_CLIENT), 1, Fixture::single),
        ("POST /v1/events/batch of 500, 4 clients", (BATCHERS, BATCHES_PER_CLIENT), BATCH as u64, Fixture::batch),
    ];
    for (name, shape, per_command, request) in kinds {
        let many = (shape.0 * shape.1) as f64 * per_command as f64;
        let (mut rates, mut lasting, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        // The rounds alternate, so that a slow moment of a shared machine affects both.
        for _ in 0..ROUNDS {
            let alone = bare.load(&runtime, shape, per_command);
            let served = load(address, &fixture.app.key, shape, || request(&fixture));
            let began = now();
            while runtime.block_on(events::index(&fixture.app.api.0, Environment::Test)).expect("brought in") {}
            let whole = served + began.elapsed();
            rates.push(many / served.as_secs_f64());
            lasting.push(many / whole.as_secs_f64());
            ratios.push(alone.as_secs_f64() / whole.as_secs_f64());
        }
        println!(
            "{name}: {:.0} events/s answered, {:.0} with the indexes, {:.2} of the bare store (medians of {ROUNDS})",
            median(rates),
            median(lasting),
            median(ratios)
        );
    }
}
