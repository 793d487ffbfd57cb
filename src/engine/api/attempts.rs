//! Counts attempts that may be guesses. The count is durable before the response is sent, so a restart does not reset it.

use std::sync::Arc;

use super::engine::Engine;
use super::failure::Failure;
use crate::engine::access::throttle::ThrottleKey;
use crate::engine::store;
use crate::vocab::codes::Code;

/// Counts one attempt for each of these names. Returns an error at the first name that must wait; the names before it stay counted in
/// memory.
pub async fn count(engine: &Arc<Engine>, names: &[ThrottleKey]) -> Result<(), Failure> {
    let at = engine.clock.monotonic();
    for (rule, name) in names {
        engine.throttle.take(rule, name, at).map_err(too_many)?;
    }
    Ok(keep(engine, names).await?)
}

/// Records that the attempt was not a guess: forgets all attempts for the names in `forgiven`, and one attempt for each name in `undone`.
pub async fn forgive(engine: &Arc<Engine>, forgiven: &[ThrottleKey], undone: &[ThrottleKey]) -> Result<(), Failure> {
    let at = engine.clock.monotonic();
    forgiven.iter().for_each(|(rule, name)| engine.throttle.forgive(rule, name));
    undone.iter().for_each(|(rule, name)| engine.throttle.undo(rule, name, at));
    Ok(keep(engine, &[forgiven, undone].concat()).await?)
}

async fn keep(engine: &Arc<Engine>, names: &[ThrottleKey]) -> store::Result<()> {
    let (engine, names) = (engine.clone(), names.to_vec());
    let control = engine.control.clone();
    let write = move |tx: &mut store::WriteTx<'_>| {
        engine.throttle.keep(tx, &names, engine.clock.monotonic());
        Ok(())
    };
    // This write must also succeed on an almost full disk: a user who cannot sign in cannot see what is wrong.
    control.write_essential(write).await?
}

/// Returns the error for too many attempts; `seconds` is the remaining wait.
pub fn too_many(seconds: u64) -> Failure {
    let unit = if seconds == 1 { "second" } else { "seconds" };
    let detail = format!("Too many attempts; wait {seconds} {unit} and try again.");
    Failure::because(Code::RateLimitExceeded, detail).after_seconds(seconds)
}
