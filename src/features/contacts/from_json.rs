//! Adds or updates a contact from the JSON of another system, by the same rules as for rows of a bulk write.

use super::batch::{self, Batch, OnConflict};
use super::jobs::bulk;
use super::webhook_events::Source;
use super::write::{ContactInput, FieldError};
use crate::engine::store::{Result, WriteTx};
use crate::features::contact_records;
use crate::features::contact_records::fields::FieldValue;
use crate::features::tags::TagName;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{AccountId, ProjectId};

/// The custom field that contains the origin of a contact's consent.
const CONSENT_SOURCE: &str = "consentSource";

/// The settings for adding or updating contacts that another system sends.
#[derive(Clone, Copy, Debug)]
pub struct UpsertSettings<'a> {
    pub tags: &'a [TagName],
    /// Where the contacts gave their consent to marketing email; `None` if they gave none. Without consent, a new contact is
    /// non-subscribed, and an existing contact keeps its status.
    pub consent_source: Option<&'a str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upserted {
    Created,
    Updated,
    /// The contact already had these values.
    Unchanged,
}

fn read(json: &str) -> std::result::Result<ContactInput, FieldError> {
    bulk::read(json, 0).map_err(|note| FieldError::new(note.field, note.error))
}

/// Checks the contact in `json`, except for rules that need stored data.
pub fn check_json(json: &str) -> std::result::Result<(), FieldError> {
    read(json).map(drop)
}

/// Adds or updates the contact in `json`. Returns the reason if the contact is refused. A contact who unsubscribed or bounced keeps that
/// status.
pub fn upsert_json(
    tx: &mut WriteTx<'_>,
    (account, project): (AccountId, ProjectId),
    json: &str,
    settings: UpsertSettings<'_>,
) -> Result<std::result::Result<Upserted, FieldError>> {
    let mut input = match read(json) {
        Ok(input) => input,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if let Some(source) = settings.consent_source {
        input.custom_fields.entry(CONSENT_SOURCE.into()).or_insert_with(|| FieldValue::Text(source.into()));
        if let Err(refusal) = input.check() {
            return Ok(Err(refusal));
        }
        input.status = Some(Status::Subscribed);
    } else if contact_records::find_by_email(tx, project, &input.email.normalized())?.is_none() {
        input.status = Some(Status::NonSubscribed);
    }
    let how = (OnConflict::Upsert, settings.tags);
    let outcome = batch::apply(tx, (account, project), Batch::new(vec![(0, input)]), how, Source::Api)?;
    if outcome.counts.failed > 0 {
        let note = outcome.notes.into_iter().next().expect("the first refused row has a note");
        return Ok(Err(FieldError::new(note.field, note.error)));
    }
    Ok(Ok(match outcome.counts {
        counts if counts.created > 0 => Upserted::Created,
        counts if counts.updated > 0 => Upserted::Updated,
        _ => Upserted::Unchanged,
    }))
}
