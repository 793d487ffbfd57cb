//! The background work on connections.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::stream::{self, StreamExt};

use super::importing;
use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::features::contacts::jobs::provider::{self, Wait, open_imports};
use crate::features::contacts::jobs::{Job, Task};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::ConnectionId;
use crate::vocab::limits;

/// Advances the open imports from platforms by one step each. Imports through different connections run at the same time, so that a slow
/// platform does not delay the others. Imports through one connection share a request limit, so they run one after another.
pub async fn import(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    let mut queues = BTreeMap::<ConnectionId, Vec<Job>>::new();
    for job in open_imports(&engine.data(environment).store.read())? {
        if let Task::Provider(import) = &job.task {
            queues.entry(import.connection).or_default().push(job);
        }
    }
    let running = stream::iter(queues.into_values().map(|jobs| run(&engine, environment, jobs)));
    let ended: Vec<_> = running.buffer_unordered(limits::PROVIDER_IMPORTS_AT_ONCE).collect().await;
    let mut more = false;
    for step in ended {
        more |= step?;
    }
    Ok(Step::more_if(more))
}

/// Advances each job by one step; returns whether any job can continue immediately. A job whose step fails is paused, and the others still
/// run.
async fn run(engine: &Arc<Engine>, environment: Environment, jobs: Vec<Job>) -> Result<bool, Failure> {
    let mut more = false;
    let mut unpaused = None;
    for job in jobs {
        let Task::Provider(import) = &job.task else { continue };
        let stepped = AssertUnwindSafe(importing::step(engine, environment, &job, import)).catch_unwind().await;
        match stepped.unwrap_or_else(|_| Err(Failure::internal("a step of the import panicked; search the log for the cause"))) {
            Ok(can_continue) => more |= can_continue,
            Err(failure) => {
                if let Err(failure) = pause(engine, environment, &job, failure).await {
                    unpaused = Some(failure);
                }
            }
        }
    }
    unpaused.map_or(Ok(more), Err)
}

/// Pauses a job whose step failed. If the disk is full, returns `failure` and does not pause the job, because the job is not the cause.
/// Also fails if the pause cannot be stored.
pub(super) async fn pause(engine: &Engine, environment: Environment, job: &Job, failure: Failure) -> Result<(), Failure> {
    if failure.code == Code::StorageFull {
        return Err(failure);
    }
    let cause = failure.cause.as_deref().unwrap_or(failure.code.info().message);
    tracing::warn!(job = %job.id, cause, "a step of an import failed and will be retried");
    let (id, until) = (job.id, engine.clock.now().plus_ms(limits::PROVIDER_IMPORT_RETRY_MS_MAX));
    let wait = Wait {
        reason: "The import is paused after an internal error and resumes automatically.".to_owned(),
        failure: "The import failed because of repeated internal errors. Ask the operator to check the server log.".to_owned(),
        until,
        is_failure: true,
    };
    Ok(engine.data(environment).store.write(move |tx| provider::pause(tx, id, wait)).await??)
}
