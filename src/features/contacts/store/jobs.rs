//! The tables of jobs and their rows, and all access to them.
//!
//! One table holds open and finished jobs under separate key prefixes, so that the worker finds open jobs without scanning finished jobs.
//! Job IDs start with the creation time, so the jobs that expire first come first among the finished jobs.

use std::ops::{ControlFlow, Range};

use crate::base::clock::Timestamp;
use crate::engine::store::key::{Key, after_prefix};
use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::features::contacts::batch::RowNote;
use crate::features::contacts::jobs::model::{Job, JobRow, State};
use crate::vocab::ids::{AccountId, JobId, ProjectId};
use crate::vocab::{limits, tables};

/// All jobs: first open jobs, then finished jobs, then jobs whose uploaded file has yet to be mapped, each group in order of creation.
const JOBS: Table<(u8, JobId), Job> = Table::new(tables::CONTACT_JOBS);
const OPEN: u8 = 0;
const FINISHED: u8 = 1;
/// The key prefix for jobs whose uploaded file has yet to be mapped.
const AWAITING_MAPPING: u8 = 2;
/// The rows of jobs, keyed by the job's ID and the row's number.
const ROWS: Table<(JobId, u32), JobRow> = Table::new(tables::CONTACT_JOB_ROWS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(JOBS), RowCheck::of(ROWS)];

/// Returns the number of open jobs, counting at most `limit`.
pub fn open_count(tx: &impl Read, limit: usize) -> Result<usize> {
    Ok(tx.list(JOBS, &JOBS.under(&(OPEN,)), Order::Forward, limit)?.len())
}

/// Returns up to `limit` of the newest jobs in an account or in one of its projects, in any state. If the installation has very many jobs,
/// searches only the newest.
pub fn recent(tx: &impl Read, account: AccountId, project: Option<ProjectId>, limit: usize) -> Result<Vec<Job>> {
    let mut found = Vec::new();
    for stage in [OPEN, AWAITING_MAPPING, FINISHED] {
        let (mut scanned, earlier) = (0, found.len());
        tx.visit(JOBS, &JOBS.under(&(stage,)), Order::Backward, |_, job| {
            scanned += 1;
            if job.account == account && project.is_none_or(|project| job.project == project) {
                found.push(job);
            }
            // Collect more than `limit` jobs, because IDs within the same second are not in order of creation.
            let enough = scanned == limits::JOBS_SCANNED_MAX || found.len() >= earlier + 3 * limit;
            Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
    }
    // Sort by creation time, because IDs are accurate only to the second.
    found.sort_by_key(|job| std::cmp::Reverse((job.created_at, job.id)));
    found.truncate(limit);
    Ok(found)
}

/// Returns every open job, in order of creation.
pub fn open_jobs(tx: &impl Read) -> Result<Vec<Job>> {
    Ok(tx.list(JOBS, &JOBS.under(&(OPEN,)), Order::Forward, usize::MAX)?.into_iter().map(|(_, job)| job).collect())
}

pub fn find_open(tx: &impl Read, id: JobId) -> Result<Option<Job>> {
    tx.get(JOBS, &(OPEN, id))
}

/// Returns the job with this ID, in any state.
pub fn find(tx: &impl Read, id: JobId) -> Result<Option<Job>> {
    match find_open(tx, id)? {
        Some(job) => Ok(Some(job)),
        None => match tx.get(JOBS, &(FINISHED, id))? {
            Some(job) => Ok(Some(job)),
            None => tx.get(JOBS, &(AWAITING_MAPPING, id)),
        },
    }
}

/// Returns a finished job whose retention period has ended, if there is one.
pub fn expired(tx: &impl Read, now: Timestamp) -> Result<Option<Job>> {
    let is_old = |at: Timestamp| now.ms_since(at) >= limits::JOB_RETENTION_MS;
    let mut expired = None;
    tx.visit(JOBS, &JOBS.under(&(FINISHED,)), Order::Forward, |_, job| {
        // Jobs are in order of creation, and no job ends before its creation, so the scan stops at the first job that was created too
        // recently to have expired.
        let may_follow = is_old(job.created_at);
        if may_follow && is_old(job.completed_at.unwrap_or(job.created_at)) {
            expired = Some(job);
        }
        Ok(if may_follow && expired.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(expired)
}

/// Returns every job whose file has yet to be mapped, oldest first.
pub fn awaiting_mapping(tx: &impl Read) -> Result<Vec<Job>> {
    let rows = tx.list(JOBS, &JOBS.under(&(AWAITING_MAPPING,)), Order::Forward, usize::MAX)?;
    Ok(rows.into_iter().map(|(_, job)| job).collect())
}

/// Returns the oldest job whose file has yet to be mapped.
pub fn oldest_awaiting_mapping(tx: &impl Read) -> Result<Option<Job>> {
    Ok(tx.list(JOBS, &JOBS.under(&(AWAITING_MAPPING,)), Order::Forward, 1)?.pop().map(|(_, job)| job))
}

/// Saves a job under the key for its state.
pub fn save(tx: &mut WriteTx<'_>, job: &Job) {
    tx.put(JOBS, &(stage(&job.state), job.id), job);
}

/// Saves a changed job under the key for its state. If the key for its previous state `before` is different, deletes the row under that
/// key.
pub fn save_changed(tx: &mut WriteTx<'_>, before: &State, job: &Job) {
    if stage(before) != stage(&job.state) {
        tx.delete(JOBS, &(stage(before), job.id));
    }
    save(tx, job);
}

/// Deletes a job but not its rows.
pub fn delete(tx: &mut WriteTx<'_>, job: &Job) {
    tx.delete(JOBS, &(stage(&job.state), job.id));
}

fn stage(state: &State) -> u8 {
    match state {
        State::Waiting | State::Running => OPEN,
        State::Completed | State::Failed(_) | State::Acknowledged(_) => FINISHED,
        State::AwaitingMapping => AWAITING_MAPPING,
    }
}

/// Returns a bulk write's unprocessed rows in this range, as JSON.
pub fn waiting_rows(tx: &impl Read, id: JobId, rows: Range<u32>) -> Result<Vec<(u32, String)>> {
    let span = Span { from: (id, rows.start).to_bytes(), to: Some((id, rows.end).to_bytes()) };
    let mut waiting = Vec::new();
    tx.visit(ROWS, &span, Order::Forward, |(_, number), line| {
        if let JobRow::Waiting(json) = line {
            waiting.push((number, json));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(waiting)
}

pub fn put_rows(tx: &mut WriteTx<'_>, id: JobId, rows: Vec<String>) {
    for (number, row) in rows.into_iter().enumerate() {
        tx.put(ROWS, &(id, number as u32), &JobRow::Waiting(row));
    }
}

pub fn delete_rows(tx: &mut WriteTx<'_>, id: JobId, rows: Range<u32>) {
    for number in rows {
        tx.delete(ROWS, &(id, number));
    }
}

/// Deletes up to `limit` rows of a job; returns whether there may be more.
pub fn forget_rows(tx: &mut WriteTx<'_>, id: JobId, limit: usize) -> Result<bool> {
    Ok(tx.delete_span(ROWS, &ROWS.under(&(id,)), limit)? == limit)
}

/// Stores a note in place of the row that it refers to.
pub fn put_note(tx: &mut WriteTx<'_>, id: JobId, note: RowNote) {
    tx.put(ROWS, &(id, note.row), &JobRow::Note(note));
}

/// Removes `email` from the notes of all jobs. Starts after the key `after`, checks up to `limit` rows, and sets `after` to the last key
/// checked; returns whether there may be more rows.
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

/// Returns up to `limit` notes on a job, in row order, after skipping `offset` notes.
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
        Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::store::Error;
    use crate::features::contacts::batch::Counts;
    use crate::features::contacts::jobs::model::{Bulk, Task};
    use crate::testing::{START, TestApp};

    // Regression test: open jobs hid newer finished jobs, because they used up the limit that applied to all states together.
    #[test]
    fn the_newest_jobs_are_listed_whatever_their_state() {
        let app = TestApp::new();
        let (account, project) = (app.account(), app.project);
        let job = move |second: u8, state: State| Job {
            id: JobId::from_bytes([second; 12]),
            account,
            project,
            state,
            counts: Counts::default(),
            note_count: 0,
            created_at: START.plus_ms(i64::from(second) * 1_000),
            completed_at: None,
            task: Task::Bulk(Bulk { rows: 1, next: 0 }),
        };
        let save_all = move |tx: &mut WriteTx<'_>| {
            for second in 1..=6 {
                save(tx, &job(second, State::Waiting));
            }
            save(tx, &job(7, State::Completed));
            save(tx, &job(8, State::Completed));
            Ok::<_, Error>(())
        };
        app.data().store.write_blocking(save_all).expect("the store works").expect("the write succeeds");
        let listed = |limit: usize| -> Vec<u8> {
            let found = recent(&app.read(), account, Some(project), limit).expect("the store is readable");
            found.into_iter().map(|job| job.id.0[0]).collect()
        };
        assert_eq!(listed(2), [8, 7]);
        assert_eq!(listed(4), [8, 7, 6, 5]);
    }
}
