//! Creates stores for tests: in memory, in a temporary folder, and on a disk that can fail.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::conformance::MemoryPort;
use super::port::{Overlay, Port, Snapshot};
use super::{Error, Options, Result, Store};
use crate::base::clock::{ManualClock, Timestamp};
use crate::base::random::SeededRandom;
use crate::vocab::tables::DatabaseKind;

pub use super::conformance::CACHE_BYTES;

/// Opens a store on `port` with a stopped clock.
pub fn start(port: Arc<dyn Port>, database_kind: DatabaseKind) -> Result<Store> {
    start_at(port, database_kind, Arc::new(ManualClock::at(Timestamp(1_000))))
}

/// Opens a store on `port` with a clock that the test controls.
pub fn start_at(port: Arc<dyn Port>, database_kind: DatabaseKind, clock: Arc<ManualClock>) -> Result<Store> {
    Store::start(Path::new("test.redb"), database_kind, port, (clock, Arc::new(SeededRandom::new(7))), None, |_| Ok(()))
}

/// Opens an empty store in memory, for tests of stored data.
pub fn in_memory(database_kind: DatabaseKind, clock: Arc<ManualClock>) -> Store {
    start_at(Arc::new(MemoryPort::new()), database_kind, clock).expect("memory cannot be damaged")
}

pub fn open(path: &Path) -> Result<Store> {
    let options = Options { database_kind: DatabaseKind::Environment, cache_bytes: CACHE_BYTES };
    Store::open(path, &options, Arc::new(ManualClock::at(Timestamp(1_000))), Arc::new(SeededRandom::new(7)))
}

/// Creates a store in a temporary folder, which is deleted when the returned folder is dropped.
pub fn scratch() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let store = open(&folder.path().join("world.redb")).expect("a new store can be created");
    (folder, store)
}

/// A disk in memory. It outlives the simulated processes that use it, and it can fail: from a chosen commit on, it accepts no commits, and
/// a test decides whether the first of these commits is kept anyway.
#[derive(Clone)]
pub struct Disk {
    kept: Arc<MemoryPort>,
    commits_left: Arc<AtomicU64>,
    keeps_the_last: Arc<Mutex<bool>>,
    /// The number of processes that have opened the disk.
    opened: Arc<AtomicU64>,
}

impl Default for Disk {
    fn default() -> Self {
        Self {
            kept: Arc::new(MemoryPort::new()),
            commits_left: Arc::new(AtomicU64::new(u64::MAX)),
            keeps_the_last: Arc::default(),
            opened: Arc::default(),
        }
    }
}

impl Disk {
    /// Makes the disk fail after this many more commits. If `keeps_the_last` is true, the first commit that fails is kept anyway.
    pub fn fail_after(&self, commits: u64, keeps_the_last: bool) {
        *self.keeps_the_last.lock().expect("no holder of this lock panics") = keeps_the_last;
        self.commits_left.store(commits, Ordering::SeqCst);
    }

    /// Opens the disk for a new process, in which the disk works again.
    pub fn open(&self, clock: Arc<ManualClock>) -> Store {
        self.commits_left.store(u64::MAX, Ordering::SeqCst);
        // Each process uses different random numbers, because two processes must not create the same IDs.
        let random = Arc::new(SeededRandom::new(7 + self.opened.fetch_add(1, Ordering::SeqCst)));
        Store::start(Path::new("test.redb"), DatabaseKind::Environment, Arc::new(self.clone()), (clock, random), None, |_| Ok(()))
            .expect("memory can be opened")
    }
}

impl Port for Disk {
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        self.kept.snapshot()
    }

    fn commit(&self, batch: &Overlay) -> Result<()> {
        let left = self.commits_left.load(Ordering::SeqCst);
        if left > 0 {
            self.commits_left.store(left - 1, Ordering::SeqCst);
            return self.kept.commit(batch);
        }
        let mut keeps = self.keeps_the_last.lock().expect("no holder of this lock panics");
        if std::mem::take(&mut *keeps) {
            self.kept.commit(batch)?;
        }
        Err(Error::Io("the disk failed".to_owned()))
    }

    fn settle(&self) -> Result<()> {
        Ok(())
    }
}

/// A seeded random number generator (splitmix64), so that tests are repeatable.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (word ^ (word >> 31)) % bound
    }

    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.below(256) as u8).collect()
    }
}
