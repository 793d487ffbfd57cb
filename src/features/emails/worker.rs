//! The steps of the email workers, which `src/workers.rs` runs.

use std::sync::Arc;

use super::{checking, generation};
use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::vocab::environment::Environment;

/// Generates, renders and edits emails.
pub async fn generate(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    generation::step(engine, environment).await.map(Step::more_if)
}

/// Checks new versions of emails. The checks send requests to the URLs that the emails link to.
pub async fn check(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    checking::step(engine, environment).await.map(Step::more_if)
}
