//! Throttles deliveries to one server: limits how many run at the same time, and pauses them after failures.
//!
//! If a server reports overload, the number of connections to it is halved, and then increased by one after each series of successful
//! messages. If a server is unreachable, one delivery retries it after a pause, which doubles with each failure up to a maximum. Until the
//! retry ends, other deliveries do not try the server. This module uses no sockets.

use std::sync::{Mutex, MutexGuard};

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Duration, Instant};

use crate::vocab::limits::{SMTP_GROWTH_MESSAGES, SMTP_PAUSE_MAX};

pub struct HostThrottle {
    turns: Semaphore,
    turns_max: usize,
    state: Mutex<State>,
}

struct State {
    /// The number of deliveries that may currently run in parallel.
    allowed: usize,
    /// The number of slots that must not be reused after their release, because the limit is now lower than when they were taken.
    owed: usize,
    /// The number of times that the server reported overload; concurrent reports are counted once.
    complaints: u64,
    /// The number of successful messages since the limit last changed.
    fine: u32,
    pause: Option<Backoff>,
    /// The number of times that the server could not be reached; concurrent failures are counted once.
    failures: u64,
}

struct Backoff {
    length: Duration,
    until: Instant,
    why: String,
    /// Whether a delivery is retrying the server. Other deliveries wait for its result, at most until the time `until`.
    is_tried: bool,
}

impl Backoff {
    fn resting(&self) -> BackedOff {
        BackedOff { until: self.until, why: self.why.clone(), is_tried: self.is_tried }
    }
}

/// A delivery's slot at a server.
pub struct ThrottleSlot<'a> {
    throttle: &'a HostThrottle,
    permit: Option<SemaphorePermit<'a>>,
    /// The number of overload reports when this delivery started.
    complaints: u64,
    failures: u64,
    /// Whether this delivery is retrying the server while the other deliveries wait.
    tries: bool,
}

/// The current pause of a server. A delivery that must wait gets the pause as an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackedOff {
    pub until: Instant,
    pub why: String,
    /// Whether a delivery is retrying the server. If so, the result may be known before `until`.
    pub is_tried: bool,
}

impl BackedOff {
    /// Returns how long a delivery should wait before its next attempt.
    pub fn rest(&self, now: Instant) -> Duration {
        let rest = self.until.saturating_duration_since(now);
        if self.is_tried { rest.min(SMTP_PAUSE_MAX) } else { rest }
    }
}

impl HostThrottle {
    /// Creates a throttle that allows at most this many deliveries at the same time.
    pub fn new(turns_max: usize) -> Self {
        let state = State { allowed: turns_max, owed: 0, complaints: 0, fine: 0, pause: None, failures: 0 };
        Self { turns: Semaphore::new(turns_max), turns_max, state: Mutex::new(state) }
    }

    pub async fn enter(&self) -> ThrottleSlot<'_> {
        let permit = self.turns.acquire().await.expect("the semaphore is never closed");
        let state = self.state();
        ThrottleSlot {
            throttle: self,
            permit: Some(permit),
            complaints: state.complaints,
            failures: state.failures,
            tries: false,
        }
    }

    /// Returns the pause of the server, if it is paused now.
    pub fn resting(&self, now: Instant) -> Option<BackedOff> {
        let state = self.state();
        let pause = state.pause.as_ref().filter(|pause| pause.until > now)?;
        Some(pause.resting())
    }

    /// Returns whether the throttle has no state worth keeping.
    pub fn is_at_rest(&self) -> bool {
        let state = self.state();
        state.pause.is_none() && state.allowed == self.turns_max && self.turns.available_permits() == self.turns_max
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of this lock panics")
    }
}

impl ThrottleSlot<'_> {
    /// Checks whether this delivery may try the server now. After a pause, the first delivery that calls this method retries the server.
    /// Until that retry ends, or for at most `time`, the other deliveries receive the pause as an error.
    pub fn try_it(&mut self, now: Instant, time: Duration) -> Result<(), BackedOff> {
        let mut state = self.throttle.state();
        self.failures = state.failures;
        match &mut state.pause {
            Some(pause) if pause.until > now => Err(pause.resting()),
            Some(pause) => {
                (pause.until, pause.is_tried) = (now + time, true);
                self.tries = true;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Records that the server could not be reached; concurrent failures are counted once. The server is paused for the duration `first`,
    /// which doubles with each additional failure, up to `longest`. Returns whether this is the first failure since the server was last
    /// reached.
    pub fn failed(&mut self, now: Instant, why: String, (first, longest): (Duration, Duration)) -> bool {
        self.tries = false;
        let mut state = self.throttle.state();
        if state.failures != self.failures {
            return false;
        }
        state.failures += 1;
        let before = state.pause.as_ref().map(|pause| pause.length);
        let length = before.map_or(first, |length| (length * 2).clamp(first, longest));
        state.pause = Some(Backoff { length, until: now + length, why, is_tried: false });
        before.is_none()
    }

    /// Records that the server was reached. Returns whether it was considered unreachable before.
    pub fn reached(&mut self) -> bool {
        self.tries = false;
        self.throttle.state().pause.take().is_some()
    }

    /// Records that the server reported overload, and halves the limit. Returns false if the limit was already 1. If the report is
    /// concurrent with an earlier one, changes nothing and returns true.
    pub fn complained(&self) -> bool {
        let mut state = self.throttle.state();
        if state.complaints != self.complaints {
            return true;
        }
        let fewer = (state.allowed / 2).max(1);
        let cut = state.allowed - fewer;
        state.allowed = fewer;
        state.complaints += 1;
        state.fine = 0;
        state.owed += cut - self.throttle.turns.forget_permits(cut);
        cut > 0
    }

    /// Records that the server accepted a message.
    pub fn went_well(&self) {
        let mut state = self.throttle.state();
        if state.allowed == self.throttle.turns_max {
            return;
        }
        state.fine += 1;
        if state.fine >= SMTP_GROWTH_MESSAGES {
            state.fine = 0;
            state.allowed += 1;
            if state.owed > 0 {
                state.owed -= 1;
            } else {
                self.throttle.turns.add_permits(1);
            }
        }
    }
}

impl Drop for ThrottleSlot<'_> {
    fn drop(&mut self) {
        let mut state = self.throttle.state();
        if let (true, Some(pause)) = (self.tries, &mut state.pause) {
            // This delivery ended before it knew whether the server can be reached, so the next delivery may retry the server.
            (pause.until, pause.is_tried) = (Instant::now(), false);
        }
        if state.owed > 0 {
            state.owed -= 1;
            self.permit.take().expect("only `drop` takes the permit").forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::vocab::limits::SMTP_PAUSE_MIN;

    const PAUSES: (Duration, Duration) = (SMTP_PAUSE_MIN, SMTP_PAUSE_MAX);

    fn free(throttle: &HostThrottle) -> usize {
        let turns: Vec<_> = std::iter::from_fn(|| throttle.enter().now_or_never()).collect();
        turns.len()
    }

    async fn went_well(throttle: &HostThrottle, times: u32) {
        for _ in 0..times {
            throttle.enter().await.went_well();
        }
    }

    #[tokio::test]
    async fn an_overloaded_server_gets_half_and_slowly_more_again() {
        let throttle = HostThrottle::new(8);
        let turns = [throttle.enter().await, throttle.enter().await, throttle.enter().await];
        // All three slots report the same overload.
        assert!(turns.iter().all(ThrottleSlot::complained));
        assert_eq!(free(&throttle), 1);
        drop(turns);
        assert_eq!(free(&throttle), 4);
        went_well(&throttle, SMTP_GROWTH_MESSAGES).await;
        assert_eq!(free(&throttle), 5);
        for expected in [2, 1, 1] {
            let turn = throttle.enter().await;
            assert_eq!(turn.complained(), expected > 1 || throttle.state().complaints == 3);
            drop(turn);
            assert_eq!(free(&throttle), expected);
        }
        went_well(&throttle, 50 * SMTP_GROWTH_MESSAGES).await;
        assert_eq!(free(&throttle), 8);
        assert!(throttle.is_at_rest());
    }

    #[tokio::test]
    async fn a_lower_limit_applies_as_slots_are_released() {
        let throttle = HostThrottle::new(4);
        let mut turns =
            [throttle.enter().await, throttle.enter().await, throttle.enter().await, throttle.enter().await].into_iter();
        let first = turns.next().expect("the throttle has four slots");
        assert!(first.complained());
        drop(first);
        assert_eq!(free(&throttle), 0);
        drop(turns.next());
        assert_eq!(free(&throttle), 0);
        drop(turns.next());
        assert_eq!(free(&throttle), 1);
        drop(turns.next());
        assert_eq!(free(&throttle), 2);
    }

    #[tokio::test]
    async fn an_unreachable_server_is_paused_for_a_growing_time() {
        let throttle = HostThrottle::new(4);
        let mut now = Instant::now();
        let lease = Duration::from_secs(100);
        let (mut one, mut other) = (throttle.enter().await, throttle.enter().await);
        assert!(one.try_it(now, lease).is_ok() && other.try_it(now, lease).is_ok());
        assert!(one.failed(now, "down".into(), PAUSES));
        assert!(!other.failed(now, "down".into(), PAUSES), "concurrent failures count once");
        let mut pauses = Vec::new();
        for _ in 0..8 {
            let resting = one.try_it(now, lease).expect_err("the server is paused");
            assert_eq!(throttle.resting(now), Some(resting.clone()));
            pauses.push((resting.until - now).as_secs());
            now = resting.until;
            assert!(one.try_it(now, lease).is_ok(), "one delivery retries");
            let waits = other.try_it(now, lease).expect_err("other deliveries wait");
            assert_eq!((waits.until, waits.rest(now)), (now + lease, SMTP_PAUSE_MAX), "the other deliveries check again earlier");
            assert!(!one.failed(now, "down".into(), PAUSES), "the failure does not change the state");
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
        now = one.try_it(now, lease).expect_err("the server is paused").until;
        let mut third = throttle.enter().await;
        assert!(third.try_it(now, lease).is_ok() && other.try_it(now, lease).is_err());
        drop(third);
        assert!(one.try_it(now.max(Instant::now()), lease).is_ok(), "the delivery that retried has given up");
        assert!(one.reached() && !one.reached());
        assert!(other.try_it(now, lease).is_ok() && throttle.resting(now).is_none());
    }
}
