//! The directory through which one writer accesses the folder of an index.

use std::io;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr};

/// The number of attempts to take a lock that another writer holds, and the pause between them: ten seconds altogether.
const LOCK_ATTEMPTS: u32 = 2_000;
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// A directory in which, after it is closed, no file can be created, replaced or deleted. Files that were already open for writing can
/// still be written, but no commit refers to them.
///
/// A merge may still be running when a tantivy writer is dropped. If the merge then ends, it could replace the commit of the next writer,
/// and delete files that the next writer uses. So every writer gets its own directory, which is closed when the writer is dropped.
#[derive(Clone, Debug)]
pub(super) struct WriterDirectory {
    files: MmapDirectory,
    is_open: Arc<RwLock<bool>>,
}

impl WriterDirectory {
    pub(super) fn open(path: &Path) -> tantivy::Result<Self> {
        Ok(Self { files: MmapDirectory::open(path)?, is_open: Arc::new(RwLock::new(true)) })
    }

    /// Returns a guard that closes the directory when it is dropped.
    pub(super) fn close_on_drop(&self) -> CloseOnDrop {
        CloseOnDrop(self.is_open.clone())
    }

    /// Returns a guard that keeps the directory open while a file is created, replaced or deleted. Fails if the directory is closed.
    fn changing(&self) -> io::Result<RwLockReadGuard<'_, bool>> {
        let is_open = self.is_open.read().unwrap_or_else(PoisonError::into_inner);
        if *is_open { Ok(is_open) } else { Err(io::Error::other("the writer of this index was dropped")) }
    }
}

/// Closes a [`WriterDirectory`] when dropped. If a file is being created, replaced or deleted, the drop waits until that is done.
pub(super) struct CloseOnDrop(Arc<RwLock<bool>>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = false;
    }
}

impl Directory for WriterDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.files.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        let Ok(_changing) = self.changing() else {
            // Report the file as missing, because tantivy would log any other error. The next writer deletes the file.
            return Err(DeleteError::FileDoesNotExist(path.to_owned()));
        };
        self.files.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let _changing = self.changing().map_err(|error| OpenWriteError::wrap_io_error(error, path.to_owned()))?;
        self.files.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.files.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        let _changing = self.changing()?;
        self.files.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.files.sync_directory()
    }

    /// Waits for the lock if it is held. Each generation has one writer at a time, but the lock of a dropped writer can outlive it by
    /// milliseconds: a child process has copies of all open files between its fork and its exec.
    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        for _ in 1..LOCK_ATTEMPTS {
            match self.files.acquire_lock(lock) {
                Err(LockError::LockBusy) => std::thread::sleep(LOCK_PAUSE),
                result => return result,
            }
        }
        self.files.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.files.watch(callback)
    }
}
