//! The speed of the API over HTTP, each figure next to its baseline in the same run. Run with `cargo bench --bench http`.
//!
//! Reading: `GET /v1/contacts/{id}` through the whole pipeline, compared with a bare hyper server that returns the same bytes with the same
//! headers. Writing: durable `POST /v1/contacts` by 64 clients, compared with one client that waits for each commit alone, and the same
//! number of requests to incoming webhooks, whose target is 2,000 per second, and to a service with a continuous backup, whose target is at
//! most 3 % more time. Clients are threads that write raw requests and read until the response is complete, so that the server's work is
//! measured.

#[path = "shared/raw.rs"]
mod raw;
#[path = "shared/server.rs"]
mod server;
mod shared;

use std::convert::Infallible;
use std::hint::black_box;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use futures_util::future::join_all;
use http::{HeaderMap, Response};
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use mailmill::engine::backup::ContinuousBackup;
use mailmill::engine::tasks::Tasks;
use mailmill::vocab::environment::Environment;

use self::raw::read_answer;
use self::server::{connect, start};
use self::shared::BenchApp;

/// The number of connections of the reading load, on two threads: more threads would measure the scheduler.
const READERS: usize = 32;
const READS_PER_CONNECTION: usize = 320;
/// The number of clients of the writing load. Each client is a thread.
const WRITERS: usize = 64;
const WRITES_PER_CLIENT: usize = 50;

/// An app with one project and one contact, and a key for it.
struct Fixture {
    app: BenchApp,
    project: String,
    contact: String,
    _folder: tempfile::TempDir,
}

async fn fixture(is_backed_up: bool) -> Fixture {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let target = is_backed_up.then(|| folder.path().join("target").display().to_string());
    let app = BenchApp::open(folder.path(), Environment::Test, |settings| settings.backup.url = target);
    let project = app.project().await;
    let contact = serde_json::json!({
        "projectId": project, "email": "ada@example.com", "firstName": "Ada", "lastName": "Lovelace", "country": "GB",
        "tags": ["newsletter", "vip"], "customFields": { "plan": "pro", "city": "London" },
    });
    let contact = app.post("/v1/contacts", contact).await["id"].as_str().expect("an id").to_owned();
    Fixture { app, project, contact, _folder: folder }
}

/// Starts a bare server that returns `headers` and `body` for every request.
async fn start_bare(headers: HeaderMap, body: Bytes, tasks: &Tasks) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port can be bound");
    let address = listener.local_addr().expect("it is bound");
    let connections = tasks.group("bare connections");
    tasks.attend("bare listener", async move {
        while let Ok((tcp, _)) = listener.accept().await {
            let _ = tcp.set_nodelay(true);
            let (headers, body) = (headers.clone(), body.clone());
            let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
                black_box(request.uri().path());
                let mut response = Response::new(Full::new(body.clone()));
                *response.headers_mut() = headers.clone();
                async move { Ok::<_, Infallible>(response) }
            });
            connections.spawn(async move {
                let _ = http1::Builder::new().serve_connection(TokioIo::new(tcp), service).await;
            });
        }
    });
    address
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures the machine's own time")]
fn now() -> Instant {
    Instant::now()
}

/// Sends the requests of all readers in sequence; returns the time of the slowest thread, and each request's time.
fn read_load(streams: &mut [TcpStream], request: &[u8], times: Option<&mut Vec<Duration>>) -> Duration {
    let began = now();
    let all: Vec<Vec<Duration>> = std::thread::scope(|scope| {
        let halves = streams.chunks_mut(READERS / 2).map(|half| {
            scope.spawn(move || {
                let mut scrap = vec![0; 8192];
                let mut times = Vec::with_capacity(READS_PER_CONNECTION * half.len());
                for _ in 0..READS_PER_CONNECTION {
                    let sent: Vec<Instant> = half
                        .iter_mut()
                        .map(|stream| {
                            stream.write_all(request).expect("the server takes it");
                            now()
                        })
                        .collect();
                    for (stream, sent) in half.iter_mut().zip(sent) {
                        read_answer(stream, &mut scrap);
                        times.push(sent.elapsed());
                    }
                }
                times
            })
        });
        let halves: Vec<_> = halves.collect();
        halves.into_iter().map(|half| half.join().expect("a client does not fail")).collect()
    });
    let took = began.elapsed();
    if let Some(times) = times {
        times.extend(all.into_iter().flatten());
    }
    took
}

fn reading(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let tasks = Tasks::new(runtime.handle().clone());
    let fixture = runtime.block_on(fixture(false));
    let (_running, app) = runtime.block_on(start(fixture.app.api.clone(), &fixture.app.api.0, &tasks));
    let Fixture { app: BenchApp { key, .. }, project, contact, .. } = &fixture;
    let request = format!(
        "GET /v1/contacts/{contact}?projectId={project} HTTP/1.1\r\nhost: localhost\r\nuser-agent: bench\r\n\
         accept: application/json\r\nauthorization: Bearer {key}\r\n\r\n"
    );
    let (headers, body) = whole_answer(app, request.as_bytes());
    let bare = runtime.block_on(start_bare(headers, body, &tasks));

    let mut group = criterion.benchmark_group("GET /v1/contacts/{id}, 32 connections");
    group.throughput(Throughput::Elements((READERS * READS_PER_CONNECTION) as u64));
    group.sample_size(20);
    let connections = |address| -> Vec<TcpStream> { (0..READERS).map(|_| connect(address)).collect() };
    for (name, address) in [("bare hyper", bare), ("mailmill", app)] {
        let mut streams = connections(address);
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|rounds| (0..rounds).map(|_| read_load(&mut streams, request.as_bytes(), None)).sum());
        });
    }
    group.finish();
    // The machine is shared, so rounds alternate and a slow moment affects both.
    let (mut to_bare, mut to_mill) = (connections(bare), connections(app));
    let mut ratios = Vec::new();
    let mut times = Vec::new();
    for _ in 0..15 {
        let bare = read_load(&mut to_bare, request.as_bytes(), None);
        let app = read_load(&mut to_mill, request.as_bytes(), Some(&mut times));
        ratios.push(bare.as_secs_f64() / app.as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    times.sort_unstable();
    let at = |share: f64| times[(times.len() as f64 * share) as usize];
    println!("ratio to bare hyper, in turn: median {:.2} ({:.2} to {:.2})", ratios[7], ratios[0], ratios[14]);
    println!("latency of mailmill under this load: p50 {:?}, p99 {:?}, p99.9 {:?}", at(0.5), at(0.99), at(0.999));
}

/// Returns a response of the app, in parts for the bare server.
fn whole_answer(address: SocketAddr, request: &[u8]) -> (HeaderMap, Bytes) {
    let mut stream = connect(address);
    stream.write_all(request).expect("the server takes it");
    let mut scrap = vec![0; 8192];
    let length = read_answer(&mut stream, &mut scrap);
    let text = String::from_utf8(scrap[..length].to_vec()).expect("the answer is text");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
    let mut headers = HeaderMap::new();
    for line in head.lines().skip(1) {
        let (name, value) = line.split_once(": ").expect("a header");
        if !["date", "content-length"].contains(&name) {
            let name = http::HeaderName::from_bytes(name.as_bytes()).expect("a name");
            headers.insert(name, value.parse().expect("a value"));
        }
    }
    assert!(head.starts_with("HTTP/1.1 200"), "{text}");
    (headers, Bytes::from(body.to_owned()))
}

/// A client: the head of its requests, and the start of their bodies.
struct Writer {
    head: String,
    fields: String,
}

impl Writer {
    fn of_api(fixture: &Fixture) -> Self {
        let Fixture { app: BenchApp { key, .. }, project, .. } = fixture;
        Self {
            head: format!("POST /v1/contacts HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n"),
            fields: format!(r#""projectId":"{project}","#),
        }
    }

    /// Returns a client with its own incoming webhook, because each limits its requests.
    async fn of_webhook(fixture: &Fixture) -> Self {
        let input =
            serde_json::json!({ "projectId": fixture.project, "name": "Form", "consentSource": "Form", "tags": ["form"] });
        let made = fixture.app.post("/v1/incoming-webhooks", input).await;
        let token = made["url"].as_str().and_then(|url| url.rsplit('/').next()).expect("a URL");
        Self { head: format!("POST /v1/hooks/{token} HTTP/1.1\r\nhost: localhost\r\n"), fields: String::new() }
    }
}

fn write_load(address: SocketAddr, writers: &[Writer], each: usize, number: &AtomicU64) -> Duration {
    let began = now();
    std::thread::scope(|scope| {
        for Writer { head, fields } in writers {
            scope.spawn(move || {
                let mut stream = connect(address);
                let mut scrap = vec![0; 8192];
                for _ in 0..each {
                    let number = number.fetch_add(1, Ordering::Relaxed);
                    let body =
                        format!(r#"{{{fields}"email":"person{number}@example.com","firstName":"Ada","lastName":"Lovelace"}}"#);
                    let request = format!("{head}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                    stream.write_all(request.as_bytes()).expect("the server takes it");
                    let length = read_answer(&mut stream, &mut scrap);
                    assert!(scrap[..length].starts_with(b"HTTP/1.1 20"), "{}", String::from_utf8_lossy(&scrap[..length]));
                }
            });
        }
    });
    began.elapsed()
}

fn writing(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let tasks = Tasks::new(runtime.handle().clone());
    let fixture = runtime.block_on(fixture(false));
    let (_running, app) = runtime.block_on(start(fixture.app.api.clone(), &fixture.app.api.0, &tasks));
    let number = AtomicU64::new(0);
    let mut group = criterion.benchmark_group("a contact, durable");
    group.sample_size(10);
    let of_api = |clients: usize| (0..clients).map(|_| Writer::of_api(&fixture)).collect::<Vec<_>>();
    let of_webhooks = runtime.block_on(join_all((0..WRITERS).map(|_| Writer::of_webhook(&fixture))));
    for (name, writers, each) in [
        ("POST /v1/contacts, one commit per request", of_api(1), 200),
        ("POST /v1/contacts, 64 clients", of_api(WRITERS), WRITES_PER_CLIENT),
        ("POST /v1/hooks/{token}, 64 clients", of_webhooks, WRITES_PER_CLIENT),
    ] {
        group.throughput(Throughput::Elements((writers.len() * each) as u64));
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|rounds| (0..rounds).map(|_| write_load(app, &writers, each, &number)).sum());
        });
    }
    group.finish();
}

/// Starts the continuous backup of an app.
fn back_up(app: &BenchApp, tasks: &Tasks) -> Arc<ContinuousBackup> {
    let engine = app.api.0.clone();
    let backup = engine.backup.clone().expect("the settings have a target");
    let (own, stores, shutdown) = (backup.clone(), engine.stores().map(Arc::clone), tasks.shutdown());
    tasks.spawn("backup", async move { own.run(&stores, shutdown).await });
    backup
}

fn backing_up(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let tasks = Tasks::new(runtime.handle().clone());
    let fixtures = [false, true].map(|is_backed_up| runtime.block_on(fixture(is_backed_up)));
    let backup = back_up(&fixtures[1].app, &tasks);
    let servers = fixtures.each_ref().map(|fixture| runtime.block_on(start(fixture.app.api.clone(), &fixture.app.api.0, &tasks)));
    let writers = fixtures.each_ref().map(|fixture| (0..WRITERS).map(|_| Writer::of_api(fixture)).collect::<Vec<_>>());
    let number = AtomicU64::new(0);
    let write = |service: usize| write_load(servers[service].1, &writers[service], WRITES_PER_CLIENT, &number);
    let mut group = criterion.benchmark_group("POST /v1/contacts, 64 clients");
    group.sample_size(10);
    group.throughput(Throughput::Elements((WRITERS * WRITES_PER_CLIENT) as u64));
    for (service, name) in ["without a backup", "with a continuous backup to a folder"].into_iter().enumerate() {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|rounds| (0..rounds).map(|_| write(service)).sum());
        });
    }
    group.finish();
    // The machine is shared, so rounds alternate and a slow moment affects both.
    let mut ratios: Vec<f64> = (0..15).map(|_| write(1).as_secs_f64() / write(0).as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    println!(
        "more time with a continuous backup, in turn: median {:.1} % ({:.1} to {:.1})",
        percent(ratios[7]),
        percent(ratios[0]),
        percent(ratios[14])
    );
    let status = backup.status();
    println!("{} bytes shipped for {} changed bytes", status.part_bytes, status.changed_bytes);
}

criterion_group!(benches, reading, writing, backing_up);
criterion_main!(benches);
