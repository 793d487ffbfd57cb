//! Downloads a large file in parts, so that the whole file is never in memory.

use std::pin::Pin;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::Fuse;
use http::header::{ACCEPT_ENCODING, HeaderValue, RANGE};
use http::{Method, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::connect::{Trust, Wire};
use super::exchange::{driven, words};
use super::{Fetch, FetchError, host};
use crate::vocab::limits;

#[derive(Clone, Copy, Debug)]
pub struct DownloadLimits {
    /// The maximum time for the whole download.
    pub total: std::time::Duration,
    pub bytes: u64,
}

/// A connection, which must be polled to make progress. After it has ended, polling it has no effect, and the rest of a body can be read.
type Connection = Fuse<Pin<Box<http1::Connection<TokioIo<Box<dyn Wire>>, Full<Bytes>>>>>;

/// A download in progress. Dropping it closes the connection.
pub struct Download {
    pub status: StatusCode,
    host: String,
    body: Incoming,
    connection: Connection,
    limits: DownloadLimits,
    deadline: Instant,
    read: u64,
    /// The number of bytes that must still be skipped at the start, because the server ignored the `Range` header.
    skipped: u64,
}

impl Fetch {
    /// Starts to download the file at a public address or in an allowed network, from the byte `from`. Follows no redirects.
    pub async fn download(&self, url: &Url, from: u64, limits: DownloadLimits) -> Result<Download, FetchError> {
        let deadline = Instant::now() + limits.total;
        let mut request = self.request(Method::GET, url, [], Bytes::new())?;
        request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if from > 0 {
            let range =
                HeaderValue::from_str(&format!("bytes={from}-")).map_err(|error| FetchError::Request(error.to_string()))?;
            request.headers_mut().insert(RANGE, range);
        }
        let host = host(url);
        let protocol = |error: hyper::Error| FetchError::Protocol { host: host.clone(), cause: words(&error) };
        let opening = async {
            let wire = self.connector.connect(url, Trust::Receiver).await?;
            let mut builder = http1::Builder::new();
            builder.max_headers(limits::FETCH_HEADERS_MAX).max_buf_size(limits::FETCH_HEAD_BYTES_MAX);
            let (mut sender, connection) = builder.handshake(TokioIo::new(wire)).await.map_err(protocol)?;
            let mut connection = Box::pin(connection).fuse();
            let response = driven(&mut connection, sender.send_request(request)).await.map_err(protocol)?;
            Ok((response, connection))
        };
        let late = |_| FetchError::TimedOut { host: host.clone(), after: limits.total };
        let (response, connection) = timeout_at(deadline, opening).await.map_err(late)??;
        let (head, body) = response.into_parts();
        let skipped = if head.status == StatusCode::PARTIAL_CONTENT { 0 } else { from };
        Ok(Download { status: head.status, host, body, connection, limits, deadline, read: 0, skipped })
    }
}

impl Download {
    /// Returns the next part of the file, or `None` at its end. A connection that ends before the end of the file is an error.
    pub async fn next(&mut self) -> Result<Option<Bytes>, FetchError> {
        loop {
            let late = FetchError::TimedOut { host: self.host.clone(), after: self.limits.total };
            let next = driven(&mut self.connection, self.body.frame());
            let Some(frame) = timeout_at(self.deadline, next).await.map_err(|_| late)? else { return Ok(None) };
            let frame = frame.map_err(|error| FetchError::Protocol { host: self.host.clone(), cause: words(&error) })?;
            let Ok(mut data) = frame.into_data() else { continue };
            self.read += data.len() as u64;
            if self.read > self.limits.bytes {
                let bytes_max = usize::try_from(self.limits.bytes).unwrap_or(usize::MAX);
                return Err(FetchError::TooLarge { host: self.host.clone(), bytes_max });
            }
            let skipped = self.skipped.min(data.len() as u64);
            self.skipped -= skipped;
            let rest = data.split_off(skipped as usize);
            if !rest.is_empty() {
                return Ok(Some(rest));
            }
        }
    }
}
