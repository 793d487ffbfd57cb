//! Writes many contact inputs in one transaction: looks up existing contacts by sorted keys, reserves the numbers of new contacts together,
//! and merges the inputs in the given order.
//!
//! Bulk writes, imports, hooks, and copies and restores of brands use this file. It applies the rules in `write.rs` to many contacts
//! efficiently.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::webhook_events::{self, Source};
use super::write::{self, ContactInput, ContactTimes, NewContactKey, WriteError};
use crate::base::email::EmailAddress;
use crate::engine::store::{Error, Read, Result, WriteTx};
use crate::features::contact_records::{self, Changes, email_index};
use crate::features::contact_sets::{self, Facet};
use crate::features::tags::{TagName, TagNumbers};
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{AccountId, ContactId, ProjectId};
use crate::vocab::limits;
use crate::vocab::tables;

/// What to do with a contact that already exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnConflict {
    /// Update the contact with the given values.
    #[default]
    Upsert,
    /// Leave the contact unchanged.
    Skip,
}

/// The number of rows with each result. Each row is counted in `total` and in exactly one of the other counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub total: u64,
    pub created: u64,
    pub updated: u64,
    /// The number of rows that changed nothing, because existing contacts are skipped or the contact already matches the row.
    pub skipped: u64,
    pub failed: u64,
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.total += other.total;
        self.created += other.created;
        self.updated += other.updated;
        self.skipped += other.skipped;
        self.failed += other.failed;
    }
}

/// A message about one row: why the row was refused, why a value was left out, or why the contact's status was not changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowNote {
    /// The row's number in its source.
    pub row: u32,
    pub email: Option<String>,
    pub field: String,
    pub error: String,
}

/// Inputs for contacts of one project, prepared before the write transaction.
pub struct Batch {
    rows: Vec<(u32, ContactInput)>,
    /// The hashes of the emails in the batch, sorted and unique.
    digests: Vec<[u8; 16]>,
    /// For each row, the index of its hash in `digests`.
    slots: Vec<u32>,
    keeps_status: bool,
    only_known: bool,
    /// The IDs and times for new contacts, by row number. A new contact without an entry gets a new ID.
    ids: HashMap<u32, (ContactId, ContactTimes)>,
}

impl Batch {
    /// Creates a batch from rows in order, each with the row number that notes use.
    pub fn new(rows: Vec<(u32, ContactInput)>) -> Self {
        let of =
            |(index, (_, input)): (usize, &(u32, ContactInput))| (contact_records::email_digest_of(&input.email), index as u32);
        let mut found: Vec<([u8; 16], u32)> = rows.iter().enumerate().map(of).collect();
        found.sort_unstable();
        let (mut digests, mut slots) = (Vec::<[u8; 16]>::with_capacity(found.len()), vec![0; found.len()]);
        for (digest, index) in found {
            if digests.last() != Some(&digest) {
                digests.push(digest);
            }
            slots[index as usize] = digests.len() as u32 - 1;
        }
        Self { rows, digests, slots, keeps_status: false, only_known: false, ids: HashMap::new() }
    }

    /// Makes the batch write only the email and the status of a row, with a note, if the row's other fields are rejected. If the whole row
    /// were rejected, a contact who unsubscribed elsewhere would stay subscribed.
    pub fn keeping_status(self) -> Self {
        Self { keeps_status: true, ..self }
    }

    /// Makes the batch drop rows whose email does not belong to an existing contact. Dropped rows are not counted.
    pub fn only_known(self) -> Self {
        Self { only_known: true, ..self }
    }

    /// Sets the IDs and times for new contacts, by row number. The numbers in the IDs must already be reserved for these contacts.
    pub fn with_ids(self, ids: HashMap<u32, (ContactId, ContactTimes)>) -> Self {
        Self { ids, ..self }
    }

    /// Returns the emails in the order of the rows.
    pub fn emails(&self) -> impl Iterator<Item = &EmailAddress> {
        self.rows.iter().map(|(_, input)| &input.email)
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }
}

#[derive(Debug, Default)]
pub struct BatchOutcome {
    pub counts: Counts,
    /// The notes on rows, at most [`limits::BULK_ERRORS_SHOWN_MAX`].
    pub notes: Vec<RowNote>,
    /// The note on the first rejected row.
    pub first_failure: Option<RowNote>,
}

impl BatchOutcome {
    /// Returns a sentence about the rejected rows, worded for users; `None` if there are none. `done` is the word after "not", such as
    /// `copied`.
    pub fn failures(&self, done: &str) -> Option<String> {
        let count = match self.counts.failed {
            0 => return None,
            1 => "1 contact was".to_owned(),
            count => format!("{count} contacts were"),
        };
        let reason = self.first_failure.as_ref().map(|note| {
            let email = note.email.as_deref().unwrap_or_default();
            format!(" First error: {email}, {}: {}.", note.field, note.error.trim_end_matches('.'))
        });
        Some(format!("{count} not {done}.{}", reason.unwrap_or_default()))
    }

    fn note(&mut self, note: impl FnOnce() -> RowNote) {
        if self.notes.len() < limits::BULK_ERRORS_SHOWN_MAX {
            self.notes.push(note());
        }
    }
}

/// Applies a batch that comes from `source`. Adds the tags `extra_tags` to the contacts that it creates or merges. Emits a webhook event
/// for each existing contact that the batch unsubscribes.
pub fn apply(
    tx: &mut WriteTx<'_>,
    (account, project): (AccountId, ProjectId),
    batch: Batch,
    (on_conflict, extra_tags): (OnConflict, &[TagName]),
    source: Source,
) -> Result<BatchOutcome> {
    contact_records::change(tx, project, |tx, changes| {
        let mut numbers = TagNumbers::new(project);
        let mut outcome = BatchOutcome::default();
        let extra_tags = match write::tag_numbers(tx, &mut numbers, extra_tags) {
            Ok(extra_tags) => extra_tags,
            Err(WriteError::Store(error)) => return Err(error),
            Err(WriteError::Field(refusal)) => {
                for (row, input) in &batch.rows {
                    outcome.note(|| note(*row, input.email.as_str(), &refusal));
                }
                if !batch.keeps_status {
                    outcome.counts.failed = batch.len() as u64;
                    outcome.counts.total = outcome.counts.failed;
                    outcome.first_failure = outcome.notes.first().cloned();
                    return Ok(outcome);
                }
                Vec::new()
            }
        };
        let found = look_up(tx, project, &batch.digests)?;
        let keeps_status = batch.keeps_status;
        let mut writer = BatchWriter { account, project, source, on_conflict, keeps_status, extra_tags, numbers, found, outcome };
        writer.run(tx, changes, batch)?;
        Ok(writer.outcome)
    })
}

/// Returns, for each hash, the number of the contact with this email, if there is one. The hashes must be sorted, because the runs are
/// searched in order; neighboring hashes are then also read from the same page of the index.
fn look_up(tx: &WriteTx<'_>, project: ProjectId, digests: &[[u8; 16]]) -> Result<Vec<Option<u32>>> {
    if contact_sets::count(tx, project, Facet::All)? == 0 {
        return Ok(vec![None; digests.len()]);
    }
    email_index::find_all(tx, project, digests)
}

struct BatchWriter {
    account: AccountId,
    project: ProjectId,
    source: Source,
    on_conflict: OnConflict,
    keeps_status: bool,
    extra_tags: Vec<u32>,
    numbers: TagNumbers,
    /// For each hash in `digests`, the number of the contact with this email, if the contact exists.
    found: Vec<Option<u32>>,
    outcome: BatchOutcome,
}

impl BatchWriter {
    fn run(&mut self, tx: &mut WriteTx<'_>, changes: &mut Changes, batch: Batch) -> Result<()> {
        let first = contact_sets::next_number(tx, self.project, Facet::NextContact, 0)?;
        let mut next = first;
        // Fetch the random parts of all new IDs from the system in one call.
        let mut random = vec![0; batch.rows.len() * 4];
        tx.random().fill(&mut random);
        let mut random =
            random.chunks_exact(4).map(|bytes| <[u8; 4]>::try_from(bytes).expect("a chunk of four bytes has four bytes"));
        for ((row, input), slot) in batch.rows.into_iter().zip(batch.slots) {
            if batch.only_known && self.found[slot as usize].is_none() {
                continue;
            }
            self.outcome.counts.total += 1;
            match self.found[slot as usize] {
                Some(number) => self.update_existing(tx, changes, (row, number), input)?,
                None => {
                    let spare = random.next().expect("there is a random part for every row");
                    let digest = batch.digests[slot as usize];
                    if let Some((id, times)) = batch.ids.get(&row) {
                        let key = NewContactKey { id: *id, digest, times: Some(*times) };
                        if self.create_new(tx, changes, row, &key, input)? {
                            self.found[slot as usize] = Some(id.number());
                        }
                        continue;
                    }
                    let key = NewContactKey::new(ContactId::numbered_with(tx.now(), next, spare), digest);
                    if self.create_new(tx, changes, row, &key, input)? {
                        self.found[slot as usize] = Some(next);
                        next = next.checked_add(1).ok_or_else(|| {
                            Error::Io("the project has used up all four billion contact numbers; create a new project".into())
                        })?;
                    }
                }
            }
        }
        contact_sets::next_number(tx, self.project, Facet::NextContact, next - first).map(drop)
    }

    /// Handles a row with an email that no contact has yet; returns whether the row created a contact.
    fn create_new(
        &mut self,
        tx: &mut WriteTx<'_>,
        changes: &mut Changes,
        row: u32,
        key: &NewContactKey,
        input: ContactInput,
    ) -> Result<bool> {
        let (email, status) = (input.email.clone(), input.status);
        let created = self.write_or_keep_status(row, (input, &email, status), |numbers, (input, extra_tags)| {
            write::create(tx, changes, numbers, key, (input, extra_tags)).map(drop)
        })?;
        let counts = &mut self.outcome.counts;
        *(if created.is_some() { &mut counts.created } else { &mut counts.failed }) += 1;
        Ok(created.is_some())
    }

    /// Writes a row. If the row is rejected, notes the reason. If the batch keeps statuses, then writes only the email and the status, with
    /// the batch's tags or, if this is rejected too, without them.
    fn write_or_keep_status<T>(
        &mut self,
        row: u32,
        (input, email, status): (ContactInput, &EmailAddress, Option<Status>),
        mut write: impl FnMut(&mut TagNumbers, (ContactInput, &[u32])) -> std::result::Result<T, WriteError>,
    ) -> Result<Option<T>> {
        let numbers = &mut self.numbers;
        let written = input.check().map_err(WriteError::Field).and_then(|()| write(numbers, (input, &self.extra_tags)));
        let refusal = match written {
            Ok(written) => return Ok(Some(written)),
            Err(WriteError::Store(error)) => return Err(error),
            Err(WriteError::Field(refusal)) => refusal,
        };
        let refused = note(row, email.as_str(), &refusal);
        self.outcome.note(|| refused.clone());
        if self.keeps_status {
            for extra_tags in [self.extra_tags.as_slice(), &[]] {
                let input = ContactInput { status, ..ContactInput::of(email.clone()) };
                match write(numbers, (input, extra_tags)) {
                    Ok(written) => return Ok(Some(written)),
                    Err(WriteError::Store(error)) => return Err(error),
                    Err(WriteError::Field(_)) => {}
                }
            }
        }
        self.outcome.first_failure.get_or_insert(refused);
        Ok(None)
    }

    /// Handles a row whose contact already exists, either from before the batch or from an earlier row.
    fn update_existing(
        &mut self,
        tx: &mut WriteTx<'_>,
        changes: &mut Changes,
        (row, number): (u32, u32),
        input: ContactInput,
    ) -> Result<()> {
        if self.on_conflict == OnConflict::Skip {
            self.outcome.counts.skipped += 1;
            return Ok(());
        }
        let before = contact_records::by_number(tx, self.project, number)?;
        let before = before.ok_or_else(|| tx.corrupt(tables::CONTACTS_BY_EMAIL))?;
        let (email, status) = (input.email.clone(), input.status);
        let merged = self.write_or_keep_status(row, (input, &email, status), |numbers, (input, extra_tags)| {
            write::merge(tx, changes, numbers, &before, (input, extra_tags))
        })?;
        let counts = &mut self.outcome.counts;
        let Some(merged) = merged else {
            counts.failed += 1;
            return Ok(());
        };
        if let Some(after) = &merged.changed {
            webhook_events::status_changed(tx, (self.account, self.project), self.source, &before, after);
        }
        *(if merged.changed.is_some() { &mut counts.updated } else { &mut counts.skipped }) += 1;
        if let Some(reason) = merged.status_kept {
            let email = Some(email.as_str().to_owned());
            self.outcome.note(|| RowNote { row, email, field: "status".into(), error: reason.into() });
        }
        Ok(())
    }
}

pub fn note(row: u32, email: &str, refusal: &write::FieldError) -> RowNote {
    let email = (!email.is_empty()).then(|| email.to_owned());
    RowNote { row, email, field: refusal.field.to_string(), error: refusal.reason.clone() }
}
