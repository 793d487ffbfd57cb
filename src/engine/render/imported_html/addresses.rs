//! Decides which URLs may stay in imported HTML: links that readers follow, and images that email clients load.
//!
//! URLs are parsed as in browsers, which ignore tabs and line breaks anywhere in a URL.

/// Returns a URL as browsers read it, without the characters that they ignore.
fn compact(address: &str) -> String {
    address.trim_matches(|c: char| c <= ' ').chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect()
}

/// Returns the scheme of a URL in lowercase, if there is one.
fn scheme(address: &str) -> Option<String> {
    let (scheme, _) = address.split_once(':')?;
    let sound = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    (scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(sound)).then(|| scheme.to_ascii_lowercase())
}

/// Returns a link's URL if the link may stay, or else `None`. A link may lead to a web page, an email address, a phone number or an anchor
/// in the email, or start with a merge field.
pub fn link(address: &str) -> Option<String> {
    let address = compact(address);
    if let Some(rest) = address.strip_prefix("//") {
        return Some(format!("https://{rest}"));
    }
    if address.starts_with('#') || (address.starts_with("{{") && address.contains("}}")) {
        return Some(address);
    }
    matches!(scheme(&address)?.as_str(), "http" | "https" | "mailto" | "tel").then_some(address)
}

/// Returns whether a link's URL is shown in the plain text. Anchors in the email, and URLs whose scheme is not allowed, such as
/// `javascript:`, are not shown. A URL without a scheme is shown, because a merge field may contain the scheme.
pub fn is_listed(address: &str) -> bool {
    let address = compact(address);
    !address.is_empty() && !address.starts_with('#') && (scheme(&address).is_none() || link(&address).is_some())
}

/// Returns an image's URL if the image may stay, or else `None`. An image may be on the web, embedded as data, or attached to the message.
pub fn image(address: &str) -> Option<String> {
    let address = compact(address);
    if let Some(rest) = address.strip_prefix("//") {
        return Some(format!("https://{rest}"));
    }
    match scheme(&address)?.as_str() {
        "http" | "https" | "cid" | "embedded-image" => Some(address),
        "data" => is_picture(&address).then_some(address),
        _ => None,
    }
}

/// Returns whether a data URL is an image that email clients show. SVG is excluded because it can contain scripts.
fn is_picture(address: &str) -> bool {
    let start: String = address.chars().take(24).collect::<String>().to_ascii_lowercase();
    ["png", "jpeg", "jpg", "gif", "webp"].iter().any(|kind| start.starts_with(&format!("data:image/{kind};base64,")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_people_and_pages_only() {
        for (address, kept) in [
            (" https://x.example/a b\n", Some("https://x.example/a b")),
            ("//x.example", Some("https://x.example")),
            ("MAILTO:a@x.example", Some("MAILTO:a@x.example")),
            ("tel:+353", Some("tel:+353")),
            ("#top", Some("#top")),
            ("{{unsubscribe}}", Some("{{unsubscribe}}")),
            ("java\tscript:alert(1)", None),
            ("\u{1}javascript:alert(1)", None),
            ("data:text/html,x", None),
            ("vbscript:x", None),
            ("file:///etc/passwd", None),
            ("page.html", None),
        ] {
            assert_eq!(link(address).as_deref(), kept, "{address:?}");
        }
    }

    #[test]
    fn image_urls_must_be_images() {
        for (address, stays) in [
            ("http://x.example/a.png", true),
            ("cid:1@x", true),
            ("data:image/png;base64,AAAA", true),
            ("data:image/svg+xml;base64,AAAA", false),
            ("data:text/html;base64,AAAA", false),
            ("javascript:x", false),
            ("a.png", false),
        ] {
            assert_eq!(image(address).is_some(), stays, "{address}");
        }
    }
}
