//! The steps of a run: start its import, continue it, and record the result.

use super::changes::change;
use super::model::{RunFailure, RunOutcome, Running, ScheduledImport, Source, Work};
use super::{events, file, platform};
use crate::engine::api::{Engine, Failure};
use crate::engine::store::Store;
use crate::features::contacts::jobs::{self, State, Task};
use crate::vocab::environment::Environment;
use crate::vocab::ids::JobId;
use crate::vocab::limits;

/// Advances a scheduled import that is due.
pub async fn step(engine: &Engine, environment: Environment, row: ScheduledImport) -> Result<(), Failure> {
    let store = &engine.data(environment).store;
    match (row.running.clone(), row.source.clone()) {
        (Some(Running { work: Work::Contacts(job), .. }), _) => watch(store, row, job).await,
        (Some(Running { work: Work::Events(import), .. }), _) => events::step(store, row, import).await,
        (None, Source::File(source)) => file::start(engine, environment, row, source).await,
        (None, Source::Platform(source)) => platform::start(store, row, source).await,
    }
}

/// Records a contact job's result, if the job has ended.
async fn watch(store: &Store, row: ScheduledImport, id: JobId) -> Result<(), Failure> {
    let failed = |reason: String| Err::<RunOutcome, _>(RunFailure { reason, job: Some(id) });
    let outcome = match jobs::find(&store.read(), id)? {
        None => failed("The import was deleted before its result was recorded.".to_owned()),
        Some(job) => match (job.state, job.task) {
            (State::Completed, Task::Import(import)) => {
                Ok(RunOutcome::Contacts { job: id, counts: job.counts, excluded: import.excluded })
            }
            (State::Completed, Task::Provider(import)) => {
                Ok(RunOutcome::Contacts { job: id, counts: job.counts, excluded: import.excluded })
            }
            (State::Failed(reason) | State::Acknowledged(reason), _) => failed(reason),
            _ => return change(store, row, |row, now| row.due_at = now.plus_ms(limits::SCHEDULED_IMPORT_POLL_MS)).await,
        },
    };
    change(store, row, move |row, now| match outcome {
        Ok(outcome) => row.succeed(outcome, now),
        Err(failure) => row.fail(failure, now),
    })
    .await
}
