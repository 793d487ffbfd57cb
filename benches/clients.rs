//! The speed of the command line, the MCP server and the documentation, each next to a baseline in the same run. Run with
//! `cargo bench --bench clients`.
//!
//! - Starting the command line, next to `true`, which does nothing. The target is at most 20 ms in total.
//! - `tools/call` of the MCP server, next to the same request to the API. The target is at most 2 ms more.
//! - A page of the documentation, next to `GET /health`. The target is at most 10 ms in total, also for the first request after the start,
//!   whose time is printed once.

#[path = "shared/server.rs"]
mod server;
mod shared;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Bencher, Criterion, criterion_group, criterion_main};
use mailmill::engine::tasks::Tasks;
use mailmill::surfaces::dashboard::Dashboard;
use mailmill::surfaces::docs::WithDocs;
use mailmill::surfaces::mcp::WithTools;
use mailmill::vocab::environment::Environment;
use serde_json::{Value, json};

use self::server::{connect, start};
use self::shared::BenchApp;

const PAGE: &str = "/docs/campaigns";

/// The current time. Benches measure time, so no injected clock is needed.
#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn now() -> Instant {
    Instant::now()
}

/// A connection that sends one request after the other.
struct Connection(BufReader<TcpStream>);

impl Connection {
    fn open(address: SocketAddr) -> Self {
        Self(BufReader::new(connect(address)))
    }

    /// Sends a request; returns the headers of the response, in lowercase, and its body.
    fn send(&mut self, method_and_path: &str, headers: &str, body: &str) -> (String, Vec<u8>) {
        let length = body.len();
        let request = format!("{method_and_path} HTTP/1.1\r\nhost: localhost\r\n{headers}content-length: {length}\r\n\r\n{body}");
        self.0.get_mut().write_all(request.as_bytes()).expect("the server takes it");
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(self.0.read_line(&mut head).expect("the response arrives") > 0, "the server closed the connection");
        }
        let head = head.to_ascii_lowercase();
        assert!(head.starts_with("http/1.1 200"), "{head}");
        let mut body = Vec::new();
        match header(&head, "content-length").and_then(|text| text.parse().ok()) {
            Some(length) => self.read(length, &mut body),
            // The MCP server streams its responses in chunks.
            None => loop {
                let mut size = String::new();
                self.0.read_line(&mut size).expect("the size of a chunk arrives");
                let size = usize::from_str_radix(size.trim(), 16).expect("a size");
                self.read(size, &mut body);
                self.read(2, &mut Vec::new());
                if size == 0 {
                    break;
                }
            },
        }
        (head, body)
    }

    fn read(&mut self, length: usize, into: &mut Vec<u8>) {
        let start = into.len();
        into.resize(start + length, 0);
        self.0.read_exact(&mut into[start..]).expect("the body arrives");
    }
}

/// Returns the value of a header in a lowercase head.
fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

fn starting(criterion: &mut Criterion) {
    let run = |bencher: &mut Bencher<'_>, program: &str, arguments: &[&str]| {
        bencher.iter(|| {
            let status = Command::new(program).args(arguments).stdout(Stdio::null()).status().expect("the program starts");
            assert!(status.success());
        });
    };
    let mut group = criterion.benchmark_group("start of the command line");
    group.sample_size(20);
    let program = env!("CARGO_BIN_EXE_mailmill");
    group.bench_function("true", |bencher| run(bencher, "true", &[]));
    group.bench_function("mailmill --version", |bencher| run(bencher, program, &["--version"]));
    group.bench_function("mailmill contacts list --help", |bencher| run(bencher, program, &["contacts", "list", "--help"]));
    group.finish();
}

fn serving(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let tasks = Tasks::new(runtime.handle().clone());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let app = BenchApp::open(folder.path(), Environment::Test, |_| {});
    let project = runtime.block_on(app.project());
    let contact = runtime.block_on(app.post("/v1/contacts", json!({ "projectId": project, "email": "ada@example.com" })));
    let contact = contact["id"].as_str().expect("an ID");
    let api = app.api.as_ref().clone();
    let pages = WithDocs::new(api.clone(), Dashboard::new(api.clone(), tasks.clone()));
    let front = Arc::new(WithTools::new(api, pages, &tasks));
    let (_running, address) = runtime.block_on(start(front, &app.api.0, &tasks));
    let mut connection = Connection::open(address);
    first_pages(&mut connection);

    let mut group = criterion.benchmark_group("documentation");
    group.bench_function("GET /health", |bencher| bencher.iter(|| connection.send("GET /health", "", "")));
    group.bench_function(format!("GET {PAGE}"), |bencher| bencher.iter(|| connection.send(&format!("GET {PAGE}"), "", "")));
    group.finish();

    let key = format!("authorization: Bearer {}\r\n", app.key);
    let headers = format!("{key}content-type: application/json\r\naccept: application/json, text/event-stream\r\n");
    let client = json!({ "name": "bench", "version": "1" });
    let opening = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let message =
        |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let (head, _) = connection.send("POST /mcp", &headers, &message("initialize", opening));
    let session = header(&head, "mcp-session-id").expect("a session");
    let headers = format!("{headers}mcp-session-id: {session}\r\nmcp-protocol-version: 2025-06-18\r\n");
    let call = message("tools/call", json!({ "name": "contacts_get", "arguments": { "projectId": project, "id": contact } }));
    let path = format!("GET /v1/contacts/{contact}?projectId={project}");
    let (_, body) = connection.send("POST /mcp", &headers, &call);
    assert!(String::from_utf8_lossy(&body).contains("ada@example.com"), "{}", String::from_utf8_lossy(&body));
    let mut group = criterion.benchmark_group("a contact");
    group.bench_function("GET /v1/contacts/{id}", |bencher| bencher.iter(|| connection.send(&path, &key, "")));
    group.bench_function("tools/call of contacts_get", |bencher| bencher.iter(|| connection.send("POST /mcp", &headers, &call)));
    group.finish();
}

/// Prints how long the first requests for pages take, and one repetition. The service renders all pages ahead; this bench does not.
fn first_pages(connection: &mut Connection) {
    for path in [PAGE, PAGE, "/docs", "/docs/api", "/docs/api/contacts"] {
        let started = now();
        let (_, body) = connection.send(&format!("GET {path}"), "", "");
        let took: Duration = started.elapsed();
        println!("GET {path}: {took:?}, {} bytes without compression", body.len());
    }
}

criterion_group!(benches, starting, serving);
criterion_main!(benches);
