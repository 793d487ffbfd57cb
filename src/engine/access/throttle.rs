//! Brakes on guessing: so many tries at once, then longer and longer waits, and never a lock that does not open by itself.
//!
//! It does not know what is tried. Names are kept as digests; how many are kept is bounded, and the quietest give way.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::base::clock::Timestamp;
use crate::base::secret::sha256;
use crate::vocab::limits;

/// How much is let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Tells the rules of one throttle apart.
    pub name: &'static str,
    /// So many tries within the window cost nothing.
    pub free: u32,
    pub window_ms: i64,
    /// After that, each further try waits twice as long as the one before, up to this; 0: until the window is over.
    pub wait_max_ms: i64,
}

#[derive(Clone, Copy, Debug)]
struct Tries {
    started: Timestamp,
    last: Timestamp,
    used: u32,
    /// Tries beyond the free ones.
    strikes: u32,
    closed_until: Timestamp,
}

/// What was tried lately, by rule and name.
#[derive(Default)]
pub struct Throttle(Mutex<HashMap<[u8; 32], Tries>>);

const FIRST_WAIT_MS: i64 = 1_000;

impl Throttle {
    /// Count a try; otherwise the whole seconds to wait, at least 1. Counted before it is known how it ends, so that many at once
    /// are as many.
    pub fn take(&self, rule: &Rule, name: &str, now: Timestamp) -> Result<(), u64> {
        let mut all = self.0.lock().expect("no holder of this lock panics");
        if all.len() >= limits::THROTTLED_NAMES_MAX {
            make_room(&mut all, now);
        }
        let fresh = Tries { started: now, last: now, used: 0, strikes: 0, closed_until: now };
        let tries = all.entry(address(rule, name)).or_insert(fresh);
        if now < tries.closed_until {
            return Err(seconds(tries.closed_until.ms_since(now)));
        }
        let quiet = now.ms_since(tries.last) >= rule.window_ms.max(rule.wait_max_ms);
        if quiet || (tries.strikes == 0 && now.ms_since(tries.started) >= rule.window_ms) {
            *tries = fresh;
        }
        tries.last = now;
        tries.used = tries.used.saturating_add(1);
        if tries.used >= rule.free {
            tries.closed_until = match rule.wait_max_ms {
                0 => tries.started.plus_ms(rule.window_ms),
                max => now.plus_ms((FIRST_WAIT_MS << tries.strikes.min(20)).min(max)),
            };
            tries.strikes = tries.strikes.saturating_add(1);
        }
        Ok(())
    }

    /// Take the last try back: it was right, so it does not count. Those before it still do.
    pub fn undo(&self, rule: &Rule, name: &str, now: Timestamp) {
        if let Some(tries) = self.0.lock().expect("no holder of this lock panics").get_mut(&address(rule, name)) {
            tries.used = tries.used.saturating_sub(1);
            tries.strikes = tries.strikes.saturating_sub(1);
            if tries.used < rule.free {
                tries.closed_until = now;
            }
        }
    }

    /// Forget the tries under this name: it was no guessing.
    pub fn forgive(&self, rule: &Rule, name: &str) {
        self.0.lock().expect("no holder of this lock panics").remove(&address(rule, name));
    }
}

fn address(rule: &Rule, name: &str) -> [u8; 32] {
    sha256(format!("{}\0{name}", rule.name).as_bytes())
}

fn seconds(ms: i64) -> u64 {
    u64::try_from(ms.max(1)).unwrap_or(1).div_ceil(1000)
}

/// The older half goes: whoever fills the room with made-up names pushes out mostly their own.
fn make_room(all: &mut HashMap<[u8; 32], Tries>, now: Timestamp) {
    let mut ages: Vec<i64> = all.values().map(|tries| now.ms_since(tries.last.max(tries.closed_until))).collect();
    let half = ages.len() / 2;
    let (_, median, _) = ages.select_nth_unstable(half);
    let median = *median;
    all.retain(|_, tries| now.ms_since(tries.last.max(tries.closed_until)) < median);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGN_IN: Rule = Rule { name: "sign-in", free: 3, window_ms: 60_000, wait_max_ms: 8_000 };
    const HOURLY: Rule = Rule { name: "hourly", free: 2, window_ms: 3_600_000, wait_max_ms: 0 };

    #[test]
    fn after_the_free_tries_each_waits_twice_as_long_up_to_the_most() {
        let throttle = Throttle::default();
        let mut now = Timestamp(0);
        for _ in 0..3 {
            assert_eq!(throttle.take(&SIGN_IN, "ada", now), Ok(()));
        }
        for wait in [1, 2, 4, 8, 8, 8] {
            assert_eq!(throttle.take(&SIGN_IN, "ada", now), Err(wait));
            assert_eq!(throttle.take(&SIGN_IN, "bob", now.plus_ms(wait as i64)), Ok(()), "others are not concerned");
            throttle.forgive(&SIGN_IN, "bob");
            now = now.plus_ms(wait as i64 * 1000);
            assert_eq!(throttle.take(&SIGN_IN, "ada", now), Ok(()));
        }
        now = now.plus_ms(60_000);
        assert_eq!([(); 3].map(|()| throttle.take(&SIGN_IN, "ada", now)), [Ok(()); 3], "no lock is for ever");
    }

    #[test]
    fn who_is_forgiven_begins_anew() {
        let throttle = Throttle::default();
        assert_eq!([(); 3].map(|()| throttle.take(&SIGN_IN, "ada", Timestamp(0))), [Ok(()); 3]);
        throttle.forgive(&SIGN_IN, "ada");
        assert_eq!(throttle.take(&SIGN_IN, "ada", Timestamp(0)), Ok(()));
    }

    #[test]
    fn a_rule_without_longer_waits_closes_until_the_window_is_over() {
        let throttle = Throttle::default();
        assert_eq!([(); 2].map(|()| throttle.take(&HOURLY, "x", Timestamp(0))), [Ok(()); 2]);
        assert_eq!(throttle.take(&HOURLY, "x", Timestamp(1)), Err(3600));
        assert_eq!(throttle.take(&HOURLY, "x", Timestamp(3_600_000)), Ok(()));
    }

    #[test]
    fn what_was_right_does_not_count_and_what_was_wrong_before_does() {
        let throttle = Throttle::default();
        for _ in 0..10 {
            assert_eq!(throttle.take(&HOURLY, "x", Timestamp(0)), Ok(()));
            throttle.undo(&HOURLY, "x", Timestamp(0));
        }
        assert_eq!(throttle.take(&HOURLY, "x", Timestamp(0)), Ok(()));
        assert_eq!(throttle.take(&HOURLY, "x", Timestamp(0)), Ok(()));
        assert_eq!(throttle.take(&HOURLY, "x", Timestamp(0)), Err(3600));
    }

    #[test]
    fn made_up_names_take_a_bounded_room() {
        let throttle = Throttle::default();
        for number in 0..limits::THROTTLED_NAMES_MAX + 10 {
            assert_eq!(throttle.take(&SIGN_IN, &number.to_string(), Timestamp(number as i64)), Ok(()));
        }
        assert!(throttle.0.lock().expect("free").len() <= limits::THROTTLED_NAMES_MAX);
    }
}
