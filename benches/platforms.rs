//! The speed of an import from a platform, and of incoming webhooks, webhooks of a store, and events of a mail service, with the memory
//! that they take.
//!
//! The targets: 100,000 contacts at 10,000 per second of Mailmill's own time, with flat memory; and 2,000 webhooks of each kind per second.
//! The server of the platform sends pages that it wrote before, so that almost all of the time is Mailmill's own. `CONTACTS` and `WEBHOOKS`
//! set other numbers. Run with `cargo bench --bench platforms`.

mod shared;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit, Mac};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method};
use mailmill::engine::api::http_types::{Body, Incoming, Peer, Service};
use mailmill::engine::runner;
use mailmill::engine::tasks::{Stage, Tasks};
use mailmill::vocab::environment::Environment;
use mailmill::workers::WORKERS;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use self::shared::BenchApp;

/// The number of members in a page of Mailchimp, and the distance between the starts of two pages: each starts with the last member of the
/// page before.
const PAGE: usize = 1_000;
const STEP: usize = PAGE - 1;
const CLIENTS: usize = 64;
const ROUNDS: usize = 3;

#[expect(clippy::disallowed_methods, reason = "a benchmark measures the machine's own time")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "the caller of a benchmark sets its size")]
fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn member(number: usize) -> Value {
    json!({
        "id": format!("{number:032x}"), "email_address": format!("person{number}@example.com"), "status": "subscribed", "language": "en",
        "merge_fields": { "FNAME": format!("Person{number}"), "LNAME": "Buyer", "SHOE": number % 50 },
        "timestamp_signup": "2024-01-01T00:00:00+00:00", "timestamp_opt": "2025-01-01T00:00:00+00:00",
        "location": { "country_code": "CH", "timezone": "Europe/Zurich" }, "tags": [{ "id": 7, "name": "vip" }],
    })
}

/// A response, ready to be sent.
fn response(body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A platform that sends pages which were written before.
struct Platform {
    account: Vec<u8>,
    pages: Vec<Vec<u8>>,
}

impl Platform {
    /// Starts a server with this number of contacts.
    #[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures against")]
    fn start(contacts: usize) -> SocketAddr {
        let page = |start: usize| {
            let members: Vec<Value> = (start..(start + PAGE).min(contacts)).map(member).collect();
            response(&json!({ "members": members, "total_items": contacts }))
        };
        let pages = (0..contacts).step_by(STEP).map(page).collect();
        let platform =
            Self { account: response(&json!({ "account_id": "a1", "account_name": "Acme", "categories": [] })), pages };
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound");
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client may close the connection early.
                let _ = platform.talk(stream);
            }
        });
        address
    }

    fn talk(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let (mut head, mut buffer) = (Vec::new(), [0; 2_048]);
        while !head.windows(4).any(|end| end == b"\r\n\r\n") {
            let count = stream.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            head.extend_from_slice(&buffer[..count]);
        }
        let head = String::from_utf8_lossy(&head);
        let offset = head.split(['?', '&', ' ']).find_map(|part| part.strip_prefix("offset=")?.parse::<usize>().ok());
        let page = offset.and_then(|offset| self.pages.get(offset / STEP));
        stream.write_all(page.unwrap_or(&self.account))
    }
}

/// A WooCommerce site without products and customers. It stores the secret that signs its webhooks.
struct Site {
    secret: Mutex<Option<String>>,
}

impl Site {
    #[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures against")]
    fn start() -> (SocketAddr, Arc<Self>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound");
        let site = Arc::new(Self { secret: Mutex::default() });
        let serving = site.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client may close the connection early.
                let _ = serving.talk(stream);
            }
        });
        (address, site)
    }

    fn talk(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let (mut request, mut buffer) = (Vec::new(), [0; 2_048]);
        let (head, body) = loop {
            let text = String::from_utf8_lossy(&request).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length =
                    head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
                if body.len() >= length.unwrap_or(0) {
                    break (head.to_owned(), body.to_owned());
                }
            }
            let count = stream.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            request.extend_from_slice(&buffer[..count]);
        };
        if head.starts_with("POST ") {
            let hook: Value = serde_json::from_str(&body).expect("the body is JSON");
            *self.secret.lock().expect("no panic") = hook["secret"].as_str().map(str::to_owned);
            return stream.write_all(&response(&json!({ "id": 1 })));
        }
        let answer = if head.contains("/currencies/") { json!({ "code": "EUR" }) } else { json!([]) };
        stream.write_all(&response(&answer))
    }
}

/// Sets the peak of the memory to the current memory, so that each part has a peak of its own. If the system does not allow this, the peak
/// is that of all parts so far.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn resident(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the file exists");
    let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or_default() / 1_024
}

/// Imports contacts from the platform; prints the speed, and the memory at a fifth and at the end.
async fn import(contacts: usize) {
    let address = Platform::start(contacts);
    forget_peak();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let app = BenchApp::open(folder.path(), Environment::Test, |settings| {
        settings.outbound.allow_networks = vec!["127.0.0.0/8".parse().expect("the network is valid")];
        settings.connections.mailchimp_url = format!("http://{address}");
    });
    let project = app.project().await;
    let tasks = Tasks::new(tokio::runtime::Handle::current());
    runner::start(&tasks, &app.api.0, WORKERS);
    app.post("/v1/connections/mailchimp", json!({ "apiKey": "0123456789abcdef0123456789abcdef-us21" })).await;
    let sources = json!([{ "id": "a1b2c3", "type": "audience", "name": "Everyone" }]);
    let began = now();
    let started = app
        .post("/v1/contacts/imports/provider", json!({ "provider": "mailchimp", "projectId": project, "sources": sources }))
        .await;
    let path = format!("/v1/contacts/imports/{}", started["id"].as_str().expect("an ID"));
    let mut early = None;
    let taken = loop {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let state = app.call(Method::GET, &path, "application/json", Body::Empty).await;
        let read = state["counts"]["total"].as_u64().unwrap_or_default();
        if early.is_none() && read >= contacts as u64 / 5 {
            early = Some(resident("VmRSS"));
        }
        if state["status"] == "completed" {
            assert_eq!(state["counts"]["created"], contacts, "{state}");
            break began.elapsed();
        }
        assert_ne!(state["status"], "failed", "{state}");
    };
    println!(
        "import from a platform: {contacts} contacts, {:.0}/s; resident {} MiB after a fifth, {} MiB at the end, {} MiB at most",
        contacts as f64 / taken.as_secs_f64(),
        early.unwrap_or_default(),
        resident("VmRSS"),
        resident("VmHWM"),
    );
    tasks.raise(Stage::Cut);
    tasks.join(Duration::from_secs(1)).await;
}

/// The headers and the body of a request, by its round and number.
type Request = dyn Fn(usize, usize) -> (HeaderMap, String) + Send + Sync;

/// Sends requests to a URL from many clients; prints the speed and the memory. Each request is durable when its response arrives.
async fn flood(name: &str, app: Arc<BenchApp>, (url, count): (&Value, usize), request: Arc<Request>) {
    let url = url.as_str().expect("a URL");
    let start = ["/v1/hooks/", "/storefront/", "/feedback/"].iter().find_map(|part| url.find(part));
    let path = url[start.expect("the path of the URL")..].to_owned();
    let mut rates = Vec::new();
    forget_peak();
    for round in 0..ROUNDS {
        let began = now();
        let mut clients = JoinSet::new();
        for client in 0..CLIENTS {
            let (app, path, request) = (app.clone(), path.clone(), request.clone());
            clients.spawn(async move {
                for number in (client..count).step_by(CLIENTS) {
                    let (headers, body) = request(round, number);
                    let uri = path.parse().expect("a path");
                    let incoming =
                        Incoming { method: Method::POST, uri, headers, body: Body::Whole(body.into()), peer: Peer::Operator };
                    let reply = app.api.call(incoming).await;
                    assert!(reply.status.is_success(), "{}", reply.status);
                }
            });
        }
        while let Some(ended) = clients.join_next().await {
            ended.expect("no client panics");
        }
        rates.push(count as f64 / began.elapsed().as_secs_f64());
    }
    rates.sort_by(f64::total_cmp);
    println!(
        "{name}, {CLIENTS} clients: {:.0}/s, each durable (median of {ROUNDS}); {} MiB at most",
        rates[ROUNDS / 2],
        resident("VmHWM"),
    );
}

fn headers(values: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in values {
        headers.insert(*name, HeaderValue::from_str(value).expect("ASCII"));
    }
    headers
}

/// Sends contacts to an incoming webhook.
async fn webhooks(count: usize) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let app = Arc::new(BenchApp::open(folder.path(), Environment::Test, |_| {}));
    let project = app.project().await;
    let made = app.post("/v1/incoming-webhooks", json!({ "projectId": project, "name": "Form", "consentSource": "form" })).await;
    let request = |round: usize, number: usize| {
        (headers(&[]), json!({ "email": format!("c{round}-{number}@example.com"), "firstName": "Ada" }).to_string())
    };
    flood("incoming webhooks", app, (&made["url"], count), Arc::new(request)).await;
}

/// Sends the orders of new customers to the webhook of a store.
async fn store_webhooks(count: usize) {
    let (address, site) = Site::start();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let app = Arc::new(BenchApp::open(folder.path(), Environment::Test, |settings| {
        settings.outbound.allow_networks = vec!["127.0.0.0/8".parse().expect("the network is valid")];
    }));
    let project = app.project().await;
    let tasks = Tasks::new(tokio::runtime::Handle::current());
    runner::start(&tasks, &app.api.0, WORKERS);
    let keys = json!({
        "projectId": project, "storefrontStoreUrl": format!("http://{address}"), "consumerKey": "ck_1", "consumerSecret": "cs_1",
    });
    app.post("/v1/storefront/connect", keys).await;
    let store = loop {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let listed = app.call(Method::GET, "/v1/storefront/stores", "application/json", Body::Empty).await;
        if listed["stores"][0]["sync"]["stage"] == "idle" {
            break listed["stores"][0].clone();
        }
    };
    let secret = site.secret.lock().expect("no panic").clone().expect("the store was asked for webhooks");
    let request = move |round: usize, number: usize| {
        let id = round * count + number + 1;
        let body = json!({
            "id": id, "number": id.to_string(), "status": "processing", "currency": "EUR", "total": "19.00",
            "billing": { "email": format!("c{id}@example.com"), "first_name": "Ada" },
            "line_items": [{ "name": "Tea", "quantity": 2, "total": "19.00" }],
        });
        let body = body.to_string();
        let mut sum = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC accepts keys of any length");
        sum.update(body.as_bytes());
        let (signature, id) = (BASE64.encode(&sum.finalize().into_bytes()), id.to_string());
        let headers = headers(&[
            ("x-wc-webhook-topic", "order.created"),
            ("x-wc-webhook-delivery-id", &id),
            ("x-wc-webhook-signature", &signature),
        ]);
        (headers, body)
    };
    flood("webhooks of a store", app, (&store["webhookUrl"], count), Arc::new(request)).await;
    tasks.raise(Stage::Cut);
    tasks.join(Duration::from_secs(1)).await;
}

/// Sends events of a mail service about messages that are not stored.
async fn mail_events(count: usize) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let app = Arc::new(BenchApp::open(folder.path(), Environment::Test, |_| {}));
    let made = app.post("/v1/mail-services", json!({ "service": "postmark" })).await;
    let request = |round: usize, number: usize| {
        let body = json!({
            "RecordType": "Bounce", "Type": "HardBounce", "MessageID": format!("{round}-{number}"), "Email": "ada@example.com",
            "Details": "550 5.1.1 unknown", "Metadata": { "mailmill": format!("m{round}x{number}") },
        });
        (headers(&[]), body.to_string())
    };
    flood("events of a mail service", app, (&made["url"], count), Arc::new(request)).await;
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(import(number("CONTACTS", 100_000)));
    let count = number("WEBHOOKS", 20_000);
    runtime.block_on(webhooks(count));
    runtime.block_on(store_webhooks(count));
    runtime.block_on(mail_events(count));
}
