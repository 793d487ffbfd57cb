//! Proxies remote images in emails that this service displays. The images load only if the viewer requests them, so until then the sender
//! does not learn that the email was opened. They load through this service, so the sender does not learn the viewer's IP address. This
//! file does not depend on where an email is displayed.

use std::sync::Arc;

use url::Url;

use crate::engine::api::{Engine, Failure};
use crate::vocab::limits::{REMOTE_IMAGE_LINK_MS, URL_CHARACTERS_MAX};

/// The path under which proxied images are served.
const PATH: &str = "/v1/images/remote/";
/// The strings that precede an image's address in HTML and CSS.
const PLACES: [&str; 3] = ["src=", "background=", CSS];
const CSS: &str = "url(";
/// The attribute that lists alternative image files, which browsers would load directly, bypassing the proxy.
const CANDIDATES: &str = "srcset=";

/// The paths on this server whose images are not proxied: stored images, and the open pixel, which must not be loaded on the viewer's
/// behalf. Images on other paths of this server, such as those of the demo's shop, are proxied, because the content security policy for
/// displayed emails allows only images under `/v1/images/`.
const OWN_PATHS: [&str; 2] = ["/v1/", "/t/"];

/// Returns the HTML with the URLs of remote images replaced with proxy URLs.
pub async fn proxied(engine: &Arc<Engine>, html: String) -> Result<String, Failure> {
    let engine = engine.clone();
    tokio::task::spawn_blocking(move || rewritten(&engine, &html)).await.map_err(Failure::internal)
}

fn rewritten(engine: &Engine, html: &str) -> String {
    let own = OWN_PATHS.map(|path| format!("{}{path}", engine.base_url()));
    each_image(html, |address| {
        let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let fits = url.as_str().len() <= URL_CHARACTERS_MAX && !own.iter().any(|own| url.as_str().starts_with(own));
        fits.then(|| link(engine, url.as_str()))
    })
}

/// Returns the proxy URL of a remote image.
fn link(engine: &Engine, url: &str) -> String {
    let token = engine.links.sign(&signed(url), engine.clock.now().plus_ms(REMOTE_IMAGE_LINK_MS));
    let query = serde_urlencoded::to_string([("imageUrl", url)]).unwrap_or_default();
    // The query has only one parameter, so it contains no ampersand, which HTML and style sheets would escape differently.
    format!("{}{PATH}{token}?{query}", engine.base_url())
}

/// Returns whether `token` gives access to the image at this URL.
pub fn opens(engine: &Engine, url: &str, token: &str) -> bool {
    engine.links.check(&signed(url), token, engine.clock.now())
}

fn signed(url: &str) -> String {
    format!("{PATH}{url}")
}

/// Replaces each image address in the HTML with the address that `other` returns for it, if any, and disables `srcset` attributes. An
/// image whose address this function does not find will not load.
pub fn each_image(html: &str, mut other: impl FnMut(&str) -> Option<String>) -> String {
    let lower = html.to_ascii_lowercase();
    let mut out = String::with_capacity(html.len());
    let mut done = 0;
    for (at, _) in lower.match_indices(['=', '(']) {
        let front = &lower[..=at];
        if at < done {
            continue;
        }
        if let Some(name) = front.strip_suffix(CANDIDATES).filter(|before| ends_a_word(before)) {
            out.push_str(&html[done..name.len()]);
            out.push_str("data-");
            done = name.len();
            continue;
        }
        let is_place = |place: &str| front.strip_suffix(place).is_some_and(|before| place == CSS || ends_a_word(before));
        if PLACES.into_iter().any(is_place) {
            let (start, end) = value(html, at + 1);
            let address = html[start..end].replace("&amp;", "&");
            let address = if address.starts_with("//") { format!("https:{address}") } else { address };
            if let Some(address) = other(&address) {
                out.push_str(&html[done..start]);
                out.push_str(&address);
                done = end;
            }
        }
    }
    out.push_str(&html[done..]);
    out
}

/// The maximum length of an attribute value, in bytes: an address of maximum length in which every character is written as an entity.
const VALUE_BYTES_MAX: usize = 6 * URL_CHARACTERS_MAX;

/// Returns whether an attribute name can start after `before`.
fn ends_a_word(before: &str) -> bool {
    before.ends_with(|c: char| c.is_ascii_whitespace() || matches!(c, '"' | '\'' | '/'))
}

/// Returns the start and end positions of the value at `at`, excluding surrounding whitespace and quotes.
fn value(html: &str, at: usize) -> (usize, usize) {
    const QUOTES: [&str; 5] = ["\"", "'", "&quot;", "&#34;", "&#39;"];
    let blank = |at: usize| at + html[at..].len() - html[at..].trim_ascii_start().len();
    let mut start = blank(at);
    let quote = QUOTES.into_iter().find(|quote| html[start..].starts_with(quote));
    start = blank(start + quote.map_or(0, str::len));
    // Limit the search for the end of a value: the text may contain any number of unclosed `url(`, and each search would otherwise continue
    // to the end of the email.
    let most = html.floor_char_boundary(start.saturating_add(VALUE_BYTES_MAX));
    let rest = &html[start..most];
    let end = match quote {
        Some(quote) => rest.find(quote),
        None => rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '>' | '(' | ')' | '"' | '\'')),
    };
    let end = start + end.unwrap_or(rest.len());
    (start, start + html[start..end].trim_ascii_end().len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    /// Regression test: the search for the end of each `url(` continued to the end of the email, which took minutes for a message of 1 MiB.
    #[test]
    fn unterminated_addresses_are_read_in_linear_time() {
        let started = tokio::time::Instant::now();
        let html = "url(".repeat(256 * 1024);
        assert_eq!(each_image(&html, |_| None), html);
        assert!(started.elapsed() < std::time::Duration::from_secs(60), "{:?}", started.elapsed());
    }

    #[test]
    fn image_addresses_are_found_everywhere_and_links_are_ignored() {
        let other = |address: &str| address.starts_with("https://a.example/").then(|| format!("<{address}>"));
        for (html, expected) in [
            ("<img src=\"https://a.example/1?b=c&amp;d\">", "<img src=\"<https://a.example/1?b=c&d>\">"),
            ("<IMG SRC = x><img SRC=' https://a.example/1 '>", "<IMG SRC = x><img SRC=' <https://a.example/1> '>"),
            ("<img src=https://a.example/1>", "<img src=<https://a.example/1>>"),
            ("<img src=//a.example/1>", "<img src=<https://a.example/1>>"),
            ("<td background=\"https://a.example/1\">", "<td background=\"<https://a.example/1>\">"),
            (
                "<p style=\"background:url(&quot;https://a.example/1&quot;)\">",
                "<p style=\"background:url(&quot;<https://a.example/1>&quot;)\">",
            ),
            (
                "<style>p{background:url( https://a.example/1 )}</style>",
                "<style>p{background:url( <https://a.example/1> )}</style>",
            ),
            (
                "<img srcset='https://a.example/2 2x' src='https://a.example/1'>",
                "<img data-srcset='https://a.example/2 2x' src='<https://a.example/1>'>",
            ),
            (
                "<a href=\"https://a.example/?src=https://a.example/1\">",
                "<a href=\"https://a.example/?src=https://a.example/1\">",
            ),
            ("<img src=\"data:image/gif;base64,R0==\"><img src=", "<img src=\"data:image/gif;base64,R0==\"><img src="),
            ("é<img src=\"https://a.example/é", "é<img src=\"<https://a.example/é>"),
            ("", ""),
        ] {
            assert_eq!(each_image(html, other), expected);
        }
    }

    #[test]
    fn stored_images_and_the_open_pixel_are_unchanged_and_links_expire_after_an_hour() {
        let app = TestApp::new();
        app.engine().set_base_url("https://mail.example.com".into());
        let own = "<img src=\"https://mail.example.com/t/o/a.gif\"><img src=\"https://mail.example.com/v1/images/b\">";
        assert_eq!(rewritten(app.engine(), own), own);
        let shop = rewritten(app.engine(), "<img src=\"https://mail.example.com/demo-shop/cup.jpg\">");
        assert!(shop.starts_with("<img src=\"https://mail.example.com/v1/images/remote/"), "{shop}");
        let shown = rewritten(app.engine(), "<img src=\"https://a.example/b c?d=e&amp;f='g'\">");
        assert!(shown.starts_with("<img src=\"https://mail.example.com/v1/images/remote/"), "{shown}");
        let (front, _) = shown.split_once("?imageUrl=").expect("the response has a link");
        let token = front.rsplit('/').next().expect("the link has a token").to_owned();
        let url = "https://a.example/b%20c?d=e&f=%27g%27";
        assert!(opens(app.engine(), url, &token) && !opens(app.engine(), "https://a.example/other", &token), "{shown}");
        app.clock.advance_ms(REMOTE_IMAGE_LINK_MS);
        assert!(!opens(app.engine(), url, &token));
    }
}
