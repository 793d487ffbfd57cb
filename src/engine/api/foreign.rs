//! HTML that somebody else wrote, as a document under our name: it runs nothing, sends nothing and knows nothing of the page around it.

use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, StatusCode};

use super::wire::{Reply, ReplyBody};

/// Pictures and styles load, and links open; nothing else happens.
const POLICY: &str = "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src * data:; font-src https: data:; \
                      style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'self'";

/// The document. Its links open in a window of their own, since a frame has no room for what they lead to.
pub fn document(html: &str, cache_control: &'static str) -> Reply {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache_control));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    let (front, rest) = html.split_at(head(html));
    let body = format!("{front}<base target=\"_blank\">{rest}");
    Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(body.into()) }
}

/// Where the head begins. What has none gets one there from the browser.
fn head(html: &str) -> usize {
    let after = |tag: &str| {
        let starts = html.match_indices('<').map(|(at, _)| at);
        let mut tags = starts.filter(|at| {
            let rest = &html.as_bytes()[at + 1..];
            let is_name = rest.get(..tag.len()).is_some_and(|name| name.eq_ignore_ascii_case(tag.as_bytes()));
            is_name && rest.get(tag.len()).is_some_and(|next| matches!(next, b'>' | b' ' | b'\t' | b'\r' | b'\n'))
        });
        let start = tags.next()?;
        html[start..].find('>').map(|end| start + end + 1)
    };
    ["head", "html", "!doctype"].into_iter().find_map(after).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_open_outside_wherever_the_head_begins() {
        for (html, drawn) in [
            ("<!doctype html><html><HEAD lang=x><title>", "<!doctype html><html><HEAD lang=x>|<title>"),
            ("<html><header>", "<html>|<header>"),
            ("<!DOCTYPE html><p>", "<!DOCTYPE html>|<p>"),
            ("<p>é", "|<p>é"),
            ("<head", "|<head"),
            ("", "|"),
        ] {
            let ReplyBody::Whole(body) = document(html, "no-store").body else { panic!("a whole document") };
            assert_eq!(String::from_utf8_lossy(&body), drawn.replace('|', "<base target=\"_blank\">"));
        }
    }
}
