//! What webhooks do in the background, as steps for the table of workers.

use std::sync::Arc;

use super::{fanout, redelivery};
use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::vocab::environment::Environment;

/// Give each event to the webhooks that subscribe to it.
pub async fn fan_out(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    fanout::step(&engine, environment).await.map(Step::more_if)
}

/// Queue deliveries that were requested again, and remove those of deleted webhooks.
pub async fn redeliver(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    let more = redelivery::step(&engine, environment).await? | super::clear(&engine, environment).await?;
    Ok(Step::more_if(more))
}
