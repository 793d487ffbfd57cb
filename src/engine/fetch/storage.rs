//! Lets the object store clients send their requests with this HTTP client, so that the program has only one HTTP client and one
//! cryptography provider.
//!
//! The operator chooses the object store, so its address may be private. The object store's client retries failed requests. A response body
//! is at most as large as the largest object.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{HOST, HeaderMap};
use http::{Method, Response as HttpResponseOf};
use http_body_util::{BodyExt, Full};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use url::Url;

use super::connect::Trust;
use super::exchange::{Exchange, within};
use super::{Fetch, FetchError, Limits, OversizePolicy, Response, host};
use crate::vocab::limits;

/// Connects the object store clients to the service's own HTTP client.
#[derive(Clone)]
pub struct StorageConnector(Arc<Fetch>);

impl StorageConnector {
    pub fn new(fetch: Arc<Fetch>) -> Self {
        Self(fetch)
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (head, body) = request.into_parts();
        let broken = |error: FetchError| HttpError::new_boxed(kind(&error), error.to_string().into());
        let url: Url = head.uri.to_string().parse().map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        let body = body.collect().await?.to_bytes();
        let limits = Limits {
            head: limits::BACKUP_REQUEST_TIME,
            total: limits::BACKUP_REQUEST_TIME,
            body_bytes: limits::BACKUP_OBJECT_BYTES_MAX,
            overlong: OversizePolicy::Refuse,
        };
        let Response { status, headers, body, .. } =
            self.0.operate(head.method, &url, head.headers, body, &limits).await.map_err(broken)?;
        let mut response = HttpResponseOf::new(HttpResponseBody::new(Full::new(body.into()).map_err(|never| match never {})));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response)
    }
}

impl Fetch {
    /// Sends a request to a server that the operator has configured, at any address, and returns the response with any status.
    async fn operate(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Bytes,
        limits: &Limits,
    ) -> Result<Response, FetchError> {
        let named = headers.iter().filter(|(name, _)| **name != HOST).map(|(name, value)| (name.clone(), value.clone()));
        let request = self.request(method, url, named, body)?;
        let work = async {
            let wire = self.connector.connect(url, Trust::Operator).await?;
            Exchange { url, request, limits, follows: false }.run(wire).await
        };
        within(&host(url), limits.total, work).await
    }
}

impl fmt::Debug for StorageConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StorageConnector")
    }
}

impl HttpConnector for StorageConnector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

impl HttpService for StorageConnector {
    // The trait uses the `async_trait` macro, which turns the method's signature into this one.
    fn call<'s, 'f>(&'s self, request: HttpRequest) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(self.send(request))
    }
}

/// Returns the kind of an error. The object store's client uses the kind to decide whether to retry the request.
fn kind(error: &FetchError) -> HttpErrorKind {
    match error {
        FetchError::Unresolved { .. }
        | FetchError::Unreachable { .. }
        | FetchError::ConnectionRefused { .. }
        | FetchError::NoDescriptors => HttpErrorKind::Connect,
        FetchError::TimedOut { .. } => HttpErrorKind::Timeout,
        FetchError::Closed { .. } | FetchError::Protocol { .. } => HttpErrorKind::Interrupted,
        _ => HttpErrorKind::Unknown,
    }
}
