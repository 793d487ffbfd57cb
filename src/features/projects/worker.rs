//! The background work on projects. `src/workers.rs` runs it in steps.

use std::sync::Arc;

use super::{image_analysis, importing};
use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::vocab::environment::Environment;

/// Reads the sites of projects that are being imported.
pub async fn import_sites(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    importing::step(&engine, environment).await.map(Step::more_if)
}

pub async fn analyze_images(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    image_analysis::step(&engine, environment).await.map(Step::more_if)
}
