//! The activity of an open connection. The connection's owner updates the activity, and [`super::Admission`] reads it to find an idle
//! connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// How long a client is treated as reading a reply after it last accepted a part of the reply. A client on a slow line accepts some
/// bytes every second. Without this limit, clients that accept no bytes could occupy all connections until their replies time out.
const READING_TIME: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    pub since: Instant,
    /// Whether the connection is already closing.
    pub is_closing: bool,
}

/// A connection's activity: how many requests are in progress, whether its client is still reading a reply, and when the connection last
/// made progress.
///
/// The numbers are atomic, so that the many writers of an HTTP/2 connection do not wait for each other. Relaxed ordering suffices: the
/// numbers are independent, and a slightly stale read only delays a timeout by a moment.
pub struct Activity {
    opened: Instant,
    running: AtomicU32,
    /// Milliseconds from `opened` to the last progress.
    moved_ms: AtomicU64,
    /// The number of reply chunks that are waiting to be sent.
    queued: AtomicU32,
    /// Whether some bytes handed to the connection have not been sent yet.
    is_unflushed: AtomicBool,
    /// Whether the connection is already closing and is open only until its client has read the last response.
    is_closing: AtomicBool,
    is_asked_to_close: AtomicBool,
    close: Notify,
}

impl Activity {
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

    pub fn opened(&self) -> Instant {
        self.opened
    }

    pub fn running(&self) -> u32 {
        self.running.load(Relaxed)
    }

    pub fn begin(&self) {
        self.running.fetch_add(1, Relaxed);
    }

    pub fn end(&self) {
        self.progress();
        self.running.fetch_sub(1, Relaxed);
    }

    /// Records that a chunk of a reply is waiting to be sent.
    pub fn queue(&self) {
        self.queued.fetch_add(1, Relaxed);
    }

    /// Records that a chunk was sent or abandoned.
    pub fn unqueue(&self) {
        self.progress();
        self.queued.fetch_sub(1, Relaxed);
    }

    /// Records that bytes have been handed to the connection, where they may wait until its client accepts them.
    pub fn write(&self) {
        self.is_unflushed.store(true, Relaxed);
    }

    /// Records that all bytes handed to the connection have been sent.
    pub fn flushed(&self) {
        if self.is_unflushed.swap(false, Relaxed) {
            self.progress();
        }
    }

    /// Returns whether any bytes are waiting for the client to accept them.
    pub fn is_unflushed(&self) -> bool {
        self.is_unflushed.load(Relaxed) || self.queued.load(Relaxed) > 0
    }

    pub fn begin_to_close(&self) {
        self.progress();
        self.is_closing.store(true, Relaxed);
    }

    /// Records progress: a request ended, or a part of a request or reply arrived or was sent.
    pub fn progress(&self) {
        self.moved_ms.store(self.age_ms(), Relaxed);
    }

    /// Returns the time when the connection last made progress.
    pub fn moved(&self) -> Instant {
        self.opened + Duration::from_millis(self.moved_ms.load(Relaxed))
    }

    pub fn age_ms(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Waits until the connection is asked to close so that another connection can be admitted.
    pub async fn asked_to_close(&self) {
        if !self.is_asked_to_close.load(Relaxed) {
            self.close.notified().await;
        }
    }

    /// Returns whether closing the connection now would interrupt neither a request nor a reply that the client is still reading.
    pub fn is_idle(&self) -> bool {
        self.running() == 0 && (!self.is_unflushed() || self.moved().elapsed() > READING_TIME)
    }

    #[cfg(test)]
    pub fn is_asked_to_close(&self) -> bool {
        self.is_asked_to_close.load(Relaxed)
    }

    /// Asks the connection to close so that another connection can be admitted.
    pub fn ask_to_close(&self) {
        self.is_asked_to_close.store(true, Relaxed);
        self.close.notify_one();
    }

    /// Returns the connection's idle state, or `None` if the connection is not idle. Receiving a part of a request's headers does not count
    /// as progress.
    pub fn idle(&self) -> Option<Idle> {
        self.is_idle().then(|| Idle { since: self.moved(), is_closing: self.is_closing.load(Relaxed) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a time limit on reading, clients that request large replies and never read them would occupy all connections.
    #[tokio::test]
    async fn a_client_that_reads_nothing_of_a_reply_for_long_can_be_displaced() {
        let mut activity = Activity::new();
        let stalled = Arc::get_mut(&mut activity).expect("no other reference to the activity exists");
        stalled.opened = Instant::now().checked_sub(2 * READING_TIME).expect("the machine has been running for longer");
        stalled.write();
        assert!(stalled.is_idle());
        stalled.progress();
        assert!(!stalled.is_idle());
    }
}
