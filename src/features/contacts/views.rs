//! A contact as the API returns it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use super::customer_events::Event;
use super::fields::FieldValue;
use super::model::{Contact, Status};
use super::tags::TagNames;
use crate::base::email::EmailAddress;
use crate::base::optional::Nullable;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Caller, Listed};
use crate::engine::store::{Read, Result};
use crate::features::suppressions::{self, Digester, Reason};
use crate::vocab::ids::{AccountId, ContactId, EventId, ProjectId};

/// A contact of a project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactView {
    pub id: ContactId,
    /// As given.
    #[schemars(extend("format" = "idn-email"))]
    pub email: String,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    /// `null` if unknown.
    pub phone: Nullable<String>,
    /// ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// ISO 639-1 or BCP 47.
    pub language: Option<String>,
    /// Names of tags.
    pub tags: Vec<String>,
    pub custom_fields: BTreeMap<String, FieldValue>,
    pub status: Status,
    pub created_at: WireTime,
    pub updated_at: WireTime,
    /// When the contact unsubscribed, if that is its status.
    pub unsubscribed_at: Option<WireTime>,
    /// Why the address is on the account's suppression list, which outlives contacts; absent if it is not. A suppressed contact gets no
    /// marketing email, whatever its status.
    pub suppression: Option<Reason>,
}

impl Listed for ContactView {
    const PLURAL: &'static str = "contacts";
    const ARRAY_WHEN_PAGED: bool = true;
}

/// Builds the views of contacts of one project, looking up each tag name once.
pub struct Viewer<'t, R> {
    tx: &'t R,
    account: AccountId,
    digester: Digester,
    names: TagNames<'t, R>,
}

impl<'t, R: Read> Viewer<'t, R> {
    /// Creates a viewer for the project of a call.
    pub fn new(tx: &'t R, caller: &Caller, project: ProjectId) -> Self {
        let digester = Digester::new(&caller.engine.seal);
        Self { tx, account: caller.account(), digester, names: TagNames::new(tx, project) }
    }

    /// Returns a contact with the names of its tags and its suppression reason.
    pub fn view(&mut self, contact: Contact) -> Result<ContactView> {
        let tags = self.names.of(&contact.tags)?;
        let suppression = match EmailAddress::stored(&contact.email) {
            Some(email) => suppressions::reason(self.tx, &self.digester, self.account, &email.normalised())?,
            None => None,
        };
        Ok(with_names(contact, tags, suppression))
    }
}

fn with_names(contact: Contact, tags: Vec<String>, suppression: Option<Reason>) -> ContactView {
    ContactView {
        id: contact.id,
        email: contact.email,
        first_name: contact.first_name,
        last_name: contact.last_name,
        phone: contact.phone.into(),
        country: contact.country,
        language: contact.language,
        tags,
        custom_fields: contact.custom_fields,
        status: contact.status,
        created_at: WireTime(contact.created_at),
        updated_at: WireTime(contact.updated_at),
        unsubscribed_at: contact.unsubscribed_at.map(WireTime),
        suppression,
    }
}

impl ContactView {
    /// An example for the documentation.
    pub fn sample() -> Self {
        Self {
            id: ContactId::parse("66f1a2b30000000a5c3e9d71").expect("24 hexadecimal characters"),
            email: "ada@example.com".into(),
            first_name: Some("Ada".into()),
            last_name: Some("Lovelace".into()),
            phone: Some("+44 20 7946 0958".to_owned()).into(),
            country: Some("GB".into()),
            language: Some("en-GB".into()),
            tags: vec!["newsletter".into()],
            custom_fields: BTreeMap::from([("plan".into(), FieldValue::Text("pro".into()))]),
            status: Status::Subscribed,
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
            unsubscribed_at: None,
            suppression: None,
        }
    }
}

/// A customer event of a contact.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomerEvent {
    pub event_id: EventId,
    pub name: String,
    pub identifiers: ExternalIds,
    /// As received.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub properties: Option<Box<RawValue>>,
    pub occurred_at: WireTime,
    pub received_at: WireTime,
    pub dedupe_key: Option<String>,
}

/// The external ids that the reporting system uses.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalIds {
    pub external_customer_id: Option<String>,
    pub external_checkout_id: Option<String>,
    pub external_order_id: Option<String>,
}

impl CustomerEvent {
    /// Converts a stored event.
    pub fn of((event_id, event): (EventId, Event)) -> Self {
        Self {
            event_id,
            name: event.name,
            identifiers: ExternalIds {
                external_customer_id: event.customer,
                external_checkout_id: event.checkout,
                external_order_id: event.order,
            },
            properties: event.properties.map(|json| RawValue::from_string(json).expect("stored properties are valid JSON")),
            occurred_at: WireTime(event.occurred_at),
            received_at: WireTime(event.received_at),
            dedupe_key: event.dedupe_key,
        }
    }

    /// An example for the documentation.
    pub fn sample() -> Self {
        let properties = RawValue::from_string(r#"{"value":49.9,"currency":"EUR"}"#.into()).expect("JSON");
        Self {
            event_id: EventId::parse("66f1a2b300000007a1b2c3d4").expect("24 hexadecimal characters"),
            name: "purchase.completed".into(),
            identifiers: ExternalIds {
                external_customer_id: None,
                external_checkout_id: None,
                external_order_id: Some("order-1001".into()),
            },
            properties: Some(properties),
            occurred_at: WireTime::sample(),
            received_at: WireTime::sample(),
            dedupe_key: Some("order-1001:paid".into()),
        }
    }
}
