//! Taking in what somebody says of a contact: one path for a single addition, a bulk write and a file.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::fields::{self, FieldValue};
use super::model::{Ask, Contact, Status, merge_fields};
use super::store::{self, Changes, Facet};
use super::tags::{Full, Numbers, by_number};
use crate::base::email::EmailAddress;
use crate::base::locale::{CountryCode, LanguageTag};
use crate::base::phone::Phone;
use crate::base::text::ShortText;
use crate::engine::api::Failure;
use crate::engine::store::{Error, Read, WriteTx};
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
    pub fn check(&self) -> Result<(), Refusal> {
        if self.tags.len() > limits::TAGS_PER_CONTACT_MAX {
            return Err(too_many_tags());
        }
        match fields::refusal(&self.custom_fields) {
            Some(reason) => Err(Refusal::new("customFields", reason)),
            None => Ok(()),
        }
    }
}

/// Why a statement is not taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The field of the statement that is at fault.
    pub field: Cow<'static, str>,
    pub reason: String,
    code: Code,
}

impl Refusal {
    /// A wrong value in `field`.
    pub fn new(field: impl Into<Cow<'static, str>>, reason: impl ToString) -> Self {
        Self { field: field.into(), reason: reason.to_string(), code: Code::InvalidRequest }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self { code: refusal.code, ..Failure::field(&refusal.field, refusal.reason) }
    }
}

/// A statement is refused, or the store failed.
#[derive(Debug)]
pub enum Denied {
    Row(Refusal),
    Store(Error),
}

impl From<Error> for Denied {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<Refusal> for Denied {
    fn from(refusal: Refusal) -> Self {
        Self::Row(refusal)
    }
}

impl From<Denied> for Failure {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Row(refusal) => refusal.into(),
            Denied::Store(error) => error.into(),
        }
    }
}

/// The refusal of a contact with too many tags.
pub fn too_many_tags() -> Refusal {
    Refusal::new("tags", format_args!("a contact has at most {} tags", limits::TAGS_PER_CONTACT_MAX))
}

/// The refusal of one more tag in a project that is full of them.
pub fn too_many_names(_: Full) -> Refusal {
    let reason = format!("a project has at most {} tags; delete some first", limits::TAGS_PER_PROJECT_MAX);
    Refusal { code: Code::LimitReached, ..Refusal::new("tags", reason) }
}

fn kept<const MAX: usize>(name: Option<ShortText<MAX>>) -> Option<String> {
    // An empty name is no name.
    name.filter(|name| !name.is_empty()).map(ShortText::into_string)
}

/// What a new contact gets beside what is said of it.
pub struct Birth {
    /// Made of a number that was taken for it.
    pub id: ContactId,
    /// Of its email, which is free.
    pub digest: [u8; 16],
}

/// Make a contact of a statement. It has the tags `also` too.
pub fn create(
    tx: &mut WriteTx<'_>,
    changes: &mut Changes,
    numbers: &mut Numbers,
    birth: &Birth,
    (statement, also): (Statement, &[u32]),
) -> Result<Contact, Denied> {
    let now = tx.now();
    let mut tags = also.to_vec();
    let given = tag_numbers(tx, numbers, &statement.tags)?;
    add_tags(tx, changes.project(), &mut tags, given)?;
    let status = statement.status.unwrap_or(Status::Subscribed);
    let mut custom_fields = statement.custom_fields;
    custom_fields.retain(|_, value| *value != FieldValue::Null);
    let contact = Contact {
        id: birth.id,
        status,
        email: statement.email.into_string(),
        first_name: kept(statement.first_name),
        last_name: kept(statement.last_name),
        phone: statement.phone.map(Phone::into_string),
        country: statement.country.map(|country| country.as_str().to_owned()),
        language: statement.language.map(|language| language.as_str().to_owned()),
        tags,
        custom_fields,
        created_at: now,
        updated_at: now,
        unsubscribed_at: (status == Status::Unsubscribed).then_some(now),
    };
    changes.add(tx, &contact, birth.digest);
    Ok(contact)
}

/// Take one number for a contact that is about to be made.
pub fn next_number(tx: &mut WriteTx<'_>, project: ProjectId) -> Result<u32, Error> {
    store::next_number(tx, project, Facet::NextContact, 1)
}

/// The numbers of tags by their names; unknown names are made.
pub fn tag_numbers(tx: &mut WriteTx<'_>, numbers: &mut Numbers, names: &[TagName]) -> Result<Vec<u32>, Denied> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    Ok(numbers.of(tx, names.iter().map(|name| &**name))?.map_err(too_many_names)?)
}

/// Let a contact have more tags, as many as it may.
pub fn add_tags(
    tx: &impl Read,
    project: ProjectId,
    tags: &mut Vec<u32>,
    more: impl IntoIterator<Item = u32>,
) -> Result<(), Denied> {
    for number in more {
        if !tags.contains(&number) {
            tags.push(number);
        }
    }
    if tags.len() <= limits::TAGS_PER_CONTACT_MAX {
        return Ok(());
    }
    // Tags that were deleted leave their numbers behind in contacts: those make room.
    let mut there = Vec::with_capacity(tags.len());
    for number in tags.iter() {
        if by_number(tx, project, *number)?.is_some() {
            there.push(*number);
        }
    }
    *tags = there;
    if tags.len() > limits::TAGS_PER_CONTACT_MAX { Err(too_many_tags().into()) } else { Ok(()) }
}

/// What became of a statement about a contact that exists.
#[derive(Debug)]
pub struct Merged {
    /// The contact as it is now, if that differs from what was there.
    pub changed: Option<Contact>,
    /// Why the status stayed as it was, if another was asked for in vain.
    pub status_kept: Option<&'static str>,
}

/// Lay a statement over the contact that has its email: given values replace, tags are added (`also` too), custom fields are
/// merged, and the status changes as far as the table of transitions lets it.
pub fn merge(
    tx: &mut WriteTx<'_>,
    changes: &mut Changes,
    numbers: &mut Numbers,
    before: &Contact,
    (statement, also): (Statement, &[u32]),
) -> Result<Merged, Denied> {
    let now = tx.now();
    let mut contact = before.clone();
    set(&mut contact.first_name, kept(statement.first_name));
    set(&mut contact.last_name, kept(statement.last_name));
    set(&mut contact.phone, statement.phone.map(Phone::into_string));
    set(&mut contact.country, statement.country.map(|country| country.as_str().to_owned()));
    set(&mut contact.language, statement.language.map(|language| language.as_str().to_owned()));
    if !statement.custom_fields.is_empty() {
        merge_fields(&mut contact.custom_fields, statement.custom_fields);
        if let Some(reason) = fields::refusal(&contact.custom_fields) {
            return Err(Refusal::new("customFields", reason).into());
        }
    }
    // Last, because names that are not there are made: a row that is refused leaves none behind.
    let given = tag_numbers(tx, numbers, &statement.tags)?;
    add_tags(tx, changes.project(), &mut contact.tags, also.iter().copied().chain(given))?;
    let status_kept = statement.status.and_then(|status| before.status.keeps(status, Ask::Incidental));
    if let Some(status) = statement.status.filter(|_| status_kept.is_none()) {
        contact.set_status(status, now);
    }
    if !contact.differs(before) {
        return Ok(Merged { changed: None, status_kept });
    }
    contact.updated_at = now;
    changes.replace(tx, before, &contact);
    Ok(Merged { changed: Some(contact), status_kept })
}

fn set(current: &mut Option<String>, given: Option<String>) {
    if given.is_some() {
        *current = given;
    }
}
