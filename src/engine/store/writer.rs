//! Group commit: one thread runs commands one after the other and makes all that wait at that moment durable together.
//!
//! A sync of the disk costs the same for one row and for thousands, and rows written in key order cost a fraction of rows written
//! in order of arrival. So commands write into overlays; the group's overlay goes to the engine sorted, in one transaction.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::memo::Memo;
use super::port::{Overlay, Port, Snapshot};
use super::tx::{ReadTx, WriteTx};
use super::{Error, Result};
use crate::base::clock::{Clock, Timestamp};
use crate::base::random::Random;

/// Commands in one group. More would only make the first wait longer.
const GROUP_COMMANDS_MAX: usize = 1024;
/// Rows in one group, after which no further command joins: bounds the memory of a group of bulk writes.
const GROUP_ROWS_MAX: usize = 100_000;

/// A command that waits for the writer.
pub trait Job: Send {
    /// Run the command; true if its changes are to be kept.
    fn run(&mut self, tx: &mut WriteTx<'_>) -> bool;
    /// Answer the one who waits, now that the group is durable, or failed.
    fn finish(self: Box<Self>, outcome: Result<()>);
}

struct Command<F, T, E> {
    command: Option<F>,
    result: Option<Result<T, E>>,
    answer: oneshot::Sender<Result<Result<T, E>>>,
}

/// `command` as a job, and where its answer will arrive.
pub fn job<T, E, F>(command: F) -> (Box<dyn Job>, oneshot::Receiver<Result<Result<T, E>>>)
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
        // Nobody may be waiting any more: the client went away. Its write is kept all the same.
        let _ = answer.send(outcome.and_then(|()| result.ok_or(Error::Panicked)));
    }
}

/// The state of the writing thread.
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
}

impl Writer {
    /// A writer on top of the newest commit.
    pub fn new(
        port: Arc<dyn Port>,
        published: Arc<ArcSwap<ReadTx>>,
        changed: Arc<Vec<Notify>>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        let newest = ReadTx::clone(&published.load());
        let ReadTx { snapshot, feed_position, memo } = newest;
        Self { port, published, changed, clock, random, snapshot, memo, feed_next: feed_position + 1, last: Timestamp(0) }
    }

    /// Take jobs until the store is closed and none is left, or until the disk fails.
    pub fn run(mut self, mut waiting: mpsc::Receiver<Box<dyn Job>>, failing: &watch::Sender<Option<Error>>) {
        while let Some(first) = waiting.blocking_recv() {
            if let Err(error) = self.group(first, &mut waiting) {
                tracing::error!(%error, "a commit failed: no more writes are taken");
                waiting.close();
                failing.send_replace(Some(error.clone()));
                while let Ok(job) = waiting.try_recv() {
                    job.finish(Err(error.clone()));
                }
                return;
            }
        }
    }

    fn group(&mut self, first: Box<dyn Job>, waiting: &mut mpsc::Receiver<Box<dyn Job>>) -> Result<()> {
        let mut group = Overlay::new();
        let mut done = Vec::new();
        let mut next = Some(first);
        while let Some(mut job) = next {
            self.step(job.as_mut(), &mut group);
            done.push(job);
            let full = done.len() >= GROUP_COMMANDS_MAX || group.len() >= GROUP_ROWS_MAX;
            next = if full { None } else { waiting.try_recv().ok() };
        }
        let outcome = self.commit(&group);
        for job in done {
            job.finish(outcome.clone());
        }
        outcome
    }

    /// Run one command over the group's changes and keep its own if it succeeded.
    pub fn step(&mut self, job: &mut dyn Job, group: &mut Overlay) {
        self.last = self.last.max(self.clock.now());
        let mut tx = WriteTx {
            snapshot: &self.snapshot,
            group,
            own: Overlay::new(),
            now: self.last,
            random: &self.random,
            feed_next: self.feed_next,
        };
        let keep = job.run(&mut tx);
        let WriteTx { own, feed_next, .. } = tx;
        if keep {
            self.feed_next = feed_next;
            group.merge(own);
        }
    }

    /// Make the group durable, then let readers and workers see it.
    pub fn commit(&mut self, group: &Overlay) -> Result<()> {
        if group.is_empty() {
            return Ok(());
        }
        self.port.commit(group)?;
        self.snapshot = self.port.snapshot()?;
        let newest = ReadTx { snapshot: self.snapshot.clone(), feed_position: self.feed_next - 1, memo: self.memo.clone() };
        self.published.store(Arc::new(newest));
        for (table, _) in group.tables() {
            self.changed[table.0 as usize].notify_waiters();
        }
        Ok(())
    }
}
