//! Running workers: background work in steps that can always be repeated.
//!
//! A worker looks at the store, does a bounded amount, writes down that it is done, and says whether there is more. It is woken by
//! commits to the tables it names *and* by a period; the signal carries no data, so a lost one costs time and nothing else. The
//! runner does not know what any worker does.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::select_all;

use super::{Shutdown, Tasks};
use crate::engine::api::{Engine, Failure};
use crate::engine::store::Store;
use crate::vocab::environment::Environment;
use crate::vocab::tables::TableId;

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing is left to do now.
    Done,
    /// There may be more: go on at once.
    More,
}

impl Step {
    /// The step of something that says whether there may be more.
    pub fn more_if(more: bool) -> Self {
        if more { Self::More } else { Self::Done }
    }
}

/// A step on its way.
pub type Running = Pin<Box<dyn Future<Output = Result<Step, Failure>> + Send>>;

/// Where a worker works.
#[derive(Clone, Copy)]
pub enum Work {
    /// On what all environments share. Its tables are those of the control store.
    Control(fn(Arc<Engine>) -> Running),
    /// In each environment by itself. Its tables are those of the environment's store.
    EachWorld(fn(Arc<Engine>, Environment) -> Running),
}

/// One row of the table of workers.
#[derive(Clone, Copy)]
pub struct Worker {
    pub name: &'static str,
    /// Commits that touch one of these wake it.
    pub wakes: &'static [TableId],
    /// It also looks this often without being woken, and waits this long after a failure.
    pub period: Duration,
    pub work: Work,
}

/// Start all workers of a table.
pub fn start(tasks: &Tasks, engine: &Arc<Engine>, workers: &'static [Worker]) {
    for worker in workers {
        match worker.work {
            Work::Control(step) => {
                let (store, engine) = (engine.control.clone(), engine.clone());
                tasks.spawn(worker.name, run(worker, store, tasks.shutdown(), move || step(engine.clone())));
            }
            Work::EachWorld(step) => {
                for environment in Environment::ALL {
                    let (store, engine) = (engine.world(environment).store.clone(), engine.clone());
                    let steps = move || step(engine.clone(), environment);
                    tasks.spawn(format!("{} {environment}", worker.name), run(worker, store, tasks.shutdown(), steps));
                }
            }
        }
    }
}

/// Invariant: the worker listens before it looks, so a commit between its look and its sleep wakes it.
async fn run(worker: &'static Worker, store: Arc<Store>, mut shutdown: Shutdown, step: impl Fn() -> Running) {
    loop {
        let signals: Vec<_> = worker.wakes.iter().map(|table| Box::pin(store.changed(*table).notified())).collect();
        let woken = async {
            match signals.is_empty() {
                true => std::future::pending().await,
                false => drop(select_all(signals).await),
            }
        };
        // A step is bounded: it is not cut in the middle, and the runner leaves between two.
        let pause = match step().await {
            Ok(Step::More) => Duration::ZERO,
            Ok(Step::Done) => worker.period,
            Err(failure) => {
                let cause = failure.cause.as_deref().unwrap_or(failure.code.info().message);
                tracing::warn!(worker = worker.name, cause, "a step failed and will be repeated");
                tokio::select! {
                    () = shutdown.draining() => return,
                    () = tokio::time::sleep(worker.period) => continue,
                }
            }
        };
        tokio::select! {
            biased;
            () = shutdown.draining() => return,
            () = woken => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}
