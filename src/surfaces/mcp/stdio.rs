//! The command `mailmill mcp`: connects standard input and output to the MCP server of a remote Mailmill, for clients that start a program
//! instead of connecting to a URL.
//!
//! Each line of standard input is a message, which is sent to the server's `/mcp`; each message in the responses becomes a line of standard
//! output. Lines that are not messages of the protocol are answered with an error. In valid messages, this command reads only the parts
//! that the session and its HTTP headers need, such as the protocol version. Nothing else is written to standard output; problems that the
//! protocol cannot express go to standard error.

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

use super::{SESSION_ID, messages};
use crate::base::secret::Secret;
use crate::engine::access::access_tokens::RESOURCE_PATH;
use crate::engine::fetch::client_config;
use crate::engine::tasks::{Group, Tasks};
use crate::vocab::limits;

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// How long to wait for a connection before reporting that the server is unreachable.
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// The pause between a progress notification and the response. Without it, some clients process the notification after the response,
/// and ignore it because the call has ended.
const PROGRESS_PAUSE: Duration = Duration::from_millis(50);
/// How long to wait for outstanding responses after the client has closed standard input. Clients kill a program that does not exit soon.
const END_TIME: Duration = Duration::from_secs(5);

/// The server to which messages are forwarded, and the API key for it.
pub struct Remote {
    pub url: Url,
    pub key: Secret,
}

/// The session state that later requests repeat in their headers.
#[derive(Default)]
struct Conversation {
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// The client's `initialize` message, which is sent again to open a new session if the server has forgotten the previous session. The
    /// client itself opens only one session.
    opening: Option<String>,
}

struct Forwarder<W> {
    remote: Remote,
    tls: Option<Arc<ClientConfig>>,
    conversation: Mutex<Conversation>,
    /// Locked while a new session replaces one that the server has forgotten, so that concurrent messages do not open several sessions.
    reopening: tokio::sync::Mutex<()>,
    output: tokio::sync::Mutex<W>,
    /// Limits the number of messages that wait for a response.
    room: Arc<Semaphore>,
    /// The tasks that drive the HTTP connections.
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
    let reopening = tokio::sync::Mutex::default();
    let forwarder = Arc::new(Forwarder { remote, tls, conversation, reopening, output, room, connections });
    let forwarded = tasks.group("messages");
    while let Some(line) = next_line(&mut input).await? {
        let checked = match line {
            Ok(line) => messages::fault(line.as_bytes()).map_or(Ok(line), Err),
            Err(TooLong { id }) => {
                let text = format!("the message is longer than {} bytes; shorten or split it", limits::TOOL_REQUEST_BYTES_MAX);
                Err(messages::response(&id, messages::INVALID_REQUEST, &text))
            }
        };
        let line = match checked {
            Ok(line) => line,
            Err(error) => {
                forwarder.write(error.to_string().as_bytes()).await;
                continue;
            }
        };
        let permit = forwarder.room.clone().acquire_owned().await.map_err(|error| error.to_string())?;
        let forwarder = forwarder.clone();
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        // Waits for the response, because the session must be open before the next message is sent.
        if message["method"] == "initialize" {
            forwarder.conversation().opening = Some(line.clone());
            forwarder.message(line, message).await;
            continue;
        }
        forwarded.spawn(async move {
            forwarder.message(line, message).await;
            drop(permit);
        });
    }
    // The input has ended. Outstanding responses have some time to arrive, then the session ends.
    let all = u32::try_from(limits::STDIO_MESSAGES_MAX).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(END_TIME, forwarder.room.acquire_many(all)).await;
    forwarder.end().await;
    Ok(())
}

/// The error for a line that is longer than any valid message, with the message's ID or `null`.
struct TooLong {
    id: Value,
}

/// The maximum length of an `id` member that [`IdFinder`] can find, in bytes: more than any SDK needs.
const ID_BYTES_MAX: usize = 256;

/// Finds the ID of a message that is too long to keep. SDKs write the ID before or after the parameters, so all of the message is read.
#[derive(Default)]
struct IdFinder {
    /// The number of open objects and arrays.
    depth: usize,
    is_in_text: bool,
    is_escaped: bool,
    /// The start of the current member of the message.
    member: Vec<u8>,
    id: Value,
}

impl IdFinder {
    fn read(&mut self, byte: u8) {
        if self.is_in_text {
            self.is_in_text = self.is_escaped || byte != b'"';
            self.is_escaped = !self.is_escaped && byte == b'\\';
        } else {
            match byte {
                b'"' => self.is_in_text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            let is_start = byte == b'{' && self.depth == 1;
            let is_end = (byte == b',' && self.depth == 1) || (byte == b'}' && self.depth == 0);
            if is_start || is_end {
                self.end_member();
                return;
            }
        }
        // A member with more than `ID_BYTES_MAX` bytes is not the ID.
        if self.member.len() <= ID_BYTES_MAX {
            self.member.push(byte);
        }
    }

    fn end_member(&mut self) {
        let object = [b"{".as_slice(), self.member.as_slice(), b"}"].concat();
        self.member.clear();
        let object: Value = serde_json::from_slice(&object).unwrap_or_default();
        if messages::is_id(&object["id"]) {
            self.id = object["id"].clone();
        }
    }
}

/// Returns the next line that is not empty; `None` at the end of the input.
async fn next_line(input: &mut (impl AsyncBufRead + Unpin)) -> Result<Option<Result<String, TooLong>>, String> {
    let limit = limits::TOOL_REQUEST_BYTES_MAX as u64 + 1;
    let mut is_too_long = false;
    let mut finder = IdFinder::default();
    loop {
        let mut line = Vec::new();
        let read = (&mut *input).take(limit).read_until(b'\n', &mut line).await;
        if read.map_err(|error| format!("cannot read a message: {error}"))? == 0 {
            return Ok(is_too_long.then(|| Err(TooLong { id: finder.id })));
        }
        // The rest of an overlong line is skipped, so that the next message starts with the next line.
        let is_whole = line.ends_with(b"\n");
        is_too_long |= line.len() > limits::TOOL_REQUEST_BYTES_MAX;
        if is_too_long {
            line.iter().for_each(|byte| finder.read(*byte));
        }
        if is_too_long && is_whole {
            return Ok(Some(Err(TooLong { id: finder.id })));
        }
        let text = String::from_utf8_lossy(&line);
        if !is_too_long && !text.trim().is_empty() {
            return Ok(Some(Ok(text.trim().to_owned())));
        }
    }
}

impl<W: AsyncWrite + Send + Unpin> Forwarder<W> {
    fn conversation(&self) -> std::sync::MutexGuard<'_, Conversation> {
        self.conversation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forwards one message and writes the server's response. If this fails, responds to a request with an error in the protocol's format;
    /// for other messages, logs the error.
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
        let before = self.conversation().session.clone();
        let mut response = self.send(Method::POST, headers.clone(), line.clone().into()).await?;
        if response.status() == StatusCode::NOT_FOUND && before.is_some() && message["method"] != "initialize" {
            drop(response);
            self.reopen(before).await?;
            response = self.send(Method::POST, headers, line.into()).await?;
        }
        if let Some(session) = response.headers().get(SESSION_ID) {
            self.conversation().session = Some(session.clone());
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_request = message.get("id").is_some() && message.get("method").is_some();
        if kind.starts_with("text/event-stream") {
            let is_answered = self.events(response.into_body()).await?;
            if is_answered || !is_request {
                return Ok(());
            }
            let text = "the server ended the response without a result, for example because it restarts; check whether the call \
                        took effect before you repeat it";
            return Err(text.to_owned());
        }
        let (status, is_json) = (response.status(), kind.starts_with("application/json"));
        let body = collected(response.into_body()).await?;
        let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
        if is_json && answer.get("jsonrpc").is_some() {
            self.answer(&answer).await;
            return Ok(());
        }
        // A request has an ID and a method, and the server must respond to it with a message.
        if status.is_success() && is_request {
            return Err("the response is not an MCP message; check the URL".to_owned());
        }
        if status.is_success() {
            return Ok(());
        }
        let detail = answer["error"].as_str().map(str::to_owned);
        let detail = detail.unwrap_or_else(|| String::from_utf8_lossy(&body).chars().take(300).collect());
        Err(match status {
            StatusCode::UNAUTHORIZED => {
                format!("{}. Check the key, or sign in again with `mailmill login`.", detail.trim_end_matches('.'))
            }
            _ => format!("status {}: {detail}", status.as_u16()),
        })
    }

    /// Opens a new session in place of one that the server has forgotten.
    async fn reopen(&self, lost: Option<HeaderValue>) -> Result<(), String> {
        let _turn = self.reopening.lock().await;
        let Some(opening) = Some(self.conversation()).filter(|now| now.session == lost).and_then(|now| now.opening.clone())
        else {
            return Ok(());
        };
        self.conversation().session = None;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let response = self.send(Method::POST, headers.clone(), opening.into()).await?;
        let status = response.status().as_u16();
        let session = response.headers().get(SESSION_ID).cloned().ok_or_else(|| {
            format!(
                "the session ended, and the server opened no new one (status {status}); try again, or restart your MCP client"
            )
        })?;
        collected(response.into_body()).await?;
        self.conversation().session = Some(session);
        self.add_version(&mut headers, &Value::Null);
        let opened = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let response = self.send(Method::POST, headers, opened.to_string().into()).await?;
        collected(response.into_body()).await.map(drop)
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

    /// Writes the messages of an event stream (`text/event-stream`) to the client as they arrive. Returns whether one of them is
    /// a response.
    async fn events(&self, mut body: Incoming) -> Result<bool, String> {
        let mut rest: Vec<u8> = Vec::new();
        let mut data = String::new();
        let (mut is_after_progress, mut is_answered) = (false, false);
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
                        let is_response = message.get("method").is_none();
                        if is_after_progress && is_response {
                            tokio::time::sleep(PROGRESS_PAUSE).await;
                        }
                        is_answered |= is_response;
                        is_after_progress = message["method"] == "notifications/progress";
                        self.answer(&message).await;
                    }
                    data.clear();
                }
            }
            if rest.len() + data.len() > limits::STDIO_MESSAGE_BYTES_MAX {
                return Err(too_large());
            }
        }
        Ok(is_answered)
    }

    /// Writes a message from the server to the client. Stores the protocol version if the message contains it.
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
        // A write fails if the client has closed standard output. Standard input then ends soon too, which ends this command.
        if let Err(error) = written.and(output.flush().await) {
            tracing::warn!(%error, "a message cannot be written");
        }
    }

    /// Ends the session, so that the server can free it immediately.
    async fn end(&self) {
        if self.conversation().session.is_some() {
            let mut headers = HeaderMap::new();
            self.add_version(&mut headers, &Value::Null);
            // A failure is ignored, because the server also ends idle sessions.
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
        let host = &url[Position::BeforeHost..Position::AfterPort];
        let late = |_| format!("no connection to {host} within {} seconds", CONNECT_TIME.as_secs());
        let wire = tokio::time::timeout(CONNECT_TIME, self.connect()).await.map_err(late)?;
        let wire = wire.map_err(|error| format!("no connection to {host}: {error}"))?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(wire)).await.map_err(|error| error.to_string())?;
        // This task keeps the connection working until the response has been read.
        self.connections.spawn(async move {
            let _ = connection.await;
        });
        sender.send_request(request).await.map_err(|error| format!("no response from {host}: {error}"))
    }

    async fn connect(&self) -> Result<Box<dyn Wire>, String> {
        let url = &self.remote.url;
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err("the server's URL has no host; use a URL like https://mail.example.com".to_owned());
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

fn too_large() -> String {
    format!("a message from the server has more than {} bytes; request less data", limits::STDIO_MESSAGE_BYTES_MAX)
}

async fn collected(mut body: Incoming) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(chunk) = frame.map_err(|error| error.to_string())?.into_data() else { continue };
        if bytes.len() + chunk.len() > limits::STDIO_MESSAGE_BYTES_MAX {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use hyper::service::service_fn;
    use tokio::io::duplex;
    use tokio::net::TcpListener;

    use super::*;

    /// Simulates a Mailmill MCP server that has forgotten its first session. To the method `page`, it responds with an HTML page, like a
    /// proxy's error page.
    async fn respond(request: Request<Incoming>, opened: &AtomicUsize) -> Result<Response<Full<Bytes>>, Infallible> {
        let session = request.headers().get(SESSION_ID).cloned();
        let body = request.into_body().collect().await.expect("the request is whole").to_bytes();
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let json = |status: u16, body: Value| {
            let builder = Response::builder().status(status).header(CONTENT_TYPE, "application/json");
            builder.body(Full::new(Bytes::from(body.to_string()))).expect("the response is valid")
        };
        Ok(match message["method"].as_str() {
            Some("initialize") => {
                let number = opened.fetch_add(1, Ordering::Relaxed) + 1;
                let result = json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "protocolVersion": "2025-11-25" } });
                let mut response = json(200, result);
                let id = HeaderValue::from_str(&number.to_string()).expect("a number is a valid header");
                response.headers_mut().insert(SESSION_ID, id);
                response
            }
            _ if session.as_ref().is_some_and(|session| session == "1") => {
                json(404, json!({ "error": "This session has ended." }))
            }
            // Ends the stream without a result, as a server that restarts does.
            Some("ended") => {
                let builder = Response::builder().header(CONTENT_TYPE, "text/event-stream");
                builder.body(Full::new(Bytes::from_static(b": ping\n\n"))).expect("the response is valid")
            }
            Some("page") => Response::new(Full::new(Bytes::from_static(b"<html>"))),
            Some(_) if message.get("id").is_some() => json(200, json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} })),
            _ => Response::builder().status(202).body(Full::default()).expect("the response is valid"),
        })
    }

    /// Forwards these lines to a simulated server. Returns the responses, ordered by ID, and the number of opened sessions.
    async fn forwarded(lines: Vec<String>) -> (Vec<Value>, usize) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound")).parse().expect("a URL");
        let opened: &'static AtomicUsize = Box::leak(Box::default());
        let tasks = Tasks::new(tokio::runtime::Handle::current());
        let (server, served) = (tasks.group("server"), tasks.group("served"));
        let accept = async move {
            while let Ok((stream, _)) = listener.accept().await {
                let service = service_fn(move |request| respond(request, opened));
                served.spawn(async move {
                    // The client may close the connection at any time, so errors are ignored.
                    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        };
        server.spawn(accept);
        let (output, mut answers) = duplex(1 << 20);
        let input = lines.join("\n") + "\n";
        let remote = Remote { url, key: Secret::new("sk_test_x".into()) };
        forward(remote, input.as_bytes(), output, &tasks).await.expect("the input can be read");
        let mut text = vec![0; 1 << 20];
        let mut length = 0;
        while String::from_utf8_lossy(&text[..length]).lines().count() < lines.len() {
            length += answers.read(&mut text[length..]).await.expect("the output is open");
        }
        let text = String::from_utf8_lossy(&text[..length]).into_owned();
        let mut answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a message")).collect();
        answers.sort_by_key(|answer| answer["id"].as_u64());
        (answers, opened.load(Ordering::Relaxed))
    }

    fn call(id: u64, method: &str) -> String {
        json!({ "jsonrpc": "2.0", "id": id, "method": method }).to_string()
    }

    #[tokio::test]
    async fn a_session_that_the_server_has_forgotten_is_opened_again() {
        let lines = vec![call(1, "initialize"), call(2, "tools/list"), call(3, "tools/list")];
        let (answers, opened) = forwarded(lines).await;
        assert_eq!(opened, 2, "{answers:?}");
        assert_eq!(answers[0]["result"]["protocolVersion"], "2025-11-25");
        assert!(answers[1..].iter().all(|answer| answer["result"] == json!({})), "{answers:?}");
    }

    #[tokio::test]
    async fn a_long_line_a_page_of_a_proxy_and_a_stream_without_a_response_are_errors_of_one_message() {
        let long = "ü".repeat(limits::TOOL_REQUEST_BYTES_MAX);
        let (answers, _) = forwarded(vec![long, call(1, "initialize"), call(2, "page"), call(3, "ended")]).await;
        let error = |number: usize| answers[number]["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(answers[0]["id"].is_null() && error(0).contains("longer than"), "{answers:?}");
        assert!(error(2).contains("check the URL"), "{answers:?}");
        assert!(error(3).contains("without a result"), "{answers:?}");
    }

    #[tokio::test]
    async fn lines_that_cannot_be_forwarded_are_answered_with_their_ids() {
        let text = "\"{\\,[ü".repeat(limits::TOOL_REQUEST_BYTES_MAX / 5);
        let params = json!({ "id": 9, "list": [{ "id": 8 }], "text": text });
        let first = format!(r#"{{"id":3,"jsonrpc":"2.0","method":"tools/call","params":{params}}}"#);
        let last = format!(r#"{{"method":"tools/call","params":{params},"jsonrpc":"2.0","id":4}}"#);
        let wrong = r#"{"id":5,"method":"tools/list"}"#.to_owned();
        let (answers, _) = forwarded(vec![call(1, "initialize"), "not json".to_owned(), last, wrong, first]).await;
        let found = answers.iter().map(|answer| (answer["id"].clone(), answer["error"]["code"].clone())).collect::<Vec<_>>();
        let wanted =
            [(json!(null), json!(-32700)), (json!(1), json!(null)), (json!(3), json!(-32600)), (json!(4), json!(-32600))];
        assert_eq!(found[..4], wanted);
        assert_eq!(found[4], (json!(5), json!(-32600)));
    }
}
