//! A contact and its rules, as pure functions that use no clock, store or wire format.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fields::FieldValue;
use crate::base::clock::Timestamp;
use crate::engine::store::Record;
use crate::engine::store::codec::decode_borrowed;
use crate::vocab::contact_fields::Profile;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::ContactId;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    pub id: ContactId,
    pub status: Status,
    /// The email as given, without surrounding whitespace. Its normalized form is unique in the project.
    pub email: String,
    pub profile: Profile<String>,
    /// The numbers of the contact's tags, in the order in which they were given. The number of a deleted tag is ignored and never reused.
    pub tags: Vec<u32>,
    pub custom_fields: BTreeMap<String, FieldValue>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub unsubscribed_at: Option<Timestamp>,
}

impl Record for Contact {}

/// The fields of a [`Contact`], with strings that are borrowed from the row's bytes, for scans of many rows.
#[derive(Debug, Deserialize)]
pub struct ContactRow<'a> {
    pub id: ContactId,
    pub status: Status,
    pub email: &'a str,
    #[serde(borrow)]
    pub profile: Profile<&'a str>,
    pub tags: Vec<u32>,
    #[serde(borrow)]
    pub custom_fields: BTreeMap<&'a str, FieldValue>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub unsubscribed_at: Option<Timestamp>,
}

impl<'a> ContactRow<'a> {
    /// Reads a contact from the bytes of its row; `None` if the bytes are damaged.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        const { assert!(Contact::VERSION == 1, "this reader supports only version 1 of the record") };
        decode_borrowed(bytes, Contact::VERSION)
    }
}

/// Whether a status change was requested explicitly or is a side effect of another action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOrigin {
    /// A request to change the status: the status endpoint, a PATCH, a bulk change, or the contact's own choice.
    Explicit,
    /// A side effect of another action: a row of an import or bulk write, a copy to the live environment, or a bounce.
    Incidental,
}

/// TABLE: the incidental status changes that are not made, with reasons. All other incidental changes, and all explicit changes, are
/// allowed.
const KEPT: &[(Status, Status, &str)] = &[
    (Status::Unsubscribed, Status::Subscribed, "only an explicit status change resubscribes an unsubscribed contact"),
    (
        Status::Unsubscribed,
        Status::NonSubscribed,
        "the contact chose to unsubscribe; only an explicit status change can reverse that choice",
    ),
    (Status::Unsubscribed, Status::Bounced, "the contact chose to unsubscribe; a bounce does not change that choice"),
    (Status::Bounced, Status::Subscribed, "only an explicit status change makes a bounced address mailable again"),
    (Status::Bounced, Status::NonSubscribed, "a bounced contact stays bounced until an explicit status change"),
    (Status::Subscribed, Status::NonSubscribed, "a list without consent does not revoke the consent already given"),
];

impl Status {
    /// Returns why a change with this origin does not set the status to `next`, or `None` if the change is allowed.
    pub fn keeps(self, next: Status, origin: ChangeOrigin) -> Option<&'static str> {
        if origin == ChangeOrigin::Explicit {
            return None;
        }
        KEPT.iter().find(|(from, to, _)| (*from, *to) == (self, next)).map(|(_, _, reason)| *reason)
    }
}

impl Contact {
    /// Changes the status and updates the unsubscribe time. For an incidental change, the caller has checked [`Status::keeps`].
    pub fn set_status(&mut self, status: Status, now: Timestamp) {
        if self.status == status {
            return;
        }
        self.status = status;
        self.unsubscribed_at = (status == Status::Unsubscribed).then_some(now);
    }

    /// Returns whether `other` differs in any field except the update time.
    pub fn differs(&self, other: &Contact) -> bool {
        let mut same_time = other.clone();
        same_time.updated_at = self.updated_at;
        *self != same_time
    }
}

/// Merges custom fields (`assets/docs/contacts.md`): given keys are set, other keys stay, `null` removes a key, and an empty object removes
/// all keys.
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
