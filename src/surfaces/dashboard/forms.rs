//! What forms send, and that it was one of our own forms.
//!
//! Two locks, each enough by itself: the browser's word on where a request comes from, and a token that only our pages know.

use hmac::{Hmac, KeyInit, Mac};
use http::header::{CONTENT_TYPE, HOST, HeaderMap, ORIGIN};
use http::{StatusCode, Uri};
use sha2::Sha256;

use super::cookies::Jar;
use super::visit::Trouble;
use crate::base::hex;
use crate::base::secret::same;
use crate::engine::api::Engine;
use crate::engine::api::wire::{Body, BodyError};

/// Names and values, in order; a name may come several times.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Read them. What cannot be read has none.
    pub fn read(text: &[u8]) -> Self {
        Self(serde_urlencoded::from_bytes(text).unwrap_or_default())
    }

    /// Read them from a body.
    pub async fn collect(headers: &HeaderMap, body: Body, bytes_max: usize) -> Result<Self, Trouble> {
        let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !content_type.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded") {
            return Err(Trouble::plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "This page takes its own form only."));
        }
        let body = body.collect(bytes_max).await.map_err(|error| match error {
            BodyError::TooLarge => Trouble::plain(StatusCode::PAYLOAD_TOO_LARGE, "This is more than the form takes."),
            BodyError::TooSlow => Trouble::plain(StatusCode::REQUEST_TIMEOUT, "The form arrived too slowly; send it again."),
            BodyError::Broken => Trouble::plain(StatusCode::BAD_REQUEST, "The form did not arrive whole; send it again."),
        })?;
        Ok(Self::read(&body))
    }

    /// The first value under this name, without space around it; empty if there is none.
    pub fn get(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// The same exactly as it came: for passwords.
    pub fn raw(&self, name: &str) -> &str {
        self.0.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value)
    }

    /// The value, if there is one that is not empty.
    pub fn some(&self, name: &str) -> Option<&str> {
        Some(self.get(name)).filter(|value| !value.is_empty())
    }

    /// Every value under this name.
    pub fn all(&self, name: &str) -> Vec<&str> {
        self.0.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str()).collect()
    }
}

/// What the forms of this browser bear: nobody else can know it, and it changes with every sign-in.
pub fn token(engine: &Engine, jar: &Jar, is_signed_in: bool) -> String {
    let key = engine.seal.derive("mailmill dashboard forms v1");
    // A session's token that opens nothing may have been put there by somebody else, who would know its forms too.
    let (kind, tied_to) = match (jar.session().filter(|_| is_signed_in), jar.guest()) {
        (Some(session), _) => ("session", session),
        (None, Some(guest)) => ("guest", guest),
        (None, None) => return String::new(),
    };
    let mut sum = Hmac::<Sha256>::new_from_slice(&key).expect("HMAC takes keys of any length");
    sum.update(format!("{kind}\0{tied_to}").as_bytes());
    hex::encode(&sum.finalize().into_bytes())
}

/// Whether a form bears what this browser's forms bear.
pub fn is_right(token: &str, given: &str) -> bool {
    !token.is_empty() && same(token.as_bytes(), given.as_bytes())
}

/// Whether the browser says that a request comes from a page of ours. Every browser of the last years says it in one of these ways;
/// who says nothing is not believed.
pub fn is_own(engine: &Engine, uri: &Uri, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text("sec-fetch-site") {
        return site == "same-origin";
    }
    let Some(origin) = text(ORIGIN.as_str()) else { return false };
    let host = text(HOST.as_str()).or_else(|| uri.authority().map(|authority| authority.as_str()));
    let origin_host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    origin == engine.base_url() || (origin_host.is_some() && origin_host == host)
}

/// A path of our own pages; anything else would let a link of ours lead to somebody else's page.
pub fn own_path(given: &str, bytes_max: usize) -> Option<&str> {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    let is_own = given.starts_with('/') && !given.starts_with("//") && given.len() <= bytes_max && given.bytes().all(is_plain);
    is_own.then_some(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_our_own_are_gone_to() {
        for right in ["/", "/test/settings/keys", "/agent?code=BCDF-GHJK"] {
            assert_eq!(own_path(right, 500), Some(right));
        }
        for wrong in [
            "",
            "//evil.example",
            "https://evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "javascript:alert(1)",
            "/\tevil",
            "/a\r\nSet-Cookie: x",
            "evil.example",
            " /x",
            "///evil.example",
            "/é",
        ] {
            assert_eq!(own_path(wrong, 500), None, "{wrong}");
        }
        assert_eq!(own_path(&format!("/{}", "x".repeat(500)), 500), None);
    }

    #[test]
    fn no_token_is_never_right() {
        assert!(!is_right("", "") && !is_right("a", "") && !is_right("a", "b") && is_right("a", "a"));
    }
}
