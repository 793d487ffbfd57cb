//! Tests over real sockets. Tests of HTTP/1 send raw bytes, and tests of HTTP/2 use hyper's client.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use super::*;
use crate::base::clock::{ManualClock, Timestamp};
use crate::base::random::SeededRandom;
use crate::engine::api::http_types::{BodyError, Incoming, Reply, ReplyBody};

mod certificate;
mod drain;
mod http1;
mod http2;
mod limits;
mod socket;

/// The time limit for an expected event, far longer than any event takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Saturday, 21 November 2026, 07:00 UTC.
const NOW: Timestamp = Timestamp(1_795_244_400_000);

#[derive(Default)]
struct Scripted {
    /// Releases one request that waits at `/held`.
    release: Notify,
    requests: AtomicUsize,
}

impl Service for Scripted {
    async fn call(&self, request: Incoming) -> Reply {
        self.requests.fetch_add(1, SeqCst);
        let Incoming { method, uri, body, peer, .. } = request;
        let text = match uri.path() {
            "/held" => {
                self.release.notified().await;
                "held and let go".to_owned()
            }
            "/never" => std::future::pending().await,
            "/panic" => panic!("on purpose"),
            "/peer" => format!("{peer:?}"),
            "/method" => method.to_string(),
            "/length" => match body.collect(64 * 1024 * 1024).await {
                Ok(whole) => whole.len().to_string(),
                Err(error) => return reply(StatusCode::REQUEST_TIMEOUT, format!("{error:?}")),
            },
            "/unread" => return reply(StatusCode::PAYLOAD_TOO_LARGE, "unread".to_owned()),
            "/stream" => return stream(vec![Ok(Bytes::from_static(b"one ")), Ok(Bytes::from_static(b"two"))]),
            "/broken-stream" => return stream(vec![Ok(Bytes::from_static(b"one ")), Err(std::io::Error::other("gone"))]),
            "/large" => return reply(StatusCode::OK, "x".repeat(8 * 1024 * 1024)),
            "/cached" => {
                let mut reply = reply(StatusCode::OK, String::new());
                reply.headers.insert("cache-control", HeaderValue::from_static("max-age=60"));
                return reply;
            }
            _ => "hello".to_owned(),
        };
        reply(StatusCode::OK, text)
    }
}

fn reply(status: StatusCode, text: String) -> Reply {
    Reply { status, headers: HeaderMap::new(), body: ReplyBody::Whole(Bytes::from(text)) }
}

fn stream(chunks: Vec<std::io::Result<Bytes>>) -> Reply {
    let body = ReplyBody::Stream(Box::pin(futures_util::stream::iter(chunks)));
    Reply { status: StatusCode::OK, headers: HeaderMap::new(), body }
}

/// A server on free loopback ports, with its service.
struct Fixture {
    running: Running,
    service: Arc<Scripted>,
    tasks: Tasks,
    clock: Arc<ManualClock>,
}

impl Fixture {
    fn http(&self) -> SocketAddr {
        self.running.addresses().http.expect("the server listens on plain HTTP")
    }

    fn https(&self) -> SocketAddr {
        self.running.addresses().https.expect("the server listens on HTTPS")
    }

    async fn requests(&self, count: usize) {
        until(|| self.service.requests.load(SeqCst) >= count).await;
    }
}

fn loopback() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

fn no_tls() -> TlsSource {
    TlsSource::Files { certificate: "/nonexistent".into(), key: "/nonexistent".into() }
}

fn plain(limits: Limits) -> Options {
    Options {
        http: Some(loopback()),
        https: None,
        socket: None,
        nodes: None,
        tls: no_tls(),
        proxy: ProxyTrust::default(),
        limits,
    }
}

async fn try_start(options: Options) -> Result<Fixture, StartError> {
    let tasks = Tasks::new(Handle::current());
    let service = Arc::new(Scripted::default());
    let clock = Arc::new(ManualClock::at(NOW));
    let random = Arc::new(SeededRandom::new(7));
    let interval = Duration::from_millis(20);
    let running = serve_with_interval(options, Arc::clone(&service), Arc::clone(&clock) as _, random, &tasks, interval).await?;
    Ok(Fixture { running, service, tasks, clock })
}

async fn start(options: Options) -> Fixture {
    match try_start(options).await {
        Ok(fixture) => fixture,
        Err(error) => panic!("{error}"),
    }
}

/// Waits until `condition` returns true. Fails the test if this takes too long.
async fn until(condition: impl Fn() -> bool) {
    let wait = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("the awaited condition becomes true in time");
}

async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.expect("the server accepts the connection")
}

async fn send(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).await.expect("the server accepts the bytes");
}

/// Reads until the end of the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes))
        .await
        .expect("the server closes the connection in time")
        .expect("the response can be read to its end");
    String::from_utf8(bytes).expect("the response is UTF-8 text")
}

/// Reads a response with a `content-length` from a connection that stays open. Returns its head and body.
async fn answer(stream: &mut TcpStream) -> (String, String) {
    let reading = async {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.expect("the response head arrives completely"));
        }
        let head = String::from_utf8(head).expect("the response head is UTF-8 text");
        let mut body =
            vec![0; header(&head, "content-length").map_or(0, |length| length.parse().expect("Content-Length is a number"))];
        stream.read_exact(&mut body).await.expect("the response body arrives completely");
        (head, String::from_utf8(body).expect("the response body is UTF-8 text"))
    };
    tokio::time::timeout(PATIENCE, reading).await.expect("the server responds in time")
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
}

/// Checks that `answer` is an error response of this surface in the envelope, with this status and code.
#[track_caller]
fn assert_envelope(answer: &str, status: &str, code: &str) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no whole answer: {answer:?}"));
    assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{head}");
    assert_eq!(header(head, "content-type"), Some("application/json"), "{head}");
    assert_eq!(header(head, "x-content-type-options"), Some("nosniff"), "{head}");
    assert_eq!(header(head, "content-length"), Some(body.len().to_string().as_str()), "{head}");
    let body: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"));
    assert_eq!(body["success"], Value::Bool(false));
    assert_eq!(body["code"], code);
    assert!(body["error"].is_string());
    assert_eq!(body["metadata"]["timestamp"], NOW.to_string());
    assert_eq!(body["metadata"]["requestId"].as_str(), header(head, "x-request-id"));
}
