//! What an HTTP connection is doing: its [`Activity`], how many requests it has started, and whether input was left unread.
//!
//! Written by the requests, read by the connection's keeper, which closes a connection that idles or stalls. Orderings are relaxed, as
//! in [`Activity`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tokio::time::Instant;

use crate::engine::admission::Activity;

/// The state of one connection.
pub struct Pulse {
    activity: Arc<Activity>,
    started: AtomicU32,
    unread: AtomicBool,
}

impl Pulse {
    /// The state of a connection with this activity.
    pub fn new(activity: Arc<Activity>) -> Arc<Self> {
        Arc::new(Self { activity, started: AtomicU32::new(0), unread: AtomicBool::new(false) })
    }

    /// How many requests are in progress.
    pub fn running(&self) -> u32 {
        self.activity.running()
    }

    /// Whether a request is in progress, or bytes of a reply wait for the client to take them.
    pub fn is_busy(&self) -> bool {
        self.running() > 0 || self.activity.is_unflushed()
    }

    /// Whether closing the connection now would cut neither a request nor a reply that its client still reads.
    pub fn is_idle(&self) -> bool {
        self.activity.is_idle()
    }

    /// Bytes are handed to the connection.
    pub fn write(&self) {
        self.activity.write();
    }

    /// All bytes that were handed to the connection have left it.
    pub fn flushed(&self) {
        self.activity.flushed();
    }

    /// The connection's activity.
    pub fn activity(&self) -> &Activity {
        &self.activity
    }

    /// How many requests have been started in all (modulo 2³²; compared for equality only).
    pub fn started(&self) -> u32 {
        self.started.load(Relaxed)
    }

    /// Something moved: a request began or ended, a chunk came in or went out.
    pub fn progress(&self) {
        self.activity.progress();
    }

    /// When something last moved.
    pub fn moved(&self) -> Instant {
        self.activity.moved()
    }

    /// Wait until the connection is asked to close so that another can be admitted.
    pub async fn asked_to_close(&self) {
        self.activity.asked_to_close().await;
    }

    /// Part of a request body was not read, so the client may still be sending.
    pub fn leave_unread(&self) {
        self.unread.store(true, Relaxed);
    }

    /// Whether part of a request body was not read.
    pub fn left_unread(&self) -> bool {
        self.unread.load(Relaxed)
    }
}

/// One running request.
pub struct Turn(Arc<Pulse>);

impl Turn {
    /// A request begins.
    pub fn begin(pulse: &Arc<Pulse>) -> Self {
        pulse.started.fetch_add(1, Relaxed);
        pulse.activity.begin();
        Self(Arc::clone(pulse))
    }

    /// The connection it runs on.
    pub fn pulse(&self) -> &Arc<Pulse> {
        &self.0
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.activity.end();
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
        pulse.activity.opened() + Duration::from_millis(self.moved_ms.load(Relaxed))
    }

    pub(super) fn set_waiting(&self, waiting: bool) {
        self.waiting.store(waiting, Relaxed);
    }

    pub(super) fn set_ended(&self) {
        self.ended.store(true, Relaxed);
    }

    pub(super) fn progress(&self, pulse: &Pulse) {
        self.moved_ms.store(pulse.activity.age_ms(), Relaxed);
    }
}
