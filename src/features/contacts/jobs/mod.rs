//! Work on contacts that outlives its request: large bulk writes, file imports, exports and bulk changes.
//!
//! A job is a row. The worker reads the row, does a bounded amount of work, and records the progress in the same transaction; after a
//! crash, a job therefore resumes exactly where it was, and nothing is done twice. A job stores only the account and the project of its
//! caller: it acts for them, with the rules of any other write.
//!
//! Open and finished jobs are separate in one table. The worker finds open jobs without scanning finished ones, and finished jobs, whose
//! ids start with their creation time, are deleted from the front.

pub mod bulk;
pub mod change;
mod columns;
mod csv_writer;
mod export;
mod formula_escape;
mod import;
pub mod pending_imports;
mod records;
#[cfg(test)]
mod tests;
mod worker;

pub use columns::{ColumnMap, Columns, tag_names};
#[cfg(any(test, fuzzing))]
pub use records::Records;
pub use records::{Encoding, Sniffer, headers};
pub use worker::step;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::batch::{Counts, OnConflict, RowNote};
use super::model::Status;
use super::webhook_events::{self, BulkCounts};
use crate::base::clock::Timestamp;
use crate::engine::api::Failure;
use crate::engine::store::key::{Key, after_prefix};
use crate::engine::store::{Order, Read, Record, Result, Span, Table, WriteTx, blobs};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, BlobId, JobId, ProjectId};
use crate::vocab::{limits, tables};

/// Open jobs first, then finished ones; each in order of creation.
const JOBS: Table<(u8, JobId), Job> = Table::new(tables::CONTACT_JOBS);
const OPEN: u8 = 0;
const FINISHED: u8 = 1;
/// Uploaded files whose import has not started.
const AWAITING_MAPPING: u8 = 2;
/// Keyed by job and row.
const ROWS: Table<(JobId, u32), JobRow> = Table::new(tables::CONTACT_JOB_ROWS);

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub id: JobId,
    pub account: AccountId,
    pub project: ProjectId,
    pub state: State,
    pub counts: Counts,
    /// The number of [`JobRow::Note`] rows so far.
    pub note_count: u32,
    pub created_at: Timestamp,
    pub completed_at: Option<Timestamp>,
    pub task: Task,
}

impl Record for Job {}

/// Returns the number of open jobs, counting up to `limit`.
pub fn open_count(tx: &impl Read, limit: usize) -> Result<usize> {
    Ok(tx.list(JOBS, &JOBS.under(&(OPEN,)), Order::Forward, limit)?.len())
}

/// The state of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    Waiting,
    Running,
    Completed,
    /// The reason, in words that a user can act on.
    Failed(String),
    /// A file whose import waits for a user to start it.
    AwaitingMapping,
    /// The job failed, and a user has acknowledged it.
    Acknowledged(String),
}

impl State {
    /// The wire name.
    pub fn word(&self) -> &'static str {
        match self {
            State::Waiting => "pending",
            State::Running => "processing",
            State::Completed => "completed",
            State::Failed(_) | State::Acknowledged(_) => "failed",
            State::AwaitingMapping => "uploaded",
        }
    }

    /// Why the job failed.
    pub fn reason(&self) -> Option<String> {
        if let State::Failed(reason) | State::Acknowledged(reason) = self { Some(reason.clone()) } else { None }
    }
}

/// What a job does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Task {
    Bulk(Bulk),
    Import(Import),
    Export(Export),
    Change(Change),
}

/// The rows of one request, stored as [`JobRow::Waiting`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bulk {
    pub rows: u32,
    /// The first row that is not done.
    pub next: u32,
}

/// A file with one row for each contact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    pub file: BlobId,
    pub encoding: Encoding,
    pub delimiter: u8,
    pub columns: Columns,
    pub on_conflict: OnConflict,
    /// Tags added to every contact of the file.
    pub tags: Vec<String>,
    /// The status of contacts whose row has none.
    pub status: Option<Status>,
    /// The offset of the first byte that is not done.
    pub offset: u64,
    /// The number of the last row that is done; the headers are row 1.
    pub row: u32,
}

impl Import {
    /// The share of the file that is done, from 0 to 1.
    pub fn progress(&self, tx: &impl Read) -> Result<f64> {
        let bytes = blobs::head(tx, self.file)?.map_or(0, |head| head.bytes);
        let share = if bytes == 0 { 0.0 } else { self.offset as f64 / bytes as f64 };
        Ok((share.min(1.0) * 1e3).round() / 1e3)
    }
}

/// Contacts to write to a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Export {
    /// The contacts to export, as requested.
    pub query: export::ContactQuery,
    pub file_name: String,
    /// The finished file.
    pub file: Option<BlobId>,
}

pub use change::{Change, ContactEdits};
pub use export::ContactQuery;

/// A row of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobRow {
    /// Not done: a contact as JSON.
    Waiting(String),
    /// Done, with a note to report.
    Note(RowNote),
}

impl Record for JobRow {}

/// Adds a job. Fails if the project has the maximum number of open jobs.
pub fn open(tx: &mut WriteTx<'_>, account: AccountId, project: ProjectId, task: Task) -> Result<Job, Failure> {
    check_room(tx, project)?;
    let job = new(tx, account, project, task);
    tx.put(JOBS, &(OPEN, job.id), &job);
    Ok(job)
}

fn check_room(tx: &impl Read, project: ProjectId) -> Result<(), Failure> {
    let max = limits::JOBS_OPEN_PER_PROJECT_MAX;
    let waiting = open_jobs(tx)?.into_iter().filter(|job| job.project == project).count();
    if waiting < max {
        return Ok(());
    }
    let detail =
        format!("The project already has {max} imports and exports in progress; start this one when one of them is done.");
    Err(Failure::because(Code::LimitReached, detail))
}

fn new(tx: &mut WriteTx<'_>, account: AccountId, project: ProjectId, task: Task) -> Job {
    Job {
        id: JobId::make(tx.now(), tx.random()),
        account,
        project,
        state: State::Waiting,
        counts: Counts::default(),
        note_count: 0,
        created_at: tx.now(),
        completed_at: None,
        task,
    }
}

/// Returns up to `limit` newest jobs of an account or of one of its projects, in any state. If the installation has very many jobs, only
/// the newest are searched.
pub fn recent(tx: &impl Read, account: AccountId, project: Option<ProjectId>, limit: usize) -> Result<Vec<Job>> {
    let mut found = Vec::new();
    for stage in [OPEN, AWAITING_MAPPING, FINISHED] {
        let mut scanned = 0;
        tx.visit(JOBS, &JOBS.under(&(stage,)), Order::Backward, |_, job| {
            scanned += 1;
            if job.account == account && project.is_none_or(|project| job.project == project) {
                found.push(job);
            }
            let enough = scanned == limits::JOBS_SCANNED_MAX || found.len() >= 3 * limit;
            Ok(if enough { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) })
        })?;
    }
    // Ids are only accurate to the second.
    found.sort_by_key(|job| std::cmp::Reverse((job.created_at, job.id)));
    found.truncate(limit);
    Ok(found)
}

/// Returns every open job, oldest first.
pub fn open_jobs(tx: &impl Read) -> Result<Vec<Job>> {
    Ok(tx.list(JOBS, &JOBS.under(&(OPEN,)), Order::Forward, usize::MAX)?.into_iter().map(|(_, job)| job).collect())
}

/// Returns the open job with this id.
fn find_open(tx: &impl Read, id: JobId) -> Result<Option<Job>> {
    tx.get(JOBS, &(OPEN, id))
}

/// Returns the job with this id, open or finished.
pub fn find(tx: &impl Read, id: JobId) -> Result<Option<Job>> {
    match find_open(tx, id)? {
        Some(job) => Ok(Some(job)),
        None => match tx.get(JOBS, &(FINISHED, id))? {
            Some(job) => Ok(Some(job)),
            None => tx.get(JOBS, &(AWAITING_MAPPING, id)),
        },
    }
}

/// Returns the job with this id, if it belongs to this account, and to this project if one is given.
pub fn of_account(tx: &impl Read, account: AccountId, id: JobId, project: Option<ProjectId>) -> Result<Job, Failure> {
    let belongs = |job: &Job| job.account == account && project.is_none_or(|project| job.project == project);
    let found = find(tx, id)?.filter(belongs);
    found.ok_or_else(|| Failure::because(Code::NotFound, "There is no such job, or it finished long ago and was deleted."))
}

/// Clears the notes of rows with this email, starting after the key `after` and checking up to `limit` rows; returns whether there may be
/// more, with `after` set to the last key checked.
pub fn erase(tx: &mut WriteTx<'_>, after: &mut Vec<u8>, limit: usize, email: &str) -> Result<bool> {
    let span = Span { from: after_prefix(after).filter(|_| !after.is_empty()).unwrap_or_default(), to: None };
    let rows = tx.list(ROWS, &span, Order::Forward, limit)?;
    for (place, line) in &rows {
        if let JobRow::Note(note) = line
            && note.email.as_deref().is_some_and(|noted| noted.eq_ignore_ascii_case(email))
        {
            tx.put(ROWS, place, &JobRow::Note(RowNote { email: None, ..note.clone() }));
        }
    }
    if let Some((last, _)) = rows.last() {
        *after = last.to_bytes();
    }
    Ok(rows.len() == limit)
}

/// Returns at most `limit` notes after the first `offset`, in row order.
pub fn notes(tx: &impl Read, id: JobId, offset: usize, limit: usize) -> Result<Vec<RowNote>> {
    let mut notes = Vec::new();
    let mut skipped = 0;
    tx.visit(ROWS, &ROWS.under(&(id,)), Order::Forward, |_, line| {
        if let JobRow::Note(note) = line {
            if skipped < offset {
                skipped += 1;
            } else {
                notes.push(note);
            }
        }
        let enough = notes.len() >= limit;
        Ok(if enough { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) })
    })?;
    Ok(notes)
}

/// Stores notes, up to the limit.
fn add_notes(tx: &mut WriteTx<'_>, job: &mut Job, notes: Vec<RowNote>) {
    let room = limits::BULK_ERRORS_SHOWN_MAX - job.note_count as usize;
    for note in notes.into_iter().take(room) {
        tx.put(ROWS, &(job.id, note.row), &JobRow::Note(note.clone()));
        job.note_count += 1;
    }
}

/// Saves an open job.
fn save(tx: &mut WriteTx<'_>, job: &Job) {
    tx.put(JOBS, &(OPEN, job.id), job);
}

/// Finishes a job: emits the webhook event about its changes and releases its file.
fn finish(tx: &mut WriteTx<'_>, mut job: Job, state: State) -> Result<()> {
    job.state = state;
    job.completed_at = Some(tx.now());
    tx.delete(JOBS, &(OPEN, job.id));
    tx.put(JOBS, &(FINISHED, job.id), &job);
    match &job.task {
        Task::Bulk(_) => imported(tx, &job),
        Task::Import(import) => {
            imported(tx, &job);
            let now = tx.now();
            blobs::expire(tx, import.file, now)?;
        }
        // Webhooks got an event for each changed contact when it was changed.
        Task::Export(_) | Task::Change(_) => {}
    }
    Ok(())
}

/// Acknowledges that a job failed; it no longer needs attention.
pub fn acknowledge(tx: &mut WriteTx<'_>, mut job: Job) -> Result<Job, Failure> {
    job.state = match job.state {
        State::Failed(reason) => State::Acknowledged(reason),
        State::Acknowledged(_) => return Ok(job),
        _ => return Err(Failure::because(Code::WrongState, "Only a failed job can be acknowledged.")),
    };
    tx.put(JOBS, &(FINISHED, job.id), &job);
    Ok(job)
}

/// Emits the bulk-import event. A completed job always emits it; a failed one only if it changed something.
fn imported(tx: &mut WriteTx<'_>, job: &Job) {
    if job.state == State::Completed || job.counts.created + job.counts.updated > 0 {
        webhook_events::bulk_imported(tx, (job.account, job.project), bulk_counts(&job.counts), Some(job.id));
    }
}

/// Returns the counts as webhooks and the bulk operation report them.
pub fn bulk_counts(counts: &Counts) -> BulkCounts {
    BulkCounts { success: counts.total - counts.failed, failed: counts.failed, updated: counts.updated }
}

/// Stores the rows of a bulk write.
pub fn put_rows(tx: &mut WriteTx<'_>, id: JobId, rows: Vec<String>) {
    for (number, row) in rows.into_iter().enumerate() {
        tx.put(ROWS, &(id, number as u32), &JobRow::Waiting(row));
    }
}

/// Deletes a bounded number of old finished jobs; returns whether there may be more.
pub fn forget(tx: &mut WriteTx<'_>) -> Result<bool> {
    if pending_imports::forget(tx)? {
        return Ok(true);
    }
    let oldest = tx.list(JOBS, &JOBS.under(&(FINISHED,)), Order::Forward, 1)?;
    let Some((key, job)) = oldest.into_iter().next() else { return Ok(false) };
    if tx.now().ms_since(job.created_at) < limits::JOB_RETENTION_MS {
        return Ok(false);
    }
    if tx.delete_span(ROWS, &ROWS.under(&(job.id,)), limits::JOB_STEP_CONTACTS)? < limits::JOB_STEP_CONTACTS {
        tx.delete(JOBS, &key);
    }
    Ok(true)
}

/// The failure for a job of another kind, with its id in `data`.
pub fn wrong_kind(id: JobId) -> Failure {
    Failure::because(Code::NotFound, "There is no such job of this kind.").with(json!({ "jobId": id }))
}
