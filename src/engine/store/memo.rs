//! A cache for sets that are computed from a commit, so that repeated requests can reuse them.
//!
//! A key must cover everything that the set depends on, including the revision of the rows from which it was computed. Entries therefore
//! never become stale; unused entries are dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use roaring::RoaringBitmap;

/// The key of a cached set: a digest of everything that the set depends on.
pub type MemoKey = [u8; 32];

/// The number of most recently used set lengths that are always kept. Up to twice as many may be in memory, which takes less than a
/// mebibyte.
const LENGTHS_KEPT: usize = 4_096;
/// The number of bytes of the most recently used sets that are always kept. Up to twice as many bytes may be in memory.
const SET_BYTES_KEPT: usize = 4 * 1024 * 1024;

/// A cache of sets and their lengths. Lengths are kept longer, because they need almost no memory.
#[derive(Default)]
pub struct Memo {
    lengths: Mutex<Generations<u64>>,
    sets: Mutex<Generations<Arc<RoaringBitmap>>>,
    turn: Mutex<()>,
}

impl Memo {
    pub fn length(&self, key: &MemoKey) -> Option<u64> {
        lock(&self.lengths).get(key, LENGTHS_KEPT)
    }

    /// Returns the cached set, or the result of `compute`. Only one set is computed at a time, so that many concurrent requests for the
    /// same set cost as much as one request.
    pub fn set<E>(&self, key: &MemoKey, compute: impl FnOnce() -> Result<RoaringBitmap, E>) -> Result<Arc<RoaringBitmap>, E> {
        let known = || lock(&self.sets).get(key, SET_BYTES_KEPT);
        if let Some(set) = known() {
            return Ok(set);
        }
        let _turn = lock(&self.turn);
        if let Some(set) = known() {
            return Ok(set);
        }
        let set = Arc::new(compute()?);
        lock(&self.lengths).put(*key, set.len(), 1, LENGTHS_KEPT);
        let bytes = set.serialized_size();
        if bytes <= SET_BYTES_KEPT {
            lock(&self.sets).put(*key, set.clone(), bytes, SET_BYTES_KEPT);
        }
        Ok(set)
    }
}

/// Locks the mutex even if a thread panicked while holding it, because the map is still valid.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Keeps recently used values in two generations: a value moves to the young one when it is used. When the young generation would become
/// too large, it becomes the old one, and the previous old one is dropped.
struct Generations<V> {
    young: HashMap<MemoKey, (V, usize)>,
    old: HashMap<MemoKey, (V, usize)>,
    young_weight: usize,
}

impl<V> Default for Generations<V> {
    fn default() -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), young_weight: 0 }
    }
}

impl<V: Clone> Generations<V> {
    fn get(&mut self, key: &MemoKey, weight_max: usize) -> Option<V> {
        if let Some((value, _)) = self.young.get(key) {
            return Some(value.clone());
        }
        let (value, weight) = self.old.remove(key)?;
        self.put(*key, value.clone(), weight, weight_max);
        Some(value)
    }

    fn put(&mut self, key: MemoKey, value: V, weight: usize, weight_max: usize) {
        if self.young_weight + weight > weight_max {
            self.old = std::mem::take(&mut self.young);
            self.young_weight = 0;
        }
        if self.young.insert(key, (value, weight)).is_none() {
            self.young_weight += weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> MemoKey {
        let mut key = [0; 32];
        key[..4].copy_from_slice(&number.to_be_bytes());
        key
    }

    fn set(memo: &Memo, number: u32, computed: &mut u32) -> Arc<RoaringBitmap> {
        let made: Result<_, ()> = memo.set(&key(number), || {
            *computed += 1;
            Ok([number].into_iter().collect())
        });
        made.expect("the closure returns no error")
    }

    #[test]
    fn a_set_is_computed_once_and_its_length_is_cached() {
        let (memo, mut computed) = (Memo::default(), 0);
        assert_eq!(memo.length(&key(7)), None);
        let first = set(&memo, 7, &mut computed);
        assert_eq!(set(&memo, 7, &mut computed), first);
        assert_eq!((computed, memo.length(&key(7))), (1, Some(1)));
    }

    #[test]
    fn a_failure_is_not_cached() {
        let memo = Memo::default();
        assert_eq!(memo.set(&key(7), || Err("no")), Err("no"));
        assert_eq!(memo.length(&key(7)), None);
        assert_eq!(memo.set(&key(7), || Ok::<_, ()>(RoaringBitmap::new())), Ok(Arc::default()));
    }

    #[test]
    fn used_entries_stay_and_unused_ones_are_dropped() {
        let mut kept = Generations::default();
        for number in 0..10_u32 {
            kept.put(key(number), number, 1, 3);
            assert_eq!(
                kept.get(&key(0), 3),
                Some(0),
                "entry 0, requested after every insertion, is kept after insertion {number}"
            );
            assert!(kept.young.len() + kept.old.len() <= 6);
        }
        assert_eq!(kept.get(&key(2), 3), None);
    }

    #[test]
    fn for_a_set_too_large_to_cache_only_the_length_is_kept() {
        let memo = Memo::default();
        // The set contains every eighth number, so each block of 65,536 numbers takes up 8 KiB.
        let large: RoaringBitmap = (0..40_000_000).step_by(8).collect();
        assert!(large.serialized_size() > SET_BYTES_KEPT);
        assert_eq!(memo.set(&key(1), || Ok::<_, ()>(large.clone())).map(|set| set.len()), Ok(5_000_000));
        assert_eq!((memo.length(&key(1)), lock(&memo.sets).young.len()), (Some(5_000_000), 0));
    }
}
