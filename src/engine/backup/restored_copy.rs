//! An earlier state of the stores that is restored from the backup into a separate folder. It is kept while the running service copies data
//! from it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::restoring::{self, Progress};
use super::{Error, Result, SealedTarget};
use crate::base::clock::{Clock, Timestamp};
use crate::base::random::Random;
use crate::engine::store::{Options, Store};
use crate::vocab::environment::Environment;
use crate::vocab::tables::DatabaseKind;

/// The size of the page cache, in bytes, for each store file.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// The test and live stores of a restored state. Dropping the value removes their folder.
pub struct RestoredCopy {
    /// The time of the last restored commit.
    pub until: Timestamp,
    /// Whether the backup has every commit up to the chosen time.
    pub is_exact: bool,
    test: Arc<Store>,
    live: Arc<Store>,
    _folder: TemporaryFolder,
}

/// A folder that is removed when the value is dropped.
pub struct TemporaryFolder(pub PathBuf);

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // If the folder cannot be removed now, the next start or the next restore removes it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl RestoredCopy {
    /// Restores the state at the given time, or the newest state, into the empty folder `folder`. Opening the restored stores migrates
    /// their rows to this program's version.
    pub async fn restore(
        sealed: &SealedTarget,
        at: Option<Timestamp>,
        folder: &Path,
        progress: &Progress,
        (clock, random): (Arc<dyn Clock>, Arc<dyn Random>),
    ) -> Result<Self> {
        let folder = TemporaryFolder(folder.to_path_buf());
        let (plan, restored) = restoring::restore_with(sealed, at, &folder.0, progress).await?;
        let opening = tokio::task::spawn_blocking(move || {
            let [control, test, live] = restoring::files(&folder.0);
            // Members, keys and sessions are not copied, so their store is not kept on disk.
            fs::remove_file(&control).map_err(|error| {
                Error::Local(format!("{} cannot be removed: {error}; check the permissions of its folder", control.display()))
            })?;
            let options = || Options { database_kind: DatabaseKind::Environment, cache_bytes: CACHE_BYTES };
            let open = |file: &Path| Store::open(file, &options(), clock.clone(), random.clone()).map(Arc::new);
            let (test, live) = (open(&test)?, open(&live)?);
            Ok::<_, Error>((folder, test, live))
        });
        let opened = opening
            .await
            .map_err(|_| Error::Local("the restored files could not be opened; search the log for the cause".to_owned()))?;
        let (folder, test, live) = opened?;
        Ok(Self { until: restored.until, is_exact: plan.is_exact, test, live, _folder: folder })
    }

    pub fn store(&self, environment: Environment) -> &Arc<Store> {
        match environment {
            Environment::Test => &self.test,
            Environment::Live => &self.live,
        }
    }
}

/// The restored state that a running service copies from, if there is one, and the progress of the current restore.
#[derive(Default)]
pub struct CopySlot {
    copy: Mutex<Option<Arc<RestoredCopy>>>,
    progress: Mutex<Arc<Progress>>,
}

impl CopySlot {
    pub fn copy(&self) -> Option<Arc<RestoredCopy>> {
        lock(&self.copy).clone()
    }

    /// Replaces the restored copy. Returns the previous copy, whose folder is removed when its last user drops it.
    pub fn set(&self, copy: Option<RestoredCopy>) -> Option<Arc<RestoredCopy>> {
        std::mem::replace(&mut *lock(&self.copy), copy.map(Arc::new))
    }

    /// Resets the progress to zero for a new restore, and returns it.
    pub fn start(&self) -> Arc<Progress> {
        *lock(&self.progress) = Arc::default();
        self.progress()
    }

    pub fn progress(&self) -> Arc<Progress> {
        lock(&self.progress).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
