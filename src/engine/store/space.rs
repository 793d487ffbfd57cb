//! The disk of the data folder: its free space, the threshold for read-only operation, and a reserve for a full disk.
//!
//! Below the configured threshold, the stores accept only essential writes (see [`Store::write_essential`](super::Store)). The reserve is a
//! preallocated file next to the stores. If a write finds the disk full anyway, the reserve is released in stages and the write is retried;
//! when the reserve is used up, the write waits for space until the service stops. The last stage is released only during a start, because
//! a service that waits for space before it listens cannot serve even reads. The database engine would have to be reopened after a
//! failed write, so its writes fail for lack of space only while the service stops.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::ops::Bound;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redb::BackendError;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use tokio::time::Instant;

use crate::base::machine;
use crate::vocab::limits;

/// The name of the reserve file in the data folder.
pub const RESERVE: &str = "reserve";
/// How long a measurement of the free space is reused. Each measurement is one system call that takes a microsecond.
const READING_KEPT_MS: u64 = 100;
/// The first pause before a write that waits for space is retried; the pauses grow to `WAIT_MAX`.
const WAIT_MIN: Duration = Duration::from_millis(50);
const WAIT_MAX: Duration = Duration::from_secs(1);
/// The interval at which a write that waits for space is logged.
const WAIT_LOGGED_EVERY: Duration = Duration::from_secs(60);

pub struct Space {
    folder: Option<PathBuf>,
    free_min: u64,
    reserve_max: u64,
    reserve: Mutex<()>,
    opened: Instant,
    /// The free space at the last measurement, in bytes. `read_at_ms` is the time of that measurement in milliseconds since `opened`.
    free: AtomicU64,
    read_at_ms: AtomicU64,
    is_low: AtomicBool,
    /// The number of writes waiting for space.
    waiting: AtomicUsize,
    has_started: AtomicBool,
    is_stopping: AtomicBool,
    /// Whether the last attempt to create the reserve failed.
    lacks_reserve: AtomicBool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskStatus {
    /// The number of free bytes, if the system reports it.
    pub free: Option<u64>,
    /// If fewer bytes than this are free, only essential writes are accepted.
    pub free_min: u64,
    /// The number of bytes in the reserve; `reserve_max` is its full size.
    pub reserve: u64,
    pub reserve_max: u64,
    /// Whether only essential writes are accepted.
    pub is_low: bool,
}

/// Waits until the disk of `folder` has `bytes` free, because a new installation needs this space. The process does not exit instead,
/// because it would only be restarted.
pub fn wait_for(folder: &Path, bytes: u64) {
    let mut logged_at = None::<Instant>;
    while let Some(free) = machine::free_bytes(folder).ok().filter(|free| *free < bytes) {
        if logged_at.is_none_or(|at| at.elapsed() > WAIT_LOGGED_EVERY) {
            logged_at = Some(Instant::now());
            let (free_mib, needed_mib) = (free >> 20, bytes >> 20);
            tracing::error!(free_mib, needed_mib, "the disk is almost full: a new installation waits until space is freed");
        }
        std::thread::sleep(WAIT_MAX);
    }
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Space").field("folder", &self.folder).field("free_min", &self.free_min).finish_non_exhaustive()
    }
}

impl Space {
    /// Returns a disk with neither a threshold nor a reserve: space is never low, and a write that finds the disk full fails.
    pub fn unlimited() -> Arc<Self> {
        Arc::new(Self::new(None, 0, 0))
    }

    /// Monitors the disk of `folder`. Creates the reserve if that leaves enough space above the threshold.
    pub fn open(folder: &Path, free_min: u64, reserve_max: u64) -> Arc<Self> {
        let space = Self::new(Some(folder.to_path_buf()), free_min, reserve_max);
        space.is_low.store(space.read_free().is_some_and(|free| free < free_min), Ordering::SeqCst);
        space.read_at_ms.store(0, Ordering::SeqCst);
        space.fill_reserve();
        Arc::new(space)
    }

    fn new(folder: Option<PathBuf>, free_min: u64, reserve_max: u64) -> Self {
        Self {
            folder,
            free_min,
            reserve_max,
            reserve: Mutex::new(()),
            opened: Instant::now(),
            free: AtomicU64::new(u64::MAX),
            read_at_ms: AtomicU64::new(0),
            is_low: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            has_started: AtomicBool::new(false),
            is_stopping: AtomicBool::new(false),
            lacks_reserve: AtomicBool::new(false),
        }
    }

    /// Returns whether there is so little space that only essential writes are accepted. Always true while a write waits for space.
    /// The state ends when the free space exceeds the threshold by an eighth, so that it does not start and end repeatedly.
    pub fn is_low(&self) -> bool {
        if self.folder.is_none() {
            return false;
        }
        if self.waiting.load(Ordering::SeqCst) > 0 {
            return true;
        }
        let now = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
        let read_at = self.read_at_ms.load(Ordering::SeqCst);
        if read_at == 0 || now.saturating_sub(read_at) > READING_KEPT_MS {
            self.read_at_ms.store(now, Ordering::SeqCst);
            self.judge();
        }
        self.is_low.load(Ordering::SeqCst)
    }

    fn judge(&self) {
        // If the system does not report the free space, the state does not change. A write that finds no space waits anyway.
        let Some(free) = self.read_free() else { return };
        let was_low = self.is_low.load(Ordering::SeqCst);
        let is_low = free < if was_low { self.enough() } else { self.free_min };
        if is_low != was_low && self.is_low.swap(is_low, Ordering::SeqCst) != is_low {
            let (free_mib, free_mib_min) = (free >> 20, self.free_min >> 20);
            match is_low {
                true => tracing::error!(
                    free_mib,
                    free_mib_min,
                    "the disk is almost full: the service is read-only until space is freed (unsubscribe links and redirects work)"
                ),
                false => {
                    tracing::warn!(free_mib, free_mib_min, "enough disk space is free again: the service is no longer read-only");
                }
            }
        }
    }

    fn enough(&self) -> u64 {
        self.free_min + self.free_min / 8
    }

    fn read_free(&self) -> Option<u64> {
        let free = machine::free_bytes(self.folder.as_deref()?).ok()?;
        self.free.store(free, Ordering::SeqCst);
        Some(free)
    }

    pub fn status(&self) -> DiskStatus {
        let is_low = self.is_low();
        let free = self.read_free();
        let reserve = self.reserve_path().and_then(|path| std::fs::metadata(path).ok()).map_or(0, |found| found.len());
        DiskStatus { free, free_min: self.free_min, reserve, reserve_max: self.reserve_max, is_low }
    }

    /// Detects the end of a shortage even without writes, and refills the reserve. Call this periodically.
    pub fn tend(&self) {
        if !self.is_low() {
            self.fill_reserve();
        }
    }

    /// Records that the service now serves requests. From now on, the last stage of the reserve is kept for the next start.
    pub fn started(&self) {
        self.has_started.store(true, Ordering::SeqCst);
    }

    /// Makes the waiting writes fail, because the service is stopping. Afterward, a write that finds the disk full fails when the reserve
    /// is used up.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
    }

    /// Runs `write`. If it finds the disk full, retries it after releasing a part of the reserve, or when space is free again. Waits for as
    /// long as necessary, or until the service stops.
    pub fn write<T>(&self, mut write: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        let found_full = match write() {
            Err(error) if is_full(&error) && self.folder.is_some() => error,
            done => return done,
        };
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let done = self.write_waiting(write, found_full);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        done
    }

    fn write_waiting<T>(&self, mut write: impl FnMut() -> io::Result<T>, mut found_full: io::Error) -> io::Result<T> {
        self.is_low.store(true, Ordering::SeqCst);
        let (mut pause, mut logged_at) = (WAIT_MIN, None::<Instant>);
        loop {
            if !self.free_some_reserve() {
                if self.is_stopping.load(Ordering::SeqCst) {
                    return Err(found_full);
                }
                if logged_at.is_none_or(|at| at.elapsed() > WAIT_LOGGED_EVERY) {
                    logged_at = Some(Instant::now());
                    tracing::error!(error = %found_full, "the disk is full, and no more of the reserve can be released: a write waits until space is freed");
                }
                std::thread::sleep(pause);
                pause = (pause * 2).min(WAIT_MAX);
            }
            match write() {
                Err(error) if is_full(&error) => found_full = error,
                done => return done,
            }
        }
    }

    fn hold_reserve(&self) -> MutexGuard<'_, ()> {
        self.reserve.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reserve_path(&self) -> Option<PathBuf> {
        Some(self.folder.as_deref()?.join(RESERVE))
    }

    /// Releases one stage of the reserve; returns false if no stage is left.
    fn free_some_reserve(&self) -> bool {
        let _alone = self.hold_reserve();
        let Some(path) = self.reserve_path() else { return false };
        let Ok(file) = OpenOptions::new().write(true).open(path) else { return false };
        let Ok(length) = file.metadata().map(|found| found.len()) else { return false };
        let stage = (self.reserve_max / limits::DISK_RESERVE_STAGES).max(1);
        let kept = if self.has_started.load(Ordering::SeqCst) { stage } else { 0 };
        if length <= kept {
            return false;
        }
        let left = length.saturating_sub(stage).max(kept);
        let freed = file.set_len(left).is_ok();
        if freed {
            tracing::error!(left_mib = left >> 20, "the disk is full: a part of the reserve was released for essential writes");
        }
        freed
    }

    /// Restores the full size of the reserve if that leaves enough space.
    fn fill_reserve(&self) {
        let Some(path) = self.reserve_path().filter(|_| self.reserve_max > 0) else { return };
        let _alone = self.hold_reserve();
        let length = std::fs::metadata(&path).map_or(0, |found| found.len());
        let Some(missing) = self.reserve_max.checked_sub(length).filter(|missing| *missing > 0) else { return };
        if self.read_free().is_none_or(|free| free < missing.saturating_add(self.enough())) {
            return;
        }
        let reserve = |file: &File| fallocate(file, FallocateFlags::empty(), 0, self.reserve_max);
        let allocated = allocate(&path, self.reserve_max, reserve);
        let was_lacking = self.lacks_reserve.swap(allocated.is_err(), Ordering::SeqCst);
        if let Err(error) = allocated {
            if !was_lacking {
                tracing::warn!(%error, "the disk reserve cannot be created: on a full disk, essential writes will wait until space is freed");
            }
            // Restore the previous length: with the new length, a partial reserve would look like a full one.
            let _ = OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(length));
        }
    }
}

/// Creates a file whose bytes really occupy disk space; `reserve` requests the space from the file system.
fn allocate(path: &Path, bytes: u64, reserve: impl FnOnce(&File) -> Result<(), Errno>) -> io::Result<()> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    match reserve(&file) {
        Ok(()) => {}
        // Some file systems, such as network file systems, cannot reserve space, but writing the bytes also occupies the space.
        Err(Errno::OPNOTSUPP) => drop(io::copy(&mut io::repeat(0).take(bytes), &mut &file)?),
        Err(error) => return Err(error.into()),
    }
    file.sync_all()
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// The file of a database engine. Writes to the file wait for space instead of failing.
#[derive(Debug)]
pub struct RoomyFile {
    file: redb::backends::FileBackend,
    space: Arc<Space>,
}

impl RoomyFile {
    /// Opens an existing, non-empty file. An empty file is an error, because the engine would create a new store in it.
    pub fn open(path: &Path, space: Arc<Space>) -> Result<Self, redb::DatabaseError> {
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(redb::StorageError::from)?;
        if file.metadata().map_err(redb::StorageError::from)?.len() == 0 {
            let error = io::Error::new(io::ErrorKind::UnexpectedEof, "the file is empty");
            return Err(redb::StorageError::from(error).into());
        }
        Ok(Self { file: redb::backends::FileBackend::new(file)?, space })
    }
}

impl redb::StorageBackend for RoomyFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.space.write(|| self.file.set_len(len))
    }

    /// Syncs the file. A sync is never retried: after a failure, it is unknown which pages the system has dropped.
    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Writes data. If the disk becomes full during the write, the whole write is retried, which rewrites the bytes already written.
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.space.write(|| self.file.write(offset, data))
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn full() -> io::Error {
        io::ErrorKind::StorageFull.into()
    }

    #[test]
    fn a_write_on_a_full_disk_is_retried_while_the_reserve_is_released_in_stages() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let space = Space::open(folder.path(), MIB, 8 * MIB);
        assert_eq!((space.status().reserve, space.is_low()), (8 * MIB, false));
        let mut tries = 0;
        let written = space.write(|| {
            tries += 1;
            if tries <= 3 { Err(full()) } else { Ok(tries) }
        });
        assert_eq!(written.expect("space becomes free in the end"), 4);
        let left = space.status().reserve;
        assert_eq!(left, 8 * MIB - 3 * (8 * MIB / limits::DISK_RESERVE_STAGES));
        space.tend();
        // Space counts as low until the next measurement, which finds enough space.
        std::thread::sleep(Duration::from_millis(2 * READING_KEPT_MS));
        space.tend();
        assert_eq!((space.status().reserve, space.is_low()), (8 * MIB, false));
    }

    // Regression test: without any reserve left, a restart on a full disk waited for space before it listened.
    #[test]
    fn the_last_stage_of_the_reserve_is_kept_for_the_next_start() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let space = Space::open(folder.path(), MIB, 8 * MIB);
        space.started();
        while space.free_some_reserve() {}
        let stage = 8 * MIB / limits::DISK_RESERVE_STAGES;
        assert_eq!(space.status().reserve, stage);
        space.has_started.store(false, Ordering::SeqCst);
        assert!(space.free_some_reserve() && !space.free_some_reserve());
        assert_eq!(space.status().reserve, 0);
    }

    #[test]
    fn without_a_reserve_a_write_waits_for_space_and_the_disk_counts_as_low_until_then() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let space = Space::open(folder.path(), MIB, 0);
        let has_room = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| space.write(|| if has_room.load(Ordering::SeqCst) { Ok(()) } else { Err(full()) }));
            while !space.is_low() {
                std::thread::yield_now();
            }
            std::thread::sleep(Duration::from_millis(3 * READING_KEPT_MS));
            assert!(space.is_low() && !writing.is_finished());
            has_room.store(true, Ordering::SeqCst);
            writing.join().expect("no holder of this lock panics").expect("the write succeeds");
        });
        std::thread::sleep(Duration::from_millis(2 * READING_KEPT_MS));
        assert!(!space.is_low());
    }

    #[test]
    fn a_waiting_write_fails_when_the_service_stops_and_other_errors_fail_at_once() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let space = Space::open(folder.path(), MIB, 0);
        let broken = space.write(|| Err::<(), _>(io::Error::from_raw_os_error(libc::EIO))).expect_err("the error is passed on");
        assert_eq!(broken.raw_os_error(), Some(libc::EIO));
        space.stop();
        assert!(is_full(&space.write(|| Err::<(), _>(full())).expect_err("the error is passed on")));
    }

    #[test]
    fn below_the_threshold_it_is_low() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let free = machine::free_bytes(folder.path()).expect("the free space is known");
        let space = Space::open(folder.path(), free * 2, MIB);
        assert!(space.is_low());
        assert_eq!(space.status().reserve, 0, "no space is reserved if there is too little");
        assert!(!Space::unlimited().is_low());
    }

    #[test]
    fn on_a_file_system_that_cannot_reserve_space_the_reserve_is_written_in_full() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let path = folder.path().join(RESERVE);
        // Only a part of the reserve exists, because the rest was released before.
        std::fs::write(&path, vec![0; MIB as usize]).expect("the write succeeds");
        allocate(&path, 3 * MIB, |_| Err(Errno::OPNOTSUPP)).expect("the write succeeds");
        let found = std::fs::metadata(&path).expect("the file exists");
        assert!(found.len() == 3 * MIB && found.blocks() * 512 >= 3 * MIB, "{} bytes, {} blocks", found.len(), found.blocks());
        let refused = allocate(&path, 4 * MIB, |_| Err(Errno::NOSPC)).expect_err("the error is passed on");
        assert!(is_full(&refused) && std::fs::metadata(&path).expect("the file exists").len() == 3 * MIB, "{refused}");
    }

    #[test]
    fn an_empty_file_is_not_turned_into_a_store() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let path = folder.path().join("live.redb");
        std::fs::write(&path, b"").expect("the write succeeds");
        assert!(RoomyFile::open(&path, Space::unlimited()).is_err());
    }
}
