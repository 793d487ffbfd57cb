//! Rows of a bulk write: each row is parsed separately, so that an invalid row does not affect the others. Many rows are processed in
//! steps.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::import::{PROJECT_GONE, project_exists};
use super::{Bulk, Job, State, Task, add_notes, find_open, finish, save, store};
use crate::base::email::EmailAddress;
use crate::base::serde_str;
use crate::base::strict_objects::Objects;
use crate::engine::api::EnvironmentData;
use crate::engine::store::{Result, WriteTx};
use crate::features::contact_records::fields::{self, FieldValue};
use crate::features::contacts::batch::{self, Batch, Counts, OnConflict, RowNote};
use crate::features::contacts::webhook_events::Source;
use crate::features::contacts::write::ContactInput;
use crate::features::tags::TagName;
use crate::vocab::contact_fields::with_profile_fields;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{AccountId, JobId, ProjectId};
use crate::vocab::limits;

with_profile_fields! { given
/// One contact in a bulk write.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BulkRow {
    /// The contact's email, which is unique in the project, ignoring case. A new contact keeps this spelling, without surrounding spaces.
    pub email: EmailAddress,
} profile {
    /// Names of tags to add to the contact. Tags that do not exist are created.
    pub tags: Option<Vec<TagName>>,
    /// Custom fields to merge into the contact's existing custom fields.
    #[schemars(transform = fields::describe)]
    #[serde(default, deserialize_with = "fields::given")]
    pub custom_fields: Option<BTreeMap<String, FieldValue>>,
    /// The contact's status. If absent, a new contact is `subscribed`. An unsubscribed or bounced contact is not resubscribed.
    pub status: Option<Status>,
} }

impl From<BulkRow> for ContactInput {
    fn from(mut row: BulkRow) -> Self {
        Self {
            profile: row.take_profile(),
            email: row.email,
            tags: row.tags.unwrap_or_default(),
            custom_fields: row.custom_fields.unwrap_or_default(),
            status: row.status,
        }
    }
}

/// Parses the JSON of the row at position `index`.
pub fn read(json: &str, index: u32) -> Result<ContactInput, RowNote> {
    if let Some(what) = serde_str::other_than_object(json) {
        let error = format!(
            "row {index} (the first is 0) is {what}; send each contact as an object, like {{\"email\": \"ada@example.com\"}}"
        );
        return Err(RowNote { row: index, email: None, field: String::new(), error });
    }
    let mut reader = serde_json::Deserializer::from_str(json);
    let row: BulkRow = serde_path_to_error::deserialize(Objects(&mut reader)).map_err(|error| {
        let sentence = serde_str::plain(&error.inner().to_string());
        // For an unknown or missing field, only the error message contains the name, between backticks.
        let path = error.path().to_string();
        let named = sentence.split('`').nth(1).unwrap_or_default().to_owned();
        RowNote { row: index, email: email_of(json), field: if path == "." { named } else { path }, error: sentence }
    })?;
    let input = ContactInput::from(row);
    match input.check() {
        Ok(()) => Ok(input),
        Err(refusal) => Err(batch::note(index, input.email.as_str(), &refusal)),
    }
}

/// Returns the email of a row that is JSON but not a valid contact, truncated to the maximum length of an email address.
fn email_of(json: &str) -> Option<String> {
    let row: Value = serde_json::from_str(json).ok()?;
    let email = row.get("email")?.as_str()?;
    Some(email.chars().take(254).collect())
}

/// Parsed rows: a batch of the valid rows, and notes on the rows that were refused.
pub struct Rows {
    pub batch: Batch,
    pub failed: u64,
    pub notes: Vec<RowNote>,
}

/// Parses several rows. Each row comes with its number.
pub fn read_all<'j>(rows: impl IntoIterator<Item = (u32, &'j str)>) -> Rows {
    let (mut inputs, mut failed, mut notes) = (Vec::new(), 0, Vec::new());
    for (index, json) in rows {
        match read(json, index) {
            Ok(input) => inputs.push((index, input)),
            Err(note) => {
                failed += 1;
                if notes.len() < limits::BULK_ERRORS_SHOWN_MAX {
                    notes.push(note);
                }
            }
        }
    }
    Rows { batch: Batch::new(inputs), failed, notes }
}

/// Applies rows as a batch; returns the counts, and the notes in row order.
pub fn apply(tx: &mut WriteTx<'_>, place: (AccountId, ProjectId), rows: Rows, source: Source) -> Result<(Counts, Vec<RowNote>)> {
    let outcome = batch::apply(tx, place, rows.batch, (OnConflict::Upsert, &[]), source)?;
    let mut counts = Counts { total: rows.failed, failed: rows.failed, ..Counts::default() };
    counts.add(&outcome.counts);
    let mut notes = rows.notes;
    notes.extend(outcome.notes);
    notes.sort_by_key(|note| note.row);
    notes.truncate(limits::BULK_ERRORS_SHOWN_MAX);
    Ok((counts, notes))
}

/// Advances a bulk write by one step; returns whether rows remain.
pub fn step(data: &EnvironmentData, job: &Job, bulk: &Bulk) -> Result<bool> {
    step_by(data, job, bulk, limits::JOB_STEP_CONTACTS as u32)
}

/// Advances a bulk write by at most `limit` rows; returns whether rows remain.
pub(super) fn step_by(data: &EnvironmentData, job: &Job, bulk: &Bulk, limit: u32) -> Result<bool> {
    let end = bulk.next.saturating_add(limit).min(bulk.rows);
    let waiting = store::waiting_rows(&data.store.read(), job.id, bulk.next..end)?;
    let rows = read_all(waiting.iter().map(|(number, json)| (*number, json.as_str())));
    let (id, next) = (job.id, bulk.next);
    let flow = data.store.write_blocking(move |tx| commit(tx, id, next..end, rows))??;
    Ok(flow.is_continue())
}

fn commit(tx: &mut WriteTx<'_>, id: JobId, done: std::ops::Range<u32>, rows: Rows) -> Result<ControlFlow<()>> {
    let Some(mut job) = find_open(tx, id)? else { return Ok(ControlFlow::Break(())) };
    let Task::Bulk(bulk) = &mut job.task else { return Ok(ControlFlow::Break(())) };
    if bulk.next != done.start {
        return Ok(ControlFlow::Break(()));
    }
    bulk.next = done.end;
    let complete = bulk.next == bulk.rows;
    if !project_exists(tx, &job)? {
        store::delete_rows(tx, id, done);
        finish(tx, job, State::Failed(PROJECT_GONE.to_owned()))?;
        return Ok(ControlFlow::Break(()));
    }
    let (counts, notes) = apply(tx, (job.account, job.project), rows, Source::Api)?;
    job.counts.add(&counts);
    store::delete_rows(tx, id, done);
    add_notes(tx, &mut job, notes);
    if complete {
        finish(tx, job, State::Completed)?;
        return Ok(ControlFlow::Break(()));
    }
    job.state = State::Running;
    save(tx, &job);
    Ok(ControlFlow::Continue(()))
}
