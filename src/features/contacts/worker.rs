//! The background work on contacts: the steps that `src/workers.rs` runs.

use std::sync::Arc;

use super::{indexing, jobs};
use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::engine::store::Error;
use crate::vocab::environment::Environment;

/// Brings the search index up to date.
pub async fn index(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    let data = engine.data(environment).clone();
    if data.store.space().is_low() {
        // If disk space is low, stop indexing too: the index is on the same disk, and merging its files needs many times the space that the
        // changes take.
        return Err(Error::NoSpace.into());
    }
    let step = tokio::task::spawn_blocking(move || indexing::step(&data)).await;
    step.map_err(Failure::internal)?.map(Step::more_if).map_err(Failure::internal)
}

/// Runs jobs that import, export and change contacts.
pub async fn run_jobs(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    let data = engine.data(environment).clone();
    let step = tokio::task::spawn_blocking(move || jobs::step(&data)).await;
    Ok(Step::more_if(step.map_err(Failure::internal)??))
}
