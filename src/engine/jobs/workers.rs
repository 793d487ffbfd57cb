//! Background work: a step that can always be repeated, run when something changed and from time to time.
//!
//! A worker looks at the store, does a bounded amount, and says whether there is more. What wakes it carries no data, so a signal
//! that is lost costs at most one period. A step that fails is tried again after a pause that grows.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use super::{Shutdown, Tasks};
use crate::engine::api::{Engine, World};
use crate::vocab::tables::TableId;

/// The pause after the first failure of a step; it doubles with each further one.
const PAUSE_FIRST: Duration = Duration::from_millis(200);
/// The longest pause after a failure.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// One worker, as the table of workers lists it.
pub struct Worker {
    pub name: &'static str,
    /// Commits to these tables wake it.
    pub wakes: &'static [TableId],
    /// It looks again after this long in any case.
    pub period: Duration,
    pub step: Step,
}

/// A future of a step.
pub type Stepping = Pin<Box<dyn Future<Output = Result<bool, String>> + Send>>;

/// What a worker does; true means that there is more to do.
#[derive(Clone, Copy)]
pub enum Step {
    /// For each environment, on a thread that may be kept busy.
    World(fn(&Arc<Engine>, &Arc<World>) -> Result<bool, String>),
    /// Once, for the whole installation.
    Whole(fn(Arc<Engine>) -> Stepping),
}

/// Start every worker.
pub fn start(workers: &'static [Worker], engine: &Arc<Engine>, tasks: &Tasks) {
    for worker in workers {
        match worker.step {
            Step::World(step) => {
                for world in engine.worlds() {
                    let (engine, world) = (engine.clone(), world.clone());
                    let name = format!("{} ({})", worker.name, world.environment);
                    let store = world.store.clone();
                    let run = move || -> Stepping {
                        let (engine, world) = (engine.clone(), world.clone());
                        Box::pin(async move {
                            let step = tokio::task::spawn_blocking(move || step(&engine, &world));
                            step.await.unwrap_or_else(|panic| Err(panic.to_string()))
                        })
                    };
                    let shutdown = tasks.shutdown();
                    tasks.spawn(name, async move {
                        let notices = worker.wakes.iter().map(|table| store.changed(*table)).collect();
                        work(worker, notices, run, shutdown).await;
                    });
                }
            }
            Step::Whole(step) => {
                let (engine, shutdown) = (engine.clone(), tasks.shutdown());
                tasks.spawn(worker.name, async move {
                    let notices = worker.wakes.iter().map(|table| engine.control.changed(*table)).collect();
                    work(worker, notices, || step(engine.clone()), shutdown).await;
                });
            }
        }
    }
}

async fn work(worker: &Worker, notices: Vec<&Notify>, run: impl Fn() -> Stepping, mut shutdown: Shutdown) {
    let mut pause = PAUSE_FIRST;
    loop {
        // Listening begins before the step looks, so that a change during the step is not missed.
        let mut woken: Vec<_> = notices.iter().map(|notice| Box::pin(notice.notified())).collect();
        woken.iter_mut().for_each(|notice| {
            notice.as_mut().enable();
        });
        let wait = match run().await {
            Ok(true) => Duration::ZERO,
            Ok(false) => {
                pause = PAUSE_FIRST;
                worker.period
            }
            Err(error) => {
                tracing::error!(worker = worker.name, error, "a step failed and is tried again");
                woken.clear();
                let longer = (pause * 2).min(PAUSE_MAX);
                std::mem::replace(&mut pause, longer)
            }
        };
        if wait.is_zero() {
            if shutdown.stage() > super::Stage::Running {
                return;
            }
            continue;
        }
        tokio::select! {
            () = shutdown.draining() => return,
            () = tokio::time::sleep(wait) => {}
            () = first_of(woken) => {}
        }
    }
}

/// Ready when the first of these is; never, if there are none.
async fn first_of<F: Future<Output = ()> + Unpin>(mut futures: Vec<F>) {
    std::future::poll_fn(|context| {
        let ready = futures.iter_mut().any(|future| Pin::new(future).poll(context).is_ready());
        if ready { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}
