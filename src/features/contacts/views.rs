//! A contact as callers see it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::fields::FieldValue;
use super::model::{Contact, Status};
use super::tags::Names;
use crate::engine::api::Listed;
use crate::engine::api::answer::Moment;
use crate::engine::store::{Read, Result};
use crate::vocab::ids::ContactId;

/// A person of a project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactView {
    pub id: ContactId,
    /// As it was given.
    #[schemars(extend("format" = "email"))]
    pub email: String,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub phone: Option<String>,
    /// ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// ISO 639-1 or BCP 47.
    pub language: Option<String>,
    /// Names of tags.
    pub tags: Vec<String>,
    pub custom_fields: BTreeMap<String, FieldValue>,
    pub status: Status,
    pub created_at: Moment,
    pub updated_at: Moment,
    /// When the contact unsubscribed, if that is its status.
    pub unsubscribed_at: Option<Moment>,
}

impl Listed for ContactView {
    const PLURAL: &'static str = "contacts";
    const ARRAY_WHEN_PAGED: bool = true;
}

/// A contact with the names of its tags.
pub fn view<R: Read>(names: &mut Names<'_, R>, contact: Contact) -> Result<ContactView> {
    let tags = names.of(&contact.tags)?;
    Ok(with_names(contact, tags))
}

/// A contact whose tags have these names.
pub fn with_names(contact: Contact, tags: Vec<String>) -> ContactView {
    ContactView {
        id: contact.id,
        email: contact.email,
        first_name: contact.first_name,
        last_name: contact.last_name,
        phone: contact.phone,
        country: contact.country,
        language: contact.language,
        tags,
        custom_fields: contact.custom_fields,
        status: contact.status,
        created_at: Moment(contact.created_at),
        updated_at: Moment(contact.updated_at),
        unsubscribed_at: contact.unsubscribed_at.map(Moment),
    }
}

impl ContactView {
    /// An example for the documents.
    pub fn sample() -> Self {
        Self {
            id: ContactId::parse("66f1a2b30000000a5c3e9d71").expect("24 hexadecimal characters"),
            email: "ada@example.com".into(),
            first_name: Some("Ada".into()),
            last_name: Some("Lovelace".into()),
            phone: Some("+44 20 7946 0958".into()),
            country: Some("GB".into()),
            language: Some("en-GB".into()),
            tags: vec!["newsletter".into()],
            custom_fields: BTreeMap::from([("plan".into(), FieldValue::Text("pro".into()))]),
            status: Status::Subscribed,
            created_at: Moment::sample(),
            updated_at: Moment::sample(),
            unsubscribed_at: None,
        }
    }
}
