//! `mailmill mcp`: the MCP server of a remote Mailmill over standard input and output, for clients that start programs instead of
//! connecting to a URL.
//!
//! Each line of standard input is a message, which is sent to the server's `/mcp`; each message of the response becomes a line of standard
//! output. Messages are not interpreted, except for the version that the two sides agree on, which HTTP requests repeat in a header.
//! Standard output contains nothing else; problems that have no place in the protocol go to standard error.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;
use url::{Position, Url};

use super::SESSION_ID;
use crate::base::secret::Secret;
use crate::engine::access::access_tokens::RESOURCE_PATH;
use crate::engine::fetch::client_config;
use crate::engine::tasks::{Group, Tasks};
use crate::vocab::limits;

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// A server that does not accept a connection in this time is reported as unreachable.
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// The pause between a progress notification and the response. Some clients handle a notification later than a response that they read
/// together with it, and then ignore it, because the call is over.
const PROGRESS_PAUSE: Duration = Duration::from_millis(50);
/// How long responses may take after the client has closed its end. Clients kill the program if it does not end soon.
const END_TIME: Duration = Duration::from_secs(5);

/// The server that messages are forwarded to, with its key.
pub struct Remote {
    pub url: Url,
    pub key: Secret,
}

/// The parts of the conversation that later requests repeat.
#[derive(Default)]
struct Conversation {
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
}

struct Forwarder<W> {
    remote: Remote,
    tls: Option<Arc<ClientConfig>>,
    conversation: Mutex<Conversation>,
    output: tokio::sync::Mutex<W>,
    /// Limits the messages that wait for a response.
    room: Arc<Semaphore>,
    /// The connections of the messages.
    connections: Group,
}

/// Forwards messages between `input` and the server until the input ends.
pub async fn forward<R, W>(remote: Remote, mut input: R, output: W, tasks: &Tasks) -> Result<(), String>
where
    R: AsyncBufRead + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let tls = match remote.url.scheme() {
        "https" => Some(client_config(&[], &[b"http/1.1"])?),
        _ => None,
    };
    let room = Arc::new(Semaphore::new(limits::STDIO_MESSAGES_MAX));
    let (conversation, output) = (Mutex::default(), tokio::sync::Mutex::new(output));
    let connections = tasks.group("connections");
    let forwarder = Arc::new(Forwarder { remote, tls, conversation, output, room, connections });
    let messages = tasks.group("messages");
    while let Some(line) = next_line(&mut input).await? {
        let permit = forwarder.room.clone().acquire_owned().await.map_err(|error| error.to_string())?;
        let forwarder = forwarder.clone();
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        // The message that opens the session must be answered before the next one is sent.
        if message["method"] == "initialize" {
            forwarder.message(line, message).await;
            continue;
        }
        messages.spawn(async move {
            forwarder.message(line, message).await;
            drop(permit);
        });
    }
    // The input has ended: wait for the outstanding responses, then end the session.
    let all = u32::try_from(limits::STDIO_MESSAGES_MAX).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(END_TIME, forwarder.room.acquire_many(all)).await;
    forwarder.end().await;
    Ok(())
}

/// Returns the next line that is not empty; `None` at the end.
async fn next_line(input: &mut (impl AsyncBufRead + Unpin)) -> Result<Option<String>, String> {
    loop {
        let mut line = String::new();
        let limit = limits::TOOL_REQUEST_BYTES_MAX as u64 + 1;
        let read = (&mut *input).take(limit).read_line(&mut line).await.map_err(|error| format!("cannot read: {error}"))?;
        if read == 0 {
            return Ok(None);
        }
        if line.len() > limits::TOOL_REQUEST_BYTES_MAX {
            return Err(format!("a message is longer than {} bytes", limits::TOOL_REQUEST_BYTES_MAX));
        }
        if !line.trim().is_empty() {
            return Ok(Some(line.trim().to_owned()));
        }
    }
}

impl<W: AsyncWrite + Send + Unpin> Forwarder<W> {
    fn conversation(&self) -> std::sync::MutexGuard<'_, Conversation> {
        self.conversation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends one message, and writes what the server answers. If that fails, the client gets an error in the form of the protocol.
    async fn message(&self, line: String, message: Value) {
        if let Err(problem) = self.post(line, &message).await {
            match message.get("id") {
                Some(id) if message.get("method").is_some() => {
                    let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32000, "message": problem } });
                    self.write(error.to_string().as_bytes()).await;
                }
                _ => tracing::warn!(problem, "a message was not delivered"),
            }
        }
    }

    async fn post(&self, line: String, message: &Value) -> Result<(), String> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self.add_version(&mut headers, message);
        let response = self.send(Method::POST, headers, line.into()).await?;
        if let Some(session) = response.headers().get(SESSION_ID) {
            self.conversation().session = Some(session.clone());
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind.starts_with("text/event-stream") {
            return self.events(response.into_body()).await;
        }
        let (status, is_json) = (response.status(), kind.starts_with("application/json"));
        let body = collected(response.into_body()).await?;
        let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
        if is_json && answer.get("jsonrpc").is_some() {
            self.answer(&answer).await;
            return Ok(());
        }
        if status.is_success() {
            return Ok(());
        }
        let detail = answer["error"].as_str().map(str::to_owned);
        let detail = detail.unwrap_or_else(|| String::from_utf8_lossy(&body).chars().take(300).collect());
        Err(match status {
            StatusCode::UNAUTHORIZED => format!("{detail} Check the key, or sign in again with `mailmill login`."),
            _ => format!("status {}: {detail}", status.as_u16()),
        })
    }

    /// Adds the headers that newer versions of the protocol require in each request.
    fn add_version(&self, headers: &mut HeaderMap, message: &Value) {
        let named = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
        let own = named.and_then(|version| HeaderValue::from_str(version).ok());
        if own.is_some() {
            let params = &message["params"];
            let name = params["name"].as_str().or_else(|| params["uri"].as_str());
            for (header, value) in [("mcp-method", message["method"].as_str()), ("mcp-name", name)] {
                if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
                    headers.insert(HeaderName::from_static(header), value);
                }
            }
        }
        let conversation = self.conversation();
        if let Some(version) = own.or_else(|| conversation.version.clone()) {
            headers.insert(PROTOCOL_VERSION, version);
        }
    }

    /// Writes the messages of a stream of events (`text/event-stream`) as they arrive.
    async fn events(&self, mut body: Incoming) -> Result<(), String> {
        let mut rest: Vec<u8> = Vec::new();
        let mut data = String::new();
        let mut is_after_progress = false;
        while let Some(frame) = body.frame().await {
            let Ok(chunk) = frame.map_err(|error| error.to_string())?.into_data() else { continue };
            rest.extend_from_slice(&chunk);
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line);
                let line = line.trim_end_matches(['\n', '\r']);
                if let Some(more) = line.strip_prefix("data:") {
                    data.push_str(more.strip_prefix(' ').unwrap_or(more));
                } else if line.is_empty() && !data.is_empty() {
                    if let Ok(message) = serde_json::from_str::<Value>(&data) {
                        if is_after_progress && message.get("method").is_none() {
                            tokio::time::sleep(PROGRESS_PAUSE).await;
                        }
                        is_after_progress = message["method"] == "notifications/progress";
                        self.answer(&message).await;
                    }
                    data.clear();
                }
            }
            if rest.len() + data.len() > limits::STDIO_MESSAGE_BYTES_MAX {
                return Err("a message of the server is too large".into());
            }
        }
        Ok(())
    }

    /// Writes a message of the server. The response that opens a session names the version for later requests.
    async fn answer(&self, message: &Value) {
        if let Some(version) = message["result"]["protocolVersion"].as_str() {
            self.conversation().version = HeaderValue::from_str(version).ok();
        }
        self.write(message.to_string().as_bytes()).await;
    }

    async fn write(&self, message: &[u8]) {
        let mut output = self.output.lock().await;
        let line = [message, b"\n"].concat();
        let written = output.write_all(&line).await;
        // If the client has closed its end, the input ends too.
        if let Err(error) = written.and(output.flush().await) {
            tracing::warn!(%error, "a message cannot be written");
        }
    }

    /// Ends the session, so that the server can forget it at once.
    async fn end(&self) {
        if self.conversation().session.is_some() {
            let mut headers = HeaderMap::new();
            self.add_version(&mut headers, &Value::Null);
            // The server ends an idle session by itself.
            let _ = self.send(Method::DELETE, headers, Bytes::new()).await;
        }
    }

    async fn send(&self, method: Method, headers: HeaderMap, body: Bytes) -> Result<Response<Incoming>, String> {
        let url = &self.remote.url;
        let target = format!("{}{RESOURCE_PATH}", url.path().trim_end_matches('/'));
        let mut request = Request::builder()
            .method(method)
            .uri(target)
            .header(HOST, &url[Position::BeforeHost..Position::AfterPort])
            .header(USER_AGENT, concat!("mailmill-mcp/", env!("CARGO_PKG_VERSION")))
            .header(ACCEPT, "application/json, text/event-stream")
            .header(AUTHORIZATION, format!("Bearer {}", self.remote.key.expose()))
            .body(Full::new(body))
            .map_err(|error| error.to_string())?;
        request.headers_mut().extend(headers);
        if let Some(session) = self.conversation().session.clone() {
            request.headers_mut().insert(SESSION_ID, session);
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        let late = |_| format!("no connection to {host} within {} seconds", CONNECT_TIME.as_secs());
        let wire = tokio::time::timeout(CONNECT_TIME, self.connect()).await.map_err(late)?;
        let wire = wire.map_err(|error| format!("no connection to {host}: {error}"))?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(wire)).await.map_err(|error| error.to_string())?;
        // The connection runs as long as the response is read, and ends with it.
        self.connections.spawn(async move {
            let _ = connection.await;
        });
        sender.send_request(request).await.map_err(|error| format!("no response from {host}: {error}"))
    }

    async fn connect(&self) -> Result<Box<dyn Wire>, String> {
        let url = &self.remote.url;
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err("the address has no host".to_owned());
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((host, port)).await.map_err(|error| error.to_string())?;
        let Some(config) = &self.tls else { return Ok(Box::new(stream)) };
        let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
        let stream = TlsConnector::from(config.clone()).connect(name, stream).await.map_err(|error| error.to_string())?;
        Ok(Box::new(stream))
    }
}

trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

async fn collected(mut body: Incoming) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(chunk) = frame.map_err(|error| error.to_string())?.into_data() else { continue };
        if bytes.len() + chunk.len() > limits::STDIO_MESSAGE_BYTES_MAX {
            return Err("a message of the server is too large".into());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}
