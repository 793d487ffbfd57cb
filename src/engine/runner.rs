//! Runs the workers, which do background work, most of it in steps that can be repeated.
//!
//! A worker reads the store, does a bounded amount of work, records that the work is done, and returns whether there is more. It runs after
//! commits to the tables that it lists, and also periodically. A wake-up signal contains no data, so a lost signal only delays work.
//! Services have no steps: they run until the program drains.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::select_all;
use tokio::time::Instant;

use crate::engine::api::{Engine, Failure};
use crate::engine::store::Store;
use crate::engine::tasks::status::WorkerStatus;
use crate::engine::tasks::{Shutdown, Stage, Tasks};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::limits;
use crate::vocab::tables::TableId;

/// The result of a worker's step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// No work is left for now.
    Done,
    /// There may be more work: the next step runs immediately.
    More,
}

impl Step {
    pub fn more_if(more: bool) -> Self {
        if more { Self::More } else { Self::Done }
    }
}

pub type Running = Pin<Box<dyn Future<Output = Result<Step, Failure>> + Send>>;

/// The function that does a worker's work. The variant determines which data the worker reads and writes, and when it runs.
#[derive(Clone, Copy)]
pub enum Work {
    /// The worker handles the data that all environments share. The tables that wake the worker are in the control store.
    Control(fn(Arc<Engine>) -> Running),
    /// Like `Control`, but a step may take hours, because it copies all data. If the program drains, the step is interrupted, as in a
    /// crash.
    LongControl(fn(Arc<Engine>) -> Running),
    /// The worker runs separately for each environment. The tables that wake the worker are in the environment's store.
    EachEnvironment(fn(Arc<Engine>, Environment) -> Running),
    /// The worker is a service: it runs until the program drains, and wakes itself instead of being woken by commits.
    Service(fn(Tasks, Arc<Engine>) -> LongRunning),
    /// Like `Service`, but one instance runs for each environment.
    EachService(fn(Tasks, Arc<Engine>, Environment) -> LongRunning),
}

/// One row of the table of workers.
#[derive(Clone, Copy)]
pub struct Worker {
    pub name: &'static str,
    /// The tables that wake the worker when a commit changes them.
    pub wakes: &'static [TableId],
    /// The interval at which the worker also runs without being woken, and the minimum wait after a failure.
    pub period: Duration,
    pub work: Work,
}

impl Worker {
    /// Creates the table entry of a worker that runs until the program drains.
    pub const fn lasting(name: &'static str, work: Work) -> Self {
        Self { name, wakes: &[], period: Duration::ZERO, work }
    }
}

pub fn start(tasks: &Tasks, engine: &Arc<Engine>, workers: impl IntoIterator<Item = &'static Worker>) {
    for worker in workers {
        match worker.work {
            Work::Control(step) | Work::LongControl(step) => {
                let (store, engine) = (engine.control.clone(), engine.clone());
                let status = engine.workers.enter(worker.name.to_owned(), engine.clock.clone());
                if matches!(worker.work, Work::LongControl(_)) {
                    status.allow_long_steps();
                }
                tasks.spawn(worker.name, run(worker, store, tasks.shutdown(), status, move || step(engine.clone())));
            }
            Work::EachEnvironment(step) => {
                for environment in Environment::ALL {
                    let (store, engine) = (engine.data(environment).store.clone(), engine.clone());
                    let name = format!("{} {environment}", worker.name);
                    let status = engine.workers.enter(name.clone(), engine.clock.clone());
                    let steps = move || step(engine.clone(), environment);
                    tasks.spawn(name, run(worker, store, tasks.shutdown(), status, steps));
                }
            }
            Work::Service(run) => {
                let (owner, engine) = (tasks.clone(), engine.clone());
                let status = engine.workers.enter_lasting(worker.name.to_owned(), engine.clock.clone());
                supervise(tasks, status, move || run(owner.clone(), engine.clone()));
            }
            Work::EachService(run) => {
                for environment in Environment::ALL {
                    let (owner, engine) = (tasks.clone(), engine.clone());
                    let name = format!("{} {environment}", worker.name);
                    let status = engine.workers.enter_lasting(name, engine.clock.clone());
                    supervise(tasks, status, move || run(owner.clone(), engine.clone(), environment));
                }
            }
        }
    }
}

/// Runs a worker's steps. Invariant: the worker subscribes before it reads, so a commit between its read and its sleep wakes it.
async fn run(
    worker: &'static Worker,
    store: Arc<Store>,
    mut shutdown: Shutdown,
    status: Arc<WorkerStatus>,
    step: impl Fn() -> Running,
) {
    loop {
        let signals: Vec<_> = worker.wakes.iter().map(|table| Box::pin(store.changed(*table).notified())).collect();
        let woken = async {
            match signals.is_empty() {
                true => std::future::pending().await,
                false => drop(select_all(signals).await),
            }
        };
        status.begin();
        let stepped = tokio::select! {
            biased;
            stepped = AssertUnwindSafe(step()).catch_unwind() => stepped,
            // Other steps are bounded, so they are not interrupted.
            () = shutdown.draining(), if matches!(worker.work, Work::LongControl(_)) => return status.end(None),
        };
        let stepped = stepped.unwrap_or_else(|_| {
            status.restart();
            Err(Failure::internal("a step of the task panicked; search the log for the cause"))
        });
        if let Err(Failure { code: Code::StorageFull, .. }) = &stepped {
            // A full disk is not a failure of the worker, which continues when there is space again.
            status.end(None);
            tokio::select! {
                () = shutdown.draining() => return,
                () = tokio::time::sleep(limits::STORAGE_FULL_PAUSE) => continue,
            }
        }
        let cause = stepped.as_ref().err().map(|failure| failure.cause.as_deref().unwrap_or(failure.code.info().message));
        status.end(cause);
        let pause = match (&stepped, cause) {
            (Ok(Step::More), _) => Duration::ZERO,
            (Ok(Step::Done), _) => worker.period,
            (Err(_), cause) => {
                let wait = retry_after(worker.period, status.snapshot().failures_in_a_row);
                tracing::warn!(worker = worker.name, cause, seconds = wait.as_secs_f64(), "a step failed and will be retried");
                tokio::select! {
                    () = shutdown.draining() => return,
                    () = tokio::time::sleep(wait) => continue,
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

/// Returns the wait after this number of consecutive failures. The number of retries is unlimited, so that work that failed for lack of
/// file descriptors continues once they are available.
fn retry_after(period: Duration, failures: u64) -> Duration {
    let doublings = u32::try_from(failures.saturating_sub(1)).unwrap_or(u32::MAX).min(16);
    let wait = period.max(limits::WORKER_RETRY_MIN).saturating_mul(1 << doublings);
    wait.min(limits::WORKER_RETRY_MAX.max(period))
}

/// Runs a service until the program drains. If the service ends, fails or panics, it is restarted after a pause, which increases with each
/// failed start. The service must be restartable at any point, as after a crash.
fn supervise(tasks: &Tasks, status: Arc<WorkerStatus>, run: impl Fn() -> LongRunning + Send + 'static) {
    let mut shutdown = tasks.shutdown();
    tasks.spawn(status.name().to_owned(), async move {
        while shutdown.stage() == Stage::Running {
            let began = Instant::now();
            let ran = AssertUnwindSafe(run()).catch_unwind().await;
            let ran = ran.unwrap_or_else(|_| Err(Failure::internal("the task panicked; search the log for the cause")));
            if began.elapsed() > limits::WORKER_RETRY_MAX {
                // The service had been running for a while, so this end does not count as another failed start.
                status.end(None);
            }
            let cause = match &ran {
                Err(failure) => failure.cause.as_deref().unwrap_or(failure.code.info().message),
                Ok(()) => "the task ended although it should run until shutdown",
            };
            if shutdown.stage() > Stage::Running {
                return status.end(ran.is_err().then_some(cause));
            }
            status.end(Some(cause));
            status.stop();
            let wait = retry_after(limits::WORKER_RETRY_MIN, status.snapshot().failures_in_a_row);
            tracing::error!(task = status.name(), cause, seconds = wait.as_secs_f64(), "a task stopped and will be restarted");
            tokio::select! {
                () = shutdown.draining() => return,
                () = tokio::time::sleep(wait) => {}
            }
            status.restart();
        }
    });
}

/// The future of a service, which ends only when the program drains.
pub type LongRunning = Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>;

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::runtime::Handle;

    use super::*;
    use crate::base::clock::{ManualClock, Timestamp};
    use crate::base::random::SeededRandom;
    use crate::engine::store::{Error, Options, Table, WriteTx};
    use crate::engine::tasks::status::WorkerBoard;
    use crate::vocab::tables::{DatabaseKind, FEED, META};

    fn never(_: Arc<Engine>) -> Running {
        unreachable!("these tests pass their own steps")
    }

    /// A worker that otherwise runs only once an hour: in the test, only a wake-up or a failure can cause a second step.
    static HOURLY: Worker =
        Worker { name: "test", wakes: &[META, FEED], period: Duration::from_secs(3600), work: Work::Control(never) };
    static HASTY: Worker = Worker { period: Duration::from_millis(1), ..HOURLY };
    static LONG: Worker = Worker { work: Work::LongControl(never), ..HOURLY };

    fn store(folder: &std::path::Path) -> Arc<Store> {
        let options = Options { database_kind: DatabaseKind::Environment, cache_bytes: 1 << 20 };
        let clock = Arc::new(ManualClock::at(Timestamp(1_767_225_600_000)));
        Arc::new(
            Store::open(&folder.join("test.redb"), &options, clock, Arc::new(SeededRandom::new(1))).expect("the store opens"),
        )
    }

    async fn until(count: &AtomicUsize, wanted: usize) {
        let reached = async {
            while count.load(Ordering::SeqCst) < wanted {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), reached).await.expect("the state is reached within a minute");
    }

    /// Runs `worker` while `during` runs, then drains the tasks. Each step of the worker calls `step` with the step's number.
    async fn observe<F>(worker: &'static Worker, store: Arc<Store>, step: fn(usize) -> Result<Step, Failure>, during: F)
    where
        F: AsyncFnOnce(&AtomicUsize),
    {
        let tasks = Tasks::new(Handle::current());
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let steps = move || -> Running {
            let number = counted.fetch_add(1, Ordering::SeqCst);
            Box::pin(async move { step(number) })
        };
        let status = Arc::new(WorkerStatus::new("test".into(), Arc::new(ManualClock::at(Timestamp(0)))));
        tasks.spawn("test", run(worker, store, tasks.shutdown(), status, steps));
        during(&count).await;
        tasks.raise(Stage::Draining);
        let joined = tasks.join(Duration::from_secs(60)).await;
        assert_eq!((joined.finished, joined.panicked.len(), joined.cut.len()), (1, 0, 0), "the task ends on its own");
    }

    #[tokio::test]
    async fn a_commit_to_a_listed_table_wakes_the_worker_and_remaining_work_is_done_at_once() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let store = store(folder.path());
        let more_twice = |number| Ok(Step::more_if(number < 2));
        observe(&HOURLY, store.clone(), more_twice, async |count: &AtomicUsize| {
            until(count, 3).await;
            let write = |tx: &mut WriteTx<'_>| {
                tx.put(Table::<u32, u32>::new(FEED), &1, &1);
                Ok::<_, Error>(())
            };
            store.write(write).await.expect("the store works").expect("the write succeeds");
            until(count, 4).await;
        })
        .await;
    }

    // In an earlier version, a restore drill delayed the handover to another leader in a cluster.
    #[tokio::test]
    async fn a_long_step_is_interrupted_when_the_tasks_drain() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let tasks = Tasks::new(Handle::current());
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let steps = move || -> Running {
            counted.fetch_add(1, Ordering::SeqCst);
            Box::pin(std::future::pending())
        };
        let status = Arc::new(WorkerStatus::new("test".into(), Arc::new(ManualClock::at(Timestamp(0)))));
        tasks.spawn("test", run(&LONG, store(folder.path()), tasks.shutdown(), status, steps));
        until(&count, 1).await;
        tasks.raise(Stage::Draining);
        assert_eq!(tasks.join(Duration::from_secs(60)).await.finished, 1);
    }

    #[test]
    fn pauses_after_failures_double_up_to_a_minute_and_never_end() {
        let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
        let waits: Vec<_> = [1, 2, 3, 7, 8, 1_000_000].map(|failures| retry_after(second, failures).as_secs()).into();
        assert_eq!(waits, [1, 2, 4, 60, 60, 60]);
        assert_eq!(retry_after(Duration::ZERO, 1), limits::WORKER_RETRY_MIN);
        assert_eq!(retry_after(2 * minute, 9), 2 * minute, "a retry never comes sooner than the worker's period");
    }

    #[tokio::test]
    async fn a_supervised_task_is_restarted_when_it_fails_panics_or_ends() {
        let board = WorkerBoard::default();
        let status = board.enter_lasting("lasting".into(), Arc::new(ManualClock::at(Timestamp(0))));
        let tasks = Tasks::new(Handle::current());
        let count = Arc::new(AtomicUsize::new(0));
        let (counted, signal) = (count.clone(), tasks.clone());
        supervise(&tasks, status, move || {
            let number = counted.fetch_add(1, Ordering::SeqCst);
            let mut shutdown = signal.shutdown();
            Box::pin(async move {
                match number {
                    0 => Err(Failure::internal("on purpose")),
                    1 => panic!("on purpose"),
                    2 => Ok(()),
                    _ => {
                        shutdown.draining().await;
                        Ok(())
                    }
                }
            })
        });
        until(&count, 4).await;
        let state = board.snapshot().remove(0).1;
        assert_eq!((state.is_lasting, state.is_stopped, state.restarts, state.failures_in_a_row), (true, false, 3, 3));
        let why = state.last_failure.map(|(_, why)| why);
        assert_eq!(why.as_deref(), Some("the task ended although it should run until shutdown"));
        tasks.raise(Stage::Draining);
        assert_eq!(tasks.join(Duration::from_secs(60)).await.finished, 1);
        assert_eq!(count.load(Ordering::SeqCst), 4, "the end of the service is not a failure");
    }

    #[tokio::test]
    async fn a_step_that_fails_or_panics_is_retried() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let falls = |number| match number {
            0 => Err(Failure::internal("on purpose")),
            1 => panic!("on purpose"),
            _ => Ok(Step::Done),
        };
        observe(&HASTY, store(folder.path()), falls, async |count: &AtomicUsize| until(count, 4).await).await;
    }
}
