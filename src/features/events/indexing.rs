//! Merges events into their indexes, those of many requests together: see `contacts::customer_events`.

use crate::engine::api::{Engine, Failure};
use crate::features::contacts::customer_events;
use crate::vocab::environment::Environment;

/// Merges some pending events; returns whether more may be pending.
pub async fn step(engine: &Engine, environment: Environment) -> Result<bool, Failure> {
    let store = &engine.data(environment).store;
    if !customer_events::is_behind(&store.read())? {
        return Ok(false);
    }
    Ok(store.write(customer_events::merge_backlog).await??)
}
