//! The steps of the email workers, for the table of workers.

use std::sync::Arc;

use super::generation;
use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::vocab::environment::Environment;

/// Generates, renders and edits emails.
pub async fn generate(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    generation::step(engine, environment).await.map(Step::more_if)
}
