//! The status of the backup for operators: how far it has progressed, and why it is stalled.

use super::Error;
use crate::base::clock::{Clock, Monotonic, Timestamp};

#[derive(Clone, Debug, Default)]
pub struct BackupStatus {
    /// The last time when the target had every commit, according to this machine's clock; `None` if there was no such time.
    pub complete_until: Option<Timestamp>,
    /// The time of `complete_until` on the monotonic clock; `None` if another process recorded that time.
    pub(super) complete_at: Option<Monotonic>,
    /// When the backup started in this process or, in a cluster, when this node last became the leader; `None` if the backup is not
    /// running.
    pub(super) running_since: Option<Monotonic>,
    /// Why the backup is stalled, if it is.
    pub error: Option<Error>,
    /// Why the last thinning failed, if it did.
    pub thinning_error: Option<Error>,
    /// The number of bytes in the log parts that this process has shipped.
    pub part_bytes: u64,
    /// The number of bytes in the changed keys and values of the shipped parts.
    pub changed_bytes: u64,
    /// The number of bytes that are waiting to be shipped to the target.
    pub waiting_bytes: u64,
    pub last_snapshot: Option<SnapshotStatus>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotStatus {
    pub at: Timestamp,
    pub rows: u64,
    /// The size of the snapshot in the target.
    pub bytes: u64,
}

impl BackupStatus {
    /// Records that the target has every commit up to this moment.
    pub fn complete(&mut self, at: Timestamp, monotonic: Monotonic) {
        (self.complete_until, self.complete_at, self.error) = (Some(at), Some(monotonic), None);
    }

    /// Returns whether the target has had every commit at some time since this process started.
    pub fn is_of_this_process(&self) -> bool {
        self.complete_at.is_some()
    }

    /// Returns whether, at some time since this process started, the target had every commit, and no error has occurred after that time.
    pub fn works(&self) -> bool {
        self.is_of_this_process() && self.error.is_none()
    }

    /// Returns whether the backup has been running for more than `ms` milliseconds.
    pub fn has_run_ms(&self, ms: i64, clock: &dyn Clock) -> bool {
        self.running_since.is_some_and(|since| clock.monotonic().ms_since(since) > ms)
    }

    /// Returns the milliseconds since the target last had every commit. If the machine is lost, the commits of this period are
    /// lost.
    pub fn age_ms(&self, clock: &dyn Clock) -> Option<i64> {
        match self.complete_at {
            // The operator may have set the clock since then, so the monotonic clock decides.
            Some(at) => Some(clock.monotonic().ms_since(at)),
            None => self.complete_until.map(|at| clock.now().ms_since(at).max(0)),
        }
    }
}
