//! The background work on domains: the steps that `src/workers.rs` runs.

use std::sync::Arc;

use super::dns_check;
use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::vocab::environment::Environment;

pub async fn check_records(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    dns_check::step(&engine, environment).await.map(Step::more_if)
}
