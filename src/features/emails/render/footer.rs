//! Renders the end of an email: links to the brand's profiles on social networks, and the legally required footer.

use super::block_context::BlockContext;
use super::cells::Row;
use super::draft::Draft;
use super::inline::{self, Ink};
use super::wrap::wrapped;
use crate::features::emails::document::{Footer, Link, Social};
use crate::features::emails::theme::GroundName;
use crate::features::emails::theme::design::{Align, FooterForm, SocialForm};
use crate::vocab::placeholders::POSTAL_ADDRESS;

fn end(set: BlockContext<'_>) -> BlockContext<'_> {
    let align = if set.design().footer == FooterForm::Start { Align::Start } else { Align::Center };
    set.on(GroundName::Page).aligned(align)
}

/// Returns text links to the brand's profiles on social networks. The networks' icons would be remote images, which some email clients do
/// not load.
pub fn social(set: BlockContext<'_>, social: &Social) -> Draft {
    let set = end(set);
    let mut cells = Vec::new();
    if let Some(title) = &social.title {
        cells.push(set.line(0, "small", "tx", title));
    }
    let gap = if cells.is_empty() { 0 } else { 14 };
    let color = set.colors().text;
    let html = match set.design().social {
        SocialForm::Words => {
            let links = social.links.iter().map(|link| set.linked(&link.name, &link.href, color, "tx"));
            links.collect::<Vec<_>>().join("<span class=\"mu\">&nbsp; &middot; &nbsp;</span>")
        }
        SocialForm::Pills => {
            let pill = |name: &str, href: &Link| {
                let (name, href) = (inline::escape(name), inline::escape(href.as_str()));
                let style = format!(
                    "display:inline-block;margin:0 3px 8px;padding:7px 16px;border:1px solid {};border-radius:99px;color:{color};\
                     text-decoration:none",
                    set.colors().line
                );
                format!("<a class=\"tx ln\" href=\"{href}\" target=\"_blank\" style=\"{style}\">{name}</a>")
            };
            social.links.iter().map(|link| pill(&link.name, &link.href)).collect::<Vec<_>>().join(" ")
        }
    };
    cells.push(set.words(gap, "p", "note", "tx", html));
    let mut draft = Draft::stack(GroundName::Page, cells, set.room().side);
    draft.pad = Some((36, 28));
    draft
}

/// Fills in the brand's address in a rendered email. If the brand has no address, removes the address line.
pub fn address_in(text: &str, address: Option<&str>, is_markup: bool) -> String {
    match address {
        Some(address) if is_markup => text.replace(POSTAL_ADDRESS, &inline::words(address)),
        Some(address) => text.replace(POSTAL_ADDRESS, &wrapped(address)),
        None if is_markup => text.replace(&format!("<br />{POSTAL_ADDRESS}"), "").replace(POSTAL_ADDRESS, ""),
        None => text.replace(&format!("\n{POSTAL_ADDRESS}"), "").replace(POSTAL_ADDRESS, ""),
    }
}

pub fn footer(set: BlockContext<'_>, footer: &Footer) -> Draft {
    let set = end(set);
    let muted = set.colors().muted;
    let mut cells = Vec::new();
    if set.design().footer == FooterForm::Start {
        cells.push(set.rule(0, "100%", 1, false));
    }
    let gap = if cells.is_empty() { 0 } else { 24 };
    let sender = format!("<strong>{}</strong>", inline::words(&footer.sender));
    // A footer without its own address shows the brand's address.
    let address = footer.address.as_ref().map_or_else(|| POSTAL_ADDRESS.to_owned(), |address| inline::words(address));
    cells.push(set.words(gap, "p", "note", "mu", format!("{sender}<br />{address}")));
    if let Some(reason) = &footer.reason {
        let html = inline::whole(reason, Ink { color: muted, class: "mu" });
        cells.push(set.words(12, "p", "note", "mu", html));
    }
    let link = |label: &str, href: &Link| {
        let (label, href) = (inline::escape(label), inline::escape(href.as_str()));
        format!("<a class=\"mu\" href=\"{href}\" target=\"_blank\" style=\"color:{muted};text-decoration:underline\">{label}</a>")
    };
    let mut links = vec![link(&footer.unsubscribe, &Link::unsubscribe())];
    links.extend(footer.view.as_ref().map(|label| link(label, &Link::view())));
    links.extend(footer.links.iter().map(|other| link(&other.label, &other.href)));
    let html = links.join("<span>&nbsp; &middot; &nbsp;</span>");
    cells.push(set.words(12, "p", "note", "mu", html));
    let mut draft = Draft::new(GroundName::Page);
    draft.push(Row::stack(cells, set.room().side));
    draft.pad = Some((28, 36));
    draft
}
