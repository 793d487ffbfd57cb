//! The thread of a store in a cluster: follows the log, or accepts commands while this process leads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::sync::{mpsc, watch};

use super::lease::Epoch;
use super::replicated_port::{Applied, ReplicatedPort};
use super::turn::Turn;
use crate::engine::store::port::Port;
use crate::engine::store::writer::{Job, Writer};
use crate::engine::store::{Error, Result};
use crate::vocab::limits;

type Jobs = mpsc::Receiver<Box<dyn Job>>;
type Migrate = Box<dyn Fn(&mut Writer) -> Result<()> + Send>;

/// The state of a store's thread.
pub struct Replica {
    pub writer: Writer,
    pub port: Arc<ReplicatedPort>,
    pub waiting: Jobs,
    pub timer: Runtime,
    /// Runs the migrations that the store still needs, each time the process starts to lead.
    pub migrate: Migrate,
}

#[derive(PartialEq, Eq)]
enum Next {
    Continue,
    End,
}

impl Replica {
    /// Runs until the store is closed, or until an error prevents the node from continuing.
    pub fn run(mut self, failing: &watch::Sender<Option<Error>>) {
        let mut turns = self.port.turn().watch();
        loop {
            let turn = *turns.borrow_and_update();
            let step = AssertUnwindSafe(|| match turn {
                Turn::Follow => self.follow(&mut turns),
                Turn::Lead(epoch) => self.lead(epoch, &mut turns),
            });
            // The database engine trusts its own pages: on a damaged file it may panic instead of returning an error.
            let outcome = catch_unwind(step).unwrap_or_else(|_| {
                Err(Error::Io("the data file is probably damaged; stop the service, and run `mailmill check-data`".to_owned()))
            });
            if outcome == Ok(Next::Continue) {
                continue;
            }
            self.port.lead(None);
            self.port.turn().accept(self.port.store(), 0);
            let error = match outcome {
                Err(error) if error != Error::Closed => {
                    // The other stores stop with the same error, which is logged once.
                    if self.port.turn().fail(error.clone()) {
                        tracing::error!(%error, store = self.port.store().word(), "a store of the cluster cannot continue");
                    }
                    failing.send_replace(Some(error.clone()));
                    error
                }
                _ => Error::Closed,
            };
            self.waiting.close();
            while let Some(job) = self.waiting.blocking_recv() {
                job.finish(Err(error.clone()));
            }
            return;
        }
    }

    /// Applies new records once. Unless there may be more, waits until the next poll or until the turn changes.
    fn follow(&mut self, turns: &mut watch::Receiver<Turn>) -> Result<Next> {
        self.refuse();
        if self.waiting.is_closed() {
            return Ok(Next::End);
        }
        if let Some(error) = self.port.turn().failure() {
            return Err(error.clone());
        }
        let pause = match self.advance()? {
            Some(true) => return Ok(Next::Continue),
            Some(false) => limits::CLUSTER_POLL_PAUSE,
            None => limits::CLUSTER_RETRY_PAUSE,
        };
        let _ = self.timer.block_on(async { tokio::time::timeout(pause, turns.changed()).await });
        Ok(Next::Continue)
    }

    /// Applies the next records and shows them to readers. Returns whether there may be more; `None` if the database cannot be reached.
    fn advance(&mut self) -> Result<Option<bool>> {
        match self.port.follow() {
            Ok(Some(Applied { batch, at, more })) => {
                self.writer.adopt(&batch, at)?;
                self.port.turn().reach(self.port.store(), self.port.position());
                Ok(Some(more))
            }
            Ok(None) => Ok(Some(false)),
            Err(error) if error.is_temporary() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Applies the rest of the log, and then accepts commands until the turn changes.
    fn lead(&mut self, epoch: Epoch, turns: &mut watch::Receiver<Turn>) -> Result<Next> {
        // Apply all records of the log. No other process appends records while this process has the lease.
        loop {
            match self.advance()? {
                Some(false) => break,
                Some(true) => {}
                None => std::thread::sleep(limits::CLUSTER_RETRY_PAUSE),
            }
            if turns.has_changed().unwrap_or(true) {
                return Ok(Next::Continue);
            }
        }
        // Also check the ID of the newest record: a database that was replaced may have the same number of records.
        match self.port.check() {
            Ok(()) => {}
            Err(error) if error.is_temporary() => {
                std::thread::sleep(limits::CLUSTER_RETRY_PAUSE);
                return Ok(Next::Continue);
            }
            Err(error) => return Err(error.into()),
        }
        self.port.lead(Some(epoch));
        let led = self.accept_commands(epoch, turns);
        self.port.lead(None);
        self.port.turn().accept(self.port.store(), 0);
        match led {
            Err(Error::NotLeader) => {
                tracing::warn!(store = self.port.store().word(), epoch, "another node has taken the lease");
                self.port.turn().end_epoch(epoch);
                Ok(Next::Continue)
            }
            other => other,
        }
    }

    fn accept_commands(&mut self, epoch: Epoch, turns: &mut watch::Receiver<Turn>) -> Result<Next> {
        (self.migrate)(&mut self.writer)?;
        self.port.turn().accept(self.port.store(), epoch);
        let mut is_settled = false;
        loop {
            let waiting = &mut self.waiting;
            let next = self.timer.block_on(async {
                tokio::select! {
                    biased;
                    _ = turns.changed() => None,
                    job = waiting.recv() => Some(job),
                    () = tokio::time::sleep(limits::CLUSTER_SETTLE_PAUSE), if !is_settled => Some(None),
                }
            });
            match next {
                None => return Ok(Next::Continue),
                Some(None) if self.waiting.is_closed() => return Ok(Next::End),
                Some(None) => {
                    self.port.settle()?;
                    is_settled = true;
                    self.port.turn().complete(self.port.store(), self.port.turn().now());
                }
                Some(Some(job)) => {
                    self.group(job)?;
                    is_settled = false;
                }
            }
        }
    }

    /// Runs a group of commands that starts with `first`, and responds to their callers.
    fn group(&mut self, first: Box<dyn Job>) -> Result<()> {
        let mut done = Vec::new();
        let outcome = self.writer.group(first, &mut self.waiting, &mut done);
        if outcome.is_err() {
            // The feed positions that the failed group assigned can be assigned again.
            self.writer.forget_group();
        } else {
            self.port.turn().reach(self.port.store(), self.port.position());
        }
        for job in done {
            job.finish(outcome.clone());
        }
        outcome
    }

    /// Rejects the commands that were queued when this process stopped leading.
    fn refuse(&mut self) {
        while let Ok(job) = self.waiting.try_recv() {
            job.finish(Err(Error::NotLeader));
        }
    }
}
