//! The pauses that platforms request between calls, for each connected account.
//!
//! A pause applies to every caller in this process. Pauses are kept only in memory. If a restart cuts a pause short, the platform rejects
//! the next request.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// When at least this many accounts are stored, pauses that have ended are removed.
const ACCOUNTS_KEPT: usize = 1_000;
/// The shortest pause after the first rejected call. It doubles with each further consecutive rejected call, so that a platform that
/// requests no pause is not called in a tight loop.
const REJECTED_PAUSE: Duration = Duration::from_secs(1);
/// The maximum number of times that [`REJECTED_PAUSE`] doubles: up to 64 seconds.
const DOUBLINGS_MAX: u32 = 6;

/// When each account may be called again.
#[derive(Default)]
pub struct Paces(Mutex<HashMap<[u8; 12], Pace>>);

struct Pace {
    until: Instant,
    rejected: u32,
}

impl Paces {
    /// Returns how long calls for this account still have to wait.
    pub fn wait(&self, account: &[u8; 12], now: Instant) -> Duration {
        let until = self.all().get(account).map(|pace| pace.until);
        until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }

    /// Pauses calls for this account until `until`. If the current pause ends later, nothing changes.
    pub fn pause(&self, account: [u8; 12], until: Instant, now: Instant) {
        let mut all = self.all();
        let pace = Self::enter(&mut all, account, now);
        pace.until = pace.until.max(until);
    }

    /// Pauses calls for this account after a rejected call: for the requested time, but at least for [`REJECTED_PAUSE`], which doubles with
    /// each consecutive rejected call.
    pub fn reject(&self, account: [u8; 12], requested: Duration, now: Instant) {
        let mut all = self.all();
        let pace = Self::enter(&mut all, account, now);
        let shortest = REJECTED_PAUSE * (1 << pace.rejected.min(DOUBLINGS_MAX));
        pace.rejected = pace.rejected.saturating_add(1);
        pace.until = pace.until.max(now + requested.max(shortest));
    }

    /// Records that a call for this account was not rejected.
    pub fn accept(&self, account: &[u8; 12]) {
        if let Some(pace) = self.all().get_mut(account) {
            pace.rejected = 0;
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<[u8; 12], Pace>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(all: &mut HashMap<[u8; 12], Pace>, account: [u8; 12], now: Instant) -> &mut Pace {
        if all.len() >= ACCOUNTS_KEPT {
            all.retain(|_, pace| pace.until > now);
        }
        all.entry(account).or_insert(Pace { until: now, rejected: 0 })
    }

    pub fn forget(&self, account: &[u8; 12]) {
        self.all().remove(account);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_holds_for_its_account_and_is_never_shortened() {
        let (paces, now) = (Paces::default(), Instant::now());
        let second = Duration::from_secs(1);
        paces.pause([1; 12], now + 5 * second, now);
        paces.pause([1; 12], now + second, now);
        assert_eq!(paces.wait(&[1; 12], now), 5 * second);
        assert_eq!(paces.wait(&[1; 12], now + 9 * second), Duration::ZERO);
        assert_eq!(paces.wait(&[2; 12], now), Duration::ZERO);
        paces.forget(&[1; 12]);
        assert_eq!(paces.wait(&[1; 12], now), Duration::ZERO);
    }

    #[test]
    fn rejected_calls_in_a_row_pause_for_longer_each_time() {
        let (paces, mut now) = (Paces::default(), Instant::now());
        let mut waits = Vec::new();
        for _ in 0..9 {
            paces.reject([1; 12], Duration::ZERO, now);
            waits.push(paces.wait(&[1; 12], now).as_secs());
            now += paces.wait(&[1; 12], now);
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 64, 64]);
        paces.accept(&[1; 12]);
        paces.reject([1; 12], Duration::ZERO, now);
        assert_eq!(paces.wait(&[1; 12], now), Duration::from_secs(1), "an accepted call ends the row");
        paces.reject([1; 12], Duration::from_secs(600), now);
        assert_eq!(paces.wait(&[1; 12], now), Duration::from_secs(600), "a longer requested pause is kept");
    }

    #[test]
    fn pauses_that_are_over_are_forgotten() {
        let (paces, now) = (Paces::default(), Instant::now());
        for number in 0..2 * ACCOUNTS_KEPT as u32 {
            let mut account = [0; 12];
            account[..4].copy_from_slice(&number.to_be_bytes());
            paces.pause(account, now + Duration::from_secs(1), now + Duration::from_secs(2));
        }
        assert!(paces.0.lock().expect("no panic").len() <= ACCOUNTS_KEPT);
    }
}
