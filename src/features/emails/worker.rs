//! What emails do in the background, as steps for the table of workers.

use std::sync::Arc;

use super::generation;
use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::vocab::environment::Environment;

/// Generate, render and edit emails.
pub async fn generate(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    generation::step(engine, environment).await.map(Step::more_if)
}
