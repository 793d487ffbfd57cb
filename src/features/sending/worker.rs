//! The background work of sending, which `src/workers.rs` runs: planning, in steps, and dispatching, until the service drains.

use std::sync::Arc;

use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::engine::tasks::Tasks;
use crate::vocab::environment::Environment;

pub async fn plan(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    super::plan(&engine, environment).await.map(Step::more_if)
}

/// Sends messages until the service drains.
pub async fn dispatch(tasks: Tasks, engine: Arc<Engine>, environment: Environment) -> Result<(), Failure> {
    super::dispatch::run(tasks, engine, environment).await
}
