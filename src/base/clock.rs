//! Time as an argument, so that tests of time-based rules do not need to wait.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch, UTC. The text form is ISO 8601 with milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns the time `ms` milliseconds after this time.
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Returns the milliseconds from `earlier` to this time; negative if `earlier` is later.
    pub fn ms_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the whole seconds since the epoch, rounded down.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => f.write_str("9999-12-31T23:59:59.999Z"),
        }
    }
}

/// Milliseconds on a monotonic clock, from an arbitrary start. Waits are measured with this clock, so setting the machine's clock neither
/// shortens nor lengthens them. The clock also counts the time for which the machine was suspended, because a node of a cluster must not
/// assume that it still leads after a suspension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Monotonic(pub i64);

impl Monotonic {
    /// Returns the time `ms` milliseconds after this time.
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Returns the milliseconds from `earlier` to this time; negative if `earlier` is later.
    pub fn ms_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

pub trait Clock: Send + Sync + 'static {
    /// Returns the current time, which can jump: the operator can set the machine's clock back or forward.
    fn now(&self) -> Timestamp;
    fn monotonic(&self) -> Monotonic;
}

pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the rest of the code reads the clock through this type")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp(since.as_millis() as i64)
    }

    fn monotonic(&self) -> Monotonic {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        Monotonic(now.tv_sec * 1_000 + now.tv_nsec / 1_000_000)
    }
}

/// A clock that runs behind the machine's clock and can be advanced. The demo uses it to create events in the past.
pub struct PastClock {
    behind_ms: AtomicI64,
}

impl PastClock {
    /// Returns a clock that is `behind_ms` behind the machine's time.
    pub fn behind(behind_ms: i64) -> Self {
        Self { behind_ms: AtomicI64::new(behind_ms) }
    }

    /// Advances the clock to `moment`, but never moves it back or past the machine's time.
    pub fn advance_to(&self, moment: Timestamp) {
        self.behind_ms.fetch_min(SystemClock.now().ms_since(moment).max(0), Ordering::SeqCst);
    }

    /// Sets the clock to the machine's time.
    pub fn catch_up(&self) {
        self.behind_ms.store(0, Ordering::SeqCst);
    }
}

impl Clock for PastClock {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus_ms(-self.behind_ms.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Monotonic {
        SystemClock.monotonic()
    }
}

/// A clock for tests, which moves only when a test moves it.
pub struct ManualClock {
    now: AtomicI64,
    monotonic: AtomicI64,
}

impl ManualClock {
    /// Creates a clock that stays at `start`.
    pub fn at(start: Timestamp) -> Self {
        Self { now: AtomicI64::new(start.0), monotonic: AtomicI64::new(0) }
    }

    /// Advances the wall-clock time and the monotonic time by `ms` milliseconds.
    pub fn advance_ms(&self, ms: i64) {
        self.set_off_by_ms(ms);
        self.monotonic.fetch_add(ms, Ordering::SeqCst);
    }

    /// Moves the wall-clock time forward, or back if `ms` is negative. The monotonic time does not change.
    pub fn set_off_by_ms(&self, ms: i64) {
        self.now.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.now.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Monotonic {
        Monotonic(self.monotonic.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_past_clock_runs_behind_and_is_advanced_up_to_the_machines_time_only() {
        const DAY_MS: i64 = 24 * 60 * 60 * 1000;
        let clock = PastClock::behind(3 * DAY_MS);
        let behind = || (SystemClock.now().ms_since(clock.now()) + DAY_MS / 2) / DAY_MS;
        assert_eq!(behind(), 3);
        clock.advance_to(clock.now().plus_ms(DAY_MS));
        assert_eq!(behind(), 2);
        clock.advance_to(clock.now().plus_ms(-DAY_MS));
        assert_eq!(behind(), 2, "the clock is never set back");
        clock.advance_to(clock.now().plus_ms(9 * DAY_MS));
        assert_eq!(behind(), 0);
        let clock = PastClock::behind(DAY_MS);
        clock.catch_up();
        assert!(SystemClock.now().ms_since(clock.now()) < 1_000);
    }
}
