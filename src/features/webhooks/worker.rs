//! The background work for webhooks, in steps that `src/workers.rs` runs.

use std::sync::Arc;

use super::{fanout, redelivery};
use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::engine::tasks::Tasks;
use crate::vocab::environment::Environment;

/// Creates deliveries of each queued event to the webhooks that subscribe to it.
pub async fn fan_out(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    fanout::step(&engine, environment).await.map(Step::more_if)
}

/// Queues the deliveries of active redeliveries, and removes the rows of deleted webhooks.
pub async fn redeliver(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    let more = redelivery::step(&engine, environment).await? | super::clear(&engine, environment).await?;
    Ok(Step::more_if(more))
}

/// Sends deliveries until the service drains.
pub async fn dispatch(tasks: Tasks, engine: Arc<Engine>, environment: Environment) -> Result<(), Failure> {
    super::dispatch::run(tasks, engine, environment).await
}
