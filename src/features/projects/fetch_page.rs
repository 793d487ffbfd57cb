//! Reads the single page that a link in a prompt refers to, outside of an import.

use url::Url;

use super::importing::model::{FetchOutcome, File, FileRole};
use super::importing::tasks;
use super::reading::Text;
use crate::engine::api::Engine;
use crate::engine::fetch::{Limits, OversizePolicy};
use crate::vocab::limits::{SITE_IMPORT_FETCH_TIME, SITE_IMPORT_PAGE_BYTES_MAX};

/// Returns the text of the page at this URL; `None` if the page cannot be fetched, is not an HTML page, or contains hardly any text.
pub async fn fetch_page(engine: &Engine, url: &Url) -> Option<Text> {
    let limits = Limits {
        head: SITE_IMPORT_FETCH_TIME,
        total: SITE_IMPORT_FETCH_TIME,
        body_bytes: SITE_IMPORT_PAGE_BYTES_MAX,
        overlong: OversizePolicy::Cut,
    };
    let mut fetched = engine.fetch.get(url, "text/html,application/xhtml+xml", &limits).await.ok()?;
    let _memory = std::mem::take(&mut fetched.memory);
    let header = |name: &str| fetched.header(name).unwrap_or_default().to_owned();
    let (content_type, language) = (header("content-type"), header("content-language"));
    if !fetched.status.is_success() || !content_type.contains("html") {
        return None;
    }
    let found_at = fetched.url.to_string();
    let outcome = FetchOutcome::Fetched { content_type, language, bytes: fetched.body };
    let _turn = tasks::turn().await;
    tasks::text(&engine.pixels, File { url: found_at.clone(), found_at, kind: FileRole::Given, outcome }).await
}
