//! Sends data to a server that a user chose: one request over one connection, to an address that was checked for this request.
//!
//! Redirects are not followed, and bodies are not decompressed. The result is the status of the response; the beginning of its body is kept
//! for display. If a response breaks off after its head, its status is still returned; if a response does not end in time, the delivery
//! fails.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderValue, RETRY_AFTER};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use url::{Position, Url};

use super::connect::{Trust, Wire};
use super::exchange::{driven, with_causes, within};
use super::{Fetch, FetchError, host};
use crate::vocab::limits;

pub struct PostRequest<'a> {
    pub url: &'a Url,
    /// The headers of the request. `Host`, `Connection` and `Content-Length` are added.
    pub headers: HeaderMap,
    pub body: Bytes,
    /// The time limit for the whole delivery: resolution, connection, and the response with its body.
    pub total: Duration,
    /// The maximum number of bytes to read from the response body before the connection is closed.
    pub read_bytes_max: usize,
    /// The maximum size of the raw response in bytes, including interim responses, headers and the framing of the body. Beyond this limit
    /// the connection is closed.
    pub answer_bytes_max: usize,
}

#[derive(Clone, Debug)]
pub struct PostResponse {
    pub status: StatusCode,
    pub retry_after: Option<String>,
    /// The beginning of the response body, unmodified.
    pub body: Vec<u8>,
}

impl Fetch {
    /// Returns whether the host of `url` is an IP address in a network that the operator has allowed in the settings.
    pub fn is_in_allowed_network(&self, url: &Url) -> bool {
        self.connector.is_in_allowed_network(url)
    }

    /// Returns whether this machine can resolve the names of hosts on the internet.
    pub async fn resolves_names(&self) -> bool {
        // IANA maintains this domain for use in examples, so its name can always be resolved if DNS works.
        self.connector.resolves("example.com").await
    }

    /// Returns why a delivery to `url` is not allowed, or `None` if nothing in the URL itself forbids the delivery. Host names are checked
    /// when they are resolved.
    pub fn refusal(&self, url: &Url) -> Option<FetchError> {
        self.connector.refusal(url)
    }

    /// Posts a request to a receiver at a public address or in an allowed network, and returns the response.
    pub async fn deliver(&self, shipment: PostRequest<'_>) -> Result<PostResponse, FetchError> {
        let PostRequest { url, headers, body, total, read_bytes_max, answer_bytes_max } = shipment;
        let request = request(url, headers, body)?;
        let work = async {
            let wire = MeteredConnection { wire: self.connector.connect(url, Trust::Receiver).await?, left: answer_bytes_max };
            let host = host(url);
            let protocol = |error: hyper::Error| FetchError::Protocol { host: host.clone(), cause: with_causes(&error) };
            let mut builder = http1::Builder::new();
            builder.max_headers(limits::FETCH_HEADERS_MAX).max_buf_size(limits::FETCH_HEAD_BYTES_MAX).title_case_headers(true);
            let (mut sender, connection) = builder.handshake(TokioIo::new(wire)).await.map_err(protocol)?;
            let exchange = async {
                let (head, body) = sender.send_request(request).await.map_err(protocol)?.into_parts();
                let retry_after = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
                Ok(PostResponse { status: head.status, retry_after, body: beginning(body, read_bytes_max).await })
            };
            driven(connection, exchange).await
        };
        within(&host(url), total, work).await
    }
}

fn request(url: &Url, headers: HeaderMap, body: Bytes) -> Result<Request<Full<Bytes>>, FetchError> {
    let wrong = |cause: String| FetchError::Request(cause);
    let length = HeaderValue::from(body.len());
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(&url[Position::BeforePath..Position::AfterQuery])
        .body(Full::new(body))
        .map_err(|error| wrong(error.to_string()))?;
    *request.headers_mut() = headers;
    let own = HeaderValue::from_str(&url[Position::BeforeHost..Position::AfterPort]).map_err(|error| wrong(error.to_string()))?;
    for (name, value) in [(HOST, own), (CONNECTION, HeaderValue::from_static("close")), (CONTENT_LENGTH, length)] {
        request.headers_mut().insert(name, value);
    }
    Ok(request)
}

/// A connection that fails once the server has sent more than a maximum number of bytes. Without this limit, a server could keep this
/// service busy with endless interim responses, or with a body in chunks of one byte.
pub struct MeteredConnection {
    pub wire: Box<dyn Wire>,
    pub left: usize,
}

impl AsyncRead for MeteredConnection {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.left == 0 {
            return Poll::Ready(Err(io::Error::other("the response is too long")));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.wire).poll_read(context, buffer))?;
        self.left = self.left.saturating_sub(buffer.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for MeteredConnection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.wire).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.wire).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.wire.is_write_vectored()
    }
}

/// Returns the first `bytes_max` bytes of a body, or fewer if the body breaks off earlier.
async fn beginning(mut body: Incoming, bytes_max: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < bytes_max {
        let Some(Ok(frame)) = body.frame().await else { break };
        let Ok(data) = frame.into_data() else { continue };
        bytes.extend_from_slice(&data[..data.len().min(bytes_max - bytes.len())]);
    }
    bytes
}
