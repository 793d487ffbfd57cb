//! The status of workers, for the System page. Nothing depends on it, and it is lost with the process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::clock::{Clock, Timestamp};

/// The status of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerState {
    /// It has no steps, but runs as long as the service.
    pub is_lasting: bool,
    /// The number of completed steps.
    pub steps: u64,
    /// The number of those that failed.
    pub failures: u64,
    /// The start of the current step, if one runs.
    pub busy_since: Option<Timestamp>,
    /// The end of the last step.
    pub ended_at: Option<Timestamp>,
    /// Failures since the last step that succeeded.
    pub failures_in_a_row: u64,
    /// How often it panicked, or ended unexpectedly, and was restarted.
    pub restarts: u64,
    /// The time and cause of its last failure.
    pub last_failure: Option<(Timestamp, String)>,
}

/// One worker's entry.
pub struct WorkerStatus {
    name: String,
    clock: Arc<dyn Clock>,
    state: Mutex<WorkerState>,
}

impl WorkerStatus {
    /// A worker that has done nothing yet.
    pub fn new(name: String, clock: Arc<dyn Clock>) -> Self {
        Self { name, clock, state: Mutex::default() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A step starts.
    pub fn begin(&self) {
        self.state().busy_since = Some(self.clock.now());
    }

    /// The step has ended, with or without a failure.
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

    /// It is restarted.
    pub fn restart(&self) {
        self.state().restarts += 1;
    }

    /// Its current status.
    pub fn snapshot(&self) -> WorkerState {
        self.state().clone()
    }

    fn state(&self) -> MutexGuard<'_, WorkerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All workers, in the order of their start.
#[derive(Default)]
pub struct WorkerBoard(Mutex<Vec<Arc<WorkerStatus>>>);

impl WorkerBoard {
    /// An entry for something that runs as long as the service.
    pub fn enter_lasting(&self, name: String, clock: Arc<dyn Clock>) -> Arc<WorkerStatus> {
        let status = self.enter(name, clock);
        status.state().is_lasting = true;
        status
    }

    /// An entry for one more worker.
    pub fn enter(&self, name: String, clock: Arc<dyn Clock>) -> Arc<WorkerStatus> {
        let status = Arc::new(WorkerStatus::new(name, clock));
        self.all_places().push(status.clone());
        status
    }

    /// Every worker's name and status.
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
        assert_eq!(state.failures_in_a_row, 0, "it goes on again");
        assert_eq!(state.last_failure, Some((Timestamp(7), "the disk is full".to_owned())));
    }
}
