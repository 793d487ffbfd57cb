//! The import worker runs one step of each of the oldest imports, in parallel.

use std::sync::Arc;

use futures_util::future::join_all;

use super::{Import, Stage, fail, fetch, finalize, find, imports, measure, save, waiting};
use crate::engine::api::{Engine, EnvironmentData, Failure};
use crate::engine::store::{Result as StoreResult, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits::{SITE_IMPORT_FAILURES_MAX, SITE_IMPORTS_AT_ONCE};

/// Runs one step of each of the oldest imports. Returns whether more work remains.
pub async fn step(engine: &Arc<Engine>, environment: Environment) -> Result<bool, Failure> {
    let data = engine.data(environment).clone();
    let tx = data.store.read();
    let waiting = waiting(&tx, SITE_IMPORTS_AT_ONCE)?;
    drop(tx);
    let turns = waiting.iter().map(|(project, _)| step_one(engine, &data, *project));
    for (outcome, (project, _)) in join_all(turns).await.into_iter().zip(&waiting) {
        if let Err(failure) = outcome {
            // If the store is unavailable, the imports wait. Other code reports the outage.
            if failure.code == Code::Unavailable {
                return Err(failure);
            }
            // The failure is already counted. The next step either retries or marks the import as failed.
            let cause = failure.cause.as_deref().unwrap_or(failure.code.info().message);
            tracing::error!(%project, cause, "a step of an import failed");
        }
    }
    Ok(!waiting.is_empty())
}

async fn step_one(engine: &Arc<Engine>, data: &Arc<EnvironmentData>, project: ProjectId) -> Result<(), Failure> {
    let Some(import) = data.store.write(move |tx| take_up(tx, project)).await?? else { return Ok(()) };
    match import.stage {
        Stage::Waiting | Stage::Fetching => fetch::step(engine, data, project, import).await,
        Stage::Reading => finalize::read(engine, data, project).await,
        Stage::Measuring => measure::step(engine, data, project, import).await,
        Stage::Completed | Stage::Failed => Ok(()),
    }
}

/// Returns the import if it can run a step. The step counts as a failure until it succeeds. Otherwise, a page that crashes the whole
/// process would crash it again after every start.
fn take_up(tx: &mut WriteTx<'_>, project: ProjectId) -> StoreResult<Option<Import>> {
    let import = find(tx, project)?.filter(|import| !matches!(import.stage, Stage::Completed | Stage::Failed));
    let Some(mut import) = import else {
        imports::dequeue(tx, project);
        return Ok(None);
    };
    if import.failures >= SITE_IMPORT_FAILURES_MAX {
        let reason =
            "Mailmill could not import this site because of repeated internal errors. Ask the operator to check the server log.";
        fail(tx, project, import, reason.to_owned())?;
        return Ok(None);
    }
    if import.stage == Stage::Waiting {
        fetch::begin(tx, project, &mut import)?;
    }
    import.failures += 1;
    save(tx, project, &import);
    Ok(Some(import))
}
