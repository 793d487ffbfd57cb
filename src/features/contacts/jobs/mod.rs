//! Work on contacts that takes longer than a request: large bulk writes, imports, exports and bulk changes.
//!
//! A job is a row. The worker reads the row, does a limited amount of work, and records the progress in the same transaction. After a
//! crash, a job therefore resumes where it stopped, without repeating recorded work; an export starts over.

pub mod bulk;
pub mod change;
mod columns;
mod csv_writer;
mod export;
pub mod files;
mod formula_escape;
mod import;
pub(super) mod model;
pub mod pending_imports;
pub mod preview;
pub mod provider;
mod records;
#[cfg(test)]
mod tests;
mod worker;

pub use columns::{ColumnMap, Columns, tag_names};
pub use export::write_all as write_all_contacts;
pub use model::{
    Bulk, Change, ContactEdits, ContactQuery, Export, FieldMap, Import, Job, ProviderImport, ProviderSource, State, Task,
};
pub use records::{Encoding, Records, Sniffer, headers};
pub use worker::step;

pub use super::batch::{Counts, OnConflict, RowNote};
pub use super::store::jobs::{erase, find, notes, open_count, open_jobs, put_rows, recent};

use serde_json::json;

use super::store::jobs::{self as store, find_open, save};
use super::webhook_events::{self, BulkCounts};
use crate::engine::api::Failure;
use crate::engine::store::{Read, Result, WriteTx, blobs};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, JobId, ProjectId};
use crate::vocab::limits;

impl Import {
    /// Returns the share of the file that has been imported, from 0 to 1.
    pub fn progress(&self, tx: &impl Read) -> Result<f64> {
        let bytes = blobs::head(tx, self.file)?.map_or(0, |head| head.bytes);
        let share = if bytes == 0 { 0.0 } else { self.offset as f64 / bytes as f64 };
        Ok((share.min(1.0) * 1e3).round() / 1e3)
    }
}

/// Adds a job for the worker. Fails if the project already has the maximum number of open jobs.
pub fn open(tx: &mut WriteTx<'_>, account: AccountId, project: ProjectId, task: Task) -> Result<Job, Failure> {
    check_room(tx, project)?;
    let job = new(tx, account, project, task);
    save(tx, &job);
    Ok(job)
}

fn check_room(tx: &impl Read, project: ProjectId) -> Result<(), Failure> {
    let max = limits::JOBS_OPEN_PER_PROJECT_MAX;
    let waiting = open_jobs(tx)?.into_iter().filter(|job| job.project == project).count();
    if waiting < max {
        return Ok(());
    }
    let detail = format!(
        "{max} imports, exports and bulk changes for this brand are already in progress; wait until one of them has finished."
    );
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

/// Returns the job with this ID, if the job belongs to the account and, if a project is given, to the project.
pub fn of_account(tx: &impl Read, account: AccountId, id: JobId, project: Option<ProjectId>) -> Result<Job, Failure> {
    let belongs = |job: &Job| job.account == account && project.is_none_or(|project| job.project == project);
    let found = find(tx, id)?.filter(belongs);
    let detail = match project {
        Some(_) => "The brand has no job with this ID. Finished jobs are deleted 30 days after they end.",
        None => "The account has no job with this ID. Finished jobs are deleted 30 days after they end.",
    };
    found.ok_or_else(|| Failure::because(Code::NotFound, detail))
}

/// Stores notes on rows, up to the limit for one job.
fn add_notes(tx: &mut WriteTx<'_>, job: &mut Job, notes: Vec<RowNote>) {
    let room = limits::BULK_ERRORS_SHOWN_MAX - job.note_count as usize;
    for note in notes.into_iter().take(room) {
        store::put_note(tx, job.id, note);
        job.note_count += 1;
    }
}

/// Finishes a job. For an import or bulk write, also emits the webhook event; for an import, also releases the uploaded file.
fn finish(tx: &mut WriteTx<'_>, mut job: Job, state: State) -> Result<()> {
    let before = std::mem::replace(&mut job.state, state);
    job.completed_at = Some(tx.now());
    store::save_changed(tx, &before, &job);
    match &job.task {
        Task::Bulk(bulk) => {
            imported(tx, &job);
            // After a failure, the unprocessed rows are deleted, because they are no longer needed and contain personal data.
            store::delete_rows(tx, job.id, bulk.next..bulk.rows);
        }
        Task::Provider(_) => imported(tx, &job),
        Task::Import(import) => {
            imported(tx, &job);
            let now = tx.now();
            blobs::expire(tx, import.file, now)?;
        }
        // Emit no event: an export changes no contacts, and a change has already emitted its events.
        Task::Export(_) | Task::Change(_) => {}
    }
    Ok(())
}

/// Acknowledges a failed job, which then no longer needs attention.
pub fn acknowledge(tx: &mut WriteTx<'_>, mut job: Job) -> Result<Job, Failure> {
    job.state = match job.state {
        State::Failed(reason) => State::Acknowledged(reason),
        State::Acknowledged(_) => return Ok(job),
        _ => return Err(Failure::because(Code::WrongState, "Only a failed job can be acknowledged.")),
    };
    save(tx, &job);
    Ok(job)
}

/// Emits the event for a finished import or bulk write. A completed job always emits the event; a failed job emits it only if it changed
/// contacts.
fn imported(tx: &mut WriteTx<'_>, job: &Job) {
    if job.state == State::Completed || job.counts.created + job.counts.updated > 0 {
        webhook_events::bulk_imported(tx, (job.account, job.project), bulk_counts(&job.counts), Some(job.id));
    }
}

/// Returns the counts in the form that webhooks and the bulk operation use.
pub fn bulk_counts(counts: &Counts) -> BulkCounts {
    BulkCounts { success: counts.total - counts.failed, failed: counts.failed, updated: counts.updated }
}

/// Deletes one abandoned upload, one expired job, or a part of an expired job's rows; returns whether there may be more to delete.
pub fn forget(tx: &mut WriteTx<'_>) -> Result<bool> {
    if pending_imports::forget(tx)? {
        return Ok(true);
    }
    let Some(job) = store::expired(tx, tx.now())? else { return Ok(false) };
    if !store::forget_rows(tx, job.id, limits::JOB_STEP_CONTACTS)? {
        store::delete(tx, &job);
    }
    Ok(true)
}

/// Returns the failure for a request whose job is of a different kind than expected, with the job's ID in `data`.
pub fn wrong_kind(id: JobId) -> Failure {
    Failure::because(Code::NotFound, "This ID belongs to a different kind of job. GET /v1/contacts/jobs/{id} returns its kind.")
        .with(json!({ "jobId": id }))
}
