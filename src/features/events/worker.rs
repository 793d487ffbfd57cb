//! The background work on customer events, in steps that `src/workers.rs` runs.

use std::sync::Arc;

use super::{indexing, reattribution};
use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::vocab::environment::Environment;

/// Adds pending events to the indexes of contacts' events.
pub async fn index(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    indexing::step(&engine, environment).await.map(Step::more_if)
}

/// Reattributes orders when the clicks of their contacts have changed.
pub async fn attribute_again(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    reattribution::step(&engine, environment).await.map(Step::more_if)
}
