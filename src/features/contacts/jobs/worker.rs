//! The worker for jobs: gives every open job a turn to do a limited amount of work. `features/connections` advances imports from platforms.

use super::{State, Task, bulk, change, export, find_open, finish, import, open_jobs};
use crate::engine::api::EnvironmentData;
use crate::engine::store::{Error, Result};
use crate::features::contact_records::email_index;
use crate::vocab::ids::{JobId, ProjectId};

/// The number of transactions in which one step merges runs into a project's email index. Such a step takes a second or two.
const MERGES_PER_STEP: usize = 64;

/// Runs one step of every open job, except imports from platforms, and one step of the pending merges of the email index. Returns whether
/// any work remains.
pub fn step(data: &EnvironmentData) -> Result<bool> {
    let mut more = false;
    for job in open_jobs(&data.store.read())? {
        let turn = match &job.task {
            Task::Bulk(bulk) => bulk::step(data, &job, bulk),
            Task::Import(import) => import::step(data, &job, import),
            Task::Export(export) => export::step(data, &job, export),
            Task::Change(change) => change::step(data, &job, change),
            Task::Provider(_) => Ok(false),
        };
        match turn {
            Ok(unfinished) => more |= unfinished,
            // The store failed and reports the failure itself. Leave the job open, so that it is retried.
            Err(
                error @ (Error::Io(_)
                | Error::Busy
                | Error::NoSpace
                | Error::Closed
                | Error::InUse(_)
                | Error::Newer { .. }
                | Error::NotLeader
                | Error::Cluster(_)
                | Error::CommitsLost(_)),
            ) => {
                return Err(error);
            }
            // The error would probably recur at every step. Stop the job, because otherwise it would block all other jobs.
            Err(error @ (Error::Panicked | Error::Damaged { .. })) => {
                tracing::error!(job = %job.id, %error, "a contacts job failed and has been stopped");
                give_up(data, job.id)?;
            }
        }
    }
    Ok(merge(data)? || more)
}

/// Merges the runs of the email index. Imports write these runs; while an import into a project is running, the project's runs are merged
/// only if there are many.
fn merge(data: &EnvironmentData) -> Result<bool> {
    let tx = data.store.read();
    let importing: Vec<ProjectId> = open_jobs(&tx)?
        .into_iter()
        .filter(|job| matches!(job.task, Task::Import(_) | Task::Provider(_)))
        .map(|job| job.project)
        .collect();
    let mut more = false;
    for project in email_index::projects_with_runs(&tx)? {
        let much = email_index::is_full(&tx, project)?;
        if !much && importing.contains(&project) {
            continue;
        }
        let mut has_runs = true;
        for _ in 0..MERGES_PER_STEP {
            has_runs = data.store.write_blocking(move |tx| email_index::merge(tx, project))??;
            if !has_runs {
                break;
            }
        }
        more |= has_runs;
    }
    Ok(more)
}

fn give_up(data: &EnvironmentData, id: JobId) -> Result<()> {
    let reason = "An internal error stopped this job. Ask the operator to search the server log for the job's ID. The counts show the \
                  rows processed before the error.";
    data.store.write_blocking(move |tx| match find_open(tx, id)? {
        Some(job) => finish(tx, job, State::Failed(reason.to_owned())),
        None => Ok(()),
    })?
}
