//! Writes contacts. A single create, a bulk write, a file import and a customer event all use these functions.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::base::clock::Timestamp;
use crate::base::email::EmailAddress;
use crate::engine::api::Failure;
use crate::engine::store::{Error, Read, WriteTx};
use crate::features::contact_records::fields::{self, FieldValue};
use crate::features::contact_records::{ChangeOrigin, Changes, Contact, merge_fields};
use crate::features::contact_sets::{self, Facet};
use crate::features::tags::{TagLimitReached, TagName, TagNumbers, by_number};
use crate::vocab::codes::Code;
use crate::vocab::contact_fields::Profile;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{ContactId, ProjectId};
use crate::vocab::limits;

/// The fields given for a contact, each already checked. `None` means that the field was not given.
#[derive(Clone, Debug)]
pub struct ContactInput {
    pub email: EmailAddress,
    pub profile: Profile<String>,
    pub tags: Vec<TagName>,
    pub custom_fields: BTreeMap<String, FieldValue>,
    pub status: Option<Status>,
}

impl ContactInput {
    pub fn of(email: EmailAddress) -> Self {
        Self { email, profile: Profile::default(), tags: Vec::new(), custom_fields: BTreeMap::new(), status: None }
    }

    /// Checks the rules that the types cannot enforce: the number of tags, and the size and depth of custom fields.
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

/// Why an input was rejected, and the field at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    pub field: Cow<'static, str>,
    pub reason: String,
    code: Code,
}

impl FieldError {
    pub fn new(field: impl Into<Cow<'static, str>>, reason: impl ToString) -> Self {
        Self { field: field.into(), reason: reason.to_string(), code: Code::InvalidRequest }
    }
}

impl From<FieldError> for Failure {
    fn from(refusal: FieldError) -> Self {
        Self { code: refusal.code, ..Failure::field(&refusal.field, refusal.reason) }
    }
}

/// The error of a write: the input was refused, or the store failed.
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

pub fn too_many_tags() -> FieldError {
    FieldError::new("tags", format_args!("a contact can have at most {} tags; remove a tag", limits::TAGS_PER_CONTACT_MAX))
}

/// Returns the error for a new tag in a project that already has the maximum number of tags.
pub fn tag_limit_reached(_: TagLimitReached) -> FieldError {
    let reason = format!("a brand can have at most {} tags; delete a tag first", limits::TAGS_PER_PROJECT_MAX);
    FieldError { code: Code::LimitReached, ..FieldError::new("tags", reason) }
}

/// The ID and the email hash of a new contact.
pub struct NewContactKey {
    /// The contact's ID, which contains a number that was reserved for this contact.
    pub id: ContactId,
    /// The hash of the contact's email, which does not belong to any other contact.
    pub digest: [u8; 16],
    /// The times of a contact that keeps its ID when its brand is restored.
    pub times: Option<ContactTimes>,
}

impl NewContactKey {
    pub fn new(id: ContactId, digest: [u8; 16]) -> Self {
        Self { id, digest, times: None }
    }
}

/// When a contact was created, and when it unsubscribed, if it did.
#[derive(Clone, Copy, Debug)]
pub struct ContactTimes {
    pub created_at: Timestamp,
    pub unsubscribed_at: Option<Timestamp>,
}

/// Creates a contact, and adds the tags `extra_tags` to the tags in the input.
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
    let times = key.times.unwrap_or(ContactTimes { created_at: now, unsubscribed_at: None });
    let contact = Contact {
        id: key.id,
        status,
        email: input.email.into_string(),
        profile: input.profile,
        tags,
        custom_fields,
        created_at: times.created_at,
        updated_at: now,
        unsubscribed_at: (status == Status::Unsubscribed).then(|| times.unsubscribed_at.unwrap_or(now)),
    };
    changes.add(tx, &contact, key.digest);
    Ok(contact)
}

/// Reserves a number for a contact that is about to be created.
pub fn next_number(tx: &mut WriteTx<'_>, project: ProjectId) -> Result<u32, Error> {
    contact_sets::next_number(tx, project, Facet::NextContact, 1)
}

/// Returns the numbers of the tags with these names; creates tags that do not exist.
pub fn tag_numbers(tx: &mut WriteTx<'_>, numbers: &mut TagNumbers, names: &[TagName]) -> Result<Vec<u32>, WriteError> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    Ok(numbers.of(tx, names.iter().map(|name| &**name))?.map_err(tag_limit_reached)?)
}

/// Adds tags to a contact's tags; fails if the contact then has more tags than allowed.
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
    // Contacts keep the numbers of deleted tags. Remove these numbers, so that they do not count against the limit.
    let mut existing = Vec::with_capacity(tags.len());
    for number in tags.iter() {
        if by_number(tx, project, *number)?.is_some() {
            existing.push(*number);
        }
    }
    *tags = existing;
    if tags.len() > limits::TAGS_PER_CONTACT_MAX { Err(too_many_tags().into()) } else { Ok(()) }
}

#[derive(Debug)]
pub struct MergeOutcome {
    /// The updated contact, if anything changed.
    pub changed: Option<Contact>,
    /// Why the status was not changed, if a different status was requested.
    pub status_kept: Option<&'static str>,
}

/// Merges an input into the existing contact with the same email: given values replace existing values, tags are added (including
/// `extra_tags`), custom fields are merged, and the status changes if the table of transitions allows the change.
pub fn merge(
    tx: &mut WriteTx<'_>,
    changes: &mut Changes,
    numbers: &mut TagNumbers,
    before: &Contact,
    (input, extra_tags): (ContactInput, &[u32]),
) -> Result<MergeOutcome, WriteError> {
    let now = tx.now();
    let mut contact = before.clone();
    contact.profile.overlay(input.profile);
    if !input.custom_fields.is_empty() {
        merge_fields(&mut contact.custom_fields, input.custom_fields);
        if let Some(reason) = fields::refusal(&contact.custom_fields) {
            return Err(FieldError::new("customFields", reason).into());
        }
    }
    // Look up the tags after the checks above, because unknown tags are created and a row refused by these checks must not create any.
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
