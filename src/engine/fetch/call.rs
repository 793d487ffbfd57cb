//! Calls the API of a platform with a user's credentials.

use bytes::Bytes;
use http::Method;
use http::header::HeaderMap;
use url::Url;

use super::connect::Trust;
use super::exchange::{Exchange, within};
use super::{Fetch, FetchError, Limits, Response, host};

pub struct CallRequest<'a> {
    pub method: Method,
    pub url: &'a Url,
    /// The headers of the request, in addition to the headers that every request has.
    pub headers: HeaderMap,
    pub body: Bytes,
    pub limits: &'a Limits,
}

impl Fetch {
    /// Sends a request with credentials to a public address or an allowed network, and returns the response with any status. Redirects are
    /// returned as responses, because another server must not receive the credentials.
    pub async fn call(&self, call: CallRequest<'_>) -> Result<Response, FetchError> {
        let CallRequest { method, url, headers, body, limits } = call;
        let named = headers.iter().map(|(name, value)| (name.clone(), value.clone()));
        let request = self.request(method, url, named, body)?;
        let work = async {
            let wire = self.connector.connect(url, Trust::Receiver).await?;
            Exchange { url, request, limits, follows: false }.run(wire).await
        };
        let host = host(url);
        let called = within(&host, limits.total, work).await;
        match &called {
            Ok(response) => tracing::debug!(host, status = response.status.as_u16(), "a platform was called"),
            Err(error) => tracing::debug!(host, %error, "the call of a platform failed"),
        }
        called
    }
}
