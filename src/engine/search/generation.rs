//! The generations of an index and their folder: which generation is in use, how the next one replaces it, and how a damaged one is
//! handled.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::reader::{Reader, Snapshot};
use super::schema::VERSION;
use super::writer::Writer;
use super::{Change, CommitMode, Options, SearchError};

/// The file that contains the name of the generation in use. The file is replaced by a rename, and never modified in place.
const CURRENT: &str = "CURRENT";

pub(super) struct IndexDir {
    dir: PathBuf,
    /// The ordinal of the next generation. An ordinal is never reused while the index is open, so an old generation can be removed by its
    /// name.
    next: AtomicU64,
}

impl IndexDir {
    /// Opens the folder `dir`; if it is missing, creates it with access for its owner only.
    pub(super) fn open(dir: &Path) -> Result<Self, SearchError> {
        create_folder(dir)?;
        let names = fs::read_dir(dir)?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let last = names.filter_map(|name| ordinal(&name)).max().unwrap_or(0);
        Ok(Self { dir: dir.to_owned(), next: AtomicU64::new(last.saturating_add(1)) })
    }

    /// Opens the generation in use; if there is none that this version can read, creates an empty one.
    pub(super) fn open_present(&self, options: &Options) -> Result<Generation, SearchError> {
        let current = match fs::read_to_string(self.dir.join(CURRENT)) {
            Ok(name) => Some(name),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                tracing::warn!(%error, "the current generation of the search index cannot be read; starting with an empty index");
                None
            }
        };
        if let Some(name) = &current {
            match self.open_generation(name, options) {
                Ok(generation) => {
                    self.remove_all_but(generation.name());
                    return Ok(generation);
                }
                Err(error) => {
                    tracing::warn!(%error, "the search index cannot be used; starting with an empty index and rebuilding it")
                }
            }
        }
        let generation = self.create_next(options)?;
        self.set_current(generation.name())?;
        self.remove_all_but(generation.name());
        Ok(generation)
    }

    /// Creates an empty generation alongside the one in use.
    pub(super) fn create_next(&self, options: &Options) -> Result<Generation, SearchError> {
        let name = format!("v{VERSION}-{}", self.next.fetch_add(1, Ordering::Relaxed));
        let path = self.dir.join(&name);
        create_folder(&path)?;
        Generation::open(name, &path, options)
    }

    /// Makes `name` the generation in use; the change is durable.
    pub(super) fn set_current(&self, name: &str) -> Result<(), SearchError> {
        let draft = self.dir.join("CURRENT.new");
        let mut file = fs::File::create(&draft)?;
        file.write_all(name.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, self.dir.join(CURRENT))?;
        fs::File::open(&self.dir)?.sync_all()?;
        Ok(())
    }

    pub(super) fn remove(&self, name: &str) {
        if let Err(error) = fs::remove_dir_all(self.dir.join(name)) {
            // The next start tries to remove the generation again.
            tracing::warn!(%error, name, "an old generation of the search index could not be removed");
        }
    }

    fn open_generation(&self, name: &str, options: &Options) -> Result<Generation, SearchError> {
        if ordinal(name).is_none() {
            return Err(SearchError::Damaged(format!(
                "the file {CURRENT} contains {name:?}, which is not the name of a version {VERSION} index"
            )));
        }
        let path = self.dir.join(name);
        if !path.join("meta.json").exists() {
            return Err(SearchError::Damaged(format!("the folder {name} contains no index")));
        }
        // Damage that checksums do not cover (a truncated footer, an impossible length) can make tantivy panic.
        catch_unwind(AssertUnwindSafe(|| Generation::open(name.to_owned(), &path, options)))
            .unwrap_or_else(|_| Err(SearchError::Damaged("the index files cannot be read".to_owned())))
    }

    fn remove_all_but(&self, present: &str) {
        let Ok(entries) = fs::read_dir(&self.dir) else { return };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| name.starts_with('v') && name != present).for_each(|name| self.remove(&name));
    }
}

/// Returns the ordinal in `name` if `name` belongs to a generation of this version.
fn ordinal(name: &str) -> Option<u64> {
    name.strip_prefix(&format!("v{VERSION}-"))?.parse().ok()
}

fn create_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

pub(super) struct Generation {
    name: String,
    /// The writer; `None` once the generation has been retired.
    writer: Mutex<Option<Writer>>,
    reader: Reader,
    /// Whether a durable commit may exist that searches cannot see yet, because the commit returned an error or its files could not be
    /// opened.
    is_behind: AtomicBool,
}

impl Generation {
    fn open(name: String, path: &Path, options: &Options) -> Result<Self, SearchError> {
        let (writer, reader) = Writer::open(path, options)?;
        Ok(Self { name, writer: Mutex::new(Some(writer)), reader, is_behind: AtomicBool::new(false) })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn position(&self) -> u64 {
        self.with_writer(|writer| Ok(writer.position())).unwrap_or(0)
    }

    pub(super) fn apply(&self, changes: Vec<Change>) -> Result<(), SearchError> {
        self.with_writer(|writer| writer.apply(changes))
    }

    /// Commits the applied changes and makes them visible to searches.
    pub(super) fn commit(&self, position: u64, pace: CommitMode) -> Result<(), SearchError> {
        let committed = self.with_writer(|writer| writer.commit(position, pace));
        // The flag is set even if the commit failed, because a failed commit may have become durable.
        self.is_behind.store(true, Ordering::SeqCst);
        committed?;
        self.show()
    }

    pub(super) fn settle(&self) -> Result<(), SearchError> {
        self.with_writer(Writer::settle)?;
        if self.is_behind.load(Ordering::SeqCst) { self.show() } else { self.reader.reload_if_merged() }
    }

    fn show(&self) -> Result<(), SearchError> {
        self.reader.reload()?;
        self.is_behind.store(false, Ordering::SeqCst);
        Ok(())
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        self.reader.snapshot()
    }

    /// Stops writing permanently. Running searches on this generation can finish, because its files stay open.
    pub(super) fn retire(&self) {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn with_writer<T>(&self, act: impl FnOnce(&mut Writer) -> Result<T, SearchError>) -> Result<T, SearchError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        act(writer.as_mut().ok_or(SearchError::Retired)?)
    }
}
