//! The header and the footer of an email, which depend only on the brand and the language.

use super::facts::{tidy, without_legal_form};
use super::material;
use super::phrases::Phrasebook;
use crate::features::emails::document::*;
use crate::features::projects::brand::Brand;

/// Returns the header with the brand's logo and name.
pub fn header(brand: &Brand, site: Option<&Link>, layout: Layout) -> Header {
    let name = brand.name.as_ref().map(|name| without_legal_form(&tidy(name)).to_owned()).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| sender_unknown(site));
    let logo = material::logo(brand, layout);
    Header { id: "header".into(), name: Line::cut(&name), logo, href: site.cloned(), links: Vec::new() }
}

/// Returns the legally required footer.
pub fn footer(brand: &Brand, site: Option<&Link>, book: &mut Phrasebook, purpose: Purpose) -> Footer {
    let name = [brand.contact.company.as_ref(), brand.name.as_ref()].into_iter().flatten().map(|name| tidy(name));
    let sender = name.into_iter().find(|name| !name.is_empty()).unwrap_or_else(|| sender_unknown(site));
    let reason = book.text(if purpose == Purpose::Receipt { "common.reason_receipt" } else { "common.reason" });
    let address = brand.contact.address.as_ref().map(|text| tidy(text)).filter(|text| !text.is_empty());
    Footer {
        id: "footer".into(),
        sender: Line::cut(&sender),
        address: address.map(|text| Line::cut(&text)),
        reason: reason.and_then(|reason| Rich::parse(&reason).ok()),
        links: Vec::new(),
        unsubscribe: Line::cut(&book.label("common.unsubscribe")),
        view: Some(Line::cut(&book.label("common.view"))),
    }
}

/// Returns the site's host as the sender if the brand has no name.
fn sender_unknown(site: Option<&Link>) -> String {
    let host = site.and_then(|site| site.as_str().split('/').nth(2)).unwrap_or_default();
    if host.is_empty() { "—".to_owned() } else { host.to_owned() }
}
