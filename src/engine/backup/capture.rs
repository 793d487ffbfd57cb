//! Receives the commits of all stores in one queue, and moves them to the spool on a dedicated thread.
//!
//! A commit only adds a reference to its changes to the queue; the thread encodes, compresses and writes them. Commits wait only if the
//! thread falls far behind. The thread does not wait for the network.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::names::PartNumber;
use super::part::Positions;
use super::spool::{Spool, State};
use super::{Error, Result};
use crate::engine::store::commit_log::{CommitLog, Record};
use crate::vocab::limits;

#[derive(Default)]
struct Queue {
    records: VecDeque<Record>,
    bytes: u64,
    is_closed: bool,
}

/// The queue of commits, and the spool to which they are moved.
pub struct Capture {
    queue: Mutex<Queue>,
    changed: Condvar,
    /// Invariant: records leave the queue only while this lock is held, so they reach the spool in the order of the queue.
    spool: Mutex<Spool>,
    /// For each store, the position of its newest record that has left the queue, even if the spool rejected that record; `None` for stores
    /// without commits so far.
    seen: Mutex<Positions>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Capture {
    /// Opens the spool in `folder` and starts the thread.
    pub fn start(folder: &Path, spool_bytes_max: u64) -> Result<Arc<Self>> {
        let capture = Arc::new(Self {
            queue: Mutex::default(),
            changed: Condvar::new(),
            spool: Mutex::new(Spool::open(folder, spool_bytes_max)?),
            seen: Mutex::default(),
            thread: Mutex::new(None),
        });
        let own = capture.clone();
        let started = std::thread::Builder::new().name("commit log".to_owned()).spawn(move || own.run());
        let thread = started
            .map_err(|error| Error::Local(format!("the backup thread cannot be started: {error}; check the limit on threads")))?;
        *locked(&capture.thread) = Some(thread);
        Ok(capture)
    }

    fn run(&self) {
        loop {
            let mut queue = locked(&self.queue);
            while queue.records.is_empty() && !queue.is_closed {
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            let is_closed = queue.is_closed;
            drop(queue);
            let mut spool = locked(&self.spool);
            self.drain(&mut spool);
            if is_closed {
                return spool.sync();
            }
        }
    }

    fn drain(&self, spool: &mut Spool) {
        loop {
            let (records, bytes) = {
                let mut queue = locked(&self.queue);
                (std::mem::take(&mut queue.records), queue.bytes)
            };
            if records.is_empty() {
                return;
            }
            for record in &records {
                spool.append(record);
                locked(&self.seen).set(record.store, record.position);
            }
            locked(&self.queue).bytes -= bytes;
            self.changed.notify_all();
        }
    }

    /// Completes a part with all commits so far; creates no part if there are no records. Returns the number of the next part, and each
    /// store's newest position so far. Read transactions might not see the commits at these positions yet.
    pub fn cut(&self) -> (PartNumber, Positions) {
        let mut spool = locked(&self.spool);
        self.drain(&mut spool);
        spool.cut();
        (spool.next_number(), *locked(&self.seen))
    }

    /// Drops all commits so far and starts a new log with the next commit.
    pub fn restart(&self, state: State) -> Result<()> {
        let mut spool = locked(&self.spool);
        self.drain(&mut spool);
        // The new log starts at the newest positions, so that a missing record is noticed even if it is the first record of its store: a
        // power cut can lose a record before it is in the spool.
        let positions = *locked(&self.seen);
        spool.restart(State { positions, ..state })
    }

    /// Interrupts the log and drops its records, because they cannot be shipped.
    pub fn discard(&self, reason: &str) {
        locked(&self.spool).discard(reason.to_owned());
    }

    /// Interrupts the log and forgets what the data folder has recorded about the target, because that record may have been made by a
    /// different folder, of which this folder is a copy.
    pub fn forget(&self, reason: &str) {
        locked(&self.spool).forget(reason.to_owned());
    }

    /// Forgets the target like [`Capture::forget`], and also the positions of the stores, because other nodes may have made commits.
    pub fn forget_all(&self, reason: &str) {
        self.forget(reason);
        *locked(&self.seen) = Positions::default();
    }

    pub fn spool(&self) -> MutexGuard<'_, Spool> {
        locked(&self.spool)
    }

    /// Moves the last commits to the spool and ends the thread. The caller closes the stores first.
    pub fn close(&self) {
        locked(&self.queue).is_closed = true;
        self.changed.notify_all();
        if let Some(thread) = locked(&self.thread).take() {
            // The program's log already shows the thread's panic, and the next start detects missing commits.
            let _ = thread.join();
        }
    }
}

impl CommitLog for Capture {
    fn append(&self, record: Record) {
        let bytes = record.changed_bytes();
        let mut queue = locked(&self.queue);
        while queue.bytes > limits::BACKUP_QUEUE_BYTES_MAX && !queue.is_closed {
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        queue.bytes += bytes;
        queue.records.push_back(record);
        drop(queue);
        self.changed.notify_all();
    }
}

/// Locks a mutex whose data stays usable after a panic: the spool checks each record against the previous record.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
