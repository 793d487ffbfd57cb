//! Stores for the tests of this folder.

use std::path::Path;
use std::sync::Arc;

use super::port::Port;
use super::{Options, Result, Store};
use crate::base::clock::{ManualClock, Timestamp};
use crate::base::random::SeededRandom;
use crate::vocab::tables::Realm;

/// Memory for pages: small, so that tests also read from the file.
pub const CACHE_BYTES: usize = 1024 * 1024;

/// A store over `port`, at a time that stands still.
pub fn start(port: Arc<dyn Port>, realm: Realm) -> Result<Store> {
    start_at(port, realm, Arc::new(ManualClock::at(Timestamp(1_000))))
}

/// A store over `port` with a clock that the test keeps.
pub fn start_at(port: Arc<dyn Port>, realm: Realm, clock: Arc<ManualClock>) -> Result<Store> {
    Store::start(Path::new("test.redb"), realm, port, clock, Arc::new(SeededRandom::new(7)))
}

/// The store in the file at `path`.
pub fn open(path: &Path) -> Result<Store> {
    let options = Options { realm: Realm::World, cache_bytes: CACHE_BYTES };
    Store::open(path, &options, Arc::new(ManualClock::at(Timestamp(1_000))), Arc::new(SeededRandom::new(7)))
}

/// A store in a folder that goes when the first half is dropped.
pub fn scratch() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = open(&folder.path().join("world.redb")).expect("a new store");
    (folder, store)
}

/// A repeatable choice of numbers (splitmix64).
pub struct Dice(u64);

impl Dice {
    /// The choices that belong to `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (word ^ (word >> 31)) % bound
    }

    /// True `percent` times in a hundred.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// `length` bytes.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.below(256) as u8).collect()
    }
}
