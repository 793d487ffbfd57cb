//! The status of workers, for the System page, the health checks and the retry backoff of the runner. It is kept only in memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::clock::{Clock, Timestamp};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerState {
    /// Whether the worker has no steps, but runs until the service drains.
    pub is_lasting: bool,
    /// Whether a worker without steps has stopped and waits for its restart.
    pub is_stopped: bool,
    /// Whether a step may take hours, because it copies all data.
    pub has_long_steps: bool,
    /// The number of steps that have ended, including failed ones.
    pub steps: u64,
    pub failures: u64,
    /// The start of the current step, if a step is running.
    pub busy_since: Option<Timestamp>,
    /// The end of the last step.
    pub ended_at: Option<Timestamp>,
    /// The number of failures since the last step that succeeded.
    pub failures_in_a_row: u64,
    /// The number of restarts. A worker is restarted after a panic; a worker without steps is also restarted after a failure or an
    /// unexpected end.
    pub restarts: u64,
    /// The time and cause of the worker's last failure.
    pub last_failure: Option<(Timestamp, String)>,
}

pub struct WorkerStatus {
    name: String,
    clock: Arc<dyn Clock>,
    state: Mutex<WorkerState>,
}

impl WorkerStatus {
    /// Creates the entry of a worker that has not run yet.
    pub fn new(name: String, clock: Arc<dyn Clock>) -> Self {
        Self { name, clock, state: Mutex::default() }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn allow_long_steps(&self) {
        self.state().has_long_steps = true;
    }

    pub fn begin(&self) {
        self.state().busy_since = Some(self.clock.now());
    }

    /// Records that the step has ended, with or without a failure.
    pub fn end(&self, failure: Option<&str>) {
        let now = self.clock.now();
        let mut state = self.state();
        state.busy_since = None;
        state.ended_at = Some(now);
        state.steps += 1;
        match failure {
            None => state.failures_in_a_row = 0,
            Some(cause) => {
                state.failures += 1;
                state.failures_in_a_row += 1;
                state.last_failure = Some((now, cause.to_owned()));
            }
        }
    }

    /// Records that a worker without steps has stopped and waits for its restart.
    pub fn stop(&self) {
        self.state().is_stopped = true;
    }

    pub fn restart(&self) {
        let mut state = self.state();
        state.restarts += 1;
        state.is_stopped = false;
    }

    pub fn snapshot(&self) -> WorkerState {
        self.state().clone()
    }

    fn state(&self) -> MutexGuard<'_, WorkerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
pub struct WorkerBoard(Mutex<Vec<Arc<WorkerStatus>>>);

impl WorkerBoard {
    /// Adds an entry for a worker that runs as long as the service.
    pub fn enter_lasting(&self, name: String, clock: Arc<dyn Clock>) -> Arc<WorkerStatus> {
        let status = self.enter(name, clock);
        status.state().is_lasting = true;
        status
    }

    pub fn enter(&self, name: String, clock: Arc<dyn Clock>) -> Arc<WorkerStatus> {
        let status = Arc::new(WorkerStatus::new(name, clock));
        self.all_places().push(status.clone());
        status
    }

    /// Removes all entries from index `length` on. The workers of these entries must have ended.
    pub fn truncate(&self, length: usize) {
        self.all_places().truncate(length);
    }

    pub fn count(&self) -> usize {
        self.all_places().len()
    }

    pub fn snapshot(&self) -> Vec<(String, WorkerState)> {
        self.all_places().iter().map(|status| (status.name.clone(), status.snapshot())).collect()
    }

    fn all_places(&self) -> MutexGuard<'_, Vec<Arc<WorkerStatus>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::ManualClock;

    #[test]
    fn steps_and_failures_are_counted_and_the_last_failure_is_kept() {
        let board = WorkerBoard::default();
        let status = board.enter("sweep".into(), Arc::new(ManualClock::at(Timestamp(7))));
        status.begin();
        assert_eq!(board.snapshot()[0].1.busy_since, Some(Timestamp(7)));
        status.end(Some("the disk is full"));
        status.begin();
        status.end(None);
        let (name, state) = board.snapshot().remove(0);
        assert_eq!((name.as_str(), state.steps, state.failures, state.busy_since), ("sweep", 2, 1, None));
        assert_eq!(state.failures_in_a_row, 0, "a success resets the count of failures in a row");
        assert_eq!(state.last_failure, Some((Timestamp(7), "the disk is full".to_owned())));
    }
}
