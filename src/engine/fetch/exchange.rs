//! Sends one request and reads its response over one connection. The head and the body of the response have size limits.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, HeaderMap, LOCATION};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use url::Url;

use super::connect::Wire;
use super::failure::FetchError;
use super::inflate::Encoding;
use super::memory::{self, ResponseMemory};
use super::{Limits, OversizePolicy, Response};
use crate::vocab::limits::{self, RESPONSE_SMALL_BYTES};

/// A request, and the limits for its response.
pub struct Exchange<'a> {
    pub url: &'a Url,
    pub request: Request<Full<Bytes>>,
    pub limits: &'a Limits,
    /// Whether redirects are followed. If so, only the head of a redirect is read.
    pub follows: bool,
}

impl Exchange<'_> {
    pub async fn run(self, wire: Box<dyn Wire>) -> Result<Response, FetchError> {
        let host = self.url.host_str().unwrap_or_default().to_owned();
        let protocol = |error: hyper::Error| FetchError::Protocol { host: host.clone(), cause: with_causes(&error) };
        let mut builder = http1::Builder::new();
        builder.max_headers(limits::FETCH_HEADERS_MAX).max_buf_size(limits::FETCH_HEAD_BYTES_MAX);
        let (mut sender, connection) = builder.handshake(TokioIo::new(wire)).await.map_err(protocol)?;
        let Self { url, request, limits, follows } = self;
        let work = async {
            let late = |_| FetchError::TimedOut { host: host.clone(), after: limits.head };
            let answer = timeout(limits.head, sender.send_request(request)).await.map_err(late)?.map_err(protocol)?;
            let (head, body) = answer.into_parts();
            let (body, memory) = if follows && is_redirect(head.status, &head.headers) {
                (Vec::new(), ResponseMemory::default())
            } else {
                read_body(&host, &head.headers, body, limits).await?
            };
            Ok(Response { url: url.clone(), status: head.status, headers: head.headers, body, memory })
        };
        driven(connection, work).await
    }
}

pub fn is_redirect(status: StatusCode, headers: &HeaderMap) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) && headers.contains_key(LOCATION)
}

/// Returns the result of `work`, which needs `connection` to be polled at the same time. Dropping this future closes the connection.
pub async fn driven<T>(connection: impl Future<Output = hyper::Result<()>>, work: impl Future<Output = T>) -> T {
    let mut connection = std::pin::pin!(connection);
    let mut work = std::pin::pin!(work);
    let mut over = false;
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            // An error of the connection is ignored here, because `work` also receives it. `work` may still have to read the rest of a
            // body.
            _ = &mut connection, if !over => over = true,
        }
    }
}

async fn read_body(
    host: &str,
    headers: &HeaderMap,
    mut body: Incoming,
    limits: &Limits,
) -> Result<(Vec<u8>, ResponseMemory), FetchError> {
    let broken = |cause| FetchError::Encoding { host: host.to_owned(), cause };
    let too_large = || FetchError::TooLarge { host: host.to_owned(), bytes_max: limits.body_bytes };
    let named: Vec<&str> = headers.get_all(CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok()).collect();
    let encoding = Encoding::of(&named.join(",")).map_err(broken)?;
    let refuses = limits.overlong == OversizePolicy::Refuse;
    // The declared length of a compressed body does not show how much memory the decompressed body needs.
    let declared = body.size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok()).filter(|_| encoding.is_none());
    let bytes_max = declared.unwrap_or(usize::MAX).min(limits.body_bytes);
    let most = |start: &[u8]| encoding.map_or(bytes_max, |encoding| encoding.memory_bytes(start, bytes_max));
    let mut bytes = Vec::new();
    let mut cut = false;
    let mut memory = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| FetchError::Protocol { host: host.to_owned(), cause: with_causes(&error) })?;
        let Ok(data) = frame.into_data() else { continue };
        if memory.is_none() && bytes.len() + data.len() > RESPONSE_SMALL_BYTES {
            memory = Some(ResponseMemory::reserve(most(if bytes.is_empty() { &data } else { &bytes })).await);
        }
        let room = limits.body_bytes - bytes.len();
        bytes.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            cut = true;
            break;
        }
    }
    if cut && refuses {
        return Err(too_large());
    }
    let Some(encoding) = encoding.filter(|_| !bytes.is_empty()) else {
        let memory = memory.unwrap_or_default().shrunk_to(bytes.len());
        return Ok((bytes, memory));
    };
    let memory = match memory {
        Some(memory) => memory,
        None => ResponseMemory::reserve(most(&bytes)).await,
    };
    // The memory stays reserved until decompression ends, even if the fetch ends earlier.
    let inflating = tokio::task::spawn_blocking(move || (encoding.inflate(&bytes, bytes_max, cut), memory));
    let (inflated, memory) = inflating.await.map_err(|error| broken(error.to_string()))?;
    let inflated = inflated.map_err(|error| broken(error.to_string()))?;
    if inflated.cut && refuses {
        return Err(too_large());
    }
    let memory = memory.shrunk_to(inflated.bytes.len());
    Ok((inflated.bytes, memory))
}

/// Returns the messages of the error and of its causes, because hyper puts the informative part in the causes.
pub fn with_causes(error: &hyper::Error) -> String {
    let mut text = error.to_string();
    let mut below = std::error::Error::source(error);
    while let Some(cause) = below {
        text = format!("{text}: {cause}");
        below = cause.source();
    }
    text
}

pub async fn within<T>(host: &str, after: Duration, work: impl Future<Output = Result<T, FetchError>>) -> Result<T, FetchError> {
    memory::within(after, work).await.unwrap_or_else(|| Err(FetchError::TimedOut { host: host.to_owned(), after }))
}
