//! Bringing events into the indexes by which they are found, many requests together: see `contacts::customer_events`.

use crate::engine::api::{Engine, Failure};
use crate::features::contacts::customer_events;
use crate::vocab::environment::Environment;

/// Bring in a little of what waits; true if more may wait.
pub async fn step(engine: &Engine, environment: Environment) -> Result<bool, Failure> {
    let store = &engine.data(environment).store;
    if !customer_events::is_behind(&store.read())? {
        return Ok(false);
    }
    Ok(store.write(customer_events::merge_backlog).await??)
}
