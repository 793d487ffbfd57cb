//! HTTP requests to a Mailmill server, with retries where they are safe.
//!
//! `engine/fetch` is the client with which the server requests URLs that its users supply; it restricts addresses, redirects and sizes.
//! This client runs on the user's machine and calls only servers that this user named, so any address is allowed, uploads can be as large
//! as the server accepts, and each command decides whether to retry.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION,
    RETRY_AFTER, USER_AGENT, WWW_AUTHENTICATE,
};
use http::{Method, Request, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::{Position, Url};

use super::super::problem::{Exit, Problem};
use super::super::terminal::note;
use super::upload::Form;
use crate::base::random::{Random, SystemRandom};
use crate::base::secret::Secret;
use crate::engine::fetch::{client_config, driven, with_causes};
use crate::vocab::codes::Code;

/// How long to wait for a connection before the server is reported as unreachable.
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// How long to wait for the start of a response. Slow operations, such as checking an email's links, take about a minute.
const HEAD_TIME: Duration = Duration::from_secs(180);
/// The maximum size of a JSON response. A page of a list has at most 100 items, and an email has at most a few megabytes.
const REPLY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The maximum size of a downloaded file, about ten times the size of an export of a million contacts.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024 * 1024;
/// The maximum number of attempts: enough to outlast a restart of the server, but few enough that users see an error soon.
const ATTEMPTS_MAX: u32 = 4;
/// The environment variable that names the file with trusted certificates.
const CERTIFICATES: &str = "SSL_CERT_FILE";
const BACKOFF: Duration = Duration::from_millis(400);
/// The longest wait that a server can request. Budgets apply per minute, so longer waits are reported as errors instead.
const WAIT_MAX: Duration = Duration::from_secs(60);

#[derive(Clone, Default)]
pub enum Payload {
    #[default]
    Empty,
    Json(Bytes),
    Form(Arc<Form>),
}

#[derive(Clone, Default)]
pub struct Call {
    pub method: Method,
    /// The path and query of the request's URL.
    pub target: String,
    pub payload: Payload,
    pub headers: HeaderMap,
    /// Whether sending the request twice has the same effect as sending it once.
    pub is_repeatable: bool,
}

impl Call {
    pub fn get(target: impl Into<String>) -> Self {
        Self { target: target.into(), is_repeatable: true, ..Self::default() }
    }

    pub fn post(target: impl Into<String>, body: &serde_json::Value) -> Self {
        let payload = Payload::Json(Bytes::from(body.to_string()));
        Self { method: Method::POST, target: target.into(), payload, ..Self::default() }
    }
}

pub struct ApiResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl ApiResponse {
    pub fn header(&self, name: impl http::header::AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Determines whether a failed request can be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// No byte of the request was sent.
    Unsent,
    /// The server may have executed the request.
    Sent,
    /// A repeated request would also fail.
    Final,
    /// The server responded, but the response is too large or the file cannot be written.
    Unusable,
}

/// A failed request.
struct Broken {
    cause: String,
    fault: Fault,
}

/// A server, and the key for its API.
pub struct Remote {
    pub url: Url,
    key: Option<Secret>,
    tls: OnceLock<Result<Arc<ClientConfig>, String>>,
    /// Whether notes about retries are printed.
    notes: bool,
}

trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

impl Remote {
    pub fn new(url: Url, key: Option<Secret>, notes: bool) -> Self {
        Self { url, key, tls: OnceLock::new(), notes }
    }

    /// Returns the host and port of the server.
    pub fn host(&self) -> &str {
        &self.url[Position::BeforeHost..Position::AfterPort]
    }

    /// Returns whether the key is for the live environment.
    pub fn is_live(&self) -> bool {
        self.key.as_ref().is_some_and(|key| key.expose().starts_with("sk_live_"))
    }

    /// Sends a request, retries it where that is safe, and returns the complete response.
    pub async fn send(&self, call: &Call) -> Result<ApiResponse, Problem> {
        let mut attempt = 1;
        loop {
            let result = self.exchange(call, read_whole).await;
            let Some((wait, reason)) = retry_of(&result, call.is_repeatable).filter(|_| attempt < ATTEMPTS_MAX) else {
                return result.map_err(|broken| self.problem(&broken));
            };
            let wait = wait.unwrap_or(BACKOFF * 2_u32.pow(attempt - 1));
            if wait > WAIT_MAX {
                return result.map_err(|broken| self.problem(&broken));
            }
            if self.notes {
                note(&format!("{reason}; repeating in {:.1} s", wait.as_secs_f32()));
            }
            tokio::time::sleep(with_jitter(wait)).await;
            attempt += 1;
        }
    }

    /// Sends a request once, and returns the response with any status.
    pub async fn send_once(&self, call: &Call) -> Result<ApiResponse, Problem> {
        self.exchange(call, read_whole).await.map_err(|broken| self.problem(&broken))
    }

    /// Sends a request and writes the body of a successful response to `file`. Returns any other response.
    pub async fn download(&self, call: &Call, file: &mut impl Write) -> Result<Option<ApiResponse>, Problem> {
        let read = async |head: http::response::Parts, body: Incoming| match head.status.is_success() {
            true => copy(body, file).await.map(|()| None),
            false => read_whole(head, body).await.map(Some),
        };
        self.exchange(call, read).await.map_err(|broken| self.problem(&broken))
    }

    fn problem(&self, Broken { cause, fault }: &Broken) -> Problem {
        if *fault == Fault::Unusable {
            return Problem::failed(cause);
        }
        let host = self.host();
        let hint = match self.url.scheme() {
            "https" if cause.contains("CaUsedAsEndEntity") => {
                ". The server presents the certificate of a certificate authority, which cannot identify a server. Create a \
                 certificate for the server with basicConstraints=CA:FALSE"
                    .to_owned()
            }
            "https" if cause.contains("invalid peer certificate") => {
                ". If the server has its own certificate, name the certificate's file in SSL_CERT_FILE".to_owned()
            }
            "https" if cause.contains("InvalidContentType") => {
                format!(". The server does not use TLS on this port; try http://{host}")
            }
            "http" if cause.contains("HTTP version") => format!(". The server may use TLS on this port; try https://{host}"),
            _ => String::new(),
        };
        Problem::new(Exit::Unavailable, format_args!("no response from {host}: {cause}{hint}"))
    }

    async fn exchange<T>(
        &self,
        call: &Call,
        read: impl AsyncFnOnce(http::response::Parts, Incoming) -> Result<T, Broken>,
    ) -> Result<T, Broken> {
        let request = self.request(call).await.map_err(Broken::with(Fault::Final))?;
        let late = |_| Broken { cause: format!("no connection within {} seconds", CONNECT_TIME.as_secs()), fault: Fault::Unsent };
        let wire = timeout(CONNECT_TIME, self.connect()).await.map_err(late)??;
        let handshake = http1::handshake(TokioIo::new(wire)).await;
        let (mut sender, connection) = handshake.map_err(|error| Broken { cause: with_causes(&error), fault: Fault::Unsent })?;
        let work = async {
            let late = |_| Broken::after(format!("no response within {} seconds", HEAD_TIME.as_secs()));
            // An upload takes as long as the connection requires, so it has no time limit.
            let response = match &call.payload {
                Payload::Form(_) => sender.send_request(request).await,
                Payload::Empty | Payload::Json(_) => timeout(HEAD_TIME, sender.send_request(request)).await.map_err(late)?,
            };
            let (head, body) = response.map_err(|error| Broken::after(with_causes(&error)))?.into_parts();
            read(head, body).await
        };
        driven(connection, work).await
    }

    async fn request(&self, call: &Call) -> Result<Request<UnsyncBoxBody<Bytes, std::io::Error>>, String> {
        let prefix = self.url.path().trim_end_matches('/');
        let mut builder = Request::builder().method(call.method.clone()).uri(format!("{prefix}{}", call.target));
        let version = concat!("mailmill-cli/", env!("CARGO_PKG_VERSION"));
        builder = builder
            .header(HOST, &self.url[Position::BeforeHost..Position::AfterPort])
            .header(USER_AGENT, version)
            .header(ACCEPT, "application/json, */*;q=0.5")
            .header(CONNECTION, "close");
        if let Some(key) = &self.key {
            builder = builder.header(AUTHORIZATION, format!("Bearer {}", key.expose()));
        }
        let whole = |bytes: Bytes| Full::new(bytes).map_err(|never| match never {}).boxed_unsync();
        let body = match &call.payload {
            Payload::Empty => whole(Bytes::new()),
            Payload::Json(bytes) => {
                builder = builder.header(CONTENT_TYPE, "application/json");
                whole(bytes.clone())
            }
            Payload::Form(form) => {
                builder = builder.header(CONTENT_TYPE, form.content_type()).header(CONTENT_LENGTH, form.length());
                form.body().await.map_err(|error| error.to_string())?
            }
        };
        let mut request = builder.body(body).map_err(|error| error.to_string())?;
        for (name, value) in &call.headers {
            request.headers_mut().insert(name, value.clone());
        }
        Ok(request)
    }

    async fn connect(&self) -> Result<Box<dyn Wire>, Broken> {
        let refused = Broken::with(Fault::Final);
        let (Some(host), Some(port)) = (self.url.host_str(), self.url.port_or_known_default()) else {
            return Err(refused("the server's URL has no host; use a URL like https://mail.example.com".to_owned()));
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((host, port)).await.map_err(|error| Broken::with(Fault::Unsent)(error.to_string()))?;
        // Each request is a single write, so delaying a write to collect more data gains nothing.
        let _ = stream.set_nodelay(true);
        if self.url.scheme() != "https" {
            return Ok(Box::new(stream));
        }
        let named = || std::env::var_os(CERTIFICATES).filter(|file| !file.is_empty());
        let config = self.tls.get_or_init(|| configuration(named().as_deref().map(Path::new)));
        let config = config.clone().map_err(&refused)?;
        let name = ServerName::try_from(host.to_owned()).map_err(|error| refused(error.to_string()))?;
        // A connection that ends during the handshake can be retried. Retrying does not make an invalid certificate valid.
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::InvalidData => refused(error.to_string()),
            _ => Broken::with(Fault::Unsent)(error.to_string()),
        };
        let stream = TlsConnector::from(config).connect(name, stream).await.map_err(failed)?;
        Ok(Box::new(stream))
    }
}

/// Returns the TLS configuration. Fails if `file`, which SSL_CERT_FILE names, cannot be read. Without this check, an unreadable file would
/// be ignored if there are other trusted certificates.
fn configuration(file: Option<&Path>) -> Result<Arc<ClientConfig>, String> {
    if let Some(file) = file
        && let Err(error) = std::fs::read(file)
    {
        return Err(format!(
            "{CERTIFICATES}: cannot read {}: {error}; correct the path or the file's permissions",
            file.display()
        ));
    }
    client_config(&[], &[b"http/1.1"])
}

impl Broken {
    fn with(fault: Fault) -> impl Fn(String) -> Self {
        move |cause| Self { cause, fault }
    }

    fn after(cause: String) -> Self {
        // hyper returns this error for a response that is not HTTP. A repeated request would receive the same response.
        let fault = if cause.contains("HTTP version") { Fault::Final } else { Fault::Sent };
        Self { cause, fault }
    }
}

/// Returns why a request should be sent again, and the wait that the server requests; returns `None` if the request should not be sent
/// again.
fn retry_of(result: &Result<ApiResponse, Broken>, is_repeatable: bool) -> Option<(Option<Duration>, String)> {
    match result {
        Err(broken) if broken.fault == Fault::Unsent || (broken.fault == Fault::Sent && is_repeatable) => {
            Some((None, broken.cause.clone()))
        }
        Err(_) => None,
        Ok(answer) => {
            let after = answer.header(RETRY_AFTER).and_then(|text| text.parse().ok()).map(Duration::from_secs);
            match answer.status.as_u16() {
                // The server did not execute a request that it rejected with 429, so repeating the request is safe.
                429 => Some((after, "The request budget is used up".to_owned())),
                // This error is not retried: an outage of a provider usually lasts longer than the retries, and the error message states a
                // remedy.
                503 if reason(answer).is_some_and(|(_, code)| code == Code::ProviderUnavailable.info().wire) => None,
                status @ 500.. if is_repeatable => {
                    let cause = reason(answer).map(|(text, _)| format!(": {}", text.trim_end_matches('.'))).unwrap_or_default();
                    Some((after, format!("The server returned status {status}{cause}")))
                }
                _ => None,
            }
        }
    }
}

/// Returns the text and the code of the error in a response.
fn reason(answer: &ApiResponse) -> Option<(String, String)> {
    let body: serde_json::Value = serde_json::from_slice(&answer.body).ok()?;
    Some((body["error"].as_str()?.to_owned(), body["code"].as_str()?.to_owned()))
}

/// Lengthens a wait by up to a quarter, so that several clients do not repeat their requests at the same moment.
fn with_jitter(wait: Duration) -> Duration {
    let mut byte = [0];
    SystemRandom::default().fill(&mut byte);
    wait + wait.mul_f32(f32::from(byte[0]) / 1024.0)
}

async fn read_whole(head: http::response::Parts, mut body: Incoming) -> Result<ApiResponse, Broken> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Broken::after(with_causes(&error)))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > REPLY_BYTES_MAX {
            let cause = format!("the response is larger than {} MiB; request fewer items at a time", REPLY_BYTES_MAX >> 20);
            return Err(Broken { cause, fault: Fault::Unusable });
        }
        bytes.extend_from_slice(&data);
    }
    Ok(ApiResponse { status: head.status, headers: head.headers, body: bytes.into() })
}

async fn copy(mut body: Incoming, file: &mut impl Write) -> Result<(), Broken> {
    let mut left = FILE_BYTES_MAX;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Broken::after(with_causes(&error)))?;
        let Ok(data) = frame.into_data() else { continue };
        let length = data.len() as u64;
        if length > left {
            let cause = format!("the file is larger than {} GiB; download it with another HTTP client", FILE_BYTES_MAX >> 30);
            return Err(Broken { cause, fault: Fault::Unusable });
        }
        left -= length;
        match file.write_all(&data) {
            // A reader that closed its end of the pipe needs no more output.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
            written => written.map_err(unwritable)?,
        }
    }
    file.flush().map_err(unwritable)
}

fn unwritable(error: std::io::Error) -> Broken {
    Broken { cause: format!("cannot write the file: {error}"), fault: Fault::Unusable }
}

/// Returns the response's JSON envelope, or the problem that the response describes.
pub fn envelope(answer: &ApiResponse) -> Result<serde_json::Value, Problem> {
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if answer.status.is_success() && body.is_object() {
        return Ok(body);
    }
    Err(refusal(answer, &body))
}

/// Returns the problem that an error response describes.
pub fn refusal(answer: &ApiResponse, body: &serde_json::Value) -> Problem {
    let exit = match answer.status.as_u16() {
        400 | 405 | 413..=415 | 422 => Exit::Misused,
        401 | 403 => Exit::Denied,
        404 | 410 => Exit::NotFound,
        409 => Exit::Conflict,
        429 => Exit::Limited,
        300..=399 | 500.. => Exit::Unavailable,
        _ => Exit::Failed,
    };
    if answer.status.is_redirection() {
        let target = answer.header(LOCATION).and_then(|target| Url::parse(target).ok());
        let reason = target.map_or_else(
            || "the server redirects the request; check the server's URL".to_owned(),
            |target| {
                let origin = &target[..Position::BeforePath];
                format!("the server redirects the request to {origin}; sign in there with `mailmill login {origin}`")
            },
        );
        return Problem::new(exit, reason);
    }
    let (Some(error), Some(code)) = (body["error"].as_str(), body["code"].as_str()) else {
        let status = answer.status.as_u16();
        return Problem::new(
            exit,
            format_args!("the response with status {status} is not from a Mailmill server; check the server's URL"),
        );
    };
    let request = body["metadata"]["requestId"].as_str().map(|id| format!(", {id}")).unwrap_or_default();
    let hint = match answer.status.as_u16() {
        401 => ". Sign in with `mailmill login`, or set MAILMILL_KEY.".to_owned(),
        403 => missing_permission(answer).map(|permission| format!(". The key needs {permission}.")).unwrap_or_default(),
        _ => String::new(),
    };
    let error = if hint.is_empty() { error } else { error.trim_end_matches('.') };
    Problem::new(exit, format_args!("{error}{hint} ({code}{request})"))
}

/// Returns the permission that the response's challenge names (RFC 6750).
fn missing_permission(answer: &ApiResponse) -> Option<&str> {
    answer.header(WWW_AUTHENTICATE)?.split_once("scope=\"")?.1.split('"').next()
}

pub fn new_key(random: &dyn Random) -> String {
    format!("cli-{}", data_encoding::HEXLOWER.encode(&random.bytes::<12>()))
}

/// Returns the `idempotency-key` header for a key. Returns an error if the key, which the user can choose, is not valid in a header.
pub fn key_header(key: &str) -> Result<(HeaderName, HeaderValue), Problem> {
    let value = HeaderValue::from_str(key).ok().filter(|_| !key.is_empty());
    let value = value.ok_or_else(|| Problem::misused("--idempotency-key: use 1 to 100 printable ASCII characters"))?;
    Ok((HeaderName::from_static("idempotency-key"), value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(status: u16, headers: &[(&'static str, &'static str)], body: &serde_json::Value) -> ApiResponse {
        let headers = headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let status = StatusCode::from_u16(status).expect("the status is valid");
        ApiResponse { status, headers: headers.collect(), body: body.to_string().into() }
    }

    #[test]
    fn only_harmless_repeats_are_sent() {
        let retries = |result: Result<ApiResponse, Broken>, is_repeatable| retry_of(&result, is_repeatable).map(|(wait, _)| wait);
        let limited = || Ok(answer(429, &[("retry-after", "7")], &json!({})));
        assert_eq!(retries(limited(), false), Some(Some(Duration::from_secs(7))));
        assert_eq!(retries(Ok(answer(503, &[], &json!({}))), true), Some(None));
        assert_eq!(retries(Ok(answer(503, &[], &json!({}))), false), None);
        assert_eq!(retries(Ok(answer(404, &[], &json!({}))), true), None);
        assert_eq!(retries(Err(Broken::after("reset".into())), false), None);
        assert_eq!(retries(Err(Broken { cause: "refused".into(), fault: Fault::Unsent }), false), Some(None));
        let failed = |code: &str| Ok(answer(503, &[], &json!({ "error": "No model.", "code": code })));
        assert_eq!(retries(failed("PROVIDER_UNAVAILABLE"), true), None);
        let (_, reason) = retry_of(&failed("UNAVAILABLE"), true).expect("the request is repeated");
        assert_eq!(reason, "The server returned status 503: No model");
        for fault in [Fault::Final, Fault::Unusable] {
            assert_eq!(retries(Err(Broken { cause: "invalid peer certificate".into(), fault }), true), None);
        }
    }

    #[test]
    fn errors_have_the_documented_exit_codes() {
        let body = json!({ "success": false, "error": "It broke.", "code": "X", "metadata": { "requestId": "req_1" } });
        let codes = [400, 401, 403, 404, 409, 429, 500].map(|status| {
            let answer = answer(status, &[], &body);
            envelope(&answer).expect_err("the status is an error").code()
        });
        assert_eq!(codes, [2, 3, 3, 4, 5, 6, 7]);
        let missing = envelope(&answer(404, &[], &body)).expect_err("the status is an error");
        assert_eq!(missing.to_string(), "It broke. (X, req_1)");
        let challenge = [("www-authenticate", "Bearer error=\"insufficient_scope\", scope=\"audience:read\"")];
        let denied = envelope(&answer(403, &challenge, &body)).expect_err("the status is an error").to_string();
        assert!(denied.contains("The key needs audience:read."), "{denied}");
        let foreign = envelope(&answer(200, &[], &json!("<html>"))).expect_err("the body is not an envelope");
        assert!(foreign.to_string().contains("not from a Mailmill server"), "{foreign}");
        let moved =
            envelope(&answer(308, &[("location", "https://b.example/v1/projects")], &json!({}))).expect_err("it is a redirect");
        assert!(moved.to_string().contains("`mailmill login https://b.example`"), "{moved}");
        let relative = envelope(&answer(308, &[("location", "/login")], &json!({}))).expect_err("it is a redirect");
        assert_eq!(relative.to_string(), "the server redirects the request; check the server's URL");
    }

    #[test]
    fn problems_with_certificates_name_the_remedy() {
        let missing = configuration(Some(Path::new("/no/such/file"))).expect_err("the file does not exist");
        assert!(missing.starts_with("SSL_CERT_FILE: cannot read /no/such/file: "), "{missing}");
        let remote = Remote::new("https://mail.example.com".parse().expect("a URL"), None, false);
        let problem = |cause: &str| remote.problem(&Broken { cause: cause.into(), fault: Fault::Final }).to_string();
        let authority = problem("invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))");
        assert!(authority.contains("CA:FALSE") && !authority.contains("SSL_CERT_FILE"), "{authority}");
        assert!(problem("invalid peer certificate: UnknownIssuer").contains("SSL_CERT_FILE"));
    }

    #[test]
    fn idempotency_keys_are_valid_header_values() {
        let key = new_key(&SystemRandom::default());
        assert!(key.len() == 28 && key_header(&key).is_ok());
        assert!(key_header("a\nb").is_err() && key_header("").is_err());
    }
}
