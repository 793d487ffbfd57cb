//! The one way out: HTTP requests to other servers, with a limit on everything the other side can make large, long or many.
//!
//! Two kinds of addresses exist. Those that came from users, pages or redirects are fetched with [`Fetch::get`]: after resolution only
//! public addresses are connected to, and those of networks that the operator has opened. Those that the operator wrote into the
//! settings are called with [`Fetch::post_json`]: they may be anywhere. What is sent to users' own servers goes by [`Fetch::deliver`].
//!
//! It carries no credentials of its own, keeps no cookies, and does not know what the fetched bytes mean.

mod address;
mod cache;
mod connect;
mod deliver;
mod exchange;
mod failure;
mod inflate;
#[cfg(test)]
mod tests;

pub use address::{Guard, is_public};
pub use cache::FetchCache;
#[cfg(test)]
pub use connect::ResolveFuture;
pub use connect::{Resolve, SystemResolver, client_config};
pub use deliver::{PostRequest, PostResponse};
pub use failure::FetchError;

use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION, USER_AGENT,
};
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use rustls_pki_types::CertificateDer;
use url::{Position, Url};

use connect::{Connector, Trust};
use exchange::{Exchange, is_redirect, within};
use inflate::Encoding;

use crate::vocab::limits;
use crate::vocab::settings::Settings;

/// What robots.txt files call us.
pub const ROBOT_NAME: &str = "Mailmill";

/// How long, and how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time from the request to the head of its answer.
    pub head: Duration,
    /// Time for everything: names, connections, redirects, the body.
    pub total: Duration,
    /// Bytes of the body, as it comes and as it inflates to.
    pub body_bytes: usize,
    /// What to do with a longer body.
    pub overlong: OversizePolicy,
}

/// What becomes of a body that is longer than its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OversizePolicy {
    /// It is an error.
    Refuse,
    /// Its beginning is taken for the whole.
    Cut,
}

/// An answer, of any status.
#[derive(Clone, Debug)]
pub struct Response {
    /// Where it came from in the end.
    pub url: Url,
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Inflated, if it came compressed.
    pub body: Vec<u8>,
}

impl Response {
    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// The client.
pub struct Fetch {
    connector: Connector,
    user_agent: HeaderValue,
}

impl Fetch {
    /// A client by the settings.
    pub fn new(settings: &Settings) -> Self {
        Self::with(settings, Box::new(SystemResolver), Vec::new())
    }

    /// A client with its own names and certificate authorities.
    pub fn with(settings: &Settings, resolver: Box<dyn Resolve>, roots: Vec<CertificateDer<'static>>) -> Self {
        let guard = Guard::new(settings.outbound.allow_networks.clone());
        let connector = Connector::new(guard, resolver, roots);
        let version = env!("CARGO_PKG_VERSION");
        let name = match &settings.server.public_url {
            Some(url) => format!("{ROBOT_NAME}/{version} (+{url})"),
            None => format!("{ROBOT_NAME}/{version}"),
        };
        let user_agent = HeaderValue::from_str(&name).expect("the settings hold only addresses that a header can carry");
        Self { connector, user_agent }
    }

    /// Get `url` and follow redirects, wherever a stranger's address leads that anybody could reach.
    pub async fn get(&self, url: &Url, accept: &'static str, limits: &Limits) -> Result<Response, FetchError> {
        let work = async {
            let mut url = url.clone();
            url.set_fragment(None);
            for _ in 0..=limits::FETCH_REDIRECTS_MAX {
                let wire = self.connector.connect(&url, Trust::Stranger).await?;
                let headers = [(ACCEPT, HeaderValue::from_static(accept))];
                let request = self.request(Method::GET, &url, headers, Bytes::new())?;
                let fetched = Exchange { url: &url, request, limits, follows: true }.run(wire).await?;
                match next(&fetched)? {
                    Some(elsewhere) => url = elsewhere,
                    None => return Ok(fetched),
                }
            }
            Err(FetchError::TooManyRedirects { host: host(&url), redirects_max: limits::FETCH_REDIRECTS_MAX })
        };
        let host = host(url);
        let fetched = within(&host, limits.total, work).await;
        match &fetched {
            Ok(fetched) => tracing::debug!(host, status = fetched.status.as_u16(), bytes = fetched.body.len(), "fetched"),
            Err(error) => tracing::debug!(host, %error, "not fetched"),
        }
        fetched
    }

    /// Post JSON to an endpoint that the operator has configured, wherever it is. Redirects are answers like others.
    pub async fn post_json(
        &self,
        url: &Url,
        headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
        body: impl Into<Bytes>,
        limits: &Limits,
    ) -> Result<Response, FetchError> {
        let headers = headers.into_iter().chain([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ACCEPT, HeaderValue::from_static("application/json")),
        ]);
        let request = self.request(Method::POST, url, headers, body.into())?;
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
        // One connection per request: nobody is kept waiting for us, and nothing is left over to be confused with another answer.
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

/// What a file that is itself compressed by gzip inflates to, at most so much of it.
pub fn gunzip(bytes: &[u8], bytes_max: usize) -> Vec<u8> {
    Encoding::Gzip.inflate(bytes, bytes_max, true).map(|inflated| inflated.bytes).unwrap_or_default()
}

fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

/// Where a redirect leads.
fn next(fetched: &Response) -> Result<Option<Url>, FetchError> {
    if !is_redirect(fetched.status, &fetched.headers) {
        return Ok(None);
    }
    let strange = || FetchError::Redirect { host: host(&fetched.url) };
    // Some servers write addresses with other letters than ASCII: those are UTF-8.
    let bytes = fetched.headers.get(LOCATION).map(HeaderValue::as_bytes).unwrap_or_default();
    let text = std::str::from_utf8(bytes).map_err(|_| strange())?;
    let mut url = fetched.url.join(text).map_err(|_| strange())?;
    url.set_fragment(None);
    Ok(Some(url))
}
