//! Starts tasks and threads that run longer than a request, and ends them at shutdown. A store joins its own writer thread when it closes.
//!
//! There are two kinds of owners. [`Tasks`] owns the few long-lived parts of the process (listeners, workers); [`Group`] owns many
//! short-lived tasks of one kind (connections, streams of one connection). Their tasks end at the shutdown signal, or are aborted when the
//! grace period ends.

use std::future::Future;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

pub mod signals;
pub mod status;

/// The stage of the shutdown. The stage can only be raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Running,
    /// The process accepts no new work and finishes the work in progress.
    Draining,
    /// The process stops immediately.
    Cut,
}

/// The owner of the process's long-lived tasks and threads, and of its shutdown signal. All clones share the same tasks.
#[derive(Clone)]
pub struct Tasks(Arc<Inner>);

struct Inner {
    handle: Handle,
    stage: watch::Sender<Stage>,
    owned: Mutex<Vec<OwnedTask>>,
}

struct OwnedTask {
    name: String,
    work: Work,
}

enum Work {
    Task(JoinHandle<bool>),
    Attendant(JoinHandle<bool>),
    Thread { handle: thread::JoinHandle<()>, ended: oneshot::Receiver<()> },
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct JoinResult {
    /// The number of joined tasks and threads that ended normally.
    pub finished: usize,
    /// The names of the tasks and threads that panicked.
    pub panicked: Vec<String>,
    /// The names of tasks that were aborted, and of threads that were left running because a thread cannot be aborted.
    pub cut: Vec<String>,
}

impl Tasks {
    /// Creates an owner whose tasks run on `handle`.
    pub fn new(handle: Handle) -> Self {
        let stage = watch::Sender::new(Stage::Running);
        Self(Arc::new(Inner { handle, stage, owned: Mutex::default() }))
    }

    /// Starts a task. A panic of the task is logged immediately; [`Tasks::join`] also reports the panic, unless the start of
    /// another task has already removed the task from the list.
    pub fn spawn(&self, name: impl Into<String>, future: impl Future<Output = ()> + Send + 'static) {
        let name = name.into();
        let task = self.0.handle.spawn(outcome(name.clone(), future));
        self.own(OwnedTask { name, work: Work::Task(task) });
    }

    /// Starts a task that serves the other tasks as long as any of them runs, such as the listener for signals. Joining does not wait for
    /// this task, which is aborted when the others have ended.
    pub fn attend(&self, name: impl Into<String>, future: impl Future<Output = ()> + Send + 'static) {
        let name = name.into();
        let task = self.0.handle.spawn(outcome(name.clone(), future));
        self.own(OwnedTask { name, work: Work::Attendant(task) });
    }

    /// Starts a thread, for work that blocks for a long time.
    pub fn thread(&self, name: impl Into<String>, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let name = name.into();
        let (end, ended) = oneshot::channel();
        let handle = thread::Builder::new().name(name.clone()).spawn(move || {
            // `join` waits for this value to be dropped, which happens both on return and on panic.
            let _end: oneshot::Sender<()> = end;
            work();
        })?;
        self.own(OwnedTask { name, work: Work::Thread { handle, ended } });
        Ok(())
    }

    /// Creates a group for many short-lived tasks of one kind. The holder of the group owns the group's tasks.
    pub fn group(&self, name: &'static str) -> Group {
        Group { name, handle: self.0.handle.clone(), set: Mutex::default() }
    }

    /// Returns the shutdown signal, which tasks can wait for.
    pub fn shutdown(&self) -> Shutdown {
        Shutdown(self.0.stage.subscribe())
    }

    /// Raises the stage to `stage`; a stage earlier than the current one has no effect.
    pub fn raise(&self, stage: Stage) {
        self.0.stage.send_if_modified(|now| {
            let higher = stage > *now;
            *now = stage.max(*now);
            higher
        });
    }

    /// Waits for the tasks and threads to end, except those of [`Tasks::attend`], for at most `grace` or until the stage is [`Stage::Cut`].
    /// Then aborts the remaining tasks.
    pub async fn join(&self, grace: Duration) -> JoinResult {
        let mut shutdown = self.shutdown();
        let end = Instant::now() + grace;
        let mut joined = JoinResult::default();
        let mut attendants = Vec::new();
        // A task may start other tasks before it ends (a listener starts tasks for its last connections): repeat until no task is left.
        loop {
            let batch = std::mem::take(&mut *self.owned());
            if batch.is_empty() {
                attendants.iter().for_each(JoinHandle::abort);
                return joined;
            }
            for OwnedTask { name, work } in batch {
                match work {
                    Work::Attendant(task) => attendants.push(task),
                    Work::Task(task) => join_task(name, task, end, &mut shutdown, &mut joined).await,
                    Work::Thread { handle, ended } => {
                        join_thread(name, handle, ended, end, &mut shutdown, &mut joined).await;
                    }
                }
            }
        }
    }

    fn own(&self, new: OwnedTask) {
        let mut owned = self.owned();
        // Removing ended tasks keeps the list short, even in a process that starts tasks for months.
        owned.retain(|one| match &one.work {
            Work::Task(task) | Work::Attendant(task) => !task.is_finished(),
            Work::Thread { .. } => true,
        });
        owned.push(new);
    }

    fn owned(&self) -> MutexGuard<'_, Vec<OwnedTask>> {
        self.0.owned.lock().expect("no holder of this lock panics")
    }
}

/// Runs `future`; if it panicked, logs the panic and returns false.
async fn outcome(name: String, future: impl Future<Output = ()>) -> bool {
    let finished = AssertUnwindSafe(future).catch_unwind().await.is_ok();
    if !finished {
        tracing::error!(task = name, "a background task panicked");
    }
    finished
}

async fn join_task(name: String, mut task: JoinHandle<bool>, end: Instant, shutdown: &mut Shutdown, joined: &mut JoinResult) {
    let result = tokio::select! {
        biased;
        result = &mut task => result,
        () = over(end, shutdown) => {
            task.abort();
            (&mut task).await
        }
    };
    match result {
        Ok(true) => joined.finished += 1,
        Ok(false) => joined.panicked.push(name),
        Err(_) => joined.cut.push(name),
    }
}

async fn join_thread(
    name: String,
    handle: thread::JoinHandle<()>,
    ended: oneshot::Receiver<()>,
    end: Instant,
    shutdown: &mut Shutdown,
    joined: &mut JoinResult,
) {
    tokio::select! {
        biased;
        _ = ended => match handle.join() {
            Ok(()) => joined.finished += 1,
            Err(_) => joined.panicked.push(name),
        },
        () = over(end, shutdown) => joined.cut.push(name),
    }
}

async fn over(end: Instant, shutdown: &mut Shutdown) {
    tokio::select! {
        () = tokio::time::sleep_until(end) => {}
        () = shutdown.cut() => {}
    }
}

/// A receiver of the shutdown signal.
#[derive(Clone)]
pub struct Shutdown(watch::Receiver<Stage>);

impl Shutdown {
    pub fn stage(&self) -> Stage {
        *self.0.borrow()
    }

    /// Waits until the process drains or must stop immediately.
    pub async fn draining(&mut self) {
        self.reached(Stage::Draining).await;
    }

    /// Waits until the process must stop immediately.
    pub async fn cut(&mut self) {
        self.reached(Stage::Cut).await;
    }

    async fn reached(&mut self, stage: Stage) {
        // If the owner no longer exists, the stage can no longer be raised, and there is nothing left to serve. The stage is therefore
        // treated as reached.
        let _ = self.0.wait_for(|now| *now >= stage).await;
    }
}

/// Many short-lived tasks of one kind. Dropping the group aborts its running tasks.
pub struct Group {
    name: &'static str,
    handle: Handle,
    set: Mutex<JoinSet<()>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupResult {
    /// The number of tasks that ended while the group was joined, including those that panicked.
    pub finished: usize,
    pub cut: usize,
}

impl Group {
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        let mut set = self.set();
        while let Some(ended) = set.try_join_next() {
            self.note(&ended);
        }
        set.spawn_on(future, &self.handle);
    }

    pub fn running(&self) -> usize {
        let mut set = self.set();
        while let Some(ended) = set.try_join_next() {
            self.note(&ended);
        }
        set.len()
    }

    /// Aborts all running tasks, without waiting for them.
    pub fn abort(&self) {
        self.set().abort_all();
    }

    /// Waits for all tasks that are running now. When `until` completes, aborts those that are still running.
    pub async fn join(&self, until: impl Future<Output = ()>) -> GroupResult {
        // Remove the tasks that have already ended, because only tasks that end from now on are counted.
        self.running();
        let mut set = std::mem::take(&mut *self.set());
        let mut ended = GroupResult::default();
        let mut until = std::pin::pin!(until);
        loop {
            tokio::select! {
                biased;
                next = set.join_next() => match next {
                    None => return ended,
                    Some(result) => {
                        self.note(&result);
                        ended.finished += 1;
                    }
                },
                () = &mut until => break,
            }
        }
        ended.cut = set.len();
        set.shutdown().await;
        ended
    }

    fn note(&self, ended: &Result<(), tokio::task::JoinError>) {
        if let Err(error) = ended
            && error.is_panic()
        {
            tracing::error!(group = self.name, "a task panicked");
        }
    }

    fn set(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.set.lock().expect("no holder of this lock panics")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks() -> Tasks {
        Tasks::new(Handle::current())
    }

    #[tokio::test]
    async fn tasks_and_threads_that_heed_the_signal_are_joined() {
        let tasks = tasks();
        let mut shutdown = tasks.shutdown();
        tasks.spawn("waits", async move { shutdown.draining().await });
        let (send, receive) = std::sync::mpsc::channel::<()>();
        tasks
            .thread("blocks", move || {
                let _ = receive.recv();
            })
            .expect("threads can be started");
        tasks.raise(Stage::Draining);
        drop(send);
        assert_eq!(tasks.join(Duration::from_secs(10)).await, JoinResult { finished: 2, ..JoinResult::default() });
    }

    #[tokio::test]
    async fn a_task_that_ignores_the_signal_is_aborted_after_the_grace_and_named() {
        let tasks = tasks();
        tasks.spawn("deaf", std::future::pending());
        let joined = tasks.join(Duration::from_millis(20)).await;
        assert_eq!(joined, JoinResult { cut: vec!["deaf".to_owned()], ..JoinResult::default() });
    }

    #[tokio::test]
    async fn an_attendant_is_not_waited_for() {
        let tasks = tasks();
        tasks.attend("listens", std::future::pending());
        let joined = tokio::time::timeout(Duration::from_secs(10), tasks.join(Duration::from_secs(3600))).await;
        assert_eq!(joined.expect("the tasks end long before the grace period does"), JoinResult::default());
    }

    #[tokio::test]
    async fn the_cut_stage_ends_the_grace_early() {
        let tasks = tasks();
        tasks.spawn("deaf", std::future::pending());
        tasks.raise(Stage::Cut);
        let joined = tokio::time::timeout(Duration::from_secs(10), tasks.join(Duration::from_secs(3600))).await;
        assert_eq!(joined.expect("the tasks end long before the grace period does").cut, ["deaf"]);
    }

    #[tokio::test]
    async fn a_panic_is_reported_and_affects_no_other_task() {
        let tasks = tasks();
        tasks.spawn("falls", async { panic!("on purpose") });
        tasks.thread("falls too", || panic!("on purpose")).expect("threads can be started");
        tasks.spawn("stands", async {});
        let joined = tasks.join(Duration::from_secs(10)).await;
        assert_eq!(joined, JoinResult { finished: 1, panicked: vec!["falls".into(), "falls too".into()], cut: vec![] });
    }

    #[tokio::test]
    async fn stages_are_only_raised() {
        let tasks = tasks();
        tasks.raise(Stage::Cut);
        tasks.raise(Stage::Draining);
        assert_eq!(tasks.shutdown().stage(), Stage::Cut);
    }

    #[tokio::test]
    async fn a_group_counts_what_ended_and_what_was_cut() {
        let tasks = tasks();
        let group = tasks.group("short ones");
        group.spawn(async {});
        group.spawn(std::future::pending());
        let ended = group.join(tokio::time::sleep(Duration::from_millis(50))).await;
        assert_eq!(ended, GroupResult { finished: 1, cut: 1 });
    }

    #[tokio::test]
    async fn dropping_a_group_ends_its_tasks() {
        let group = tasks().group("short ones");
        let (held, dropped) = oneshot::channel::<()>();
        group.spawn(async move {
            let _held = held;
            std::future::pending::<()>().await;
        });
        assert_eq!(group.running(), 1);
        drop(group);
        assert!(dropped.await.is_err());
    }
}
