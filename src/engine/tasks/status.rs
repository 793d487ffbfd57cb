//! How workers are doing: for people who look at the system. Nothing is decided by it, and it is forgotten with the process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::clock::{Clock, Timestamp};

/// How a worker is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerState {
    /// It has no steps, but runs as long as the service.
    pub is_lasting: bool,
    /// Steps that have ended.
    pub steps: u64,
    /// Steps of these that failed.
    pub failures: u64,
    /// Since when it is in a step, if it is.
    pub busy_since: Option<Timestamp>,
    /// When its last step ended.
    pub ended_at: Option<Timestamp>,
    /// Failures since the last step that succeeded.
    pub failures_in_a_row: u64,
    /// How often it panicked, or ended where it should have gone on, and was started again.
    pub restarts: u64,
    /// When its last failure was, and why.
    pub last_failure: Option<(Timestamp, String)>,
}

/// One worker's place on the board.
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

    /// A step begins.
    pub fn begin(&self) {
        self.state().busy_since = Some(self.clock.now());
    }

    /// The step has ended, perhaps by a failure.
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

    /// It is started again.
    pub fn restart(&self) {
        self.state().restarts += 1;
    }

    /// How it is doing.
    pub fn snapshot(&self) -> WorkerState {
        self.state().clone()
    }

    fn state(&self) -> MutexGuard<'_, WorkerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All workers, in the order in which they were started.
#[derive(Default)]
pub struct WorkerBoard(Mutex<Vec<Arc<WorkerStatus>>>);

impl WorkerBoard {
    /// A place for something that runs as long as the service.
    pub fn enter_lasting(&self, name: String, clock: Arc<dyn Clock>) -> Arc<WorkerStatus> {
        let status = self.enter(name, clock);
        status.state().is_lasting = true;
        status
    }

    /// A place for one more worker.
    pub fn enter(&self, name: String, clock: Arc<dyn Clock>) -> Arc<WorkerStatus> {
        let status = Arc::new(WorkerStatus::new(name, clock));
        self.all_places().push(status.clone());
        status
    }

    /// Every worker's name, and how it is doing.
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
    fn steps_and_failures_are_counted_and_the_last_failure_is_told() {
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
