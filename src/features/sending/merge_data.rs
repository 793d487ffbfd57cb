//! The merge data of one recipient: the contact, the mailing's variables, and the recipient's own links.

use std::borrow::Cow;
use std::ops::ControlFlow;

use serde_json::{Map, Value as Json};

use super::model::{Audience, Mailing, Recipient};
use super::store;
use super::token::{Purpose, Token, Tokens};
use crate::base::email::EmailAddress;
use crate::engine::render::merge::{Fields, Value};
use crate::engine::store::{Read, Result};
use crate::features::contact_records::fields::FieldValue;
use crate::features::contact_records::{self, Contact};
use crate::vocab::contact_fields::ProfileField;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{EmailId, MailingId};

/// The prefix of placeholder names for tracked links. A merge field with this prefix in a request is ignored, because the link takes
/// precedence.
pub const CLICK: &str = "__click_";
/// The placeholder of the tracking pixel.
pub const OPEN: &str = "__open";

/// A recipient's address, and the name and contact that supply merge values.
#[derive(Clone, Debug, PartialEq)]
pub struct RecipientProfile {
    pub email: String,
    /// The recipient's name from the request, if the request has one.
    pub name: Option<String>,
    /// The contact with this address; `None` if the project has no such contact.
    pub contact: Option<Contact>,
}

/// Returns the recipient of a row, or `None` if the contact was deleted or the row has no address.
pub fn load(tx: &impl Read, mailing: &Mailing, number: u32, recipient: &Recipient) -> Result<Option<RecipientProfile>> {
    if mailing.audience != Audience::Addresses {
        let Some(project) = mailing.project else { return Ok(None) };
        let contact = contact_records::by_number(tx, project, number)?;
        return Ok(contact.map(|contact| RecipientProfile { email: contact.email.clone(), name: None, contact: Some(contact) }));
    }
    let Some(address) = &recipient.address else { return Ok(None) };
    let contact = match (mailing.project, EmailAddress::parse(&address.email)) {
        (Some(project), Ok(email)) => contact_records::find_by_email(tx, project, &email.normalized())?,
        _ => None,
    };
    Ok(Some(RecipientProfile { email: address.email.clone(), name: address.name.clone(), contact }))
}

/// Returns whether the recipient's data was erased: the contact was deleted, or the row's address was cleared.
pub fn is_erased(tx: &impl Read, mailing: &Mailing, number: u32, recipient: &Recipient) -> Result<bool> {
    match (&recipient.address, mailing.project) {
        (Some(address), _) => Ok(address.email.is_empty()),
        (None, Some(project)) => Ok(contact_records::by_number(tx, project, number)?.is_none()),
        (None, None) => Ok(true),
    }
}

impl RecipientProfile {
    pub fn language(&self) -> Option<&str> {
        self.contact.as_ref()?.profile.language.as_deref()
    }

    /// Returns the recipient's name from the request or, if the request has none, from the contact. Returns an empty string if neither has
    /// a name.
    pub fn display_name(&self) -> Cow<'_, str> {
        if let Some(name) = &self.name {
            return Cow::Borrowed(name);
        }
        let names =
            self.contact.as_ref().map(|contact| (contact.profile.first_name.as_deref(), contact.profile.last_name.as_deref()));
        match names {
            Some((Some(first), Some(last))) => Cow::Owned(format!("{first} {last}")),
            Some((Some(name), None) | (None, Some(name))) => Cow::Borrowed(name),
            _ => Cow::Borrowed(""),
        }
    }
}

/// Finds a contact's recipient row in a mailing: by contact number or, in a mailing to addresses, by address. Returns the row with its
/// number.
pub fn row_of(tx: &impl Read, mailing: &Mailing, number: u32, email: &str) -> Result<Option<(u32, Recipient)>> {
    if mailing.audience != Audience::Addresses {
        return Ok(store::recipient(tx, mailing.id, number)?.map(|recipient| (number, recipient)));
    }
    let wanted = EmailAddress::stored(email).map(|email| email.normalized());
    let mut found = None;
    store::visit_recipients(tx, mailing.id, 0, |number, recipient| {
        let address = recipient.address.as_ref().and_then(|address| EmailAddress::stored(&address.email));
        if wanted.is_some() && address.map(|address| address.normalized()) == wanted {
            found = Some((number, recipient));
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Returns the ID of the stored email that a contact received from a mailing; `None` if the content is not a stored email. If the contact's
/// row no longer exists, the first translation is assumed.
pub fn email_sent_to(tx: &impl Read, mailing: &Mailing, number: u32, email: &str) -> Result<Option<EmailId>> {
    let row = if mailing.translations.len() > 1 { row_of(tx, mailing, number, email)? } else { None };
    Ok(row.map_or_else(|| mailing.first(), |(_, recipient)| mailing.translation_for(&recipient)).email)
}

/// Builds the personal links of one recipient, such as the unsubscribe link.
#[derive(Clone, Copy)]
pub struct RecipientLinks<'a> {
    pub tokens: &'a Tokens,
    /// The base URL of all links, without a trailing slash.
    pub base: &'a str,
    pub environment: Environment,
    pub mailing: MailingId,
    pub number: u32,
}

impl RecipientLinks<'_> {
    pub fn token(&self, purpose: Purpose) -> Token {
        Token { environment: self.environment, mailing: self.mailing, number: self.number, purpose }
    }

    pub fn address(&self, purpose: Purpose) -> String {
        let token = self.tokens.link(self.token(purpose));
        let base = self.base;
        match purpose {
            Purpose::Open => format!("{base}/t/o/{token}.gif"),
            Purpose::Click(_) => format!("{base}/t/c/{token}"),
            Purpose::Preferences => format!("{base}/u/{token}/preferences"),
            Purpose::View => format!("{base}/v/{token}"),
            Purpose::Unsubscribe | Purpose::Bounce | Purpose::Message => format!("{base}/u/{token}"),
        }
    }

    fn named(&self, name: &str) -> Option<String> {
        let purpose = match name {
            "unsubscribe_url" => Purpose::Unsubscribe,
            "preferences_url" => Purpose::Preferences,
            "view_url" => Purpose::View,
            OPEN => Purpose::Open,
            _ => Purpose::Click(name.strip_prefix(CLICK)?.parse().ok()?),
        };
        Some(self.address(purpose))
    }
}

/// The merge fields of one message. Values from the request take precedence over the contact's values.
pub struct MergeData<'a> {
    pub profile: &'a RecipientProfile,
    pub variables: &'a Map<String, Json>,
    /// The names of the contact's tags.
    pub tags: &'a [String],
    /// The recipient's links; absent if only the presence of values is checked.
    pub links: Option<RecipientLinks<'a>>,
}

/// Returns whether this merge field is a personal link, such as `unsubscribe_url`.
pub fn is_link(name: &str) -> bool {
    ["unsubscribe_url", "preferences_url", "view_url", OPEN].contains(&name) || name.starts_with(CLICK)
}

impl Fields for MergeData<'_> {
    fn field(&self, name: &str) -> Value<'_> {
        if is_link(name) {
            // If only the presence of values is checked, any value is sufficient.
            let address = self.links.as_ref().map_or_else(|| Some("#".to_owned()), |links| links.named(name));
            return address.map_or(Value::Missing, |address| Value::Text(Cow::Owned(address)));
        }
        match self.variables.get(name) {
            Some(Json::Null) | None => {}
            Some(value) => return Value::from(value),
        }
        if name == "email" {
            return Value::from(self.profile.email.as_str());
        }
        if name == "name" {
            let name = self.profile.display_name();
            return if name.is_empty() { Value::Missing } else { Value::Text(name) };
        }
        let Some(contact) = &self.profile.contact else { return Value::Missing };
        if let Some(field) = ProfileField::by_key(name) {
            return Value::from(contact.profile.get(field).map(String::as_str));
        }
        match name {
            "tags" => Value::from(Json::from(self.tags.to_vec())),
            "customFields" => Value::from(json(&contact.custom_fields)),
            _ => contact.custom_fields.get(name).map_or(Value::Missing, value),
        }
    }
}

fn value(field: &FieldValue) -> Value<'_> {
    match field {
        FieldValue::Null => Value::Missing,
        FieldValue::Text(text) => Value::from(text.as_str()),
        FieldValue::Bool(truth) => Value::Truth(*truth),
        other => Value::from(json(other)),
    }
}

fn json(value: &impl serde::Serialize) -> Json {
    serde_json::to_value(value).expect("contact fields can be written as JSON")
}
