//! Taking in what somebody says of a contact: one path for a single addition, a bulk write and a file.

use std::collections::BTreeMap;

use super::fields::{self, FieldValue};
use super::model::{Ask, Contact, Status, merge_fields};
use super::store::{self, Changes, Facet};
use super::tags::{Full, Numbers};
use crate::base::email::EmailAddress;
use crate::base::locale::{CountryCode, LanguageTag};
use crate::base::phone::Phone;
use crate::base::text::ShortText;
use crate::engine::api::Failure;
use crate::engine::store::WriteTx;
use crate::features::contacts::tags::TagName;
use crate::vocab::codes::Code;
use crate::vocab::ids::{ContactId, ProjectId};
use crate::vocab::limits;

/// The name of a person.
pub type PersonName = ShortText<{ limits::PERSON_NAME_CHARACTERS_MAX }>;

/// What somebody says of a contact, each value checked by its type. `None` says nothing.
#[derive(Clone, Debug)]
pub struct Statement {
    pub email: EmailAddress,
    pub first_name: Option<PersonName>,
    pub last_name: Option<PersonName>,
    pub phone: Option<Phone>,
    pub country: Option<CountryCode>,
    pub language: Option<LanguageTag>,
    pub tags: Vec<TagName>,
    pub custom_fields: BTreeMap<String, FieldValue>,
    pub status: Option<Status>,
}

impl Statement {
    /// Only an address.
    pub fn of(email: EmailAddress) -> Self {
        Self {
            email,
            first_name: None,
            last_name: None,
            phone: None,
            country: None,
            language: None,
            tags: Vec::new(),
            custom_fields: BTreeMap::new(),
            status: None,
        }
    }

    /// Refuse what the types alone do not see: too many tags, too large or too deep custom fields.
    pub fn check(&self) -> Result<(), Failure> {
        if self.tags.len() > limits::TAGS_PER_CONTACT_MAX {
            return Err(too_many_tags());
        }
        fields::refusal(&self.custom_fields).map_or(Ok(()), |reason| Err(Failure::field("customFields", reason)))
    }
}

/// The refusal of a contact with too many tags.
pub fn too_many_tags() -> Failure {
    Failure::field("tags", format_args!("a contact has at most {} tags", limits::TAGS_PER_CONTACT_MAX))
}

/// The refusal of one more tag in a project that is full of them.
pub fn too_many_names(_: Full) -> Failure {
    let max = limits::TAGS_PER_PROJECT_MAX;
    Failure::because(Code::LimitReached, format!("tags: a project has at most {max} tags; delete some first"))
}

fn kept<const MAX: usize>(name: &ShortText<MAX>) -> Option<String> {
    (!name.is_empty()).then(|| name.to_string())
}

/// Make a contact of a statement whose email is free. `number` was taken for it.
pub fn create(
    tx: &mut WriteTx<'_>,
    changes: &mut Changes,
    numbers: &mut Numbers,
    (project, number): (ProjectId, u32),
    (statement, digest): (&Statement, [u8; 16]),
) -> Result<Contact, Failure> {
    let now = tx.now();
    let tags = tag_numbers(tx, numbers, statement)?;
    let status = statement.status.unwrap_or(Status::Subscribed);
    debug_assert!(store::number_by_digest(tx, project, digest).is_ok_and(|taken| taken.is_none()), "the email is free");
    let contact = Contact {
        id: ContactId::numbered(now, number, tx.random()),
        status,
        email: statement.email.as_str().to_owned(),
        first_name: statement.first_name.as_ref().and_then(kept),
        last_name: statement.last_name.as_ref().and_then(kept),
        phone: statement.phone.as_ref().map(|phone| phone.as_str().to_owned()),
        country: statement.country.map(|country| country.as_str().to_owned()),
        language: statement.language.map(|language| language.as_str().to_owned()),
        tags,
        custom_fields: without_nulls(&statement.custom_fields),
        created_at: now,
        updated_at: now,
        unsubscribed_at: (status == Status::Unsubscribed).then_some(now),
    };
    changes.add(tx, &contact, digest);
    Ok(contact)
}

/// Take one number for a contact that is about to be made.
pub fn next_number(tx: &mut WriteTx<'_>, project: ProjectId) -> Result<u32, Failure> {
    Ok(store::next_number(tx, project, Facet::NextContact, 1)?)
}

fn without_nulls(given: &BTreeMap<String, FieldValue>) -> BTreeMap<String, FieldValue> {
    let present = given.iter().filter(|(_, value)| **value != FieldValue::Null);
    present.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn tag_numbers(tx: &mut WriteTx<'_>, numbers: &mut Numbers, statement: &Statement) -> Result<Vec<u32>, Failure> {
    if statement.tags.is_empty() {
        return Ok(Vec::new());
    }
    numbers.of(tx, statement.tags.iter().map(|name| &**name))?.map_err(too_many_names)
}

/// What became of a statement about a contact that exists.
#[derive(Debug)]
pub struct Merged {
    pub contact: Contact,
    /// Whether it differs from what was there.
    pub changed: bool,
    /// Why the status stayed as it was, if another was asked for in vain.
    pub status_kept: Option<&'static str>,
}

/// Lay a statement over the contact that has its email: given values replace, tags are added, custom fields are merged.
pub fn merge(
    tx: &mut WriteTx<'_>,
    changes: &mut Changes,
    numbers: &mut Numbers,
    before: &Contact,
    statement: &Statement,
) -> Result<Merged, Failure> {
    let now = tx.now();
    let mut contact = before.clone();
    set(&mut contact.first_name, statement.first_name.as_ref().and_then(kept));
    set(&mut contact.last_name, statement.last_name.as_ref().and_then(kept));
    set(&mut contact.phone, statement.phone.as_ref().map(|phone| phone.as_str().to_owned()));
    set(&mut contact.country, statement.country.map(|country| country.as_str().to_owned()));
    set(&mut contact.language, statement.language.map(|language| language.as_str().to_owned()));
    for number in tag_numbers(tx, numbers, statement)? {
        if !contact.tags.contains(&number) {
            contact.tags.push(number);
        }
    }
    if contact.tags.len() > limits::TAGS_PER_CONTACT_MAX {
        return Err(too_many_tags());
    }
    if !statement.custom_fields.is_empty() {
        merge_fields(&mut contact.custom_fields, statement.custom_fields.clone());
        if let Some(reason) = fields::refusal(&contact.custom_fields) {
            return Err(Failure::field("customFields", reason));
        }
    }
    let status_kept = statement.status.and_then(|status| before.status.keeps(status, Ask::Incidental));
    if let Some(status) = statement.status.filter(|_| status_kept.is_none()) {
        contact.set_status(status, now);
    }
    let changed = contact.differs(before);
    if changed {
        contact.updated_at = now;
        changes.replace(tx, before, &contact);
    }
    Ok(Merged { contact, changed, status_kept })
}

fn set(current: &mut Option<String>, given: Option<String>) {
    if given.is_some() {
        *current = given;
    }
}
