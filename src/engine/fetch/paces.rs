//! The pauses that platforms request between calls, for each connected account.
//!
//! A pause applies to every caller in this process. It is only in memory: after a restart, the platform rejects one request and states the
//! pause again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Above this number of accounts, pauses that have ended are removed.
const ACCOUNTS_KEPT: usize = 1_000;

/// When each account may be called again.
#[derive(Default)]
pub struct Paces(Mutex<HashMap<[u8; 12], Instant>>);

impl Paces {
    /// Returns how long calls for this account still have to wait.
    pub fn wait(&self, account: &[u8; 12], now: Instant) -> Duration {
        let until = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(account).copied();
        until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }

    /// Pauses calls for this account until a time. An earlier end of the pause changes nothing.
    pub fn pause(&self, account: [u8; 12], until: Instant, now: Instant) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= ACCOUNTS_KEPT {
            all.retain(|_, until| *until > now);
        }
        let end = all.entry(account).or_insert(until);
        *end = (*end).max(until);
    }

    /// Forgets the pause of an account.
    pub fn forget(&self, account: &[u8; 12]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(account);
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
