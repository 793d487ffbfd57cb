//! Limits on attempts to guess passwords, codes and tokens: a few attempts without a wait, then longer and longer waits, but never a
//! permanent lock.
//!
//! The limits are checked in memory. The counts are also stored in a table, so that a restart does not reset them: callers store counted
//! attempts with [`Throttle::keep`] before they respond. Waits are measured with the monotonic clock. Names are stored as digests. The
//! number of names is bounded, in memory and in the table; both drop the least recently used names first.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::base::clock::{Monotonic, Timestamp};
use crate::base::secret::sha256;
use crate::engine::store::{self, Order, Read, Record, RowCheck, Span, Table, WriteTx};
use crate::vocab::{limits, tables};

/// A rule that limits attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The name of the rule, which distinguishes the rules of one throttle.
    pub name: &'static str,
    /// The number of attempts within the window that need no wait.
    pub free: u32,
    pub window_ms: i64,
    /// The maximum wait. After the free attempts, each additional attempt doubles the wait up to this maximum. If 0, each wait lasts until
    /// the window ends.
    pub wait_max_ms: i64,
}

/// The key of an attempt counter: a rule, and the name of the account, address or user whose attempts are counted.
pub type ThrottleKey = (&'static Rule, String);

#[derive(Clone, Copy, Debug)]
struct Tries {
    started: Monotonic,
    last: Monotonic,
    used: u32,
    /// The number of waits so far. It determines the length of the next wait.
    strikes: u32,
    closed_until: Monotonic,
    /// How long the attempts are remembered after the last one, in milliseconds.
    kept_ms: i64,
    /// Whether the table may have a row for these attempts.
    has_row: bool,
}

impl Tries {
    fn is_quiet(&self, at: Monotonic) -> bool {
        at.ms_since(self.last) >= self.kept_ms
    }
}

/// The digest of a rule and a name.
type Address = [u8; 32];

/// The stored row for a name's attempts. The row contains the age of the attempts instead of their time, because the monotonic clock
/// restarts with each process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Row {
    written_at: Timestamp,
    started_ms_ago: i64,
    last_ms_ago: i64,
    closed_for_ms: i64,
    used: u32,
    strikes: u32,
    kept_ms: i64,
}

impl Record for Row {}

const ROWS: Table<Address, Row> = Table::new(tables::THROTTLES);

/// The check of `mailmill check-data` that decodes every row with counted attempts.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(ROWS)];

/// The recent attempts, by rule and name.
#[derive(Default)]
pub struct Throttle(Mutex<Memory>);

#[derive(Default)]
struct Memory {
    tries: HashMap<Address, Tries>,
    /// Names that were dropped from memory but may still have a row. The next write deletes their rows.
    evicted: Vec<Address>,
}

const FIRST_WAIT_MS: i64 = 1_000;

impl Throttle {
    /// Counts an attempt or, if the name must wait, returns the number of whole seconds to wait (at least 1) as the error. The
    /// attempt is counted before its result is known, so that all concurrent attempts are counted.
    pub fn take(&self, rule: &Rule, name: &str, at: Monotonic) -> Result<(), u64> {
        let mut memory = self.memory();
        if memory.tries.len() >= limits::THROTTLED_NAMES_MAX {
            memory.make_room(at);
        }
        let kept_ms = rule.window_ms.max(rule.wait_max_ms);
        let fresh = Tries { started: at, last: at, used: 0, strikes: 0, closed_until: at, kept_ms, has_row: false };
        let tries = memory.tries.entry(address(rule, name)).or_insert(fresh);
        if at < tries.closed_until {
            return Err(seconds(tries.closed_until.ms_since(at)));
        }
        // Before the first wait, and if each wait lasts until the window ends, the count restarts in every window. Otherwise it restarts
        // only after `kept_ms` without an attempt.
        let is_counted_by_window = tries.strikes == 0 || rule.wait_max_ms == 0;
        if tries.is_quiet(at) || (is_counted_by_window && at.ms_since(tries.started) >= rule.window_ms) {
            *tries = Tries { has_row: tries.has_row, ..fresh };
        }
        tries.last = at;
        tries.used = tries.used.saturating_add(1);
        if tries.used >= rule.free {
            tries.closed_until = match rule.wait_max_ms {
                0 => tries.started.plus_ms(rule.window_ms),
                max => at.plus_ms((FIRST_WAIT_MS << tries.strikes.min(20)).min(max)),
            };
            tries.strikes = tries.strikes.saturating_add(1);
        }
        Ok(())
    }

    /// Removes the last attempt from the count, because it succeeded. Earlier attempts remain counted.
    pub fn undo(&self, rule: &Rule, name: &str, at: Monotonic) {
        if let Some(tries) = self.memory().tries.get_mut(&address(rule, name)) {
            tries.used = tries.used.saturating_sub(1);
            tries.strikes = tries.strikes.saturating_sub(1);
            if tries.used < rule.free {
                tries.closed_until = at;
            }
        }
    }

    /// Forgets the attempts for this name, because they were not guesses.
    pub fn forgive(&self, rule: &Rule, name: &str) {
        self.memory().tries.remove(&address(rule, name));
    }

    /// Writes the current counts of these names to their rows, and deletes the rows of dropped names, so that the table has about as many
    /// rows as there are names in memory. The counts are read inside the transaction, so that of two overlapping transactions, the later
    /// one writes the newer counts.
    pub fn keep(&self, tx: &mut WriteTx<'_>, names: &[ThrottleKey], at: Monotonic) {
        let mut memory = self.memory();
        let Memory { tries: all, evicted } = &mut *memory;
        // The row of a dropped name stays if a newer attempt has added the name again. If this write fails, the sweep deletes the leftover
        // rows.
        for address in std::mem::take(evicted).iter().filter(|address| !all.contains_key(*address)) {
            tx.delete(ROWS, address);
        }
        for (rule, name) in names {
            let address = address(rule, name);
            match all.get_mut(&address) {
                Some(tries) => {
                    tries.has_row = true;
                    tx.put(ROWS, &address, &row(tries, tx.now(), at));
                }
                None => tx.delete(ROWS, &address),
            }
        }
    }

    /// Loads the attempts that the previous process stored; called at startup. The time since then, on the machine's clock, is subtracted
    /// from the waits; if that clock was set back, nothing is subtracted.
    pub fn load(&self, tx: &impl Read, now: Timestamp, at: Monotonic) -> store::Result<()> {
        let mut memory = self.memory();
        let all = &mut memory.tries;
        tx.visit(ROWS, &Span::default(), Order::Forward, |address, row: Row| {
            let away_ms = now.ms_since(row.written_at).max(0);
            let ago = |ms: i64| at.plus_ms(-ms.saturating_add(away_ms));
            let tries = Tries {
                started: ago(row.started_ms_ago),
                last: ago(row.last_ms_ago),
                used: row.used,
                strikes: row.strikes,
                closed_until: at.plus_ms(row.closed_for_ms.saturating_sub(away_ms).max(0)),
                kept_ms: row.kept_ms,
                has_row: true,
            };
            if !tries.is_quiet(at) {
                all.insert(address, tries);
            }
            let is_full = all.len() >= limits::THROTTLED_NAMES_MAX;
            Ok(if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
    }

    /// Forgets idle names and deletes the rows of dropped names, up to `limit` rows. Returns true if there may be more.
    pub fn sweep(&self, tx: &mut WriteTx<'_>, at: Monotonic, limit: usize) -> store::Result<bool> {
        let mut memory = self.memory();
        let all = &mut memory.tries;
        all.retain(|_, tries| !tries.is_quiet(at));
        let mut gone = Vec::new();
        tx.visit(ROWS, &Span::default(), Order::Forward, |address, _: Row| {
            if !all.contains_key(&address) {
                gone.push(address);
            }
            Ok(if gone.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        gone.iter().for_each(|address| tx.delete(ROWS, address));
        Ok(gone.len() == limit)
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.0.lock().expect("no holder of this lock panics")
    }
}

impl Memory {
    /// Drops the less recently used half of the names. If an attacker fills the memory with invented names, these mostly displace each
    /// other.
    fn make_room(&mut self, at: Monotonic) {
        let age = |tries: &Tries| at.ms_since(tries.last.max(tries.closed_until));
        let mut ages: Vec<i64> = self.tries.values().map(age).collect();
        let half = ages.len() / 2;
        let (_, median, _) = ages.select_nth_unstable(half);
        let median = *median;
        let evicted = self.tries.extract_if(|_, tries| age(tries) >= median);
        self.evicted.extend(evicted.filter(|(_, tries)| tries.has_row).map(|(address, _)| address));
    }
}

fn row(tries: &Tries, now: Timestamp, at: Monotonic) -> Row {
    Row {
        written_at: now,
        started_ms_ago: at.ms_since(tries.started),
        last_ms_ago: at.ms_since(tries.last),
        closed_for_ms: tries.closed_until.ms_since(at).max(0),
        used: tries.used,
        strikes: tries.strikes,
        kept_ms: tries.kept_ms,
    }
}

fn address(rule: &Rule, name: &str) -> Address {
    sha256(format!("{}\0{name}", rule.name).as_bytes())
}

fn seconds(ms: i64) -> u64 {
    u64::try_from(ms.max(1)).unwrap_or(1).div_ceil(1000)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::clock::{Clock, ManualClock};
    use crate::engine::store::Store;
    use crate::engine::store::testing::in_memory;
    use crate::vocab::tables::DatabaseKind;

    const SIGN_IN: Rule = Rule { name: "sign-in", free: 3, window_ms: 60_000, wait_max_ms: 8_000 };
    const HOURLY: Rule = Rule { name: "hourly", free: 2, window_ms: 3_600_000, wait_max_ms: 0 };

    #[test]
    fn after_the_free_attempts_each_wait_is_twice_as_long_up_to_the_maximum() {
        let throttle = Throttle::default();
        let mut now = Monotonic(0);
        for _ in 0..3 {
            assert_eq!(throttle.take(&SIGN_IN, "ada", now), Ok(()));
        }
        for wait in [1, 2, 4, 8, 8, 8] {
            assert_eq!(throttle.take(&SIGN_IN, "ada", now), Err(wait));
            assert_eq!(throttle.take(&SIGN_IN, "bob", now.plus_ms(wait as i64)), Ok(()), "other names are not affected");
            throttle.forgive(&SIGN_IN, "bob");
            now = now.plus_ms(wait as i64 * 1000);
            assert_eq!(throttle.take(&SIGN_IN, "ada", now), Ok(()));
        }
        now = now.plus_ms(60_000);
        assert_eq!([(); 3].map(|()| throttle.take(&SIGN_IN, "ada", now)), [Ok(()); 3], "no lock is permanent");
    }

    #[test]
    fn forgiven_attempts_start_from_zero() {
        let throttle = Throttle::default();
        assert_eq!([(); 3].map(|()| throttle.take(&SIGN_IN, "ada", Monotonic(0))), [Ok(()); 3]);
        throttle.forgive(&SIGN_IN, "ada");
        assert_eq!(throttle.take(&SIGN_IN, "ada", Monotonic(0)), Ok(()));
    }

    #[test]
    fn a_rule_without_longer_waits_closes_until_the_window_ends() {
        let throttle = Throttle::default();
        assert_eq!([(); 2].map(|()| throttle.take(&HOURLY, "x", Monotonic(0))), [Ok(()); 2]);
        assert_eq!(throttle.take(&HOURLY, "x", Monotonic(1)), Err(3600));
        assert_eq!(throttle.take(&HOURLY, "x", Monotonic(3_600_000)), Ok(()));
    }

    // In an earlier version, a name that had once reached the limit was never limited again while its attempts continued.
    #[test]
    fn a_rule_without_longer_waits_limits_every_window() {
        let throttle = Throttle::default();
        for start in [0, 3_600_000, 7_200_000] {
            for ms in [0, 3_000_000] {
                assert_eq!(throttle.take(&HOURLY, "x", Monotonic(start + ms)), Ok(()));
            }
            assert_eq!(throttle.take(&HOURLY, "x", Monotonic(start + 3_000_000)), Err(600));
        }
    }

    #[test]
    fn a_correct_attempt_does_not_count_but_earlier_wrong_ones_do() {
        let throttle = Throttle::default();
        for _ in 0..10 {
            assert_eq!(throttle.take(&HOURLY, "x", Monotonic(0)), Ok(()));
            throttle.undo(&HOURLY, "x", Monotonic(0));
        }
        assert_eq!(throttle.take(&HOURLY, "x", Monotonic(0)), Ok(()));
        assert_eq!(throttle.take(&HOURLY, "x", Monotonic(0)), Ok(()));
        assert_eq!(throttle.take(&HOURLY, "x", Monotonic(0)), Err(3600));
    }

    fn store(clock: &Arc<ManualClock>) -> Store {
        in_memory(DatabaseKind::Control, clock.clone())
    }

    fn keep(store: &Store, throttle: &Arc<Throttle>, name: &str, at: Monotonic) {
        let (throttle, name) = (throttle.clone(), name.to_owned());
        let write = move |tx: &mut WriteTx<'_>| {
            throttle.keep(tx, &[(&SIGN_IN, name)], at);
            Ok::<_, ()>(())
        };
        assert_eq!(store.write_blocking(write), Ok(Ok(())));
    }

    fn restarted(store: &Store, clock: &ManualClock) -> Arc<Throttle> {
        let throttle = Throttle::default();
        throttle.load(&store.read(), clock.now(), clock.monotonic()).expect("the data is readable");
        Arc::new(throttle)
    }

    /// In an earlier version, attempts were kept only in memory: a restart, which an attacker may be able to cause, reset every count.
    #[test]
    fn a_restart_resets_no_count_and_subtracts_the_time_that_passed_from_waits() {
        let clock = Arc::new(ManualClock::at(Timestamp(1_767_225_600_000)));
        let store = store(&clock);
        let throttle = Arc::new(Throttle::default());
        for wait in [0, 0, 0, 1, 2] {
            clock.advance_ms(wait * 1000);
            assert_eq!(throttle.take(&SIGN_IN, "ada", clock.monotonic()), Ok(()));
        }
        keep(&store, &throttle, "ada", clock.monotonic());
        // The next wait is four seconds. One second of it passes while the process is not running.
        clock.advance_ms(1_000);
        let throttle = restarted(&store, &clock);
        assert_eq!(throttle.take(&SIGN_IN, "ada", clock.monotonic()), Err(3));
        clock.advance_ms(3_000);
        assert_eq!(throttle.take(&SIGN_IN, "ada", clock.monotonic()), Ok(()), "one attempt is allowed");
        assert_eq!(throttle.take(&SIGN_IN, "ada", clock.monotonic()), Err(8), "the next attempt has the next longer wait");
        throttle.forgive(&SIGN_IN, "ada");
        keep(&store, &throttle, "ada", clock.monotonic());
        assert_eq!(restarted(&store, &clock).take(&SIGN_IN, "ada", clock.monotonic()), Ok(()));
    }

    #[test]
    fn a_clock_set_back_while_the_process_is_down_makes_no_wait_longer() {
        let clock = Arc::new(ManualClock::at(Timestamp(1_767_225_600_000)));
        let store = store(&clock);
        let throttle = Arc::new(Throttle::default());
        assert_eq!([(); 3].map(|()| throttle.take(&SIGN_IN, "ada", clock.monotonic())), [Ok(()); 3]);
        keep(&store, &throttle, "ada", clock.monotonic());
        clock.set_off_by_ms(-600_000);
        assert_eq!(restarted(&store, &clock).take(&SIGN_IN, "ada", clock.monotonic()), Err(1));
        clock.set_off_by_ms(1_200_000);
        assert_eq!(restarted(&store, &clock).take(&SIGN_IN, "ada", clock.monotonic()), Ok(()));
    }

    #[test]
    fn the_rows_of_forgotten_attempts_are_deleted() {
        let clock = Arc::new(ManualClock::at(Timestamp(1_767_225_600_000)));
        let store = store(&clock);
        let throttle = Arc::new(Throttle::default());
        for name in ["ada", "bob", "eve"] {
            assert_eq!(throttle.take(&SIGN_IN, name, clock.monotonic()), Ok(()));
            keep(&store, &throttle, name, clock.monotonic());
            clock.advance_ms(25_000);
        }
        let sweep = {
            let (throttle, clock) = (throttle.clone(), clock.clone());
            move |tx: &mut WriteTx<'_>| throttle.sweep(tx, clock.monotonic(), 10)
        };
        assert_eq!(store.write_blocking(sweep), Ok(Ok(false)));
        let left = store.read().list(ROWS, &Span::default(), Order::Forward, 10).expect("the data is readable").len();
        assert_eq!((left, throttle.memory().tries.len()), (2, 2), "the first name was last seen more than a minute ago");
    }

    #[test]
    fn invented_names_use_bounded_memory() {
        let throttle = Throttle::default();
        for number in 0..limits::THROTTLED_NAMES_MAX + 10 {
            assert_eq!(throttle.take(&SIGN_IN, &number.to_string(), Monotonic(number as i64)), Ok(()));
        }
        assert!(throttle.memory().tries.len() <= limits::THROTTLED_NAMES_MAX);
    }

    /// In an earlier version, the rows of dropped names stayed until the next sweep, so invented names filled the table without limit.
    #[test]
    fn invented_names_use_bounded_table_rows_too() {
        let store = store(&Arc::new(ManualClock::at(Timestamp(1_767_225_600_000))));
        let throttle = Arc::new(Throttle::default());
        let rows = || store.read().rows(tables::THROTTLES).expect("the data is readable");
        let room = limits::THROTTLED_NAMES_MAX as u64;
        for round in 0..3 {
            let names: Vec<ThrottleKey> =
                (0..limits::THROTTLED_NAMES_MAX / 2).map(|number| (&SIGN_IN, format!("{round} {number}"))).collect();
            for (at, (rule, name)) in names.iter().enumerate() {
                let at = Monotonic(round * 1_000_000 + at as i64);
                assert_eq!(throttle.take(rule, name, at), Ok(()));
            }
            let keeps = throttle.clone();
            let write = move |tx: &mut WriteTx<'_>| {
                keeps.keep(tx, &names, Monotonic(round * 1_000_000));
                Ok::<_, ()>(())
            };
            assert_eq!(store.write_blocking(write), Ok(Ok(())));
            assert!(rows() <= room, "{} rows after round {round}", rows());
        }
        assert_eq!(rows(), throttle.memory().tries.len() as u64, "the table has a row for each name in memory, and no others");
        // A dropped name keeps its row if another attempt is made before the next write.
        let again = (&SIGN_IN, "2 0".to_owned());
        throttle.memory().evicted.push(address(again.0, &again.1));
        keep(&store, &throttle, "ada", Monotonic(0));
        assert!(store.read().get(ROWS, &address(again.0, &again.1)).expect("the data is readable").is_some());
    }
}
