//! Maps SIGTERM and SIGINT to stages of the shutdown.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

use super::{Stage, Tasks};

/// Listens for SIGTERM and SIGINT from now on: the first signal drains the process, the second stops it immediately. Must be called within
/// the runtime.
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
            tracing::info!(?stage, "received a signal to stop");
            owner.raise(stage);
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn terminate_self() {
        let command = format!("kill -TERM {}", std::process::id());
        let status = std::process::Command::new("sh").args(["-c", &command]).status().expect("a shell can be started");
        assert!(status.success());
    }

    #[tokio::test]
    async fn the_first_signal_drains_and_the_second_cuts() {
        let tasks = Tasks::new(tokio::runtime::Handle::current());
        listen(&tasks).expect("signals can be received");
        let mut shutdown = tasks.shutdown();
        for stage in [Stage::Draining, Stage::Cut] {
            assert!(shutdown.stage() < stage);
            terminate_self();
            let reached = shutdown.reached(stage);
            tokio::time::timeout(Duration::from_secs(10), reached).await.expect("the signal is received");
            assert_eq!(shutdown.stage(), stage);
        }
    }
}
