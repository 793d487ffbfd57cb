//! Changes that a run makes to the row of its scheduled import.

use super::model::{Known, RunFailure, RunOutcome, Running, ScheduledImport, Work};
use super::store;
use crate::base::clock::Timestamp;
use crate::engine::api::Failure;
use crate::engine::store::{Store, WriteTx};
use crate::vocab::limits;

/// Changes a row as [`try_change`] does, in its own transaction.
pub async fn change(
    store: &Store,
    read: ScheduledImport,
    change: impl FnOnce(&mut ScheduledImport, Timestamp) + Send + 'static,
) -> Result<(), Failure> {
    store
        .write(move |tx| {
            try_change(tx, &read, |_, row, now| {
                change(row, now);
                Ok(())
            })
        })
        .await?
}

/// Changes a row in this transaction, unless the scheduled import was deleted or is no longer at the same step of the same run as when the
/// row was read.
pub fn try_change(
    tx: &mut WriteTx<'_>,
    read: &ScheduledImport,
    change: impl FnOnce(&mut WriteTx<'_>, &mut ScheduledImport, Timestamp) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some(before) = store::find(tx, read.account, read.id)? else { return Ok(()) };
    if !is_same_run(&before, read) {
        return Ok(());
    }
    let (mut after, now) = (before.clone(), tx.now());
    change(tx, &mut after, now)?;
    if let Some(decision) = decision(&before, &after) {
        tracing::debug!(import = %after.id, decision, failures = after.failures, "scheduled import");
    }
    store::save(tx, Some(&before), &after);
    Ok(())
}

/// Starts a run's import, unless the row has changed since it was read. The run fails if the import cannot start, for example because too
/// many jobs are open.
pub async fn begin(
    store: &Store,
    row: ScheduledImport,
    reads: Known,
    start: impl FnOnce(&mut WriteTx<'_>) -> Result<Work, Failure> + Send + 'static,
) -> Result<(), Failure> {
    let read = row.clone();
    let write = move |tx: &mut WriteTx<'_>| {
        try_change(tx, &read, |tx, row, now| {
            let work = start(tx)?;
            row.due_at = if let Work::Contacts(_) = work { now.plus_ms(limits::SCHEDULED_IMPORT_POLL_MS) } else { now };
            row.running = Some(Running { started_at: now, reads, work });
            Ok(())
        })
    };
    match store.write(write).await? {
        Err(failure) if failure.cause.is_none() => fail(store, row, RunFailure::new(failure.sentence())).await,
        started => started,
    }
}

pub async fn fail(store: &Store, row: ScheduledImport, failure: RunFailure) -> Result<(), Failure> {
    change(store, row, move |row, now| row.fail(failure, now)).await
}

/// Returns the word that the log uses for what happened in a run, such as `started` or `failed`; returns `None` if the run merely
/// continues.
fn decision(before: &ScheduledImport, after: &ScheduledImport) -> Option<&'static str> {
    if before.last_run == after.last_run {
        return (before.running.is_none() && after.running.is_some()).then_some("started");
    }
    after.last_run.as_ref().map(|run| match run.outcome {
        RunOutcome::Contacts { .. } | RunOutcome::Events(_) => "imported",
        RunOutcome::Unchanged => "unchanged",
        RunOutcome::Failed { .. } => "failed",
    })
}

/// Returns whether the stored row is still at the same step of the same run as the row that was read. Before the import starts, for example
/// while a file is fetched, any change to the row ends the step. During the import, the settings may change.
fn is_same_run(stored: &ScheduledImport, read: &ScheduledImport) -> bool {
    match (&stored.running, &read.running) {
        (Some(Running { work: Work::Contacts(stored), .. }), Some(Running { work: Work::Contacts(read), .. })) => stored == read,
        (Some(Running { work: Work::Events(stored), .. }), Some(Running { work: Work::Events(read), .. })) => {
            (stored.file, stored.offset) == (read.file, read.offset)
        }
        (None, None) => stored == read,
        _ => false,
    }
}
