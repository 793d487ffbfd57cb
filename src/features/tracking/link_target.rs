//! Where a link of a message leads: the address that is kept for it, with this recipient's fields and the mailing's marks in it.

use crate::engine::store::{Read, Result};
use crate::features::sending;
use crate::vocab::ids::MailingId;

/// The address; none if the mailing, the recipient or the link are gone, or if what comes out is no address of the web.
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

/// The address as it goes into a header, if it is one of the web: nothing else is redirected to.
fn web(address: &str) -> Option<String> {
    let address = url::Url::parse(address).ok()?;
    matches!(address.scheme(), "http" | "https").then(|| address.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_are_led_to() {
        assert_eq!(web("https://example.com/ä?q=1#x").as_deref(), Some("https://example.com/%C3%A4?q=1#x"));
        for wrong in ["javascript:alert(1)", "data:text/html,x", "mailto:a@b.example", "//example.com", "", "https://"] {
            assert_eq!(web(wrong), None, "{wrong}");
        }
        assert_eq!(web("https://example.com/\r\nSet-Cookie: a").map(|address| address.contains(['\r', '\n'])), Some(false));
    }
}
