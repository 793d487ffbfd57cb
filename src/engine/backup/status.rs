//! What operators see of the backup: how far it has come, and why it does not continue.

use super::Error;
use crate::base::clock::{Clock, Monotonic, Timestamp};

/// The state of the backup of a running service.
#[derive(Clone, Debug, Default)]
pub struct BackupStatus {
    /// When the target had every commit, by this machine's clock; `None` if it never had.
    pub complete_until: Option<Timestamp>,
    /// The same moment on the monotonic clock, if it was since the start of the process.
    pub(super) complete_at: Option<Monotonic>,
    /// Why the backup does not continue at the moment.
    pub error: Option<Error>,
    /// The number of bytes of the parts of the log that this process has shipped.
    pub part_bytes: u64,
    /// The number of bytes of the keys and values in these parts.
    pub changed_bytes: u64,
    /// The number of bytes that wait for the target.
    pub waiting_bytes: u64,
    pub last_snapshot: Option<SnapshotStatus>,
}

/// A completed snapshot.
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

    /// Returns whether the target had every commit at some time since the start of this process.
    pub fn is_of_this_process(&self) -> bool {
        self.complete_at.is_some()
    }

    /// Returns how long ago the target had every commit, in milliseconds: what a loss of the machine would cost now.
    pub fn age_ms(&self, clock: &dyn Clock) -> Option<i64> {
        match self.complete_at {
            // The operator may have set the clock since then, so the monotonic clock decides.
            Some(at) => Some(clock.monotonic().ms_since(at)),
            None => self.complete_until.map(|at| clock.now().ms_since(at).max(0)),
        }
    }
}
