//! Reads a single page outside of an import, for a link in a prompt.

use std::sync::Arc;

use url::Url;

use super::reading::{self, Raw, Text};
use crate::engine::fetch::{Fetch, Limits, OversizePolicy};
use crate::vocab::limits::{SITE_IMPORT_FETCH_TIME, SITE_IMPORT_PAGE_BYTES_MAX};

/// Returns the text of the page at this URL; returns `None` if the page cannot be fetched, is not an HTML page, or contains hardly any
/// text.
pub async fn fetch_page(fetch: &Arc<Fetch>, url: &Url) -> Option<Text> {
    let limits = Limits {
        head: SITE_IMPORT_FETCH_TIME,
        total: SITE_IMPORT_FETCH_TIME,
        body_bytes: SITE_IMPORT_PAGE_BYTES_MAX,
        overlong: OversizePolicy::Cut,
    };
    let fetched = fetch.get(url, "text/html,application/xhtml+xml", &limits).await.ok()?;
    let content_type = fetched.header("content-type").unwrap_or_default().to_owned();
    if !fetched.status.is_success() || !content_type.contains("html") {
        return None;
    }
    let language = fetched.header("content-language").unwrap_or_default().to_owned();
    let read = move || {
        let raw = Raw { url: &fetched.url, given: true, content_type: &content_type, language: &language, bytes: &fetched.body };
        reading::text(&raw)
    };
    // Parse the page outside the async threads, because it may be large.
    tokio::task::spawn_blocking(read).await.ok()?
}
