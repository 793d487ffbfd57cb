//! Serves untrusted HTML from this service's domain: the HTML cannot run scripts, submit forms or access the surrounding page.

use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, StatusCode};

use super::http_types::{Reply, ReplyBody};

/// The servers that a document may load images from.
#[derive(Clone, Copy, Debug)]
pub enum Images<'a> {
    /// Any server, as in an email client.
    Everywhere,
    /// Only this service, at this URL, so that the sender of an email cannot see that a user views the email.
    Here(&'a str),
}

impl Images<'_> {
    /// Returns the content security policy: inline styles apply, links open, and the allowed images and fonts load. Other content is
    /// blocked.
    fn policy(self) -> String {
        let (images, fonts) = match self {
            Self::Everywhere => ("*".to_owned(), "https: "),
            Self::Here(base) => (format!("{}/v1/images/", base.trim_end_matches('/')), ""),
        };
        format!(
            "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src {images} data:; font-src {fonts}data:; \
             style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'self'"
        )
    }
}

/// Returns a reply with the document. Links without a target open in a new window, because the frame is too small for the linked page.
pub fn document(html: &str, cache_control: &'static str, images: Images<'_>) -> Reply {
    let policy = HeaderValue::from_str(&images.policy()).expect("the service's own URL is ASCII");
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache_control));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    let (front, rest) = html.split_at(head(html));
    let body = format!("{front}<base target=\"_blank\">{rest}");
    Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(body.into()) }
}

/// Returns the position after the `<head>` tag, or else after the `<html>` tag or the doctype, where the browser starts an implicit head.
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
    fn links_open_in_a_new_window_wherever_the_head_starts() {
        for (html, drawn) in [
            ("<!doctype html><html><HEAD lang=x><title>", "<!doctype html><html><HEAD lang=x>|<title>"),
            ("<html><header>", "<html>|<header>"),
            ("<!DOCTYPE html><p>", "<!DOCTYPE html>|<p>"),
            ("<p>é", "|<p>é"),
            ("<head", "|<head"),
            ("", "|"),
        ] {
            let ReplyBody::Whole(body) = document(html, "no-store", Images::Everywhere).body else { panic!("a whole document") };
            assert_eq!(String::from_utf8_lossy(&body), drawn.replace('|', "<base target=\"_blank\">"));
        }
    }

    #[test]
    fn images_of_other_servers_are_not_loaded_unless_the_document_is_for_readers() {
        let policy = |images| {
            document("", "no-store", images).headers[CONTENT_SECURITY_POLICY].to_str().expect("the text is ASCII").to_owned()
        };
        let here = policy(Images::Here("https://mail.example.com/"));
        assert!(here.contains("img-src https://mail.example.com/v1/images/ data:; font-src data:;"), "{here}");
        assert!(policy(Images::Everywhere).contains("img-src * data:; font-src https: data:;"));
    }
}
