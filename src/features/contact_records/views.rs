//! A contact as the API returns it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::fields::FieldValue;
use super::model::Contact;
use crate::base::email::EmailAddress;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Caller, Listed};
use crate::engine::store::{Read, Result};
use crate::features::suppressions::{self, Digester, Reason};
use crate::features::tags::TagNames;
use crate::vocab::contact_fields::{Profile, fill_profile_fields, with_profile_fields};
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{AccountId, ContactId, ProjectId};

with_profile_fields! { shown
/// A contact in a project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactView {
    pub id: ContactId,
    /// The email address as it was provided, including its case.
    #[schemars(extend("format" = "idn-email"))]
    pub email: String,
} profile {
    /// The names of the contact's tags.
    pub tags: Vec<String>,
    pub custom_fields: BTreeMap<String, FieldValue>,
    pub status: Status,
    pub created_at: WireTime,
    pub updated_at: WireTime,
    /// When the contact unsubscribed; absent unless the status is `unsubscribed`.
    pub unsubscribed_at: Option<WireTime>,
    /// Why the address is on the account's suppression list; absent if the address is not on the list. A suppressed contact gets no
    /// marketing email, regardless of its status. An address stays on the list even if its contacts are deleted.
    pub suppression: Option<Reason>,
} }

impl Listed for ContactView {
    const PLURAL: &'static str = "contacts";
    const ARRAY_WHEN_PAGED: bool = true;
}

/// Creates views of contacts in one project, looking up each tag name only once.
pub struct Viewer<'t, R> {
    tx: &'t R,
    account: AccountId,
    digester: Digester,
    names: TagNames<'t, R>,
}

impl<'t, R: Read> Viewer<'t, R> {
    pub fn new(tx: &'t R, caller: &Caller, project: ProjectId) -> Self {
        let digester = Digester::new(&caller.engine.seal);
        Self { tx, account: caller.account(), digester, names: TagNames::new(tx, project) }
    }

    /// Returns the view of a contact, with the names of its tags and the reason for its suppression.
    pub fn view(&mut self, contact: Contact) -> Result<ContactView> {
        let tags = self.names.of(&contact.tags)?;
        let suppression = match EmailAddress::stored(&contact.email) {
            Some(email) => suppressions::reason(self.tx, &self.digester, self.account, &email.normalized())?,
            None => None,
        };
        Ok(with_names(contact, tags, suppression))
    }
}

fn with_names(contact: Contact, tags: Vec<String>, suppression: Option<Reason>) -> ContactView {
    let profile = contact.profile;
    fill_profile_fields!(profile => ContactView {
        id: contact.id,
        email: contact.email,
        tags,
        custom_fields: contact.custom_fields,
        status: contact.status,
        created_at: WireTime(contact.created_at),
        updated_at: WireTime(contact.updated_at),
        unsubscribed_at: contact.unsubscribed_at.map(WireTime),
        suppression,
    })
}

impl ContactView {
    pub fn sample() -> Self {
        let profile = Profile::sample();
        fill_profile_fields!(profile => ContactView {
            id: ContactId::parse("66f1a2b30000000a5c3e9d71").expect("the id has 24 hexadecimal characters"),
            email: "ada@example.com".into(),
            tags: vec!["newsletter".into()],
            custom_fields: BTreeMap::from([("plan".into(), FieldValue::Text("pro".into()))]),
            status: Status::Subscribed,
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
            unsubscribed_at: None,
            suppression: None,
        })
    }
}
