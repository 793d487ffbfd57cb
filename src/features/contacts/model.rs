//! A contact and its rules: pure, without clock, store or wire format.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::FieldValue;
use crate::base::clock::Timestamp;
use crate::engine::store::codec::decode_borrowed;
use crate::engine::store::{Error, Record, Result};
use crate::vocab::ids::ContactId;
use crate::vocab::tables;

/// A contact as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    pub id: ContactId,
    pub status: Status,
    /// As given, trimmed. Its normalized form is unique.
    pub email: String,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub phone: Option<String>,
    pub country: Option<String>,
    pub language: Option<String>,
    /// Numbers of tags, in the order they were given. A number whose tag was deleted is ignored and never reused.
    pub tags: Vec<u32>,
    pub custom_fields: BTreeMap<String, FieldValue>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub unsubscribed_at: Option<Timestamp>,
}

impl Record for Contact {}

/// Like [`Contact`], field for field, but borrows its text from the row's bytes, for scans over many rows.
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
    /// Reads a row.
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
    /// The address does not accept mail.
    Bounced,
    /// Known, but never asked for mail.
    NonSubscribed,
}

impl Status {
    /// Every status, in the order of `assets/docs/contacts.md`.
    pub const ALL: [Status; 4] = [Status::Subscribed, Status::Unsubscribed, Status::Bounced, Status::NonSubscribed];

    /// The wire name.
    pub fn word(self) -> &'static str {
        match self {
            Status::Subscribed => "subscribed",
            Status::Unsubscribed => "unsubscribed",
            Status::Bounced => "bounced",
            Status::NonSubscribed => "non-subscribed",
        }
    }
}

/// Where a status change comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOrigin {
    /// A request about this one contact: the status endpoint, a PATCH, or the contact unsubscribing.
    Explicit,
    /// A side effect of something else: a row of an import, a bulk write, a repeated addition.
    Incidental,
}

/// TABLE: the status changes that do not happen incidentally, and why. All others are allowed; an explicit request may make any change.
const KEPT: &[(Status, Status, &str)] = &[
    (Status::Unsubscribed, Status::Subscribed, "only an explicit status change resubscribes an unsubscribed contact"),
    (
        Status::Unsubscribed,
        Status::NonSubscribed,
        "the contact chose to unsubscribe; only an explicit status change can reverse that",
    ),
    (Status::Unsubscribed, Status::Bounced, "the contact chose to unsubscribe; a bounce does not change that"),
    (Status::Bounced, Status::Subscribed, "only an explicit status change makes a bounced address mailable again"),
    (Status::Bounced, Status::NonSubscribed, "a bounced contact stays bounced until an explicit status change"),
    (Status::Subscribed, Status::NonSubscribed, "a list without consent does not revoke the consent already given"),
];

impl Status {
    /// Returns why this status does not change to `next` for this origin; `None` if it does.
    pub fn keeps(self, next: Status, origin: ChangeOrigin) -> Option<&'static str> {
        if origin == ChangeOrigin::Explicit {
            return None;
        }
        KEPT.iter().find(|(from, to, _)| (*from, *to) == (self, next)).map(|(_, _, reason)| *reason)
    }
}

impl Contact {
    /// Changes the status and keeps the unsubscribe time in step. The caller has checked [`Status::keeps`].
    pub fn set_status(&mut self, status: Status, now: Timestamp) {
        if self.status == status {
            return;
        }
        self.status = status;
        self.unsubscribed_at = (status == Status::Unsubscribed).then_some(now);
    }

    /// Returns whether anything other than the update time differs.
    pub fn differs(&self, other: &Contact) -> bool {
        let mut same_time = other.clone();
        same_time.updated_at = self.updated_at;
        *self != same_time
    }
}

/// Merges custom fields (`assets/docs/contacts.md`): given keys are set, others stay, `null` removes a key, an empty object removes all.
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
    fn incidental_changes_never_resubscribe_an_unsubscribed_or_bounced_contact() {
        for from in [Status::Unsubscribed, Status::Bounced] {
            assert!(from.keeps(Status::Subscribed, ChangeOrigin::Incidental).is_some());
            assert!(from.keeps(Status::Subscribed, ChangeOrigin::Explicit).is_none());
        }
        assert!(Status::NonSubscribed.keeps(Status::Subscribed, ChangeOrigin::Incidental).is_none());
        assert!(Status::Subscribed.keeps(Status::Unsubscribed, ChangeOrigin::Incidental).is_none());
        for status in Status::ALL {
            assert!(status.keeps(status, ChangeOrigin::Incidental).is_none());
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
