//! Previews an import from a platform: applies contacts in a transaction that is then rolled back.

use super::provider::{CheckedContacts, ReadContact, checked};
use crate::engine::store::{Error, Read, Result, WriteTx};
use crate::features::contact_records::{self, Contact};
use crate::features::contacts::batch::{self, Counts, OnConflict, RowNote};
use crate::features::contacts::webhook_events::Source;
use crate::vocab::contact_fields::ProfileField;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{AccountId, ProjectId};
use crate::vocab::limits;
use crate::vocab::providers::ConsentMode;

#[derive(Debug)]
pub struct Preview {
    pub counts: Counts,
    /// The number of contacts who never subscribed and would be left out.
    pub excluded: u64,
    /// The number of contacts who would be unsubscribed, or added as unsubscribed.
    pub unsubscribed: u64,
    /// The contacts that would be added or changed, followed by the others, up to [`limits::PROVIDER_PREVIEW_ROWS_MAX`] in total.
    pub rows: Vec<PreviewRow>,
    /// The first notes: why contacts would be rejected, or why values would be left out.
    pub notes: Vec<RowNote>,
}

#[derive(Debug)]
pub struct PreviewRow {
    pub email: String,
    pub is_new: bool,
    pub status: Status,
    /// The names of the fields that would change. For a new contact, the names of the fields that would be set.
    pub changes: Vec<String>,
}

/// The result of a preview, returned as an error so that the transaction is rolled back.
pub enum Dropped {
    Done(Box<Preview>),
    Failed(Error),
}

/// Applies the contacts and describes the changes. Always returns an error, so that the transaction is rolled back.
pub fn preview(
    tx: &mut WriteTx<'_>,
    place: (AccountId, ProjectId),
    contacts: Vec<ReadContact>,
    consent_mode: ConsentMode,
) -> std::result::Result<(), Dropped> {
    Err(described(tx, place, contacts, consent_mode).map_or_else(Dropped::Failed, |preview| Dropped::Done(Box::new(preview))))
}

fn described(
    tx: &mut WriteTx<'_>,
    place: (AccountId, ProjectId),
    contacts: Vec<ReadContact>,
    consent_mode: ConsentMode,
) -> Result<Preview> {
    let CheckedContacts { batch, failed, excluded, mut notes } = checked(contacts, 0, consent_mode);
    let mut emails: Vec<String> = batch.emails().map(|email| email.normalized()).collect();
    emails.sort_unstable();
    emails.dedup();
    let before = stored(tx, place.1, &emails)?;
    let outcome = batch::apply(tx, place, batch, (OnConflict::Upsert, &[]), Source::Api)?;
    let after = stored(tx, place.1, &emails)?;
    let mut preview = Preview { counts: outcome.counts, excluded, unsubscribed: 0, rows: Vec::new(), notes: Vec::new() };
    preview.counts.add(&Counts { total: failed, failed, ..Counts::default() });
    let mut unchanged = Vec::new();
    for (before, after) in before.into_iter().zip(after) {
        // A rejected contact that does not exist yet has no state to show.
        let Some(after) = after else { continue };
        let was_unsubscribed = before.as_ref().is_some_and(|before| before.status == Status::Unsubscribed);
        preview.unsubscribed += u64::from(after.status == Status::Unsubscribed && !was_unsubscribed);
        let row = PreviewRow {
            changes: changes(before.as_ref(), &after),
            is_new: before.is_none(),
            email: after.email,
            status: after.status,
        };
        let is_changed = row.is_new || !row.changes.is_empty();
        if is_changed { preview.rows.push(row) } else { unchanged.push(row) }
    }
    preview.rows.append(&mut unchanged);
    preview.rows.truncate(limits::PROVIDER_PREVIEW_ROWS_MAX);
    notes.extend(outcome.notes);
    notes.sort_by_key(|note| note.row);
    notes.truncate(limits::PROVIDER_PREVIEW_ROWS_MAX);
    preview.notes = notes;
    Ok(preview)
}

fn stored(tx: &impl Read, project: ProjectId, emails: &[String]) -> Result<Vec<Option<Contact>>> {
    emails.iter().map(|email| contact_records::find_by_email(tx, project, email)).collect()
}

/// Returns the names of the fields that differ between two states of a contact.
fn changes(before: Option<&Contact>, after: &Contact) -> Vec<String> {
    let mut names = Vec::new();
    if before.is_some_and(|before| before.status != after.status) {
        names.push("status".to_owned());
    }
    for field in ProfileField::ALL {
        if before.and_then(|before| before.profile.get(*field)) != after.profile.get(*field) {
            names.push(field.spec().key.to_owned());
        }
    }
    if before.map_or(&[][..], |before| &before.tags) != after.tags {
        names.push("tags".to_owned());
    }
    for (name, value) in &after.custom_fields {
        if before.and_then(|before| before.custom_fields.get(name)) != Some(value) {
            names.push(format!("customFields.{name}"));
        }
    }
    names
}
