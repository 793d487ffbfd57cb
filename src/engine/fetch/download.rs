//! Downloads a large file in parts, so that the whole file is not held in memory.

use std::pin::Pin;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::Fuse;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue, RANGE};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::connect::{Trust, Wire};
use super::exchange::{driven, with_causes};
use super::inflate::{Encoding, GzipStream};
use super::{Fetch, FetchError, KnownVersion, host, next};
use crate::vocab::limits;

#[derive(Clone, Copy, Debug)]
pub struct DownloadLimits {
    /// The maximum time from the request to the head of its response.
    pub head: std::time::Duration,
    /// The maximum time for the whole download.
    pub total: std::time::Duration,
    /// The maximum size of the file, both compressed and decompressed.
    pub bytes: u64,
}

/// A connection, which must be polled to make progress. After it has ended, polling has no effect, and the remaining body can still be
/// read.
type Connection = Fuse<Pin<Box<http1::Connection<TokioIo<Box<dyn Wire>>, Full<Bytes>>>>>;

/// A download in progress. Dropping it closes the connection.
pub struct Download {
    /// The final URL, after redirects.
    pub url: Url,
    pub status: StatusCode,
    pub headers: HeaderMap,
    host: String,
    body: Incoming,
    connection: Connection,
    limits: DownloadLimits,
    deadline: Instant,
    read: u64,
    /// The number of bytes at the start of the body that are still to be skipped, because the server ignored the `Range` header.
    skipped: u64,
    /// The decompressor, if the file is compressed.
    gzip: Option<GzipStream>,
    /// Bytes that have arrived but have not been decompressed.
    compressed: Bytes,
    decompressed: u64,
}

impl Fetch {
    /// Starts to download the file at `url`, beginning with the byte at offset `from`. The host must have a public address or be in an
    /// allowed network. Follows no redirects.
    pub async fn download(&self, url: &Url, from: u64, limits: DownloadLimits) -> Result<Download, FetchError> {
        let deadline = Instant::now() + limits.total;
        let mut request = self.request(Method::GET, url, [], Bytes::new())?;
        request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if from > 0 {
            let range =
                HeaderValue::from_str(&format!("bytes={from}-")).map_err(|error| FetchError::Request(error.to_string()))?;
            request.headers_mut().insert(RANGE, range);
        }
        let download = self.start(url, request, Trust::Receiver, (limits, deadline)).await?;
        let skipped = if download.status == StatusCode::PARTIAL_CONTENT { 0 } else { from };
        Ok(Download { skipped, ..download })
    }

    /// Starts to download the file at `url`, and follows redirects like [`Fetch::get`]. If `known` is still the current version, the server
    /// may respond with status 304 and no content.
    pub async fn download_newer(
        &self,
        url: &Url,
        accept: &'static str,
        known: &KnownVersion,
        limits: DownloadLimits,
    ) -> Result<Download, FetchError> {
        let first = host(url);
        let started = self.follow_to_file(url, accept, known, limits).await;
        match &started {
            Ok(download) => tracing::debug!(host = first, status = download.status.as_u16(), "a download started"),
            Err(error) => tracing::debug!(host = first, %error, "a download failed"),
        }
        started
    }

    async fn follow_to_file(
        &self,
        url: &Url,
        accept: &'static str,
        known: &KnownVersion,
        limits: DownloadLimits,
    ) -> Result<Download, FetchError> {
        let deadline = Instant::now() + limits.total;
        let mut current = url.clone();
        current.set_fragment(None);
        for _ in 0..=limits::FETCH_REDIRECTS_MAX {
            let headers = [(ACCEPT, HeaderValue::from_static(accept))].into_iter().chain(known.conditions());
            let mut request = self.request(Method::GET, &current, headers, Bytes::new())?;
            request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
            let download = self.start(&current, request, Trust::Untrusted, (limits, deadline)).await?;
            match next(&current, download.status, &download.headers)? {
                Some(elsewhere) => current = elsewhere,
                None => return download.decompressed(),
            }
        }
        Err(FetchError::TooManyRedirects { host: host(&current), redirects_max: limits::FETCH_REDIRECTS_MAX })
    }

    /// Sends a request and reads the head of its response.
    async fn start(
        &self,
        url: &Url,
        request: Request<Full<Bytes>>,
        trust: Trust,
        (limits, deadline): (DownloadLimits, Instant),
    ) -> Result<Download, FetchError> {
        let host = host(url);
        let protocol = |error: hyper::Error| FetchError::Protocol { host: host.clone(), cause: with_causes(&error) };
        let opening = async {
            let wire = self.connector.connect(url, trust).await?;
            let mut builder = http1::Builder::new();
            builder.max_headers(limits::FETCH_HEADERS_MAX).max_buf_size(limits::FETCH_HEAD_BYTES_MAX);
            let (mut sender, connection) = builder.handshake(TokioIo::new(wire)).await.map_err(protocol)?;
            let mut connection = Box::pin(connection).fuse();
            let response = driven(&mut connection, sender.send_request(request)).await.map_err(protocol)?;
            Ok((response, connection))
        };
        let late = |_| FetchError::TimedOut { host: host.clone(), after: limits.head };
        let head_deadline = deadline.min(Instant::now() + limits.head);
        let (response, connection) = timeout_at(head_deadline, opening).await.map_err(late)??;
        let (head, body) = response.into_parts();
        Ok(Download {
            url: url.clone(),
            status: head.status,
            headers: head.headers,
            host,
            body,
            connection,
            limits,
            deadline,
            read: 0,
            skipped: 0,
            gzip: None,
            compressed: Bytes::new(),
            decompressed: 0,
        })
    }
}

impl Download {
    /// Adds the decompressor that the response headers require, and returns the download.
    fn decompressed(mut self) -> Result<Self, FetchError> {
        let named: Vec<&str> = self.headers.get_all(CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok()).collect();
        self.gzip = match Encoding::of(&named.join(",")) {
            Ok(None) => None,
            Ok(Some(Encoding::Gzip)) => Some(GzipStream::new()),
            Ok(Some(_)) => return Err(self.broken("an encoding other than gzip was used".to_owned())),
            Err(cause) => return Err(self.broken(cause)),
        };
        Ok(self)
    }

    fn broken(&self, cause: String) -> FetchError {
        FetchError::Encoding { host: self.host.clone(), cause }
    }

    fn too_large(&self) -> FetchError {
        let bytes_max = usize::try_from(self.limits.bytes).unwrap_or(usize::MAX);
        FetchError::TooLarge { host: self.host.clone(), bytes_max }
    }

    /// Returns the next part of the file, or `None` at its end. A connection that ends before the end of the file is an error.
    pub async fn next(&mut self) -> Result<Option<Bytes>, FetchError> {
        loop {
            if let Some(part) = self.decompress()? {
                return Ok(Some(part));
            }
            let arrived = self.next_arrived().await?;
            match (arrived, self.gzip.take()) {
                (Some(data), None) => return Ok(Some(data)),
                (Some(data), gzip) => (self.compressed, self.gzip) = (data, gzip),
                (None, None) => return Ok(None),
                (None, Some(gzip)) => {
                    let last = gzip.end().map_err(|error| self.broken(error.to_string()))?;
                    return Ok(Some(Bytes::from(last)).filter(|last| !last.is_empty()));
                }
            }
        }
    }

    /// Decompresses received bytes until they yield a part of the file.
    fn decompress(&mut self) -> Result<Option<Bytes>, FetchError> {
        while let (Some(gzip), false) = (&mut self.gzip, self.compressed.is_empty()) {
            let step = self.compressed.split_to(self.compressed.len().min(GzipStream::STEP_BYTES));
            let part = gzip.step(&step).map_err(|error| self.broken(error.to_string()))?;
            self.decompressed += part.len() as u64;
            if self.decompressed > self.limits.bytes {
                return Err(self.too_large());
            }
            if !part.is_empty() {
                return Ok(Some(part.into()));
            }
        }
        Ok(None)
    }

    /// Returns the next bytes of the body, or `None` at its end.
    async fn next_arrived(&mut self) -> Result<Option<Bytes>, FetchError> {
        loop {
            let late = FetchError::TimedOut { host: self.host.clone(), after: self.limits.total };
            let next = driven(&mut self.connection, self.body.frame());
            let Some(frame) = timeout_at(self.deadline, next).await.map_err(|_| late)? else { return Ok(None) };
            let frame = frame.map_err(|error| FetchError::Protocol { host: self.host.clone(), cause: with_causes(&error) })?;
            let Ok(mut data) = frame.into_data() else { continue };
            self.read += data.len() as u64;
            if self.read > self.limits.bytes {
                return Err(self.too_large());
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
