//! Writes contacts: one path for a single create, a bulk write and a file import.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::fields::{self, FieldValue};
use super::model::{ChangeOrigin, Contact, Status, merge_fields};
use super::store::{self, Changes, Facet};
use super::tags::{TagLimitReached, TagNumbers, by_number};
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

/// The fields given for a contact, each value checked by its type. `None` means that the field was not given.
#[derive(Clone, Debug)]
pub struct ContactInput {
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

impl ContactInput {
    /// Creates an input with only an address.
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

    /// Checks what the types alone cannot: too many tags, and custom fields that are too large or too deep.
    pub fn check(&self) -> Result<(), FieldError> {
        if self.tags.len() > limits::TAGS_PER_CONTACT_MAX {
            return Err(too_many_tags());
        }
        match fields::refusal(&self.custom_fields) {
            Some(reason) => Err(FieldError::new("customFields", reason)),
            None => Ok(()),
        }
    }
}

/// Why an input is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The invalid field.
    pub field: Cow<'static, str>,
    pub reason: String,
    code: Code,
}

impl FieldError {
    /// Creates an error for an invalid value in `field`.
    pub fn new(field: impl Into<Cow<'static, str>>, reason: impl ToString) -> Self {
        Self { field: field.into(), reason: reason.to_string(), code: Code::InvalidRequest }
    }
}

impl From<FieldError> for Failure {
    fn from(refusal: FieldError) -> Self {
        Self { code: refusal.code, ..Failure::field(&refusal.field, refusal.reason) }
    }
}

/// The input was refused, or the store failed.
#[derive(Debug)]
pub enum WriteError {
    Field(FieldError),
    Store(Error),
}

impl From<Error> for WriteError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<FieldError> for WriteError {
    fn from(refusal: FieldError) -> Self {
        Self::Field(refusal)
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Field(refusal) => refusal.into(),
            WriteError::Store(error) => error.into(),
        }
    }
}

/// The error for a contact with too many tags.
pub fn too_many_tags() -> FieldError {
    FieldError::new("tags", format_args!("a contact can have at most {} tags", limits::TAGS_PER_CONTACT_MAX))
}

/// The error for one more tag in a project that has the maximum number.
pub fn tag_limit_reached(_: TagLimitReached) -> FieldError {
    let reason = format!("a project can have at most {} tags; delete some first", limits::TAGS_PER_PROJECT_MAX);
    FieldError { code: Code::LimitReached, ..FieldError::new("tags", reason) }
}

fn non_empty<const MAX: usize>(name: Option<ShortText<MAX>>) -> Option<String> {
    // An empty name counts as absent.
    name.filter(|name| !name.is_empty()).map(ShortText::into_string)
}

/// What identifies a new contact.
pub struct NewContactKey {
    /// Made from a number reserved for the contact.
    pub id: ContactId,
    /// The hash of its email, which is not in use.
    pub digest: [u8; 16],
}

/// Creates a contact, with `extra_tags` in addition to its own tags.
pub fn create(
    tx: &mut WriteTx<'_>,
    changes: &mut Changes,
    numbers: &mut TagNumbers,
    key: &NewContactKey,
    (input, extra_tags): (ContactInput, &[u32]),
) -> Result<Contact, WriteError> {
    let now = tx.now();
    let mut tags = extra_tags.to_vec();
    let given = tag_numbers(tx, numbers, &input.tags)?;
    add_tags(tx, changes.project(), &mut tags, given)?;
    let status = input.status.unwrap_or(Status::Subscribed);
    let mut custom_fields = input.custom_fields;
    custom_fields.retain(|_, value| *value != FieldValue::Null);
    let contact = Contact {
        id: key.id,
        status,
        email: input.email.into_string(),
        first_name: non_empty(input.first_name),
        last_name: non_empty(input.last_name),
        phone: input.phone.map(Phone::into_string),
        country: input.country.map(|country| country.as_str().to_owned()),
        language: input.language.map(|language| language.as_str().to_owned()),
        tags,
        custom_fields,
        created_at: now,
        updated_at: now,
        unsubscribed_at: (status == Status::Unsubscribed).then_some(now),
    };
    changes.add(tx, &contact, key.digest);
    Ok(contact)
}

/// Reserves one number for a contact that is about to be created.
pub fn next_number(tx: &mut WriteTx<'_>, project: ProjectId) -> Result<u32, Error> {
    store::next_number(tx, project, Facet::NextContact, 1)
}

/// Returns the numbers of tags by name; unknown tags are created.
pub fn tag_numbers(tx: &mut WriteTx<'_>, numbers: &mut TagNumbers, names: &[TagName]) -> Result<Vec<u32>, WriteError> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    Ok(numbers.of(tx, names.iter().map(|name| &**name))?.map_err(tag_limit_reached)?)
}

/// Adds tags to a contact, up to the limit.
pub fn add_tags(
    tx: &impl Read,
    project: ProjectId,
    tags: &mut Vec<u32>,
    more: impl IntoIterator<Item = u32>,
) -> Result<(), WriteError> {
    for number in more {
        if !tags.contains(&number) {
            tags.push(number);
        }
    }
    if tags.len() <= limits::TAGS_PER_CONTACT_MAX {
        return Ok(());
    }
    // Numbers of deleted tags remain in contacts; drop them to free their places.
    let mut existing = Vec::with_capacity(tags.len());
    for number in tags.iter() {
        if by_number(tx, project, *number)?.is_some() {
            existing.push(*number);
        }
    }
    *tags = existing;
    if tags.len() > limits::TAGS_PER_CONTACT_MAX { Err(too_many_tags().into()) } else { Ok(()) }
}

/// The result of merging an input into an existing contact.
#[derive(Debug)]
pub struct MergeOutcome {
    /// The updated contact, if anything changed.
    pub changed: Option<Contact>,
    /// Why the status stayed the same, if another was requested.
    pub status_kept: Option<&'static str>,
}

/// Merges an input into the contact with its email: given values replace, tags are added (`extra_tags` too), custom fields are merged, and
/// the status changes as far as the table of transitions allows.
pub fn merge(
    tx: &mut WriteTx<'_>,
    changes: &mut Changes,
    numbers: &mut TagNumbers,
    before: &Contact,
    (input, extra_tags): (ContactInput, &[u32]),
) -> Result<MergeOutcome, WriteError> {
    let now = tx.now();
    let mut contact = before.clone();
    set(&mut contact.first_name, non_empty(input.first_name));
    set(&mut contact.last_name, non_empty(input.last_name));
    set(&mut contact.phone, input.phone.map(Phone::into_string));
    set(&mut contact.country, input.country.map(|country| country.as_str().to_owned()));
    set(&mut contact.language, input.language.map(|language| language.as_str().to_owned()));
    if !input.custom_fields.is_empty() {
        merge_fields(&mut contact.custom_fields, input.custom_fields);
        if let Some(reason) = fields::refusal(&contact.custom_fields) {
            return Err(FieldError::new("customFields", reason).into());
        }
    }
    // Last, because unknown tags are created: a refused row must leave none behind.
    let given = tag_numbers(tx, numbers, &input.tags)?;
    add_tags(tx, changes.project(), &mut contact.tags, extra_tags.iter().copied().chain(given))?;
    let status_kept = input.status.and_then(|status| before.status.keeps(status, ChangeOrigin::Incidental));
    if let Some(status) = input.status.filter(|_| status_kept.is_none()) {
        contact.set_status(status, now);
    }
    if !contact.differs(before) {
        return Ok(MergeOutcome { changed: None, status_kept });
    }
    contact.updated_at = now;
    changes.replace(tx, before, &contact);
    Ok(MergeOutcome { changed: Some(contact), status_kept })
}

fn set(current: &mut Option<String>, given: Option<String>) {
    if given.is_some() {
        *current = given;
    }
}
