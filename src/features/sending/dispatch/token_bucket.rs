//! Limits each account's sending rate with a token bucket, which fills over time. Each message to a recipient takes one token from the
//! bucket.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::vocab::ids::AccountId;

#[derive(Default)]
pub struct TokenBuckets {
    buckets: HashMap<AccountId, Bucket>,
}

struct Bucket {
    /// The number of recipients to whom messages may be sent immediately.
    tokens: f64,
    filled_at: Instant,
}

impl TokenBuckets {
    /// Takes a token for one recipient. `per_second` is the account's limit; `None` means no limit. If the account has reached its limit,
    /// the error contains the time to wait.
    pub fn take(&mut self, account: AccountId, per_second: Option<u64>, now: Instant) -> Result<(), Duration> {
        let Some(per_second) = per_second else { return Ok(()) };
        if per_second == 0 {
            return Err(Duration::from_secs(60));
        }
        let rate = per_second as f64;
        // The capacity of a bucket is the number of tokens added in a tenth of a second, but at least one token: enough to compensate for
        // inexact timers, and few enough to keep bursts short.
        let most = (rate / 10.0).max(1.0);
        let bucket = self.buckets.entry(account).or_insert(Bucket { tokens: most, filled_at: now });
        let passed = now.saturating_duration_since(bucket.filled_at).as_secs_f64();
        bucket.tokens = (bucket.tokens + passed * rate).min(most);
        bucket.filled_at = now;
        if bucket.tokens >= 1.0 {
            bucket.tokens -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - bucket.tokens) / rate))
    }

    /// Returns a token to the account's bucket, because no message was sent to the recipient.
    pub fn give_back(&mut self, account: AccountId) {
        if let Some(bucket) = self.buckets.get_mut(&account) {
            bucket.tokens += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_sent_per_second_than_the_plan_allows() {
        let account = AccountId::from_bytes([1; 12]);
        let start = Instant::now();
        let mut buckets = TokenBuckets::default();
        let mut taken = 0;
        let mut now = start;
        while now < start + Duration::from_secs(10) {
            match buckets.take(account, Some(50), now) {
                Ok(()) => taken += 1,
                Err(wait) => now += wait,
            }
        }
        assert!((495..=506).contains(&taken), "{taken}");
    }

    #[test]
    fn accounts_do_not_wait_for_each_other_and_none_sends_without_a_plan() {
        let (one, other) = (AccountId::from_bytes([1; 12]), AccountId::from_bytes([2; 12]));
        let now = Instant::now();
        let mut buckets = TokenBuckets::default();
        assert!(buckets.take(one, Some(1), now).is_ok() && buckets.take(one, Some(1), now).is_err());
        assert!(buckets.take(other, Some(1), now).is_ok());
        buckets.give_back(one);
        assert!(buckets.take(one, Some(1), now).is_ok());
        assert!(buckets.take(one, Some(0), now).is_err() && buckets.take(one, None, now).is_ok());
    }
}
