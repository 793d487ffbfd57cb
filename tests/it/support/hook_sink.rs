//! A webhook endpoint: stores its requests, and responds as the test requires.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::Instant;

const LOOK: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_secs(300);

/// A received request.
#[derive(Clone, Debug)]
pub struct Got {
    pub head: String,
    pub body: Vec<u8>,
    pub at: Instant,
}

/// How an endpoint reacts to a request.
pub enum Reaction {
    /// Responds with this status, these additional header lines and this body.
    Answer(u16, &'static str, String),
    /// Responds with this status after a while.
    Later(Duration, u16),
    /// Does not respond.
    Silence,
    /// Responds with 200, then sends a long body byte by byte.
    Drip,
    /// Closes the connection without a response.
    Close,
}

impl Reaction {
    /// Returns a reaction with only a status.
    pub fn status(status: u16) -> Self {
        Self::Answer(status, "", "ok".into())
    }
}

/// An endpoint on loopback. It stops when this value is dropped.
pub struct HookSink {
    pub address: SocketAddr,
    got: Arc<Mutex<Vec<Got>>>,
    _listening: JoinSet<()>,
}

impl HookSink {
    /// Starts an endpoint with this reaction to each request and its number, from 0.
    pub async fn start(react: impl Fn(&Got, usize) -> Reaction + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
        let address = listener.local_addr().expect("bound");
        let got: Arc<Mutex<Vec<Got>>> = Arc::default();
        let mut listening = JoinSet::new();
        let (kept, react) = (got.clone(), Arc::new(react));
        listening.spawn(async move {
            let mut talks = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (kept, react) = (kept.clone(), react.clone());
                talks.spawn(async move {
                    // Ignore the error, because a client may disconnect early.
                    let _ = talk(stream, &kept, react.as_ref()).await;
                });
                while talks.try_join_next().is_some() {}
            }
        });
        Self { address, got, _listening: listening }
    }

    /// Starts an endpoint that accepts everything.
    pub async fn content() -> Self {
        Self::start(|_, _| Reaction::status(200)).await
    }

    /// Returns the endpoint's URL for webhooks.
    pub fn url(&self) -> String {
        format!("http://{}/hook?shop=7", self.address)
    }

    /// Returns the received requests.
    pub fn got(&self) -> Vec<Got> {
        self.got.lock().expect("no panic").clone()
    }

    /// Returns the received requests when there are this many.
    pub async fn wait(&self, count: usize) -> Vec<Got> {
        let waiting = async {
            while self.got.lock().expect("no panic").len() < count {
                tokio::time::sleep(LOOK).await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, waiting).await;
        assert!(waited.is_ok(), "{count} requests were waited for, there are {:?}", self.got());
        self.got()
    }
}

async fn talk(
    mut stream: TcpStream,
    kept: &Mutex<Vec<Got>>,
    react: &(dyn Fn(&Got, usize) -> Reaction + Send + Sync),
) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(());
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let mut got = Got { head, body: bytes.split_off(head_end), at: Instant::now() };
    let length: usize = got.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while got.body.len() < length {
        if stream.read_buf(&mut got.body).await? == 0 {
            return Ok(());
        }
    }
    let number = {
        let mut kept = kept.lock().expect("no panic");
        kept.push(got.clone());
        kept.len() - 1
    };
    let line = |status: u16, more: &str, body: &str| {
        format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\n{more}\r\n{body}", body.len())
    };
    match react(&got, number) {
        Reaction::Answer(status, more, body) => stream.write_all(line(status, more, &body).as_bytes()).await?,
        Reaction::Later(after, status) => {
            tokio::time::sleep(after).await;
            stream.write_all(line(status, "", "ok").as_bytes()).await?;
        }
        Reaction::Silence => std::future::pending().await,
        Reaction::Drip => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n").await?;
            loop {
                stream.write_all(b".").await?;
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
        Reaction::Close => return Ok(()),
    }
    stream.shutdown().await
}

impl Got {
    /// Returns a header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (own, value) = line.split_once(": ")?;
            own.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// Returns the body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("deliveries are JSON")
    }

    /// Returns whether the signature header is correct for the raw body and this secret.
    pub fn is_signed(&self, header: &str, secret: &str) -> bool {
        let mut sum = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length");
        sum.update(&self.body);
        let digest: String = sum.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        self.header(header) == Some(digest.as_str())
    }
}
