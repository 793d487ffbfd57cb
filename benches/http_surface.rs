//! What the HTTP surface costs: small GETs over kept-alive connections through `surfaces::http`, against a bare hyper server
//! that answers the same bytes. Run with `cargo bench --bench http_surface`.
//!
//! Clients are threads that write raw requests and count bytes, so that the servers' work is what is measured. "one by one"
//! waits for each answer, as API clients do; "pipelined" sends 16 at a time, which takes most system calls out of the sum.

use std::convert::Infallible;
use std::hint::black_box;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use mailmill::base::clock::SystemClock;
use mailmill::base::random::SystemRandom;
use mailmill::engine::api::wire::{Incoming, Reply, ReplyBody, Service};
use mailmill::engine::jobs::Tasks;
use mailmill::surfaces::http::{Limits, Options, ProxyTrust, TlsSource, serve};

const REQUEST: &[u8] = b"GET /v1/contacts/65f0c0ffee65f0c0ffee65f0 HTTP/1.1\r\nhost: localhost\r\nuser-agent: bench\r\n\
    accept: application/json\r\nauthorization: Bearer sk_test_0123456789abcdefghijklmnop\r\n\r\n";
const BODY: &[u8] = &[b'x'; 400];
const CONNECTIONS: usize = 32;
const REQUESTS_PER_CONNECTION: usize = 320;

/// What the pipeline sets.
const OWN_HEADERS: [(&str, &str); 3] =
    [("content-type", "application/json"), ("x-request-id", "req_0123456789abcdef"), ("x-ratelimit-limit", "500")];
/// What the surface adds.
const SECURITY_HEADERS: [(&str, &str); 4] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
    ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
];

fn headers(list: &[&[(&'static str, &'static str)]]) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(12);
    for (name, value) in list.iter().copied().flatten() {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers
}

struct Fixed;

impl Service for Fixed {
    async fn call(&self, request: Incoming) -> Reply {
        black_box(request.uri.path());
        Reply { status: StatusCode::OK, headers: headers(&[&OWN_HEADERS]), body: ReplyBody::Whole(Bytes::from_static(BODY)) }
    }
}

async fn start_surface(tasks: &Tasks) -> (mailmill::surfaces::http::Running, SocketAddr) {
    let options = Options {
        http: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
        https: None,
        socket: None,
        tls: TlsSource::SelfMade { folder: "unused".into(), names: Vec::new() },
        proxy: ProxyTrust::default(),
        limits: Limits::default(),
    };
    let running = serve(options, Arc::new(Fixed), Arc::new(SystemClock), Arc::new(SystemRandom::default()), tasks).await;
    let running = running.expect("a free port can be bound");
    let address = running.addresses().http.expect("listens");
    (running, address)
}

async fn start_bare(tasks: &Tasks) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port can be bound");
    let address = listener.local_addr().expect("it is bound");
    let connections = tasks.group("bare connections");
    tasks.attend("bare listener", async move {
        while let Ok((tcp, _)) = listener.accept().await {
            let _ = tcp.set_nodelay(true);
            let service = service_fn(|request| async move {
                black_box(http::Request::<hyper::body::Incoming>::uri(&request).path());
                let mut response = Response::new(Full::new(Bytes::from_static(BODY)));
                *response.headers_mut() = headers(&[&OWN_HEADERS, &SECURITY_HEADERS]);
                Ok::<_, Infallible>(response)
            });
            connections.spawn(async move {
                let _ = http1::Builder::new().serve_connection(TokioIo::new(tcp), service).await;
            });
        }
    });
    address
}

/// One answer's length, from a first request on `stream`.
fn answer_bytes(stream: &mut TcpStream) -> usize {
    stream.write_all(REQUEST).expect("the server takes it");
    let mut bytes = vec![0; 4096];
    let mut length = 0;
    while !bytes[..length].ends_with(BODY) {
        length += stream.read(&mut bytes[length..]).expect("the answer arrives");
    }
    length
}

/// All clients together send their requests, `batch` at a time; the time of the slowest.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures the machine's own time")]
fn load(streams: &mut [TcpStream], answer: usize, batch: usize) -> Duration {
    let requests = REQUEST.repeat(batch);
    let began = Instant::now();
    std::thread::scope(|scope| {
        // Two threads that go round their connections: more would measure the scheduler.
        for half in streams.chunks_mut(CONNECTIONS / 2) {
            let requests = &requests;
            scope.spawn(move || {
                let mut scrap = vec![0; answer * batch];
                for _ in 0..REQUESTS_PER_CONNECTION / batch {
                    for stream in half.iter_mut() {
                        stream.write_all(requests).expect("the server takes it");
                    }
                    for stream in half.iter_mut() {
                        stream.read_exact(&mut scrap).expect("the answers arrive");
                    }
                }
            });
        }
    });
    began.elapsed()
}

fn http_surface(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let tasks = Tasks::new(runtime.handle().clone());
    let (_running, surface) = runtime.block_on(start_surface(&tasks));
    let bare = runtime.block_on(start_bare(&tasks));
    for (name, batch) in [("one by one", 1), ("pipelined", 16)] {
        let mut group = criterion.benchmark_group(format!("http surface, {name}"));
        group.throughput(Throughput::Elements((CONNECTIONS * REQUESTS_PER_CONNECTION) as u64));
        group.sample_size(20);
        for (server, address) in [("bare hyper", bare), ("surface", surface)] {
            let mut streams: Vec<TcpStream> =
                (0..CONNECTIONS).map(|_| TcpStream::connect(address).expect("the server accepts")).collect();
            streams.iter().for_each(|stream| stream.set_nodelay(true).expect("can be set"));
            let answers: Vec<usize> = streams.iter_mut().map(answer_bytes).collect();
            group.bench_function(server, |bencher| {
                bencher.iter_custom(|rounds| (0..rounds).map(|_| load(&mut streams, answers[0], batch)).sum());
            });
        }
        group.finish();
    }
}

criterion_group!(benches, http_surface);
criterion_main!(benches);
