//! Merges pending events from many requests into the indexes in one step. See `customer_events`.

use crate::engine::api::{Engine, Failure};
use crate::features::customer_events;
use crate::vocab::environment::Environment;

/// Merges some pending events into the indexes and returns whether more events may be pending.
pub async fn step(engine: &Engine, environment: Environment) -> Result<bool, Failure> {
    let store = &engine.data(environment).store;
    if !customer_events::is_behind(&store.read())? {
        return Ok(false);
    }
    Ok(store.write(customer_events::merge_backlog).await??)
}
