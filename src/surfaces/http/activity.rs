//! The state of an HTTP connection: its [`Activity`], the number of started requests, and whether part of a request body was left
//! unread.
//!
//! Requests write this state. The task that runs the connection reads the state, and closes the connection if it is idle or stalled. The
//! atomics use relaxed ordering, like those of [`Activity`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tokio::time::Instant;

use crate::engine::admission::Activity;

pub struct ConnectionActivity {
    activity: Arc<Activity>,
    started: AtomicU32,
    unread: AtomicBool,
}

impl ConnectionActivity {
    pub fn new(activity: Arc<Activity>) -> Arc<Self> {
        Arc::new(Self { activity, started: AtomicU32::new(0), unread: AtomicBool::new(false) })
    }

    pub fn running(&self) -> u32 {
        self.activity.running()
    }

    /// Returns whether a request is in progress or reply bytes are not yet sent to the client.
    pub fn is_busy(&self) -> bool {
        self.running() > 0 || self.activity.is_unflushed()
    }

    /// Returns whether the connection can be closed without interrupting a request, or a reply that the client is still reading.
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

    /// Returns the number of started requests, modulo 2³². Callers only compare it for equality.
    pub fn started(&self) -> u32 {
        self.started.load(Relaxed)
    }

    /// Records progress: a request started or ended, or a chunk was received or sent.
    pub fn progress(&self) {
        self.activity.progress();
    }

    pub fn moved(&self) -> Instant {
        self.activity.moved()
    }

    /// Waits until the server asks this connection to close to make room for another one.
    pub async fn asked_to_close(&self) {
        self.activity.asked_to_close().await;
    }

    /// Records that part of a request body was left unread, so the client may still be sending.
    pub fn leave_unread(&self) {
        self.unread.store(true, Relaxed);
    }

    pub fn left_unread(&self) -> bool {
        self.unread.load(Relaxed)
    }
}

/// A request in progress on a connection; dropping it records the end of the request.
pub struct RunningRequest(Arc<ConnectionActivity>);

impl RunningRequest {
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

/// The progress of a request body. The reply deadline depends on this state, because the deadline must not expire while the client is still
/// sending.
#[derive(Default)]
pub struct UploadState {
    waiting: AtomicBool,
    ended: AtomicBool,
    moved_ms: AtomicU64,
}

impl UploadState {
    /// Returns whether the body's reader is waiting for data from the client.
    pub fn waiting(&self) -> bool {
        self.waiting.load(Relaxed) && !self.ended.load(Relaxed)
    }

    /// Returns when the last chunk or the end of the body arrived.
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
