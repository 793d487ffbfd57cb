//! The dashboard's style sheet and its one script, under addresses that change with their content.

use std::sync::LazyLock;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, StatusCode};

use crate::base::hex;
use crate::base::secret::sha256;
use crate::engine::api::wire::{Incoming, Reply, ReplyBody};

/// A file that pages load.
pub struct Asset {
    /// Where it is.
    pub path: String,
    content_type: &'static str,
    content: &'static str,
}

/// The style sheet.
pub static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("css", "text/css; charset=utf-8", include_str!("../../../assets/dashboard/dashboard.css")));
/// The script: every page works without it.
pub static SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("js", "text/javascript; charset=utf-8", include_str!("../../../assets/dashboard/dashboard.js")));

impl Asset {
    fn new(ending: &str, content_type: &'static str, content: &'static str) -> Self {
        let sum = hex::encode(&sha256(content.as_bytes())[..8]);
        Self { path: format!("/assets/dashboard-{sum}.{ending}"), content_type, content }
    }
}

/// The file that a request asks for, if it is one.
pub fn reply(request: &Incoming) -> Option<Reply> {
    let path = request.uri.path();
    if !path.starts_with("/assets/") || !matches!(request.method, Method::GET | Method::HEAD) {
        return None;
    }
    let asset = [&STYLE, &SCRIPT].into_iter().find(|asset| asset.path == path)?;
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(asset.content.len()));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    Some(Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(Bytes::from_static(asset.content.as_bytes())) })
}
