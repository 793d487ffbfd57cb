//! The turn of this process's stores: whether they lead or follow, and until when the lease is valid.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::{Notify, watch};

use super::lease::Epoch;
use crate::base::clock::{Clock, Monotonic};
use crate::engine::store;
use crate::engine::store::commit_log::StoreName;

/// Whether the stores of this process lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Follow,
    /// The stores apply the rest of the log, then accept commands in this epoch.
    Lead(Epoch),
}

/// The state shared by the task that keeps the lease and the threads of the stores.
pub struct SharedTurn {
    clock: Arc<dyn Clock>,
    turn: watch::Sender<Turn>,
    /// The time until which the lease is certainly valid, in milliseconds on the monotonic clock.
    valid_until: AtomicI64,
    /// The epoch in which this process is ready to serve as the leader, because its caches are current; 0 if there is none.
    active: AtomicI64,
    /// For each store, the epoch in which it accepts commands; 0 if it follows.
    accepting: [AtomicU64; StoreName::ALL.len()],
    /// For each store, the latest time when it is known to have had every record of the log, in milliseconds on the monotonic
    /// clock.
    complete_at: [AtomicI64; StoreName::ALL.len()],
    /// For each store, the position of its newest visible commit.
    positions: [watch::Sender<u64>; StoreName::ALL.len()],
    is_stopping: AtomicBool,
    /// Why this process can no longer be a member of the cluster.
    failure: OnceLock<store::Error>,
    /// Notified when a store has started or stopped accepting commands, or has found that the lease is lost. The task that keeps the lease
    /// waits for this notification.
    pub changed: Notify,
}

impl SharedTurn {
    pub fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        // Until the first read of the log, the lag is measured from the start of the process.
        let never = clock.monotonic().0;
        Arc::new(Self {
            clock,
            turn: watch::Sender::new(Turn::Follow),
            valid_until: AtomicI64::new(i64::MIN),
            active: AtomicI64::new(0),
            accepting: Default::default(),
            complete_at: StoreName::ALL.map(|_| AtomicI64::new(never)),
            positions: StoreName::ALL.map(|_| watch::Sender::new(0)),
            is_stopping: AtomicBool::new(false),
            failure: OnceLock::new(),
            changed: Notify::new(),
        })
    }

    pub fn now(&self) -> Monotonic {
        self.clock.monotonic()
    }

    pub fn turn(&self) -> Turn {
        *self.turn.borrow()
    }

    /// Changes the turn. A store that accepts commands stops doing so before its next command.
    pub fn set(&self, turn: Turn) {
        self.turn.send_replace(turn);
    }

    /// Returns a receiver that wakes when the turn changes.
    pub fn watch(&self) -> watch::Receiver<Turn> {
        self.turn.subscribe()
    }

    pub fn extend(&self, until: Monotonic) {
        self.valid_until.store(until.0, Ordering::SeqCst);
    }

    /// Ends the lease for this process, even if the lease has not expired.
    pub fn end(&self) {
        self.valid_until.store(i64::MIN, Ordering::SeqCst);
        self.set(Turn::Follow);
    }

    /// Ends the lease of this epoch for this process, unless the process has a newer one.
    pub fn end_epoch(&self, epoch: Epoch) {
        if self.turn() == Turn::Lead(epoch) {
            self.end();
        }
    }

    /// Returns whether the lease is certainly valid now.
    pub fn is_valid(&self) -> bool {
        self.now().0 < self.valid_until.load(Ordering::SeqCst)
    }

    /// Marks this process as ready to serve as the leader in this epoch. Returns whether it still leads in this epoch.
    pub fn activate(&self, epoch: Epoch) -> bool {
        self.active.store(epoch, Ordering::SeqCst);
        self.turn() == Turn::Lead(epoch)
    }

    /// Stops serving as the leader, while the stores still accept the last writes.
    pub fn deactivate(&self) {
        self.active.store(0, Ordering::SeqCst);
    }

    /// Returns whether this process serves as the leader now.
    pub fn leads(&self) -> bool {
        self.leading_epoch().is_some()
    }

    /// Returns the epoch in which this process serves as the leader now, if it does.
    pub fn leading_epoch(&self) -> Option<Epoch> {
        let active = self.active.load(Ordering::SeqCst);
        (self.turn() == Turn::Lead(active) && self.is_valid()).then_some(active)
    }

    /// Records that a store accepts commands in `epoch`; 0 means that it follows the log.
    pub fn accept(&self, store: StoreName, epoch: Epoch) {
        self.accepting[store as usize].store(epoch as u64, Ordering::SeqCst);
        self.changed.notify_one();
    }

    /// Returns whether all stores accept commands in this epoch.
    pub fn all_accept(&self, epoch: Epoch) -> bool {
        self.accepting.iter().all(|accepting| accepting.load(Ordering::SeqCst) == epoch as u64)
    }

    /// Returns whether a store accepts commands now.
    pub fn accepts(&self, store: StoreName) -> bool {
        self.accepting[store as usize].load(Ordering::SeqCst) != 0 && self.is_valid()
    }

    /// Records that a store had every record of the log at this time.
    pub fn complete(&self, store: StoreName, at: Monotonic) {
        self.complete_at[store as usize].fetch_max(at.0, Ordering::SeqCst);
    }

    /// Returns the maximum age of the data in the three stores, in milliseconds.
    pub fn lag_ms(&self) -> i64 {
        let oldest = self.complete_at.iter().map(|at| at.load(Ordering::SeqCst)).min().unwrap_or(i64::MIN);
        self.now().ms_since(Monotonic(oldest)).max(0)
    }

    pub fn reach(&self, store: StoreName, position: u64) {
        self.positions[store as usize].send_replace(position);
    }

    /// Returns the positions of the newest visible commits, in the order of [`StoreName::ALL`].
    pub fn positions(&self) -> [u64; StoreName::ALL.len()] {
        self.positions.each_ref().map(|position| *position.borrow())
    }

    /// Waits until the store has reached this position.
    pub async fn reached(&self, store: StoreName, position: u64) {
        let mut watched = self.positions[store as usize].subscribe();
        // The wait fails only if the sender is dropped, and `self` keeps the sender.
        let _ = watched.wait_for(|now| *now >= position).await;
    }

    /// Ends the lease for this process because the process is shutting down, and makes appends with an unknown outcome give up.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        self.end();
    }

    /// Ends the membership of this process because of an error: all stores stop, and the process does not lead again. Returns whether
    /// this error is the first one.
    pub fn fail(&self, error: store::Error) -> bool {
        let is_first = self.failure.set(error).is_ok();
        self.end();
        self.changed.notify_one();
        is_first
    }

    pub fn failure(&self) -> Option<&store::Error> {
        self.failure.get()
    }

    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::{ManualClock, Timestamp};

    /// If a process led in an earlier epoch, the caches that it loaded then may lack the changes that other leaders have made since.
    #[test]
    fn a_process_serves_as_the_leader_only_in_the_epoch_for_which_it_is_ready() {
        let turn = SharedTurn::new(Arc::new(ManualClock::at(Timestamp(0))));
        let lead = |epoch| {
            turn.extend(Monotonic(1_000));
            turn.set(Turn::Lead(epoch));
        };
        lead(1);
        assert!(!turn.leads());
        assert!(turn.activate(1) && turn.leads());
        turn.end();
        assert!(!turn.leads());
        // The process becomes ready only after it has lost the lease.
        assert!(!turn.activate(1));
        lead(2);
        assert!(!turn.leads());
        assert!(turn.activate(2) && turn.leads());
        turn.deactivate();
        assert!(!turn.leads());
    }
}
