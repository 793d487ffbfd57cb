//! How fast an account may send: a bucket that fills with time and that each recipient takes one drop from.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::vocab::ids::AccountId;

/// The buckets of all accounts.
#[derive(Default)]
pub struct Pace {
    buckets: HashMap<AccountId, Bucket>,
}

struct Bucket {
    /// How many recipients may be taken at once.
    drops: f64,
    filled_at: Instant,
}

impl Pace {
    /// Take one recipient of an account that may send `per_second`, or without a limit; else how long until there is room for one.
    pub fn take(&mut self, account: AccountId, per_second: Option<u64>, now: Instant) -> Result<(), Duration> {
        let Some(per_second) = per_second else { return Ok(()) };
        if per_second == 0 {
            return Err(Duration::from_secs(60));
        }
        let rate = per_second as f64;
        // A tenth of a second at once: wakes are not more exact, and bursts are not longer.
        let most = (rate / 10.0).max(1.0);
        let bucket = self.buckets.entry(account).or_insert(Bucket { drops: most, filled_at: now });
        let passed = now.saturating_duration_since(bucket.filled_at).as_secs_f64();
        bucket.drops = (bucket.drops + passed * rate).min(most);
        bucket.filled_at = now;
        if bucket.drops >= 1.0 {
            bucket.drops -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - bucket.drops) / rate))
    }

    /// Give back what was taken for a recipient that was not sent to.
    pub fn give_back(&mut self, account: AccountId) {
        if let Some(bucket) = self.buckets.get_mut(&account) {
            bucket.drops += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_leaves_in_a_second_than_the_plan_says() {
        let account = AccountId::from_bytes([1; 12]);
        let start = Instant::now();
        let mut pace = Pace::default();
        let mut taken = 0;
        let mut now = start;
        while now < start + Duration::from_secs(10) {
            match pace.take(account, Some(50), now) {
                Ok(()) => taken += 1,
                Err(wait) => now += wait,
            }
        }
        assert!((495..=506).contains(&taken), "{taken}");
    }

    #[test]
    fn one_account_does_not_wait_for_another_and_none_sends_without_a_plan() {
        let (one, other) = (AccountId::from_bytes([1; 12]), AccountId::from_bytes([2; 12]));
        let now = Instant::now();
        let mut pace = Pace::default();
        assert!(pace.take(one, Some(1), now).is_ok() && pace.take(one, Some(1), now).is_err());
        assert!(pace.take(other, Some(1), now).is_ok());
        pace.give_back(one);
        assert!(pace.take(one, Some(1), now).is_ok());
        assert!(pace.take(one, Some(0), now).is_err() && pace.take(one, None, now).is_ok());
    }
}
