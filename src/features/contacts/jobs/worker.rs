//! The worker: gives every open job a turn, a bounded amount each time.

use super::{State, Task, bulk, change, export, find_open, finish, import, open_jobs};
use crate::engine::api::EnvironmentData;
use crate::engine::store::{Error, Result};
use crate::features::contacts::email_index;
use crate::vocab::ids::{JobId, ProjectId};

/// Slices of the index of emails merged in one step: a second or two.
const MERGES_PER_STEP: usize = 64;

/// Give every open job one turn; true if there is more to do.
pub fn step(data: &EnvironmentData) -> Result<bool> {
    let mut more = false;
    for job in open_jobs(&data.store.read())? {
        let turn = match &job.task {
            Task::Bulk(bulk) => bulk::step(data, &job, bulk),
            Task::Import(import) => import::step(data, &job, import),
            Task::Export(export) => export::step(data, &job, export),
            Task::Change(change) => change::step(data, &job, change),
        };
        match turn {
            Ok(unfinished) => more |= unfinished,
            // The store is at fault and says so to everybody; the job waits.
            Err(
                error @ (Error::Io(_) | Error::Busy | Error::NoSpace | Error::Closed | Error::InUse(_) | Error::Newer { .. }),
            ) => {
                return Err(error);
            }
            // The job itself is: with it at the front, no other would ever be done.
            Err(error @ (Error::Panicked | Error::Corrupt(_) | Error::Damaged { .. })) => {
                tracing::error!(job = %job.id, %error, "a job on contacts cannot go on");
                give_up(data, job.id)?;
            }
        }
    }
    Ok(merge(data)? || more)
}

/// Merge what imports have left beside the index of emails: while they run, only where it has become much.
fn merge(data: &EnvironmentData) -> Result<bool> {
    let tx = data.store.read();
    let importing: Vec<ProjectId> =
        open_jobs(&tx)?.into_iter().filter(|job| matches!(job.task, Task::Import(_))).map(|job| job.project).collect();
    let mut more = false;
    for project in email_index::projects_with_runs(&tx)? {
        let much = email_index::is_full(&tx, project)?;
        if !much && importing.contains(&project) {
            continue;
        }
        for _ in 0..MERGES_PER_STEP {
            more = data.store.write_blocking(move |tx| email_index::merge(tx, project))??;
            if !more {
                break;
            }
        }
    }
    Ok(more)
}

fn give_up(data: &EnvironmentData, id: JobId) -> Result<()> {
    let reason = "Something in this service failed; the log names the job. What the counts say was done.";
    data.store.write_blocking(move |tx| match find_open(tx, id)? {
        Some(job) => finish(tx, job, State::Failed(reason.to_owned())),
        None => Ok(()),
    })?
}
