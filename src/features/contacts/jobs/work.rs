//! The worker: gives every open job a turn, a bounded amount each time.

use super::{State, Task, bulk, export, find_open, finish, import, open_jobs};
use crate::engine::api::World;
use crate::engine::store::{Error, Result};
use crate::vocab::ids::JobId;

/// Give every open job one turn; true if there is more to do.
pub fn step(world: &World) -> Result<bool> {
    let mut more = false;
    for job in open_jobs(&world.store.read())? {
        let turn = match &job.task {
            Task::Bulk(bulk) => bulk::step(world, &job, bulk),
            Task::Import(import) => import::step(world, &job, import),
            Task::Export(export) => export::step(world, &job, export),
        };
        match turn {
            Ok(unfinished) => more |= unfinished,
            // The store is at fault and says so to everybody; the job waits.
            Err(error @ (Error::Io(_) | Error::Busy | Error::Closed | Error::InUse(_) | Error::Newer { .. })) => {
                return Err(error);
            }
            // The job itself is: with it at the front, no other would ever be done.
            Err(error @ (Error::Panicked | Error::Corrupt(_))) => {
                tracing::error!(job = %job.id, %error, "a job on contacts cannot go on");
                give_up(world, job.id)?;
            }
        }
    }
    Ok(more)
}

fn give_up(world: &World, id: JobId) -> Result<()> {
    let reason = "Something in this service failed; the log names the job. What the counts say was done.";
    world.store.write_blocking(move |tx| match find_open(tx, id)? {
        Some(job) => finish(tx, job, State::Failed(reason.to_owned())),
        None => Ok(()),
    })?
}
