//! The website of a made-up shop, for demo users who have no website. This process serves the shop if the operator enables it.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, StatusCode};

use crate::engine::api::http_types::{Incoming, Reply, ReplyBody};

/// The path of the shop on this service.
pub const PATH: &str = "/demo-shop/";

macro_rules! files {
    ($($name:literal => $content_type:literal),* $(,)?) => {
        &[$(($name, $content_type, include_bytes!(concat!("../../../assets/demo/shop/", $name)))),*]
    };
}

/// TABLE: the shop's files with their paths, content types and contents.
const FILES: &[(&str, &str, &[u8])] = files![
    "index.html" => "text/html; charset=utf-8",
    "about.html" => "text/html; charset=utf-8",
    "products/morning-harvest.html" => "text/html; charset=utf-8",
    "products/smoked-pine.html" => "text/html; charset=utf-8",
    "products/jasmine-pearls.html" => "text/html; charset=utf-8",
    "products/clay-teapot.html" => "text/html; charset=utf-8",
    "products/glass-cups.html" => "text/html; charset=utf-8",
    "products/gift-box.html" => "text/html; charset=utf-8",
    "style.css" => "text/css; charset=utf-8",
    "logo.svg" => "image/svg+xml",
    "icon.svg" => "image/svg+xml",
    "images/table.jpg" => "image/jpeg",
    "images/morning-harvest.jpg" => "image/jpeg",
    "images/smoked-pine.jpg" => "image/jpeg",
    "images/jasmine-pearls.jpg" => "image/jpeg",
    "images/clay-teapot.jpg" => "image/jpeg",
    "images/glass-cups.jpg" => "image/jpeg",
    "images/gift-box.jpg" => "image/jpeg",
];

/// Returns a file of the shop as a response; `None` if the request is not a GET or HEAD request for one of the shop's paths.
pub fn reply(request: &Incoming) -> Option<Reply> {
    let path = request.uri.path().strip_prefix(PATH)?;
    if !matches!(request.method, Method::GET | Method::HEAD) {
        return None;
    }
    let path = if path.is_empty() { "index" } else { path };
    let is_it = |name: &str| name == path || name.strip_suffix(".html") == Some(path);
    let (_, content_type, bytes) = FILES.iter().find(|(name, ..)| is_it(name))?;
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    let policy =
        "default-src 'none'; img-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    Some(Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(Bytes::from_static(bytes)) })
}
