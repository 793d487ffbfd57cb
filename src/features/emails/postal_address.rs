//! The postal address in the footer of an email.
//!
//! A footer without its own address shows the brand's address. Stored HTML, MJML and text contain a placeholder for the brand's address,
//! which is filled in when an email is read: for a page, an export, a screenshot, a test or a campaign. If the brand's address changes,
//! existing emails with such a footer therefore show the new address. Sent mail, stored screenshots and exported files keep the address
//! that they were created with.

use super::document::{Block, Email as Document};
use super::model::Texts;
use super::render::address_in;
use crate::engine::store::{Read, Result};
use crate::features::projects;
use crate::features::projects::brand::Brand;
use crate::vocab::ids::ProjectId;
use crate::vocab::placeholders::POSTAL_ADDRESS;

/// The warning about an email whose footer has no address because its brand has none.
pub const MISSING: &str =
    "The footer has no postal address. Many countries require one in marketing emails. Add the address to the brand.";

/// Removes the address from the footer of a document if it equals the brand's address, so that the footer reflects later changes to that
/// address.
pub fn follow(document: &mut Document, brand: &Brand) {
    for block in &mut document.blocks {
        if let Block::Footer(footer) = block
            && footer
                .address
                .as_deref()
                .is_some_and(|own| brand.contact.address.as_deref().is_some_and(|address| same(own, address)))
        {
            footer.address = None;
        }
    }
}

fn same(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

/// Fills in the brand's address in HTML or MJML.
pub fn in_markup(tx: &impl Read, project: ProjectId, markup: String) -> Result<String> {
    fill(tx, project, markup, true)
}

/// Fills in the brand's address in plain text.
pub fn in_text(tx: &impl Read, project: ProjectId, text: String) -> Result<String> {
    fill(tx, project, text, false)
}

fn fill(tx: &impl Read, project: ProjectId, text: String, is_markup: bool) -> Result<String> {
    if !follows_brand(&text) {
        return Ok(text);
    }
    let address = projects::postal_address(tx, project)?;
    Ok(address_in(&text, address.as_deref(), is_markup))
}

/// Fills in the brand's address in every format of an email.
pub fn in_texts(tx: &impl Read, project: ProjectId, texts: Texts) -> Result<Texts> {
    Ok(Texts {
        html: in_markup(tx, project, texts.html)?,
        mjml: texts.mjml.map(|mjml| in_markup(tx, project, mjml)).transpose()?,
        text: in_text(tx, project, texts.text)?,
    })
}

/// Returns whether this text contains the placeholder for the brand's address.
pub fn follows_brand(text: &str) -> bool {
    text.contains(POSTAL_ADDRESS)
}

/// Returns whether this text needs the brand's address and the brand has none.
pub fn is_missing(tx: &impl Read, project: ProjectId, text: &str) -> Result<bool> {
    Ok(follows_brand(text) && projects::postal_address(tx, project)?.is_none())
}
