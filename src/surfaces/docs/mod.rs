//! The documentation at `/docs`: the pages in `assets/docs`, and the API reference generated from the table of operations.
//!
//! All pages are public and the same for all readers, so the service renders them once, after it has started, and browsers cache them. Each
//! page is also available as Markdown at `/docs/NAME.md`. `/llms.txt` lists the pages for language models. The pages and the search work
//! without scripts.

mod chapters;
mod markdown;
mod reference;
mod remedies;
mod samples;
mod search;
mod shape;
mod site;
#[cfg(test)]
mod tests;

use std::pin::Pin;
use std::sync::Arc;

use http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, VARY,
};
use http::{Method, StatusCode, Uri};

use self::site::{Document, Site};
use crate::engine::api::call::Api;
use crate::engine::api::http_types::{Incoming, Peer, Reply, ReplyBody, Service};
use crate::surfaces::dashboard::{files, headers};

/// The page that is sent if rendering the documentation panics, which is a bug.
const RENDER_FAILED: &str = "<!doctype html><title>Something went wrong</title><h1>Something went wrong</h1>\
                             <p>Mailmill couldn't show the documentation. The log contains the error.</p>";

/// A service that answers requests for the documentation and passes all other requests to `inner`.
pub struct WithDocs<S> {
    inner: S,
    api: Api,
    site: Arc<site::Cache>,
}

impl<S> WithDocs<S> {
    pub fn new(api: Api, inner: S) -> Self {
        Self { inner, api, site: Arc::default() }
    }

    /// Returns a future that renders the documentation, so that the first reader does not wait. The service's URL must be known when the
    /// future runs. A request that arrives during the rendering waits for its result.
    pub fn render_ahead(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let rendering = rendered(self.site.clone(), self.api.clone());
        Box::pin(async move { drop(rendering.await) })
    }

    async fn reply(&self, uri: &Uri, headers: &HeaderMap) -> Reply {
        let Some(site) = rendered(self.site.clone(), self.api.clone()).await else {
            return page(StatusCode::INTERNAL_SERVER_ERROR, RENDER_FAILED.to_owned());
        };
        if uri.path() == "/docs/search" {
            let pairs: Vec<(String, String)> = serde_urlencoded::from_str(uri.query().unwrap_or_default()).unwrap_or_default();
            let query = pairs.iter().find(|(name, _)| name == "q").map_or("", |(_, value)| value.trim());
            return page(StatusCode::OK, site.search_page(query));
        }
        match site.document(uri.path()) {
            Some(document) => sent(document, headers),
            None => page(StatusCode::NOT_FOUND, site.missing_page()),
        }
    }
}

impl<S: Service> Service for WithDocs<S> {
    async fn call(&self, request: Incoming) -> Reply {
        match is_for_docs(&request) {
            true => self.reply(&request.uri, &request.headers).await,
            false => self.inner.call(request).await,
        }
    }
}

/// Returns the rendered documentation, or `None` if rendering panicked. Rendering runs on a thread for blocking work.
async fn rendered(cache: Arc<site::Cache>, api: Api) -> Option<Arc<Site>> {
    tokio::task::spawn_blocking(move || cache.get(api.operations(), api.0.base_url(), api.0.clock.now())).await.ok()
}

fn is_for_docs(request: &Incoming) -> bool {
    let path = request.uri.path();
    let is_ours = path == "/llms.txt" || path == "/docs" || path.starts_with("/docs/");
    is_ours && request.peer != Peer::Operator && matches!(request.method, Method::GET | Method::HEAD)
}

/// Returns an HTML page without caching headers.
fn page(status: StatusCode, html: String) -> Reply {
    let mut headers = headers::headers();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(html.len()));
    Reply { status, headers, body: ReplyBody::Whole(html.into()) }
}

/// Returns the document, or 304 if the browser's cached copy is current (RFC 9110 §13.1.2).
fn sent(document: &Document, request: &HeaderMap) -> Reply {
    let mut headers = headers::headers();
    // Browsers revalidate the page on each request, so users see new pages immediately after an upgrade.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, no-cache"));
    headers.insert(ETAG, document.etag.clone());
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    let known = request.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok()).flat_map(|list| list.split(','));
    let is_known = known.map(|tag| tag.trim().trim_start_matches("W/")).any(|tag| tag == "*" || *tag == document.etag);
    if is_known {
        return Reply { status: StatusCode::NOT_MODIFIED, headers, body: ReplyBody::Whole(Default::default()) };
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(document.content_type));
    let body = match files::takes_gzip(request) {
        true => {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            document.packed.clone()
        }
        false => document.body(),
    };
    headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(body) }
}
