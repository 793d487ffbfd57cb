//! Renders a sent message as a web page, and finds the targets of its links.

use std::borrow::Cow;

use super::merge_data::{self, MergeData, RecipientLinks, RecipientProfile};
use super::model::{Content, Mailing, Recipient};
use super::store;
use super::template::{self, RenderMode};
use crate::engine::render::merge::{Fields, OutputKind, Template, Value};
use crate::engine::store::{Read, Result};
use crate::features::sending::token::Tokens;
use crate::features::tags::TagNames;
use crate::vocab::environment::Environment;

struct WebMessage {
    profile: RecipientProfile,
    variables: serde_json::Map<String, serde_json::Value>,
    tags: Vec<String>,
}

impl WebMessage {
    fn load(tx: &impl Read, mailing: &Mailing, number: u32, recipient: &Recipient) -> Result<Option<Self>> {
        let Some(profile) = merge_data::load(tx, mailing, number, recipient)? else { return Ok(None) };
        let tags = match (mailing.project, &profile.contact) {
            (Some(project), Some(contact)) => TagNames::new(tx, project).of(&contact.tags)?,
            _ => Vec::new(),
        };
        Ok(Some(Self { profile, variables: mailing.variables(), tags }))
    }

    fn values<'v>(&'v self, links: Option<RecipientLinks<'v>>) -> MergeData<'v> {
        MergeData { profile: &self.profile, variables: &self.variables, tags: &self.tags, links }
    }
}

/// Returns the target of a link for this recipient. Returns `None` if there is no such link, or if the link's merge fields cannot be
/// filled, for example because the contact was deleted.
pub fn target(tx: &impl Read, mailing: &Mailing, number: u32, recipient: &Recipient, link: u16) -> Result<Option<String>> {
    let Some(address) = store::link(tx, mailing.translation_for(recipient), link)? else { return Ok(None) };
    if !address.contains("{{") {
        return Ok(Some(address));
    }
    let Some(reading) = WebMessage::load(tx, mailing, number, recipient)? else { return Ok(None) };
    let Ok(template) = Template::compile(&address, OutputKind::Text) else { return Ok(None) };
    Ok(template.render(&Escaped(reading.values(None))).ok())
}

/// Merge data for URLs: text values are percent-encoded, so that a value cannot change the structure of the URL.
struct Escaped<'a>(MergeData<'a>);

impl Fields for Escaped<'_> {
    fn field(&self, name: &str) -> Value<'_> {
        match self.0.field(name) {
            Value::Text(text) => Value::Text(Cow::Owned(escaped(&text))),
            other => other,
        }
    }
}

/// Percent-encodes all characters except unreserved characters (RFC 3986 §2.3).
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

/// Renders a sent message as a web page, with the recipient's merge values and untracked links.
pub fn page(
    tx: &impl Read,
    (tokens, base, environment): (&Tokens, &str, Environment),
    mailing: &Mailing,
    number: u32,
    recipient: &Recipient,
) -> Result<Option<String>> {
    let Some(reading) = WebMessage::load(tx, mailing, number, recipient)? else { return Ok(None) };
    let content: Content = store::content(tx, mailing, mailing.translation_for(recipient))?;
    let mode = RenderMode { opens: false, clicks: false, unsubscribes: !mailing.transactional, utm: mailing.utm.clone() };
    let Ok(compiled) = template::compile(&content, mode) else { return Ok(None) };
    let links = RecipientLinks { tokens, base, environment, mailing: mailing.id, number };
    Ok(compiled.html.template().render(&reading.values(Some(links))).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stays_one_part_of_a_url() {
        assert_eq!(escaped("a b&c=/?#ä%"), "a%20b%26c%3D%2F%3F%23%C3%A4%25");
        assert_eq!(escaped("Ada-1_2.3~"), "Ada-1_2.3~");
    }
}
