//! A contact and its rules: pure, without a clock, a store or a wire.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::FieldValue;
use crate::base::clock::Timestamp;
use crate::engine::store::codec::decode_borrowed;
use crate::engine::store::{Error, Record, Result};
use crate::vocab::ids::ContactId;
use crate::vocab::tables;

/// A contact as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    pub id: ContactId,
    pub status: Status,
    /// As given, trimmed. What makes it unique is its normalised form.
    pub email: String,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub phone: Option<String>,
    pub country: Option<String>,
    pub language: Option<String>,
    /// Numbers of tags, in the order they were given. A number whose tag was deleted means nothing and is never used again.
    pub tags: Vec<u32>,
    pub custom_fields: BTreeMap<String, FieldValue>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub unsubscribed_at: Option<Timestamp>,
}

impl Record for Contact {}

/// The same for scans over many rows: text stays in the row's bytes. Field for field as [`Contact`].
#[derive(Debug, Deserialize)]
pub struct ContactRow<'a> {
    pub id: ContactId,
    pub status: Status,
    pub email: &'a str,
    pub first_name: Option<&'a str>,
    pub last_name: Option<&'a str>,
    pub phone: Option<&'a str>,
    pub country: Option<&'a str>,
    pub language: Option<&'a str>,
    pub tags: Vec<u32>,
    #[serde(borrow)]
    pub custom_fields: BTreeMap<&'a str, FieldValue>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub unsubscribed_at: Option<Timestamp>,
}

impl<'a> ContactRow<'a> {
    /// Read a row.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        const { assert!(Contact::VERSION == 1, "a new version of the record needs a new reader here") };
        decode_borrowed(bytes, Contact::VERSION).ok_or(Error::Corrupt(tables::CONTACTS.info().name))
    }
}

/// Whether a contact may be mailed, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "ContactStatus")]
pub enum Status {
    /// May be sent campaigns.
    Subscribed,
    /// Asked not to be mailed.
    Unsubscribed,
    /// The address does not take mail.
    Bounced,
    /// Known, but never asked for mail.
    NonSubscribed,
}

impl Status {
    /// Every status, in the order of `assets/docs/contacts.md`.
    pub const ALL: [Status; 4] = [Status::Subscribed, Status::Unsubscribed, Status::Bounced, Status::NonSubscribed];

    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Status::Subscribed => "subscribed",
            Status::Unsubscribed => "unsubscribed",
            Status::Bounced => "bounced",
            Status::NonSubscribed => "non-subscribed",
        }
    }
}

/// What asks for a new status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Somebody says so for this one contact: the status endpoint, a PATCH, the contact's own unsubscribing.
    Explicit,
    /// It comes along with something else: a row of an import, a bulk write, a repeat of an addition.
    Incidental,
}

/// TABLE: the changes of status that do not happen incidentally, and why. Everything else is allowed; an explicit ask may do all.
const KEPT: &[(Status, Status, &str)] = &[
    (Status::Unsubscribed, Status::Subscribed, "an unsubscribed contact is re-subscribed only by an explicit status change"),
    (
        Status::Unsubscribed,
        Status::NonSubscribed,
        "unsubscribing is the contact's own word; only an explicit change takes it back",
    ),
    (Status::Unsubscribed, Status::Bounced, "unsubscribing is the contact's own word; a bounce adds nothing to it"),
    (Status::Bounced, Status::Subscribed, "a bounced address is mailed again only after an explicit status change"),
    (Status::Bounced, Status::NonSubscribed, "a bounced address stays marked until an explicit status change"),
    (Status::Subscribed, Status::NonSubscribed, "a list without consent does not take a given consent away"),
];

impl Status {
    /// Why this status does not become `next` when asked in this way; `None` if it does.
    pub fn keeps(self, next: Status, ask: Ask) -> Option<&'static str> {
        if ask == Ask::Explicit {
            return None;
        }
        KEPT.iter().find(|(from, to, _)| (*from, *to) == (self, next)).map(|(_, _, reason)| *reason)
    }
}

impl Contact {
    /// Change the status, keeping the time of unsubscribing in step. The caller has asked [`Status::keeps`].
    pub fn set_status(&mut self, status: Status, now: Timestamp) {
        if self.status == status {
            return;
        }
        self.status = status;
        self.unsubscribed_at = (status == Status::Unsubscribed).then_some(now);
    }

    /// Whether anything but the time of change differs.
    pub fn differs(&self, other: &Contact) -> bool {
        let mut same_time = other.clone();
        same_time.updated_at = self.updated_at;
        *self != same_time
    }
}

/// Merge custom fields (`assets/docs/contacts.md`): given keys are set, others stay, `null` removes a key, an empty object removes all.
pub fn merge_fields(current: &mut BTreeMap<String, FieldValue>, given: BTreeMap<String, FieldValue>) {
    if given.is_empty() {
        current.clear();
        return;
    }
    for (name, value) in given {
        match value {
            FieldValue::Null => drop(current.remove(&name)),
            value => drop(current.insert(name, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_incidental_subscribes_an_unsubscribed_or_bounced_contact() {
        for from in [Status::Unsubscribed, Status::Bounced] {
            assert!(from.keeps(Status::Subscribed, Ask::Incidental).is_some());
            assert!(from.keeps(Status::Subscribed, Ask::Explicit).is_none());
        }
        assert!(Status::NonSubscribed.keeps(Status::Subscribed, Ask::Incidental).is_none());
        assert!(Status::Subscribed.keeps(Status::Unsubscribed, Ask::Incidental).is_none());
        for status in Status::ALL {
            assert!(status.keeps(status, Ask::Incidental).is_none());
        }
    }

    #[test]
    fn custom_fields_merge_null_removes_and_an_empty_object_clears() {
        let text = |text: &str| FieldValue::Text(text.into());
        let mut fields = BTreeMap::from([("plan".to_owned(), text("pro")), ("city".to_owned(), text("Bern"))]);
        merge_fields(&mut fields, BTreeMap::from([("plan".into(), text("free")), ("city".into(), FieldValue::Null)]));
        assert_eq!(fields, BTreeMap::from([("plan".to_owned(), text("free"))]));
        merge_fields(&mut fields, BTreeMap::new());
        assert!(fields.is_empty());
    }
}
