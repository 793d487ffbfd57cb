//! The background work on scheduled imports.

use std::sync::Arc;

use futures_util::stream::{self, StreamExt};

use super::{running, store};
use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// The maximum number of due imports that one step processes. If more imports are due, the next step follows immediately.
const IMPORTS_PER_STEP: usize = 20;

/// Advances the scheduled imports that are due: starts runs, continues imports, and records results. An error in one scheduled import does
/// not stop the others.
pub async fn run(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    let due = store::due(&engine.data(environment).store.read(), engine.clock.now(), IMPORTS_PER_STEP)?;
    let more = due.len() == IMPORTS_PER_STEP;
    let steps = due.into_iter().map(|row| running::step(&engine, environment, row));
    let ended: Vec<_> = stream::iter(steps).buffer_unordered(limits::SCHEDULED_IMPORTS_AT_ONCE).collect().await;
    ended.into_iter().collect::<Result<Vec<()>, Failure>>()?;
    Ok(Step::more_if(more))
}
