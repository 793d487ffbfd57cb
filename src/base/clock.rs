//! Time as an argument, so that every rule that depends on it can be tested without waiting.

use std::fmt;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch, UTC. Written as ISO 8601 with milliseconds on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// `ms` milliseconds after this time.
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this time; negative if `earlier` is later.
    pub fn ms_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Whole seconds since the epoch, rounded down.
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

/// Milliseconds on a clock that only runs forward, from an arbitrary start. Waits are measured on it: setting the machine's clock neither
/// shortens nor lengthens them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Monotonic(pub i64);

impl Monotonic {
    /// `ms` milliseconds after this time.
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this time; negative if `earlier` is later.
    pub fn ms_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// A source of the current time.
pub trait Clock: Send + Sync + 'static {
    /// The current time. The operator can set it back or forward.
    fn now(&self) -> Timestamp;
    /// The current time on a clock that only runs forward.
    fn monotonic(&self) -> Monotonic;
}

/// The machine's own clock.
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp(since.as_millis() as i64)
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn monotonic(&self) -> Monotonic {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        Monotonic(START.elapsed().as_millis() as i64)
    }
}

/// A clock for tests, which moves only through these methods.
pub struct ManualClock {
    now: AtomicI64,
    monotonic: AtomicI64,
}

impl ManualClock {
    /// A clock that stays at `start`.
    pub fn at(start: Timestamp) -> Self {
        Self { now: AtomicI64::new(start.0), monotonic: AtomicI64::new(0) }
    }

    /// Advances both clocks by `ms` milliseconds.
    pub fn advance_ms(&self, ms: i64) {
        self.set_off_by_ms(ms);
        self.monotonic.fetch_add(ms, Ordering::SeqCst);
    }

    /// Sets the time forward, or back if `ms` is negative; the forward-only clock does not move.
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
