//! Lets only one task at a time work on the same object, such as an account on a platform.
//!
//! The callers decide what the keys mean.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// If there are at least this many keys, those whose lock no task holds or waits for are removed.
const KEYS_KEPT: usize = 1_000;

#[derive(Default)]
pub struct KeyLocks(Mutex<HashMap<[u8; 13], Weak<AsyncMutex<()>>>>);

impl KeyLocks {
    /// Waits until no other task holds the lock for this key. Dropping the result releases the lock.
    pub async fn take(&self, key: [u8; 13]) -> OwnedMutexGuard<()> {
        let turn = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if all.len() >= KEYS_KEPT {
                all.retain(|_, turn| turn.strong_count() > 0);
            }
            let known = all.get(&key).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let turn = Arc::new(AsyncMutex::new(()));
                all.insert(key, Arc::downgrade(&turn));
                turn
            })
        };
        turn.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_key_has_one_task_at_a_time_and_other_keys_do_not_wait() {
        let locks = KeyLocks::default();
        let first = locks.take([1; 13]).await;
        let _other = locks.take([2; 13]).await;
        let soon = Duration::from_millis(20);
        assert!(timeout(soon, locks.take([1; 13])).await.is_err(), "the key is taken");
        drop(first);
        assert!(timeout(soon, locks.take([1; 13])).await.is_ok());
    }

    #[tokio::test]
    async fn keys_without_a_task_are_removed() {
        let locks = KeyLocks::default();
        for number in 0..KEYS_KEPT as u64 + 1 {
            let mut key = [0; 13];
            key[..8].copy_from_slice(&number.to_be_bytes());
            drop(locks.take(key).await);
        }
        assert!(locks.0.lock().expect("no panic").len() <= 2);
    }
}
