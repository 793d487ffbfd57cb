//! The worker that imports from connected stores.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::stream::{self, StreamExt};

use super::store::{self, StoreKey};
use super::sync;
use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// Runs the next step of each store that is due, for a limited number of stores at a time. A failed step is postponed, so that the other
/// stores continue. While sending is on hold, only the erasure of stores continues, because it sends no requests.
pub async fn sync(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    let (tx, now, limit) = (engine.data(environment).store.read(), engine.clock.now(), limits::STORE_SYNCS_AT_ONCE * 4);
    let due = if engine.hold.is_on() { store::erasing(&tx, now, limit)? } else { store::due(&tx, now, limit)? };
    drop(tx);
    let more = !due.is_empty();
    let running = stream::iter(due.into_iter().map(|key| run(&engine, environment, key)));
    let ended: Vec<_> = running.buffer_unordered(limits::STORE_SYNCS_AT_ONCE).collect().await;
    ended.into_iter().collect::<Result<Vec<()>, Failure>>()?;
    Ok(Step::more_if(more))
}

async fn run(engine: &Arc<Engine>, environment: Environment, key: StoreKey) -> Result<(), Failure> {
    let stepped = AssertUnwindSafe(sync::step(engine, environment, key)).catch_unwind().await;
    match stepped.unwrap_or_else(|_| Err(Failure::internal("a step of the import panicked; search the log for the cause"))) {
        Ok(()) => Ok(()),
        Err(failure) if failure.code == Code::StorageFull => Err(failure),
        Err(failure) => {
            let cause = failure.cause.as_deref().unwrap_or(failure.code.info().message);
            tracing::warn!(store = %key.1, cause, "a step of a store's import failed and will be retried");
            engine.data(environment).store.write(move |tx| sync::postpone(tx, key)).await?
        }
    }
}
