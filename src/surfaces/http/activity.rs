//! The state of an HTTP connection: its [`Activity`], the number of requests that have started, and whether part of a body is unread.
//!
//! The requests write this state, and the connection's keeper reads it to close an idle or stalled connection. The atomics use relaxed
//! ordering, like those of [`Activity`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tokio::time::Instant;

use crate::engine::admission::Activity;

/// The state of one connection.
pub struct ConnectionActivity {
    activity: Arc<Activity>,
    started: AtomicU32,
    unread: AtomicBool,
}

impl ConnectionActivity {
    pub fn new(activity: Arc<Activity>) -> Arc<Self> {
        Arc::new(Self { activity, started: AtomicU32::new(0), unread: AtomicBool::new(false) })
    }

    /// Returns how many requests are in progress.
    pub fn running(&self) -> u32 {
        self.activity.running()
    }

    /// Returns whether a request is in progress, or reply bytes wait for the client.
    pub fn is_busy(&self) -> bool {
        self.running() > 0 || self.activity.is_unflushed()
    }

    /// Returns whether closing the connection now would interrupt neither a request nor a reply that its client still reads.
    pub fn is_idle(&self) -> bool {
        self.activity.is_idle()
    }

    /// Records that bytes were handed to the connection.
    pub fn write(&self) {
        self.activity.write();
    }

    /// Records that all bytes handed to the connection were sent.
    pub fn flushed(&self) {
        self.activity.flushed();
    }

    pub fn activity(&self) -> &Activity {
        &self.activity
    }

    /// Returns how many requests have started (modulo 2³²; compared for equality only).
    pub fn started(&self) -> u32 {
        self.started.load(Relaxed)
    }

    /// Records progress: a request started or ended, or a chunk was received or sent.
    pub fn progress(&self) {
        self.activity.progress();
    }

    /// Returns the time of the connection's last progress.
    pub fn moved(&self) -> Instant {
        self.activity.moved()
    }

    /// Waits until the connection is asked to close so that another connection can be admitted.
    pub async fn asked_to_close(&self) {
        self.activity.asked_to_close().await;
    }

    /// Records that part of a request body was not read, so the client may still be sending.
    pub fn leave_unread(&self) {
        self.unread.store(true, Relaxed);
    }

    /// Returns whether part of a request body was not read.
    pub fn left_unread(&self) -> bool {
        self.unread.load(Relaxed)
    }
}

/// A running request on a connection.
pub struct RunningRequest(Arc<ConnectionActivity>);

impl RunningRequest {
    /// Records the start of a request.
    pub fn begin(activity: &Arc<ConnectionActivity>) -> Self {
        activity.started.fetch_add(1, Relaxed);
        activity.activity.begin();
        Self(Arc::clone(activity))
    }

    pub fn activity(&self) -> &Arc<ConnectionActivity> {
        &self.0
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.0.activity.end();
    }
}

/// The progress of a request body. The state is shared by the stream and the reply deadline, which must not run while the client is still
/// sending.
#[derive(Default)]
pub struct UploadState {
    waiting: AtomicBool,
    ended: AtomicBool,
    moved_ms: AtomicU64,
}

impl UploadState {
    /// Returns whether the server waits for the client.
    pub fn waiting(&self) -> bool {
        self.waiting.load(Relaxed) && !self.ended.load(Relaxed)
    }

    /// Returns when the last chunk, or the end of the body, arrived.
    pub fn moved(&self, activity: &ConnectionActivity) -> Instant {
        activity.activity.opened() + Duration::from_millis(self.moved_ms.load(Relaxed))
    }

    pub(super) fn set_waiting(&self, waiting: bool) {
        self.waiting.store(waiting, Relaxed);
    }

    pub(super) fn set_ended(&self) {
        self.ended.store(true, Relaxed);
    }

    pub(super) fn progress(&self, activity: &ConnectionActivity) {
        self.moved_ms.store(activity.activity.age_ms(), Relaxed);
    }
}
