//! What is going on on one connection: how many requests run, and when something last moved.
//!
//! Written by the requests, read by the connection's keeper, which closes what idles or stalls. All of it is atomic numbers,
//! so that the many writers of an HTTP/2 connection never wait for each other. Orderings are relaxed: each number stands for
//! itself, and a reading that is a moment old only delays a time-out by that moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tokio::time::Instant;

/// The state of one connection.
pub struct Pulse {
    opened: Instant,
    running: AtomicU32,
    started: AtomicU32,
    /// Milliseconds from `opened` to the last thing that moved.
    moved_ms: AtomicU64,
    unread: AtomicBool,
}

impl Pulse {
    /// The state of a connection that was opened just now.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            opened: Instant::now(),
            running: AtomicU32::new(0),
            started: AtomicU32::new(0),
            moved_ms: AtomicU64::new(0),
            unread: AtomicBool::new(false),
        })
    }

    /// How many requests run.
    pub fn running(&self) -> u32 {
        self.running.load(Relaxed)
    }

    /// How many requests have been started in all (modulo 2³²; compared for equality only).
    pub fn started(&self) -> u32 {
        self.started.load(Relaxed)
    }

    /// Something moved: a request began or ended, a chunk came in or went out.
    pub fn progress(&self) {
        self.moved_ms.store(self.age_ms(), Relaxed);
    }

    /// When something last moved.
    pub fn moved(&self) -> Instant {
        self.opened + Duration::from_millis(self.moved_ms.load(Relaxed))
    }

    /// Part of a request body was not read, so the client may still be sending.
    pub fn leave_unread(&self) {
        self.unread.store(true, Relaxed);
    }

    /// Whether part of a request body was not read.
    pub fn left_unread(&self) -> bool {
        self.unread.load(Relaxed)
    }

    fn age_ms(&self) -> u64 {
        self.opened.elapsed().as_millis() as u64
    }
}

/// One running request.
pub struct Turn(Arc<Pulse>);

impl Turn {
    /// A request begins.
    pub fn begin(pulse: &Arc<Pulse>) -> Self {
        pulse.started.fetch_add(1, Relaxed);
        pulse.running.fetch_add(1, Relaxed);
        Self(Arc::clone(pulse))
    }

    /// The connection it runs on.
    pub fn pulse(&self) -> &Arc<Pulse> {
        &self.0
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.progress();
        self.0.running.fetch_sub(1, Relaxed);
    }
}

/// How far one request body has come: shared by the stream and the deadline of the reply, which must not run while the
/// client is still sending.
#[derive(Default)]
pub struct UploadState {
    waiting: AtomicBool,
    ended: AtomicBool,
    moved_ms: AtomicU64,
}

impl UploadState {
    /// Whether the client is being waited for.
    pub fn waiting(&self) -> bool {
        self.waiting.load(Relaxed) && !self.ended.load(Relaxed)
    }

    /// When the last chunk, or the end, came in.
    pub fn moved(&self, pulse: &Pulse) -> Instant {
        pulse.opened + Duration::from_millis(self.moved_ms.load(Relaxed))
    }

    pub(super) fn set_waiting(&self, waiting: bool) {
        self.waiting.store(waiting, Relaxed);
    }

    pub(super) fn set_ended(&self) {
        self.ended.store(true, Relaxed);
    }

    pub(super) fn progress(&self, pulse: &Pulse) {
        self.moved_ms.store(pulse.age_ms(), Relaxed);
    }
}
