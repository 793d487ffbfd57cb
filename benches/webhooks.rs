//! The speed of webhook deliveries, with every attempt recorded before and after it. Run with `cargo bench --bench webhooks`.
//!
//! The targets: 3,000 deliveries per second to 100 receivers on this machine; when the service is idle, the first byte of 99% of the
//! deliveries arrives within 100 ms of the commit; and fifty dead endpoints among the receivers change these figures by less than a factor
//! of two. The throughput is compared, in the same run, with a bare client that posts the same bodies to the same receivers, with one
//! connection each and no records, and with the bare store writing as many rows. `EVENTS` sets how many events each of the 100 receivers
//! gets.

mod shared;

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as Silent};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use mailmill::engine::runner;
use mailmill::engine::store::{Error, Table};
use mailmill::engine::tasks::{Stage, Tasks};
use mailmill::vocab::environment::Environment;
use mailmill::vocab::ids::AccountId;
use mailmill::vocab::tables::CONTACT_COUNTS;
use mailmill::workers::WORKERS;
use serde_json::json;
use tokio::task::JoinSet;

use self::shared::BenchApp;

const RECEIVERS: usize = 100;
const DEAD: usize = 50;
const IDLE_ROUNDS: usize = 100;
const IDLE_PAUSE: Duration = Duration::from_millis(20);
/// The number of rows written per delivery: the delivery three times, its due time three times, the counts, and the queue.
const ROWS_PER_DELIVERY: usize = 8;

#[expect(clippy::disallowed_methods, reason = "a benchmark measures the machine's own time")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "the caller of a benchmark sets its size")]
fn events() -> usize {
    std::env::var("EVENTS").ok().and_then(|value| value.parse().ok()).unwrap_or(200)
}

/// When each event arrived, at all receivers together.
#[derive(Default)]
struct Arrivals {
    count: AtomicUsize,
    first: Mutex<HashMap<String, Vec<Instant>>>,
}

/// Receivers that accept everything.
async fn receivers(tasks: &Tasks, arrivals: &Arc<Arrivals>) -> Vec<SocketAddr> {
    let mut addresses = Vec::new();
    for _ in 0..RECEIVERS {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        addresses.push(listener.local_addr().expect("bound"));
        let (arrivals, talks) = (arrivals.clone(), tasks.group("talks"));
        tasks.attend("receiver", async move {
            while let Ok((tcp, _)) = listener.accept().await {
                let at = now();
                let arrivals = arrivals.clone();
                let service = service_fn(move |request: Request<hyper::body::Incoming>| {
                    let arrivals = arrivals.clone();
                    async move {
                        let event = request.headers().get("x-service-event-id").map(|id| id.to_str().expect("ASCII").to_owned());
                        let _ = request.into_body().collect().await;
                        if let Some(event) = event {
                            arrivals.first.lock().expect("no panic").entry(event).or_default().push(at);
                        }
                        arrivals.count.fetch_add(1, Ordering::Relaxed);
                        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"ok"))))
                    }
                });
                talks.spawn(async move {
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(tcp), service).await;
                });
            }
        });
    }
    addresses
}

/// An app with a project.
struct Fixture {
    app: BenchApp,
    project: String,
    next: AtomicUsize,
    _folder: tempfile::TempDir,
}

async fn fixture() -> Fixture {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let app = BenchApp::open(folder.path(), Environment::Test, |settings| {
        settings.webhooks.allow_http = true;
        settings.outbound.allow_networks = vec!["127.0.0.0/8".parse().expect("a network")];
    });
    let project = app.project().await;
    Fixture { app, project, next: AtomicUsize::new(0), _folder: folder }
}

impl Fixture {
    async fn hook(&self, address: SocketAddr) {
        self.app.post("/v1/webhooks", json!({ "url": format!("http://{address}/"), "events": ["subscriber.added"] })).await;
    }

    /// Creates a contact, which emits an event; returns when it was committed.
    async fn emit(&self) -> Instant {
        let email = format!("r{}@example.com", self.next.fetch_add(1, Ordering::Relaxed));
        self.app.post("/v1/contacts", json!({ "projectId": self.project, "email": email, "tags": ["vip", "北京"] })).await;
        now()
    }
}

async fn arrived(arrivals: &Arrivals, count: usize) {
    while arrivals.count.load(Ordering::Relaxed) < count {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Returns deliveries per second: many events at once, each to all receivers.
async fn throughput(fixture: &Fixture, arrivals: &Arrivals) -> f64 {
    let before = arrivals.count.load(Ordering::Relaxed);
    let started = now();
    for _ in 0..events() {
        fixture.emit().await;
    }
    arrived(arrivals, before + events() * RECEIVERS).await;
    (events() * RECEIVERS) as f64 / started.elapsed().as_secs_f64()
}

/// Returns the posts per second of a bare client: as many requests at a time, each on its own connection, and no records.
async fn bare(addresses: &[SocketAddr], posts: usize, at_once: usize) -> f64 {
    let body = Bytes::from(vec![b'x'; 400]);
    let started = now();
    let mut clients = JoinSet::new();
    for client in 0..at_once {
        let (addresses, body) = (addresses.to_vec(), body.clone());
        clients.spawn(async move {
            for post in 0..posts / at_once {
                let address = addresses[(client + post) % addresses.len()];
                let tcp = tokio::net::TcpStream::connect(address).await.expect("it accepts");
                let _ = tcp.set_nodelay(true);
                let (mut sender, connection) =
                    hyper::client::conn::http1::handshake::<_, Full<Bytes>>(TokioIo::new(tcp)).await.expect("a connection");
                let request = Request::post("/").header("host", "x").header("connection", "close");
                let request = request.body(Full::new(body.clone())).expect("a request");
                let exchange = async {
                    let answer = sender.send_request(request).await.expect("an answer");
                    let _ = answer.into_body().collect().await;
                };
                let (_, ()) = tokio::join!(connection, exchange);
            }
        });
    }
    while let Some(ended) = clients.join_next().await {
        ended.expect("no client panics");
    }
    posts as f64 / started.elapsed().as_secs_f64()
}

/// Returns deliveries per second if only their rows were written.
async fn store_alone(fixture: &Fixture) -> f64 {
    let rows: Table<(AccountId, u64), Vec<u8>> = Table::new(CONTACT_COUNTS);
    let store = &fixture.app.api.0.data(Environment::Live).store;
    let (commits, each) = (20_u64, 512 * ROWS_PER_DELIVERY as u64);
    let started = now();
    for commit in 0..commits {
        let wrote = store.write(move |tx| {
            for number in 0..each {
                let place = (AccountId::from_bytes([7; 12]), (commit * each + number).wrapping_mul(0x9E37_79B9_7F4A_7C15));
                tx.put(rows, &place, &vec![1; 150]);
            }
            Ok::<_, Error>(())
        });
        wrote.await.expect("the store works").expect("written");
    }
    (commits * 512) as f64 / started.elapsed().as_secs_f64()
}

/// Returns the time from the commit to the first byte at each receiver, when idle: the median, and the 99th percentile.
async fn idle(fixture: &Fixture, arrivals: &Arrivals) -> (Duration, Duration) {
    arrivals.first.lock().expect("no panic").clear();
    let mut times = Vec::new();
    for _ in 0..IDLE_ROUNDS {
        let before = arrivals.count.load(Ordering::Relaxed);
        let committed = fixture.emit().await;
        arrived(arrivals, before + RECEIVERS).await;
        let all: Vec<Vec<Instant>> = arrivals.first.lock().expect("no panic").drain().map(|(_, all)| all).collect();
        times.extend(all.into_iter().flatten().map(|at| at.saturating_duration_since(committed)));
        tokio::time::sleep(IDLE_PAUSE).await;
    }
    times.sort();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

async fn measure() {
    let tasks = Tasks::new(tokio::runtime::Handle::current());
    let arrivals = Arc::new(Arrivals::default());
    let addresses = receivers(&tasks, &arrivals).await;
    let fixture = fixture().await;
    runner::start(&tasks, &fixture.app.api.0, WORKERS);
    for address in &addresses {
        fixture.hook(*address).await;
    }
    let (half, most) = idle(&fixture, &arrivals).await;
    println!("idle, {RECEIVERS} receivers: median {half:?}, 99th percentile {most:?}");
    let ours = throughput(&fixture, &arrivals).await;
    let client = bare(&addresses, events() * RECEIVERS, 128).await;
    let rows = store_alone(&fixture).await;
    let (of_client, of_rows) = (ours / client, ours / rows);
    println!(
        "{ours:.0} deliveries/s; a bare client {client:.0}/s ({of_client:.2} of it), their rows alone {rows:.0}/s ({of_rows:.2})"
    );
    let mut silent = Vec::new();
    for number in 0..DEAD {
        // Half of the dead endpoints accept connections but do not respond; the other half accept none.
        let socket = Silent::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = socket.local_addr().expect("bound");
        if number.is_multiple_of(2) {
            silent.push(socket);
        }
        fixture.hook(address).await;
    }
    let (half_dead, most_dead) = idle(&fixture, &arrivals).await;
    let times = most_dead.as_secs_f64() / most.as_secs_f64();
    println!("with {DEAD} dead ones: median {half_dead:?}, 99th percentile {most_dead:?}: {times:.2} times");
    tasks.raise(Stage::Cut);
    tasks.join(Duration::from_secs(1)).await;
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(measure());
}
