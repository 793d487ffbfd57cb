//! The activity of an open connection. Its owner updates it, and [`super::Admission`] reads it to find an idle connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// A client counts as reading a reply for this long after it last accepted some of it. A client on a slow line accepts some every second;
/// without a bound, clients that accept nothing could hold all connections for as long as a reply may stall.
const READING_TIME: Duration = Duration::from_secs(10);

/// The state of an idle connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    pub since: Instant,
    /// It is already closing.
    pub is_closing: bool,
}

/// A connection's activity: how many requests are in progress, whether its client still reads a reply, and when it last made progress.
///
/// Atomic numbers, so that the many writers of an HTTP/2 connection never wait for each other. Orderings are relaxed: the numbers are
/// independent, and a slightly stale read only delays a timeout by that moment.
pub struct Activity {
    opened: Instant,
    running: AtomicU32,
    /// Milliseconds from `opened` to the last progress.
    moved_ms: AtomicU64,
    /// Chunks of replies that wait to be sent.
    queued: AtomicU32,
    /// Bytes were handed to the connection that have not all been sent.
    is_unflushed: AtomicBool,
    /// It is already closing, and is open only until its client has read the reason.
    is_closing: AtomicBool,
    is_asked_to_close: AtomicBool,
    close: Notify,
}

impl Activity {
    /// The activity of a connection that was just opened.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            opened: Instant::now(),
            running: AtomicU32::new(0),
            moved_ms: AtomicU64::new(0),
            queued: AtomicU32::new(0),
            is_unflushed: AtomicBool::new(false),
            is_closing: AtomicBool::new(false),
            is_asked_to_close: AtomicBool::new(false),
            close: Notify::new(),
        })
    }

    /// When the connection was opened.
    pub fn opened(&self) -> Instant {
        self.opened
    }

    /// How many requests are in progress.
    pub fn running(&self) -> u32 {
        self.running.load(Relaxed)
    }

    /// A request starts.
    pub fn begin(&self) {
        self.running.fetch_add(1, Relaxed);
    }

    /// A request has ended.
    pub fn end(&self) {
        self.progress();
        self.running.fetch_sub(1, Relaxed);
    }

    /// A chunk of a reply waits to be sent.
    pub fn queue(&self) {
        self.queued.fetch_add(1, Relaxed);
    }

    /// A chunk was sent, or given up.
    pub fn unqueue(&self) {
        self.progress();
        self.queued.fetch_sub(1, Relaxed);
    }

    /// Bytes are handed to the connection; they may wait for its client to accept them.
    pub fn write(&self) {
        self.is_unflushed.store(true, Relaxed);
    }

    /// All bytes handed to the connection have been sent.
    pub fn flushed(&self) {
        if self.is_unflushed.swap(false, Relaxed) {
            self.progress();
        }
    }

    /// Whether anything waits for the client to accept it.
    pub fn is_unflushed(&self) -> bool {
        self.is_unflushed.load(Relaxed) || self.queued.load(Relaxed) > 0
    }

    /// From now on the connection is closing.
    pub fn begin_to_close(&self) {
        self.progress();
        self.is_closing.store(true, Relaxed);
    }

    /// Progress was made: a request started or ended, or a part of one arrived or was sent.
    pub fn progress(&self) {
        self.moved_ms.store(self.age_ms(), Relaxed);
    }

    /// The time of the last progress.
    pub fn moved(&self) -> Instant {
        self.opened + Duration::from_millis(self.moved_ms.load(Relaxed))
    }

    /// Milliseconds since the connection was opened.
    pub fn age_ms(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Waits until the connection is asked to close so that another can be admitted.
    pub async fn asked_to_close(&self) {
        if !self.is_asked_to_close.load(Relaxed) {
            self.close.notified().await;
        }
    }

    /// Whether closing the connection now would cut neither a request nor a reply that its client still reads.
    pub fn is_idle(&self) -> bool {
        self.running() == 0 && (!self.is_unflushed() || self.moved().elapsed() > READING_TIME)
    }

    /// Whether it was asked to close.
    #[cfg(test)]
    pub fn is_asked_to_close(&self) -> bool {
        self.is_asked_to_close.load(Relaxed)
    }

    /// Asks the connection to close so that another can be admitted.
    pub fn ask_to_close(&self) {
        self.is_asked_to_close.store(true, Relaxed);
        self.close.notify_one();
    }

    /// Since when it is idle, if it is. Unfinished headers do not count as progress.
    pub fn idle(&self) -> Option<Idle> {
        self.is_idle().then(|| Idle { since: self.moved(), is_closing: self.is_closing.load(Relaxed) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a bound, requests for large unread replies would hold all connections.
    #[tokio::test]
    async fn a_client_that_reads_nothing_of_a_reply_for_long_can_be_displaced() {
        let mut activity = Activity::new();
        let stalled = Arc::get_mut(&mut activity).expect("no other has it");
        stalled.opened = Instant::now().checked_sub(2 * READING_TIME).expect("the machine has been up for longer");
        stalled.write();
        assert!(stalled.is_idle());
        stalled.progress();
        assert!(!stalled.is_idle());
    }
}
