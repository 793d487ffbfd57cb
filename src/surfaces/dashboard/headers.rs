//! The security headers of dashboard and documentation pages.

use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderMap, HeaderName, HeaderValue, REFERRER_POLICY};

pub fn headers() -> HeaderMap {
    const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                          font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; frame-src 'self'";
    let mut headers = HeaderMap::with_capacity(16);
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Send the Referer header only to this site, because other sites must not see URLs with tokens. With the stricter policy `no-referrer`,
    // browsers would hide the origin of the dashboard's own forms.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin"));
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin"));
    headers
}
