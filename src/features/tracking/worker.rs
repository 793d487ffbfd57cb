//! The background work of tracking, in steps. The table of workers lists these steps.

use std::sync::Arc;

use super::{delivery_events, erasure, visits};
use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::engine::tasks::Tasks;
use crate::vocab::environment::Environment;

/// Writes opens and clicks from memory to the store.
pub async fn write_visits(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    visits::step(&engine, environment).await.map(Step::more_if)
}

/// Records bounces, complaints and the actions of simulated recipients.
pub async fn record_delivery_events(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    delivery_events::step(&engine, environment).await.map(Step::more_if)
}

pub async fn erase(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    erasure::step(&engine, environment).await.map(Step::more_if)
}

/// Receives inbound mail until the service drains.
pub async fn receive_mail(tasks: Tasks, engine: Arc<Engine>) -> Result<(), Failure> {
    match engine.inbound() {
        Some(listener) => _ = listener.run(engine.settings.server.drain_seconds.seconds()).await,
        None => tasks.shutdown().draining().await,
    }
    Ok(())
}
