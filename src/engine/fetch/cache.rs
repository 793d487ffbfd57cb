//! A cache of recent fetches. A brand's emails often contain the same images, which the brand's server should not need to send again for
//! each email.
//!
//! The cache has a byte limit and an expiry. Failed fetches can be cached too.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::base::clock::Timestamp;
use crate::vocab::limits::{DRAWN_IMAGES_AT_ONCE, RECENT_BYTES_MAX, RECENT_MS};

/// Recently fetched bytes by URL.
pub struct FetchCache {
    state: Mutex<State>,
    turns: Semaphore,
}

impl Default for FetchCache {
    fn default() -> Self {
        Self { state: Mutex::default(), turns: Semaphore::new(DRAWN_IMAGES_AT_ONCE) }
    }
}

#[derive(Default)]
struct State {
    entries: HashMap<String, Entry>,
    bytes: usize,
}

struct Entry {
    /// The fetched bytes; `None` if the fetch failed.
    body: Option<Arc<Vec<u8>>>,
    at: Timestamp,
}

impl Entry {
    /// Returns the size of an entry in bytes: its URL, its overhead and its body.
    fn weight(&self, address: &str) -> usize {
        address.len() + size_of::<Self>() + self.body.as_ref().map_or(0, |body| body.len())
    }
}

impl FetchCache {
    /// Waits for permission to fetch. Permits limit the concurrent fetches, whose bodies stay in memory until they are passed on.
    pub async fn turn(&self) -> SemaphorePermit<'_> {
        self.turns.acquire().await.expect("the semaphore is never closed")
    }

    /// Waits up to `limit` for permission to fetch; returns `None` if the wait times out.
    pub async fn turn_within(&self, limit: Duration) -> Option<SemaphorePermit<'_>> {
        tokio::time::timeout(limit, self.turn()).await.ok()
    }

    /// Returns the cached result of fetching `address`: `None` if there is none, `Some(None)` if the fetch failed, or the bytes.
    pub fn get(&self, address: &str, now: Timestamp) -> Option<Option<Arc<Vec<u8>>>> {
        let state = self.state();
        let entry = state.entries.get(address).filter(|entry| now.ms_since(entry.at) < RECENT_MS)?;
        Some(entry.body.clone())
    }

    pub fn put(&self, address: &str, body: Option<Arc<Vec<u8>>>, now: Timestamp) {
        let entry = Entry { body, at: now };
        let weight = entry.weight(address);
        // An entry larger than half the capacity is not cached, because it would displace most other entries.
        if weight > RECENT_BYTES_MAX / 2 {
            return;
        }
        let mut state = self.state();
        state.remove(address);
        state.bytes += weight;
        state.entries.insert(address.to_owned(), entry);
        while state.bytes > RECENT_BYTES_MAX {
            let oldest = state.entries.iter().min_by_key(|(_, entry)| entry.at).map(|(address, _)| address.clone());
            let Some(oldest) = oldest else { break };
            state.remove(&oldest);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of this lock panics")
    }
}

impl State {
    fn remove(&mut self, address: &str) {
        if let Some(entry) = self.entries.remove(address) {
            self.bytes -= entry.weight(address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_results_are_cached_and_old_or_excess_ones_are_dropped() {
        let recent = FetchCache::default();
        let body = Arc::new(vec![7; 100]);
        recent.put("a", Some(body.clone()), Timestamp(0));
        recent.put("b", None, Timestamp(1));
        assert_eq!(recent.get("a", Timestamp(RECENT_MS - 1)), Some(Some(body)));
        assert_eq!(recent.get("b", Timestamp(2)), Some(None));
        assert_eq!((recent.get("a", Timestamp(RECENT_MS)), recent.get("c", Timestamp(0))), (None, None));
        let large = Arc::new(vec![0; RECENT_BYTES_MAX / 3]);
        for (number, address) in ["d", "e", "f"].into_iter().enumerate() {
            recent.put(address, Some(large.clone()), Timestamp(10 + number as i64));
        }
        assert_eq!(recent.get("a", Timestamp(20)), None, "the oldest entry was dropped");
        assert!(recent.get("f", Timestamp(20)).is_some());
        assert!(recent.state().bytes <= RECENT_BYTES_MAX);
        recent.put("g", Some(Arc::new(vec![0; RECENT_BYTES_MAX])), Timestamp(20));
        assert_eq!(recent.get("g", Timestamp(20)), None);
    }

    #[tokio::test]
    async fn a_turn_is_awaited_for_a_limited_time() {
        let recent = FetchCache::default();
        let mut turns = Vec::new();
        for _ in 0..DRAWN_IMAGES_AT_ONCE {
            turns.push(recent.turn().await);
        }
        assert!(recent.turn_within(Duration::from_millis(5)).await.is_none());
        turns.pop();
        assert!(recent.turn_within(Duration::from_secs(60)).await.is_some());
    }
}
