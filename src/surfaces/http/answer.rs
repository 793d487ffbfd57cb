//! The security headers of every response, and the HTTP surface's own responses to requests that do not reach the pipeline or that the
//! pipeline does not answer in time.
//!
//! This module does not depend on the responses of operations. The engine defines the format of error bodies.

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, REFERRER_POLICY, RETRY_AFTER,
    STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
};
use http::{Response, StatusCode};

use super::body::ResponseBody;
use crate::base::clock::Clock;
use crate::base::random::Random;
use crate::engine::api::response::{self, RequestId};
use crate::engine::api::{Envelope, Failure};
use crate::vocab::codes::Code;

const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const NOTHING_ALLOWED: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
/// HSTS for one year, as security scanners expect. `includeSubDomains` is omitted, because subdomains may serve other services without
/// TLS.
const ONLY_TLS: HeaderValue = HeaderValue::from_static("max-age=31536000");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The maximum number of headers that [`harden`] adds. Builders of replies reserve space for them.
pub const HARDENING_HEADERS: usize = 5;

/// Adds the security headers. If the reply has its own `Referrer-Policy`, `Cache-Control` or `Content-Security-Policy`, that value is
/// kept.
pub fn harden(headers: &mut HeaderMap, tls: bool) {
    headers.reserve(HARDENING_HEADERS);
    headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    headers.entry(REFERRER_POLICY).or_insert(NO_REFERRER);
    headers.entry(CACHE_CONTROL).or_insert(NO_STORE);
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(NOTHING_ALLOWED);
    if tls {
        headers.insert(STRICT_TRANSPORT_SECURITY, ONLY_TLS);
    }
}

/// The errors that the HTTP surface itself responds with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    Malformed,
    SlowHeaders,
    UriTooLong,
    EncodedBody,
    HeadersTooLarge,
    Panicked,
    TooSlow,
    Full,
}

impl Refusal {
    /// Returns the failure for the response, with a specific message if the default message of its code is too general.
    fn failure(self) -> Failure {
        match self {
            Self::Malformed => Failure::because(
                Code::InvalidRequest,
                "The request is not valid HTTP; check its request line and headers, or use a standard HTTP client.",
            ),
            Self::SlowHeaders => {
                Failure::because(Code::RequestTimeout, "The request headers arrived too slowly; send the request again.")
            }
            Self::UriTooLong => Code::UriTooLong.into(),
            Self::EncodedBody => {
                Failure::because(Code::UnsupportedMediaType, "The body has a Content-Encoding; send it unencoded.")
            }
            Self::HeadersTooLarge => Code::HeadersTooLarge.into(),
            Self::Panicked => Code::Internal.into(),
            Self::TooSlow => Failure::because(
                Code::Unavailable,
                "The request took too long to process. It may still take effect, so check its result before you try again.",
            ),
            Self::Full => Failure::because(Code::Unavailable, "Too many connections are open; try again shortly."),
        }
    }

    pub fn status(self) -> StatusCode {
        StatusCode::from_u16(self.failure().code.info().status).expect("the table of codes contains valid HTTP statuses")
    }
}

pub struct Answers {
    clock: std::sync::Arc<dyn Clock>,
    random: std::sync::Arc<dyn Random>,
}

impl Answers {
    /// Creates a builder of responses, with dates from `clock` and request IDs from `random`.
    pub fn new(clock: std::sync::Arc<dyn Clock>, random: std::sync::Arc<dyn Random>) -> Self {
        Self { clock, random }
    }

    pub fn response(&self, refusal: Refusal) -> Response<ResponseBody> {
        let (headers, body) = self.build(refusal);
        let mut response = Response::new(ResponseBody::whole(body));
        *response.status_mut() = refusal.status();
        *response.headers_mut() = headers;
        response
    }

    /// Returns the error response as the bytes of an HTTP/1.1 message that closes the connection, for use outside hyper.
    pub fn message(&self, refusal: Refusal) -> Bytes {
        let (mut headers, body) = self.build(refusal);
        harden(&mut headers, false);
        let mut message =
            format!("HTTP/1.1 {}\r\nconnection: close\r\ncontent-length: {}\r\n", refusal.status(), body.len()).into_bytes();
        for (name, value) in &headers {
            message.extend_from_slice(name.as_str().as_bytes());
            message.extend_from_slice(b": ");
            message.extend_from_slice(value.as_bytes());
            message.extend_from_slice(b"\r\n");
        }
        message.extend_from_slice(b"\r\n");
        message.extend_from_slice(&body);
        Bytes::from(message)
    }

    fn build(&self, refusal: Refusal) -> (HeaderMap, Bytes) {
        let [boot, high, low] = [(); 3].map(|()| u32::from_be_bytes(self.random.bytes()));
        let request = RequestId { boot, number: u64::from(high) << 32 | u64::from(low) };
        let envelope = Envelope { timestamp: self.clock.now(), request, keeps_nulls: false };
        let encoded = response::failure(&refusal.failure(), &envelope);
        let mut headers = HeaderMap::with_capacity(3 + HARDENING_HEADERS);
        headers.insert(CONTENT_TYPE, JSON);
        if encoded.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        headers.insert(REQUEST_ID, HeaderValue::from_bytes(&request.text()).expect("a request ID is ASCII"));
        (headers, encoded.body.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_reply_are_kept() {
        let mut headers = HeaderMap::new();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("max-age=60"));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
        harden(&mut headers, false);
        assert_eq!(headers[CACHE_CONTROL], "max-age=60");
        assert_eq!(headers[CONTENT_SECURITY_POLICY], "sandbox");
        assert_eq!(headers[X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert!(!headers.contains_key(STRICT_TRANSPORT_SECURITY));
    }

    #[test]
    fn the_reserved_number_of_headers_is_exact() {
        let mut headers = HeaderMap::new();
        harden(&mut headers, true);
        assert_eq!(headers.len(), HARDENING_HEADERS);
    }
}
