//! Checks whether a URL works, with a HEAD request or with a GET request for the first byte. The content is not read.
//!
//! Invariant: each redirect is followed over a new connection, and the addresses of its host are checked like those of the first host.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RANGE, RETRY_AFTER, SET_COOKIE};
use http::{Method, StatusCode};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use url::Url;
use x509_parser::parse_x509_certificate;

use super::connect::Trust;
use super::deliver::MeteredConnection;
use super::exchange::{driven, with_causes};
use super::{Fetch, FetchError, host, next};
use crate::base::clock::Timestamp;
use crate::vocab::limits;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeMethod {
    /// HEAD, which should change nothing on the server.
    Head,
    /// GET for the first byte. The body is not read.
    FirstByte,
}

/// A URL that redirected the probe, with the status of its response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    pub url: Url,
    pub status: StatusCode,
}

/// The requests that a probe has sent so far.
#[derive(Clone, Debug)]
pub struct Trail {
    /// The URL of the last request.
    pub url: Url,
    /// The redirects that led to this URL.
    pub hops: Vec<Hop>,
    /// When the certificate of the first host that was reached with HTTPS expires.
    pub certificate_expires: Option<Timestamp>,
    /// Whether a redirect sets a cookie. Without their cookies, some sites redirect forever.
    pub sets_cookies: bool,
}

#[derive(Clone, Debug)]
pub struct ProbeResponse {
    pub status: StatusCode,
    pub content_type: Option<String>,
    /// The size of the whole content, if the server states it.
    pub content_bytes: Option<u64>,
    /// The target of a redirect that was not followed.
    pub redirects_to: Option<Url>,
    pub retry_after: Option<String>,
    /// Whether the response has a header of a service that protects sites against bots.
    pub is_bot_wall: bool,
}

#[derive(Clone, Debug)]
pub struct Probe {
    pub trail: Trail,
    pub outcome: Result<ProbeResponse, FetchError>,
}

#[derive(Clone, Copy)]
pub struct ProbeOptions {
    pub method: ProbeMethod,
    pub follows: bool,
    /// Returns whether a URL may be requested with GET. Any other URL gets a HEAD request instead, even if the URL is the target of
    /// a redirect.
    pub may_get: fn(&Url) -> bool,
    /// The time limit for all requests together.
    pub total: Duration,
}

/// The headers of services that protect sites against bots.
const BOT_WALLS: [HeaderName; 4] = [
    HeaderName::from_static("cf-mitigated"),
    HeaderName::from_static("x-datadome"),
    HeaderName::from_static("x-px-block"),
    HeaderName::from_static("x-sucuri-block"),
];

impl Fetch {
    /// Requests `url`, follows redirects if `options.follows` is true, and returns the final status without the content.
    pub async fn probe(&self, url: &Url, options: ProbeOptions) -> Probe {
        let mut url = url.clone();
        url.set_fragment(None);
        let mut trail = Trail { url, hops: Vec::new(), certificate_expires: None, sets_cookies: false };
        let outcome = match timeout(options.total, self.follow(&mut trail, options)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(FetchError::TimedOut { host: host(&trail.url), after: rounded(options.total) }),
        };
        Probe { trail, outcome }
    }

    async fn follow(&self, trail: &mut Trail, options: ProbeOptions) -> Result<ProbeResponse, FetchError> {
        loop {
            let (status, headers) = self.head(trail, options).await?;
            let target = match next(&trail.url, status, &headers)? {
                Some(target) if options.follows => target,
                redirects_to => return Ok(ProbeResponse { redirects_to, ..response(status, &headers) }),
            };
            trail.sets_cookies |= headers.contains_key(SET_COOKIE);
            trail.hops.push(Hop { url: trail.url.clone(), status });
            let is_loop = trail.hops.iter().any(|hop| hop.url == target);
            if is_loop || trail.hops.len() > limits::LINK_REDIRECTS_MAX {
                return Err(FetchError::TooManyRedirects { host: host(&target), redirects_max: limits::LINK_REDIRECTS_MAX });
            }
            trail.url = target;
        }
    }

    /// Sends one request and returns the head of the response.
    async fn head(&self, trail: &mut Trail, options: ProbeOptions) -> Result<(StatusCode, HeaderMap), FetchError> {
        let url = trail.url.clone();
        let connected = self.connector.connect_with_certificate(&url, Trust::Untrusted).await?;
        trail.certificate_expires = trail.certificate_expires.or_else(|| expiry(connected.certificate.as_deref()?));
        let accept = (ACCEPT, HeaderValue::from_static("text/html,image/*,*/*;q=0.8"));
        let request = match options.method {
            ProbeMethod::FirstByte if (options.may_get)(&url) => {
                let range = (RANGE, HeaderValue::from_static("bytes=0-0"));
                self.request(Method::GET, &url, [accept, range], Bytes::new())?
            }
            ProbeMethod::FirstByte | ProbeMethod::Head => self.request(Method::HEAD, &url, [accept], Bytes::new())?,
        };
        let host = host(&url);
        let failed = |error: hyper::Error| match error.is_parse() || error.is_parse_too_large() {
            true => FetchError::Protocol { host: host.clone(), cause: with_causes(&error) },
            false => FetchError::Closed { host: host.clone(), cause: with_causes(&error) },
        };
        // Interim responses also count toward the limit, so that a server cannot send them forever.
        let wire = MeteredConnection { wire: connected.wire, left: 2 * limits::FETCH_HEAD_BYTES_MAX };
        let mut builder = http1::Builder::new();
        builder.max_headers(limits::FETCH_HEADERS_MAX).max_buf_size(limits::FETCH_HEAD_BYTES_MAX);
        let (mut sender, connection) = builder.handshake(TokioIo::new(wire)).await.map_err(failed)?;
        let exchange = async {
            let (head, _) = sender.send_request(request).await.map_err(failed)?.into_parts();
            Ok((head.status, head.headers))
        };
        driven(connection, exchange).await
    }
}

/// Rounds a time limit up to tenths of a second, for messages.
fn rounded(limit: Duration) -> Duration {
    Duration::from_millis(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).div_ceil(100).saturating_mul(100))
}

fn response(status: StatusCode, headers: &HeaderMap) -> ProbeResponse {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    // In the response to a GET request for one byte, `Content-Range` states the size of the whole content after the slash (RFC 9110 §14.4).
    let ranged = text(http::header::CONTENT_RANGE).and_then(|range| range.rsplit_once('/')?.1.parse().ok());
    let whole = || text(CONTENT_LENGTH).filter(|_| status == StatusCode::OK).and_then(|bytes| bytes.parse().ok());
    ProbeResponse {
        status,
        content_type: text(CONTENT_TYPE),
        content_bytes: ranged.or_else(whole),
        redirects_to: None,
        retry_after: text(RETRY_AFTER),
        is_bot_wall: BOT_WALLS.iter().any(|name| headers.contains_key(name)),
    }
}

/// Returns when a certificate, given in DER, expires.
fn expiry(certificate: &[u8]) -> Option<Timestamp> {
    let (_, certificate) = parse_x509_certificate(certificate).ok()?;
    Some(Timestamp(certificate.validity().not_after.timestamp().saturating_mul(1000)))
}
