//! SIGTERM and SIGINT, turned into stages of the shutdown.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

use super::{Stage, Tasks};

/// Listen for SIGTERM and SIGINT from now on: the first drains, the second cuts. Must be called within the runtime.
pub fn listen(tasks: &Tasks) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let owner = tasks.clone();
    tasks.attend("signals", async move {
        for stage in [Stage::Draining, Stage::Cut] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            tracing::info!(?stage, "asked to stop");
            owner.raise(stage);
        }
    });
    Ok(())
}
