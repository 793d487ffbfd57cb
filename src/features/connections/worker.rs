//! The background work on connections.

use std::sync::Arc;

use super::importing;
use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::features::contacts::jobs::Task;
use crate::features::contacts::jobs::provider::open_imports;
use crate::vocab::environment::Environment;

/// Lets every import from a platform do a limited amount of work.
pub async fn import(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    let jobs = open_imports(&engine.data(environment).store.read())?;
    let mut more = false;
    for job in &jobs {
        if let Task::Provider(import) = &job.task {
            more |= importing::step(&engine, environment, job, import).await?;
        }
    }
    Ok(Step::more_if(more))
}
