//! The destination of a link in a message: its stored URL with the recipient's merge values and the mailing's UTM parameters.

use crate::engine::store::{Read, Result};
use crate::features::sending;
use crate::vocab::ids::MailingId;

/// Returns the link's destination; returns `None` if the mailing, the recipient or the link no longer exists, a merge field in the link has
/// no value, or the result is not a web URL.
pub fn of(tx: &impl Read, mailing: MailingId, number: u32, link: u16) -> Result<Option<String>> {
    let Some(mailing) = sending::by_id(tx, mailing)? else { return Ok(None) };
    let Some(recipient) = sending::recipient(tx, mailing.id, number)? else { return Ok(None) };
    let address = sending::web::target(tx, &mailing, number, &recipient, link)?;
    let marked = |address: String| match &mailing.utm {
        Some(utm) => sending::marked(&address, utm),
        None => address,
    };
    Ok(address.and_then(|address| web(&marked(address))))
}

/// Normalizes a web URL; returns `None` for any other URL, because redirects must lead only to web URLs.
fn web(address: &str) -> Option<String> {
    let address = url::Url::parse(address).ok()?;
    matches!(address.scheme(), "http" | "https").then(|| address.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_redirect_targets() {
        assert_eq!(web("https://example.com/ä?q=1#x").as_deref(), Some("https://example.com/%C3%A4?q=1#x"));
        for wrong in ["javascript:alert(1)", "data:text/html,x", "mailto:a@b.example", "//example.com", "", "https://"] {
            assert_eq!(web(wrong), None, "{wrong}");
        }
        assert_eq!(web("https://example.com/\r\nSet-Cookie: a").map(|address| address.contains(['\r', '\n'])), Some(false));
    }
}
