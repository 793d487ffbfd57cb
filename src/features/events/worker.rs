//! What customer events need in the background, as steps for the table of workers.

use std::sync::Arc;

use super::{indexing, reattribution};
use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::vocab::environment::Environment;

/// Add events to the indexes by contact.
pub async fn index(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    indexing::step(&engine, environment).await.map(Step::more_if)
}

/// Credit orders again whose clicks have changed.
pub async fn attribute_again(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    reattribution::step(&engine, environment).await.map(Step::more_if)
}
