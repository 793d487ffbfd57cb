//! Group commit: one thread runs commands one after the other. It runs the commands that are waiting at the same time as one group, and
//! commits them together.
//!
//! A disk sync takes about the same time for one row as for thousands of rows, and writing rows in key order takes a fraction of the time
//! of writing them in arrival order. So commands write into overlays, and the rows of a group's overlay are written to the engine in key
//! order, in one transaction.
//!
//! Groups do not overlap: running commands takes an eighth of this thread's time (measured), and the engine takes the rest. Running the
//! next group during a commit would make the writer at most 1.14 times as fast, and would add a third layer to every read.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::runtime::Runtime;
use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::commit_log::{self, Logged, Record};
use super::feed;
use super::memo::Memo;
use super::port::{Overlay, Port, Snapshot};
use super::tx::{ReadTx, WriteTx};
use super::{Error, Result};
use crate::base::clock::{Clock, Timestamp};
use crate::base::random::Random;
use crate::vocab::tables::{self, DatabaseKind};

/// The maximum number of commands in a group. A larger group would only make its first command wait longer.
const GROUP_COMMANDS_MAX: usize = 1024;
/// The number of rows after which no more commands are added to a group, which bounds the memory of a group of bulk writes.
const GROUP_ROWS_MAX: usize = 100_000;
/// The idle time after which the engine settles. It is so long that the engine's two syncs are not a significant load, and so short that a
/// crash outside busy periods usually happens after the engine has settled.
const SETTLE_AFTER: Duration = Duration::from_millis(100);
/// If the clock goes back by less than this, the write time does not advance until the clock catches up. If the clock goes back by more,
/// its earlier time was wrong, so the write time goes back too.
const CLOCK_WAITED_FOR_MS: i64 = 60_000;

/// A command that waits for the writer.
pub trait Job: Send {
    /// Runs the command; returns true if the command's changes must be kept.
    fn run(&mut self, tx: &mut WriteTx<'_>) -> bool;
    /// Sends the result to the caller, after the group has become durable or has failed.
    fn finish(self: Box<Self>, outcome: Result<()>);
}

/// The receiver for a command's result: the store's result, which contains the command's own result.
pub type ResultReceiver<T, E> = oneshot::Receiver<Result<Result<T, E>>>;

struct Command<F, T, E> {
    command: Option<F>,
    result: Option<Result<T, E>>,
    answer: oneshot::Sender<Result<Result<T, E>>>,
}

/// Wraps `command` as a job; returns the job and the receiver for its result.
pub fn job<T, E, F>(command: F) -> (Box<dyn Job>, ResultReceiver<T, E>)
where
    T: Send + 'static,
    E: Send + 'static,
    F: FnOnce(&mut WriteTx<'_>) -> Result<T, E> + Send + 'static,
{
    let (answer, receiver) = oneshot::channel();
    (Box::new(Command { command: Some(command), result: None, answer }), receiver)
}

impl<T, E, F> Job for Command<F, T, E>
where
    T: Send + 'static,
    E: Send + 'static,
    F: FnOnce(&mut WriteTx<'_>) -> Result<T, E> + Send + 'static,
{
    fn run(&mut self, tx: &mut WriteTx<'_>) -> bool {
        let command = self.command.take().expect("a job runs once");
        self.result = catch_unwind(AssertUnwindSafe(|| command(tx))).ok();
        matches!(self.result, Some(Ok(_)))
    }

    fn finish(self: Box<Self>, outcome: Result<()>) {
        let Self { result, answer, .. } = *self;
        // If the client has disconnected, the caller may no longer exist. The write is kept anyway.
        let _ = answer.send(outcome.and_then(|()| result.ok_or(Error::Panicked)));
    }
}

pub struct Writer {
    port: Arc<dyn Port>,
    published: Arc<ArcSwap<ReadTx>>,
    changed: Arc<Vec<Notify>>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    snapshot: Arc<dyn Snapshot>,
    memo: Arc<Memo>,
    feed_next: u64,
    last: Timestamp,
    /// Whether there are commits that the engine has not settled.
    unsettled: bool,
    /// The log that receives the commits, with the position of the newest commit; `None` if commits are not logged.
    log: Option<(Logged, u64)>,
}

impl Writer {
    /// Creates a writer that starts from the newest commit.
    pub fn new(
        port: Arc<dyn Port>,
        published: Arc<ArcSwap<ReadTx>>,
        changed: Arc<Vec<Notify>>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        let newest = ReadTx::clone(&published.load());
        let ReadTx { snapshot, feed_position, memo } = newest;
        Self {
            port,
            published,
            changed,
            clock,
            random,
            snapshot,
            memo,
            feed_next: feed_position + 1,
            last: Timestamp(0),
            unsettled: false,
            log: None,
        }
    }

    /// Sends all further commits to a log.
    pub fn log_to(&mut self, logged: Logged) -> Result<()> {
        let position = commit_log::position(&*self.published.load_full())?;
        self.log = Some((logged, position));
        Ok(())
    }

    /// Runs jobs until the store is closed and no job is left, or until a commit or the engine fails.
    pub fn run(mut self, mut waiting: mpsc::Receiver<Box<dyn Job>>, failing: &watch::Sender<Option<Error>>, timer: &Runtime) {
        let mut done = Vec::new();
        loop {
            let work = AssertUnwindSafe(|| match self.next(&mut waiting, timer)? {
                Some(first) => self.group(first, &mut waiting, &mut done).map(|()| true),
                None => Ok(false),
            });
            // The engine trusts its own pages: on a damaged file it may panic instead of returning an error.
            let outcome = catch_unwind(work).unwrap_or_else(|_| {
                Err(Error::Io("the data file is probably damaged; stop the service, and run `mailmill check-data`".to_owned()))
            });
            if let Err(error) = &outcome {
                tracing::error!(%error, "the store failed: no more writes are accepted");
                failing.send_replace(Some(error.clone()));
                waiting.close();
            }
            for job in done.drain(..) {
                job.finish(outcome.clone().map(drop));
            }
            if let Err(error) = &outcome {
                // The loop runs until the channel is empty, because a job may arrive while the channel closes.
                while let Some(job) = waiting.blocking_recv() {
                    job.finish(Err(error.clone()));
                }
                return;
            }
            if outcome == Ok(false) {
                return;
            }
        }
    }

    /// Returns the next job; settles the engine if there is no job for a while. Returns `None` when the store is closed.
    fn next(&mut self, waiting: &mut mpsc::Receiver<Box<dyn Job>>, timer: &Runtime) -> Result<Option<Box<dyn Job>>> {
        if self.unsettled {
            match timer.block_on(async { tokio::time::timeout(SETTLE_AFTER, waiting.recv()).await }) {
                Ok(job) => return Ok(job),
                Err(_) => {
                    self.port.settle()?;
                    self.unsettled = false;
                }
            }
        }
        Ok(waiting.blocking_recv())
    }

    /// Runs `first` and the other waiting jobs as one group, and commits the group. Adds the jobs to `done`; the caller finishes
    /// them with the outcome.
    pub(super) fn group(
        &mut self,
        first: Box<dyn Job>,
        waiting: &mut mpsc::Receiver<Box<dyn Job>>,
        done: &mut Vec<Box<dyn Job>>,
    ) -> Result<()> {
        let mut group = Overlay::new();
        let mut next = Some(first);
        while let Some(mut job) = next {
            self.step(job.as_mut(), &mut group);
            done.push(job);
            let full = done.len() >= GROUP_COMMANDS_MAX || group.len() >= GROUP_ROWS_MAX;
            next = if full { None } else { waiting.try_recv().ok() };
        }
        self.commit(group)
    }

    /// Runs one command on top of the group's changes, and keeps the command's own changes if it succeeded.
    pub fn step(&mut self, job: &mut dyn Job, group: &mut Overlay) {
        let now = self.clock.now();
        let was_wrong = self.last.ms_since(now) > CLOCK_WAITED_FOR_MS;
        self.last = if was_wrong { now } else { self.last.max(now) };
        let mut tx = WriteTx {
            snapshot: &self.snapshot,
            group,
            own: Overlay::new(),
            now: self.last,
            random: &self.random,
            feed_first: self.feed_next,
            feed_next: self.feed_next,
        };
        let keep = job.run(&mut tx);
        let WriteTx { own, feed_next, .. } = tx;
        if keep {
            self.feed_next = feed_next;
            group.merge(own);
        }
    }

    /// Makes the group durable, adds it to the log, and makes it visible to readers and workers.
    pub fn commit(&mut self, mut group: Overlay) -> Result<()> {
        if group.is_empty() {
            return Ok(());
        }
        self.unsettled = true;
        if let Some((_, position)) = &mut self.log {
            *position += 1;
            commit_log::set_position(&mut group, *position);
        }
        self.port.stamp(&mut group);
        self.port.commit(&group)?;
        let group = Arc::new(group);
        // The log receives the commit before readers and callers see it. In the shared log of several stores, a commit therefore precedes
        // the commits that it causes.
        if let Some((logged, position)) = &self.log {
            logged.log.append(Record { store: logged.store, position: *position, at: self.last, batch: group.clone() });
        }
        self.publish(&group)
    }

    /// Makes the newest commit visible to readers, and wakes the workers that wait for the tables of `changes`.
    fn publish(&mut self, changes: &Overlay) -> Result<()> {
        self.snapshot = self.port.snapshot()?;
        let newest = ReadTx { snapshot: self.snapshot.clone(), feed_position: self.feed_next - 1, memo: self.memo.clone() };
        self.published.store(Arc::new(newest));
        for (table, _) in changes.tables() {
            self.changed[table.0 as usize].notify_waiters();
        }
        Ok(())
    }

    /// Makes commits visible that the port has received from another node. `at` is the time of the newest one.
    pub(super) fn adopt(&mut self, changes: &Overlay, at: Timestamp) -> Result<()> {
        self.last = self.last.max(at);
        if changes.table(tables::FEED).is_some() {
            self.feed_next = feed::newest(self.port.snapshot()?, DatabaseKind::Environment)?.feed_position + 1;
        }
        self.publish(changes)
    }

    /// Forgets the feed positions of a group that was not committed.
    pub(super) fn forget_group(&mut self) {
        self.feed_next = self.published.load().feed_position + 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    use super::super::conformance::MemoryPort;
    use super::super::testing::{start, start_at};
    use super::super::tx::{Read, Table};
    use super::super::{QUEUE_MAX, Store};
    use super::*;
    use crate::base::clock::ManualClock;
    use crate::vocab::tables::{AUDIT, CONTACTS, DatabaseKind, META, TAGS};

    const ROWS: Table<u32, Vec<u8>> = Table::new(CONTACTS);
    const COUNT: Table<u8, i64> = Table::new(TAGS);

    #[derive(Clone, Copy, PartialEq)]
    enum Fault {
        Error,
        Panic,
    }

    /// A plain map as an engine. The test can delay, count and fail its commits.
    struct Stage {
        inner: MemoryPort,
        commits: AtomicU32,
        settled: AtomicU32,
        held: AtomicBool,
        entered: Mutex<Sender<()>>,
        release: Mutex<Receiver<()>>,
        fault: Mutex<Option<Fault>>,
        settle_fault: Mutex<bool>,
    }

    impl Stage {
        /// Creates a stage, a receiver for the signal that a delayed commit has started, and a sender that lets the commit continue.
        fn new() -> (Arc<Self>, Receiver<()>, Sender<()>) {
            let ((entered, began), (go, release)) = (channel(), channel());
            let stage = Self {
                inner: MemoryPort::new(),
                commits: AtomicU32::new(0),
                settled: AtomicU32::new(0),
                held: AtomicBool::new(false),
                entered: Mutex::new(entered),
                release: Mutex::new(release),
                fault: Mutex::new(None),
                settle_fault: Mutex::new(false),
            };
            (Arc::new(stage), began, go)
        }
    }

    impl Port for Stage {
        fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
            self.inner.snapshot()
        }

        fn commit(&self, batch: &Overlay) -> Result<()> {
            if self.held.load(Ordering::SeqCst) {
                self.entered.lock().expect("no holder of this lock panics").send(()).expect("the test receives");
                self.release.lock().expect("no holder of this lock panics").recv().expect("the test continues");
            }
            self.commits.fetch_add(1, Ordering::SeqCst);
            let fault = *self.fault.lock().expect("no holder of this lock panics");
            match fault {
                Some(Fault::Error) => Err(Error::Io("no space".into())),
                Some(Fault::Panic) => panic!("a page is invalid"),
                None => self.inner.commit(batch),
            }
        }

        fn settle(&self) -> Result<()> {
            self.settled.fetch_add(1, Ordering::SeqCst);
            if *self.settle_fault.lock().expect("no holder of this lock panics") {
                Err(Error::Io("no space".into()))
            } else {
                Ok(())
            }
        }
    }

    /// Blocks the writer inside a command, so that queued commands form one group with it.
    fn hold(store: &Store) -> (Sender<()>, ResultReceiver<(), ()>) {
        let (go, wait) = channel();
        let (inside, began) = channel();
        let answer = store.queue(move |_| {
            inside.send(()).expect("the test receives");
            wait.recv().expect("the test continues");
            Ok(())
        });
        began.recv().expect("the command started");
        (go, answer.expect("the write is queued"))
    }

    fn put(number: u32) -> impl FnOnce(&mut WriteTx<'_>) -> Result<u32, ()> {
        move |tx| {
            tx.put(ROWS, &number, &vec![1]);
            Ok(number)
        }
    }

    fn has(store: &Store, number: u32) -> bool {
        store.read().has(ROWS, &number).expect("the data is readable")
    }

    fn got<T, E>(answer: Result<ResultReceiver<T, E>>) -> Result<Result<T, E>> {
        answer.expect("the write is queued").blocking_recv().expect("every command gets an answer")
    }

    #[test]
    fn a_command_that_fails_or_panics_leaves_no_trace_and_the_others_of_its_group_stay() {
        let (stage, ..) = Stage::new();
        let store = start(stage.clone(), DatabaseKind::Environment).expect("the store starts");
        let before = stage.commits.load(Ordering::SeqCst);
        let (go, held) = hold(&store);
        let first = store.queue(put(1));
        let failing = store.queue(|tx| {
            tx.put(ROWS, &2, &vec![1]);
            tx.delete(ROWS, &1);
            Err::<(), _>("no")
        });
        let panicking = store.queue(|tx| -> Result<(), ()> {
            tx.put(ROWS, &3, &vec![1]);
            tx.delete(ROWS, &1);
            panic!("on purpose");
        });
        let last = store.queue(put(4));
        go.send(()).expect("the command waits");
        assert_eq!(got(Ok(held)), Ok(Ok(())));
        assert_eq!(got(first), Ok(Ok(1)));
        assert_eq!(got(failing), Ok(Err("no")));
        assert_eq!(got(panicking), Err(Error::Panicked));
        assert_eq!(got(last), Ok(Ok(4)));
        assert_eq!([1, 2, 3, 4].map(|number| has(&store, number)), [true, false, false, true]);
        assert_eq!(stage.commits.load(Ordering::SeqCst) - before, 1, "all commands were committed as one group");
        assert_eq!(store.write_blocking(put(5)), Ok(Ok(5)), "the writer continues");
        store.close();
    }

    #[test]
    fn commands_of_one_group_see_each_others_changes() {
        let (stage, ..) = Stage::new();
        let store = start(stage.clone(), DatabaseKind::Environment).expect("the store starts");
        let before = stage.commits.load(Ordering::SeqCst);
        let (go, _held) = hold(&store);
        let answers: Vec<_> = (0..50)
            .map(|number| {
                store.queue(move |tx| {
                    let seen = tx.list(ROWS, &Default::default(), super::super::Order::Forward, 99)?.len();
                    tx.put(ROWS, &number, &vec![]);
                    Ok::<_, Error>((seen, tx.add(COUNT, &0, 1)?))
                })
            })
            .collect();
        go.send(()).expect("the command waits");
        for (number, answer) in answers.into_iter().enumerate() {
            assert_eq!(got(answer), Ok(Ok((number, number as i64 + 1))));
        }
        assert_eq!(stage.commits.load(Ordering::SeqCst) - before, 1, "all commands were committed as one group");
        store.close();
    }

    #[test]
    fn a_result_comes_after_the_commit_and_readers_see_the_change_no_earlier() {
        let (stage, began, go) = Stage::new();
        let store = start(stage.clone(), DatabaseKind::Environment).expect("the store starts");
        stage.held.store(true, Ordering::SeqCst);
        let mut answer = store.queue(put(1)).expect("the write is queued");
        let mut refusal = store.queue(|_| Err::<(), _>(())).expect("the write is queued");
        began.recv().expect("the commit started");
        assert!(answer.try_recv().is_err() && !has(&store, 1), "the commit is not done yet");
        let late = store.queue(put(2));
        stage.held.store(false, Ordering::SeqCst);
        go.send(()).expect("the commit waits");
        assert_eq!(answer.blocking_recv().expect("the command gets a response"), Ok(Ok(1)));
        assert!(has(&store, 1));
        assert_eq!(got(late), Ok(Ok(2)));
        assert!(refusal.try_recv().is_ok());
        store.close();
    }

    #[test]
    fn a_full_queue_rejects_one_more_and_accepts_more_later() {
        let (stage, ..) = Stage::new();
        let store = start(stage, DatabaseKind::Environment).expect("the store starts");
        let (go, _held) = hold(&store);
        let waiting: Vec<_> = (0..QUEUE_MAX as u32).map(|number| store.queue(put(number))).collect();
        assert!(matches!(store.queue(put(0)), Err(Error::Busy)));
        go.send(()).expect("the command waits");
        for (number, answer) in waiting.into_iter().enumerate() {
            assert_eq!(got(answer), Ok(Ok(number as u32)));
        }
        assert_eq!(store.write_blocking(put(9)), Ok(Ok(9)));
        store.close();
    }

    #[test]
    fn a_write_without_its_caller_is_kept_and_close_finishes_waiting_writes() {
        let (stage, ..) = Stage::new();
        let store = start(stage.clone(), DatabaseKind::Environment).expect("the store starts");
        let (go, held) = hold(&store);
        drop(store.queue(put(1)).expect("the write is queued"));
        let answer = store.queue(put(2));
        go.send(()).expect("the command waits");
        drop(held);
        store.close();
        assert_eq!(got(answer), Ok(Ok(2)));
        let store = start(stage, DatabaseKind::Environment).expect("the store starts again");
        assert!(has(&store, 1) && has(&store, 2));
        store.close();
    }

    #[test]
    fn a_failed_or_panicked_commit_fails_its_group_and_all_later_writes() {
        for (fault, words) in [
            (Fault::Error, "no space"),
            (Fault::Panic, "the data file is probably damaged; stop the service, and run `mailmill check-data`"),
        ] {
            let error = Error::Io(words.into());
            let (stage, began, go) = Stage::new();
            let store = start(stage.clone(), DatabaseKind::Environment).expect("the store starts");
            assert_eq!(store.write_blocking(put(1)), Ok(Ok(1)));
            let (release, held) = hold(&store);
            let (kept, refused) = (store.queue(put(2)), store.queue(|_| Err::<(), _>(())));
            stage.held.store(true, Ordering::SeqCst);
            *stage.fault.lock().expect("no holder of this lock panics") = Some(fault);
            release.send(()).expect("the command waits");
            began.recv().expect("the commit started");
            let late = store.queue(put(3));
            stage.held.store(false, Ordering::SeqCst);
            assert_eq!(*store.failure().borrow(), None);
            go.send(()).expect("the commit waits");
            assert_eq!(got(Ok(held)), Err(error.clone()));
            assert_eq!(
                *store.failure().borrow(),
                Some(error.clone()),
                "the failure is known before the first result is returned"
            );
            assert_eq!(got(kept), Err(error.clone()));
            // A rejected command also gets the error, because its result may depend on changes that are now lost.
            assert_eq!(got(refused), Err(error.clone()));
            assert_eq!(got(late), Err(error.clone()));
            *stage.fault.lock().expect("no holder of this lock panics") = None;
            assert_eq!(store.write_blocking(put(4)), Err(error));
            assert_eq!([1, 2, 3, 4].map(|number| has(&store, number)), [true, false, false, false], "reading continues");
            store.close();
        }
    }

    #[test]
    fn the_engine_settles_once_when_idle_and_a_failure_of_that_ends_writing() {
        let (stage, ..) = Stage::new();
        let store = start(stage.clone(), DatabaseKind::Environment).expect("the store starts");
        let settled = || stage.settled.load(Ordering::SeqCst);
        let wait_until = |done: &dyn Fn() -> bool| {
            for _ in 0..400 {
                if done() {
                    return;
                }
                std::thread::sleep(SETTLE_AFTER / 4);
            }
            panic!("the store did not settle in a hundred times the expected time");
        };
        let (go, held) = hold(&store);
        let before = settled();
        let answer = store.queue(put(1));
        go.send(()).expect("the command waits");
        assert_eq!((got(Ok(held)), got(answer)), (Ok(Ok(())), Ok(Ok(1))));
        wait_until(&|| settled() == before + 1);
        assert_eq!(store.write_blocking(|_| Ok::<_, ()>(())), Ok(Ok(())));
        std::thread::sleep(SETTLE_AFTER * 2);
        assert_eq!(settled(), before + 1, "no commit has changed the data since");
        let (go, _held) = hold(&store);
        let answer = store.queue(put(30));
        *stage.settle_fault.lock().expect("no holder of this lock panics") = true;
        go.send(()).expect("the command waits");
        assert_eq!(got(answer), Ok(Ok(30)));
        wait_until(&|| store.failure().borrow().is_some());
        assert_eq!(store.write_blocking(put(31)), Err(Error::Io("no space".into())));
        store.close();
    }

    #[test]
    fn write_time_does_not_advance_when_the_clock_goes_back_a_little_and_follows_a_large_change() {
        let clock = Arc::new(ManualClock::at(Timestamp(5_000)));
        let store = start_at(Arc::new(MemoryPort::new()), DatabaseKind::Environment, clock.clone()).expect("the store starts");
        let now = || {
            store.write_blocking(|tx| Ok::<_, ()>(tx.now())).expect("the write succeeds").expect("the command returns no error")
        };
        assert_eq!(now(), Timestamp(5_000));
        clock.advance_ms(-1_000);
        assert_eq!(now(), Timestamp(5_000));
        clock.advance_ms(2_000);
        assert_eq!(now(), Timestamp(6_000));
        clock.advance_ms(365 * 24 * 3_600_000);
        assert_eq!(now(), Timestamp(365 * 24 * 3_600_000 + 6_000));
        clock.advance_ms(-365 * 24 * 3_600_000);
        assert_eq!(now(), Timestamp(6_000));
        clock.advance_ms(-CLOCK_WAITED_FOR_MS);
        assert_eq!(now(), Timestamp(6_000));
        store.close();
    }

    #[tokio::test]
    async fn a_commit_wakes_only_waiters_for_its_tables() {
        let store = start(Arc::new(MemoryPort::new()), DatabaseKind::Environment).expect("the store starts");
        let (contacts, also, audit) =
            (store.changed(CONTACTS).notified(), store.changed(CONTACTS).notified(), store.changed(AUDIT).notified());
        let meta = store.changed(META).notified();
        assert_eq!(store.write(put(1)).await, Ok(Ok(1)));
        tokio::time::timeout(Duration::from_secs(5), contacts)
            .await
            .expect("the waiter is woken, although it was not polled before");
        tokio::time::timeout(Duration::from_secs(5), also).await.expect("every waiter is woken");
        assert!(has(&store, 1));
        for quiet in [audit, meta] {
            tokio::time::timeout(Duration::from_millis(1), quiet).await.expect_err("the table did not change");
        }
        let contacts = store.changed(CONTACTS).notified();
        let refused = store.write(|tx| {
            tx.put(ROWS, &2, &vec![]);
            Err::<(), _>(())
        });
        assert_eq!(refused.await, Ok(Err(())));
        tokio::time::timeout(Duration::from_millis(1), contacts).await.expect_err("no table changed");
        store.close();
    }
}
