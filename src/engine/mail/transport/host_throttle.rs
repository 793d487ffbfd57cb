//! Throttles deliveries to one server: how many run at a time, and pauses after failures.
//!
//! A server that reports overload gets half as many connections, and one more after each number of successful messages. An unreachable
//! server is retried by one delivery after a pause that doubles; the others wait for its result. No sockets are involved.

use std::sync::{Mutex, MutexGuard};

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Duration, Instant};

use crate::vocab::limits::{SMTP_GROWTH_MESSAGES, SMTP_PAUSE_MAX};

/// The throttle of one server.
pub struct HostThrottle {
    turns: Semaphore,
    turns_max: usize,
    state: Mutex<State>,
}

struct State {
    /// The current number of parallel deliveries.
    allowed: usize,
    /// Slots that are not released for reuse, because fewer are allowed than were taken.
    owed: usize,
    /// How often the limit was lowered.
    complaints: u64,
    /// Successful messages since the last change.
    fine: u32,
    pause: Option<Backoff>,
    /// How often the server could not be reached.
    failures: u64,
}

/// The pause of a server.
struct Backoff {
    length: Duration,
    until: Instant,
    why: String,
    /// One delivery is retrying, until this time at most.
    is_tried: bool,
}

impl Backoff {
    fn resting(&self) -> BackedOff {
        BackedOff { until: self.until, why: self.why.clone(), is_tried: self.is_tried }
    }
}

/// A delivery's slot.
pub struct ThrottleSlot<'a> {
    throttle: &'a HostThrottle,
    permit: Option<SemaphorePermit<'a>>,
    /// The number of complaints when this started.
    complaints: u64,
    failures: u64,
    /// Whether this delivery retries while the others wait.
    tries: bool,
}

/// A server is paused until then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackedOff {
    pub until: Instant,
    pub why: String,
    /// A delivery is retrying, and may have a result before that.
    pub is_tried: bool,
}

impl BackedOff {
    /// The time after which another delivery is worth an attempt.
    pub fn rest(&self, now: Instant) -> Duration {
        let rest = self.until.saturating_duration_since(now);
        if self.is_tried { rest.min(SMTP_PAUSE_MAX) } else { rest }
    }
}

impl HostThrottle {
    /// Allows at most this many at a time.
    pub fn new(turns_max: usize) -> Self {
        let state = State { allowed: turns_max, owed: 0, complaints: 0, fine: 0, pause: None, failures: 0 };
        Self { turns: Semaphore::new(turns_max), turns_max, state: Mutex::new(state) }
    }

    /// Waits for a slot.
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

    /// Whether the server is paused now.
    pub fn resting(&self, now: Instant) -> Option<BackedOff> {
        let state = self.state();
        let pause = state.pause.as_ref().filter(|pause| pause.until > now)?;
        Some(pause.resting())
    }

    /// Whether there is no state worth keeping.
    pub fn is_at_rest(&self) -> bool {
        let state = self.state();
        state.pause.is_none() && state.allowed == self.turns_max && self.turns.available_permits() == self.turns_max
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of this lock panics")
    }
}

impl ThrottleSlot<'_> {
    /// Whether the server may be tried now. After a pause this delivery retries; the others wait until it is done, at most `time`.
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

    /// The server could not be reached. Concurrent failures count once. It is paused for the first duration, doubled with each further
    /// failure, up to the second. Returns whether this changes the state.
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

    /// The server was reached. Returns whether this changes the state.
    pub fn reached(&mut self) -> bool {
        self.tries = false;
        self.throttle.state().pause.take().is_some()
    }

    /// The server reports overload. Returns whether the limit can be lowered; concurrent reports count once.
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

    /// A message was accepted.
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
            // The attempt was given up without a result: the next delivery may try.
            (pause.until, pause.is_tried) = (Instant::now(), false);
        }
        if state.owed > 0 {
            state.owed -= 1;
            self.permit.take().expect("taken only here").forget();
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
        // All three report the same overload.
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
        let first = turns.next().expect("four");
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
        assert!(!other.failed(now, "down".into(), PAUSES), "at the same time: counts once");
        let mut pauses = Vec::new();
        for _ in 0..8 {
            let resting = one.try_it(now, lease).expect_err("left alone");
            assert_eq!(throttle.resting(now), Some(resting.clone()));
            pauses.push((resting.until - now).as_secs());
            now = resting.until;
            assert!(one.try_it(now, lease).is_ok(), "one tries");
            let waits = other.try_it(now, lease).expect_err("the others wait");
            assert_eq!((waits.until, waits.rest(now)), (now + lease, SMTP_PAUSE_MAX), "and look again before that");
            assert!(!one.failed(now, "down".into(), PAUSES), "no news");
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
        now = one.try_it(now, lease).expect_err("left alone").until;
        let mut third = throttle.enter().await;
        assert!(third.try_it(now, lease).is_ok() && other.try_it(now, lease).is_err());
        drop(third);
        assert!(one.try_it(now.max(Instant::now()), lease).is_ok(), "the one that tried has given up");
        assert!(one.reached() && !one.reached());
        assert!(other.try_it(now, lease).is_ok() && throttle.resting(now).is_none());
    }
}
