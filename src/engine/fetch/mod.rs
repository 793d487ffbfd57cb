//! The HTTP client for other servers. Responses, redirects and waiting times have limits.
//!
//! The function for a request depends on who chose the URL. URLs from users, pages or redirects are fetched with [`Fetch::get`]. It
//! resolves the host and connects only to public addresses and to networks that the operator has allowed. URLs in the operator's settings
//! are called with [`Fetch::post_json`] and can point to any address. Requests to users' own servers use [`Fetch::deliver`], and requests
//! to platforms with a user's credentials use [`Fetch::call`]. Large files are read in parts with [`Fetch::download`] and
//! [`Fetch::download_newer`].
//!
//! The client adds no credentials and keeps no cookies.

mod address;
mod cache;
mod call;
mod connect;
mod deliver;
mod download;
mod exchange;
mod failure;
mod inflate;
mod link_probes;
mod memory;
mod paces;
mod platform_tokens;
mod probe;
mod storage;
#[cfg(test)]
mod tests;

pub use address::{Guard, is_public};
pub use cache::FetchCache;
pub use call::CallRequest;
#[cfg(test)]
pub use connect::ResolveFuture;
pub use connect::{Resolve, SystemResolver, client_config};
pub use deliver::{PostRequest, PostResponse};
pub use download::{Download, DownloadLimits};
pub use exchange::{driven, with_causes};
pub use failure::FetchError;
pub use link_probes::{LinkCheck, LinkProbes, LinkReport};
pub use memory::ResponseMemory;
pub use paces::Paces;
pub use platform_tokens::PlatformTokens;
pub use storage::StorageConnector;

use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, ETAG, HOST, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, LAST_MODIFIED, LOCATION, USER_AGENT,
};
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use rustls_pki_types::CertificateDer;
use serde::{Deserialize, Serialize};
use url::{Position, Url};

use connect::{Connector, Trust};
use exchange::{Exchange, is_redirect, within};
use inflate::Encoding;

use crate::vocab::limits;
use crate::vocab::settings::Settings;

/// The name of this program in robots.txt files.
pub const ROBOT_NAME: &str = "Mailmill";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum time from the request to the head of its response.
    pub head: Duration,
    /// The maximum time for the whole fetch: resolution, connections, redirects and the body.
    pub total: Duration,
    /// The maximum size of the body in bytes, both compressed and decompressed.
    pub body_bytes: usize,
    pub overlong: OversizePolicy,
}

/// What happens to a body that is longer than its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OversizePolicy {
    /// The fetch fails.
    Refuse,
    /// The body is truncated.
    Cut,
}

/// A response with any status.
#[derive(Debug)]
pub struct Response {
    /// The final URL, after redirects.
    pub url: Url,
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The body, decompressed if it was compressed.
    pub body: Vec<u8>,
    /// The memory that is reserved for the body.
    pub memory: ResponseMemory,
}

impl Response {
    /// Returns the value of a header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// The version of a resource that a caller already has, from the `ETag` and `Last-Modified` headers (RFC 9110, section 13.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownVersion {
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

impl KnownVersion {
    pub fn of(headers: &HeaderMap) -> Self {
        let header = |name: HeaderName| {
            let text = headers.get(name)?.to_str().ok()?;
            (text.len() <= limits::FETCH_VERSION_BYTES_MAX).then(|| text.to_owned())
        };
        Self { etag: header(ETAG), last_modified: header(LAST_MODIFIED) }
    }

    fn conditions(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> + use<> {
        let value = |text: &Option<String>| text.as_deref().and_then(|text| HeaderValue::from_str(text).ok());
        let etag = value(&self.etag).map(|etag| (IF_NONE_MATCH, etag));
        etag.into_iter().chain(value(&self.last_modified).map(|time| (IF_MODIFIED_SINCE, time)))
    }
}

pub struct Fetch {
    connector: Connector,
    user_agent: HeaderValue,
}

impl Fetch {
    pub fn new(settings: &Settings) -> Self {
        Self::with(settings, Box::new(SystemResolver), Vec::new())
    }

    /// Creates a client with a given resolver and additional root certificates.
    pub fn with(settings: &Settings, resolver: Box<dyn Resolve>, roots: Vec<CertificateDer<'static>>) -> Self {
        let guard = Guard::new(settings.outbound.allow_networks.clone());
        let connector = Connector::new(guard, resolver, roots);
        let version = env!("CARGO_PKG_VERSION");
        let name = match &settings.server.public_url {
            Some(url) => format!("{ROBOT_NAME}/{version} (+{url})"),
            None => format!("{ROBOT_NAME}/{version}"),
        };
        let user_agent = HeaderValue::from_str(&name).expect("the settings contain only URLs that fit in a header");
        Self { connector, user_agent }
    }

    /// Fetches `url` from a public address or an allowed network, and follows redirects.
    pub async fn get(&self, url: &Url, accept: &'static str, limits: &Limits) -> Result<Response, FetchError> {
        let first = host(url);
        let mut current = url.clone();
        current.set_fragment(None);
        // The error names the host that did not respond. After a redirect, this host can differ from the original host.
        let fetched = memory::within(limits.total, self.get_following(&mut current, accept, limits)).await;
        let fetched = fetched.unwrap_or_else(|| Err(FetchError::TimedOut { host: host(&current), after: limits.total }));
        match &fetched {
            Ok(fetched) => tracing::debug!(host = first, status = fetched.status.as_u16(), bytes = fetched.body.len(), "fetched"),
            Err(error) => tracing::debug!(host = first, %error, "the fetch failed"),
        }
        fetched
    }

    /// Fetches `url` and follows redirects. Replaces `url` with the target of each redirect, so that the caller can name the host that
    /// failed.
    async fn get_following(&self, url: &mut Url, accept: &'static str, limits: &Limits) -> Result<Response, FetchError> {
        for _ in 0..=limits::FETCH_REDIRECTS_MAX {
            let wire = self.connector.connect(url, Trust::Untrusted).await?;
            let request = self.request(Method::GET, url, [(ACCEPT, HeaderValue::from_static(accept))], Bytes::new())?;
            let fetched = Exchange { url, request, limits, follows: true }.run(wire).await?;
            match next(&fetched.url, fetched.status, &fetched.headers)? {
                Some(elsewhere) => *url = elsewhere,
                None => return Ok(fetched),
            }
        }
        Err(FetchError::TooManyRedirects { host: host(url), redirects_max: limits::FETCH_REDIRECTS_MAX })
    }

    /// Posts JSON to an endpoint that the operator has configured, at any address. Redirects are returned as responses.
    pub async fn post_json(
        &self,
        url: &Url,
        headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
        body: impl Into<Bytes>,
        limits: &Limits,
    ) -> Result<Response, FetchError> {
        let headers = headers.into_iter().chain([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        self.post(url, headers, body.into(), limits).await
    }

    /// Posts a form to an endpoint that the operator has configured, at any address. Redirects are returned as responses.
    pub async fn post_form(&self, url: &Url, form: String, limits: &Limits) -> Result<Response, FetchError> {
        let content_type = HeaderValue::from_static("application/x-www-form-urlencoded");
        self.post(url, [(CONTENT_TYPE, content_type)], form.into(), limits).await
    }

    async fn post(
        &self,
        url: &Url,
        headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
        body: Bytes,
        limits: &Limits,
    ) -> Result<Response, FetchError> {
        let headers = headers.into_iter().chain([(ACCEPT, HeaderValue::from_static("application/json"))]);
        let request = self.request(Method::POST, url, headers, body)?;
        let work = async {
            let wire = self.connector.connect(url, Trust::Operator).await?;
            Exchange { url, request, limits, follows: false }.run(wire).await
        };
        within(&host(url), limits.total, work).await
    }

    fn request(
        &self,
        method: Method,
        url: &Url,
        headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
        body: Bytes,
    ) -> Result<Request<Full<Bytes>>, FetchError> {
        let mut builder = Request::builder().method(method).uri(&url[Position::BeforePath..Position::AfterQuery]);
        // Each request uses its own connection, so the server does not need to keep a connection open, and leftover bytes cannot be
        // mistaken for another response.
        builder = builder
            .header(HOST, &url[Position::BeforeHost..Position::AfterPort])
            .header(USER_AGENT, self.user_agent.clone())
            .header(ACCEPT_ENCODING, Encoding::ACCEPTED)
            .header(CONNECTION, "close");
        for (name, value) in headers {
            builder = builder.header(name, value);
        }
        builder.body(Full::new(body)).map_err(|error| FetchError::Request(error.to_string()))
    }
}

/// Decompresses a gzip file, up to `bytes_max` bytes. If the data is damaged, returns the part before the damage.
pub fn gunzip(bytes: &[u8], bytes_max: usize) -> Vec<u8> {
    Encoding::Gzip.inflate(bytes, bytes_max, true).map(|inflated| inflated.bytes).unwrap_or_default()
}

fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

/// Returns the URL that a redirect from `url` points to; `None` if the response is not a redirect.
fn next(url: &Url, status: StatusCode, headers: &HeaderMap) -> Result<Option<Url>, FetchError> {
    if !is_redirect(status, headers) {
        return Ok(None);
    }
    let strange = || FetchError::Redirect { host: host(url) };
    // Some servers send URLs with non-ASCII characters, which are read as UTF-8.
    let bytes = headers.get(LOCATION).map(HeaderValue::as_bytes).unwrap_or_default();
    let text = std::str::from_utf8(bytes).map_err(|_| strange())?;
    let mut url = url.join(text).map_err(|_| strange())?;
    url.set_fragment(None);
    Ok(Some(url))
}
