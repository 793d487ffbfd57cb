//! The embedded engine: one redb file.
//!
//! A commit of fewer than [`LARGE_BATCH_ROWS`] rows uses redb's one-phase commit, with one sync of the disk. In a one-phase commit, the
//! pages of the commit and the header that refers to them reach the disk together, in any order. After a power cut, the newest commit is
//! therefore used only if the checksums of all its pages match; otherwise the previous commit is used. Those checksums (128-bit XXH3)
//! detect torn and lost writes, but do not protect against an attacker who chooses the bytes *and* decides when the power fails. That risk
//! is accepted, because such an attacker already controls the machine. `power_cut.rs` tests that commits survive a power cut.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::ErrorKind;
use std::ops::{Bound, ControlFlow, Deref};
use std::os::unix::fs::OpenOptionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use redb::{
    AccessGuard, Database, Durability, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTableMetadata, TableDefinition,
    TableHandle,
};

use super::cow_file::CowFile;
use super::damage::{Damage, explained, guarded, impossible, io_failed};
use super::port::{Bytes, Order, Overlay, Port, Snapshot, Span, Visitor};
use super::space::{RoomyFile, Space};
use super::{Error, Result};
use crate::vocab::tables::{DatabaseKind, TABLES, TableId};

/// A commit with at least this many rows also stores the map of free pages, because the additional sync takes little time compared with
/// writing so many rows.
const LARGE_BATCH_ROWS: usize = 4_096;

type Definition = TableDefinition<'static, &'static [u8], &'static [u8]>;
type OpenTable = ReadOnlyTable<&'static [u8], &'static [u8]>;

/// A value inside a page of the file.
struct Guard(AccessGuard<'static, &'static [u8]>);

impl Deref for Guard {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.value()
    }
}

fn definition(table: TableId) -> Definition {
    TableDefinition::new(table.info().name)
}

/// Creates a file with an empty database at `path`. The file has a temporary name at first, because redb refuses to open a file if the
/// power failed while redb created it.
fn make(path: &Path) -> std::io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".new");
    let aside = PathBuf::from(aside);
    // A leftover temporary file is removed, not overwritten, because other users might be able to read it.
    std::fs::remove_file(&aside).or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })?;
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&aside)?;
    drop(Database::builder().create_file(file).map_err(std::io::Error::other)?);
    // Unlike a rename, a hard link never replaces a file, which another process may have created in the meantime.
    let linked = std::fs::hard_link(&aside, path);
    std::fs::remove_file(&aside)?;
    if let Err(error) = linked
        && error.kind() != ErrorKind::AlreadyExists
    {
        return Err(error);
    }
    // A new file is durable only if its folder entry is durable, so the folder must be synced separately.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// One redb file with the tables of one kind of store.
pub struct RedbPort {
    /// The database; `None` only while the port is being dropped.
    database: Option<Database>,
    damage: Arc<Damage>,
}

impl RedbPort {
    /// Opens or creates the file, with every table of `database_kind`. Only the owner can read a file created here. A write that finds a
    /// monitored disk full waits for space.
    pub fn open(space: Arc<Space>, path: &Path, database_kind: DatabaseKind, cache_bytes: usize) -> Result<Self> {
        if !path.exists() {
            make(path).map_err(|error| io_failed(path, &error))?;
        }
        Self::open_existing(space, path, cache_bytes)?.with_tables(database_kind)
    }

    /// Opens an existing file. Missing tables are not created, so that a file can be inspected before it is used.
    pub fn open_existing(space: Arc<Space>, path: &Path, cache_bytes: usize) -> Result<Self> {
        let open = || {
            let opened = RoomyFile::open(path, space)
                .and_then(|file| Database::builder().set_cache_size(cache_bytes).create_with_backend(file));
            opened.map_err(|error| explained(path, error))
        };
        guarded(path, open).map(|database| Self::new(database, path))
    }

    /// Opens an existing file after comparing the checksum of every page. The file never changes, whatever is done with the returned port.
    pub fn open_verified(path: &Path, cache_bytes: usize) -> Result<Self> {
        let aside = CowFile::open(path).map_err(|error| explained(path, redb::Error::Io(error)))?;
        let open = || {
            let opened = Database::builder().set_cache_size(cache_bytes).create_with_backend(aside);
            let mut port = Self::new(opened.map_err(|error| explained(path, error))?, path);
            let found = "its pages do not match their checksums".to_owned();
            match port.database.as_mut().expect("the database was just opened").check_integrity() {
                Ok(true) => Ok(port),
                Ok(false) => Err(Error::Damaged { file: path.to_path_buf(), found }),
                Err(error) => Err(explained(path, error)),
            }
        };
        guarded(path, open)
    }

    fn new(database: Database, file: &Path) -> Self {
        Self { database: Some(database), damage: Arc::new(Damage::of(file)) }
    }

    /// Opens a database on any storage, such as the storage of the power-cut tests, which loses writes.
    #[cfg(test)]
    pub fn on_backend(backend: impl redb::StorageBackend, database_kind: DatabaseKind) -> Result<Self> {
        let file = Path::new("memory");
        let database = Database::builder().create_with_backend(backend).map_err(|error| explained(file, error))?;
        Self::new(database, file).with_tables(database_kind)
    }

    /// Creates the tables of `database_kind` that the file lacks.
    pub fn with_tables(self, database_kind: DatabaseKind) -> Result<Self> {
        let here = self.table_names()?;
        let missing: Vec<_> = TABLES
            .iter()
            .filter(|info| info.database_kind.is_in(database_kind) && !here.iter().any(|name| name == info.name))
            .collect();
        if !missing.is_empty() {
            self.guarded(|database, file| {
                let writing = database.begin_write().map_err(|error| explained(file, error))?;
                for info in missing {
                    writing.open_table(definition(info.id)).map_err(|error| explained(file, error))?;
                }
                writing.commit().map_err(|error| explained(file, error))
            })?;
        }
        Ok(self)
    }

    pub fn table_names(&self) -> Result<Vec<String>> {
        self.guarded(|database, file| {
            let reading = database.begin_read().map_err(|error| explained(file, error))?;
            let tables = reading.list_tables().map_err(|error| explained(file, error))?;
            Ok(tables.map(|table| table.name().to_owned()).collect())
        })
    }

    /// Applies the changes in `batch`. If they are not `durable`, a crash may lose them until a later durable commit or [`Port::settle`].
    pub fn apply(&self, batch: &Overlay, durable: bool) -> Result<()> {
        self.guarded(|database, file| {
            let mut writing = database.begin_write().map_err(|error| explained(file, error))?;
            if durable {
                // A large commit also stores the map of free pages, as `settle` does, so that repair after a crash
                // during a bulk write is quick. Compared with a bulk write, the second sync costs little.
                writing.set_quick_repair(batch.len() >= LARGE_BATCH_ROWS);
            } else {
                writing.set_durability(Durability::None).map_err(|error| explained(file, error))?;
            }
            for (id, changes) in batch.tables() {
                let mut table = writing.open_table(definition(id)).map_err(|error| explained(file, error))?;
                for (key, value) in changes {
                    match value {
                        Some(value) => {
                            drop(table.insert(key.as_ref(), value.as_ref()).map_err(|error| explained(file, error))?);
                        }
                        None => drop(table.remove(key.as_ref()).map_err(|error| explained(file, error))?),
                    }
                }
            }
            writing.commit().map_err(|error| explained(file, error))
        })
    }

    fn guarded<T>(&self, work: impl FnOnce(&Database, &Path) -> Result<T>) -> Result<T> {
        let database = self.database.as_ref().expect("the database exists until the port is dropped");
        let file = self.damage.file();
        self.damage.noted(guarded(file, || work(database, file)))
    }
}

impl Drop for RedbPort {
    fn drop(&mut self) {
        let database = self.database.take();
        // Ignore a failure: closing a damaged file may fail too, but all acknowledged data is already durable.
        let _ = guarded(self.damage.file(), || {
            drop(database);
            Ok(())
        });
    }
}

impl Port for RedbPort {
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        self.guarded(|database, file| {
            let reading = database.begin_read().map_err(|error| explained(file, error))?;
            let tables = [const { OnceLock::new() }; TABLES.len()];
            Ok(Arc::new(RedbSnapshot { reading, tables, damage: self.damage.clone() }) as _)
        })
    }

    fn commit(&self, batch: &Overlay) -> Result<()> {
        self.apply(batch, true)
    }

    /// Stores the map of free pages in the file. Without the map, opening the file after a crash reads the whole file to rebuild the map.
    /// Storing the map in every commit would cost a second sync each time.
    fn settle(&self) -> Result<()> {
        self.guarded(|database, file| {
            let mut writing = database.begin_write().map_err(|error| explained(file, error))?;
            writing.set_quick_repair(true);
            writing.commit().map_err(|error| explained(file, error))
        })
    }
}

/// A read transaction that opens its tables on first use. All readers share it until the next commit.
struct RedbSnapshot {
    reading: ReadTransaction,
    tables: [OnceLock<OpenTable>; TABLES.len()],
    damage: Arc<Damage>,
}

impl RedbSnapshot {
    fn table(&self, id: TableId) -> Result<&OpenTable> {
        let slot = &self.tables[id.0 as usize];
        if let Some(table) = slot.get() {
            return Ok(table);
        }
        let opened = self.guarded(|file| self.reading.open_table(definition(id)).map_err(|error| explained(file, error)))?;
        Ok(slot.get_or_init(|| opened))
    }

    fn guarded<T>(&self, work: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        let file = self.damage.file();
        self.damage.noted(guarded(file, || work(file)))
    }
}

impl Snapshot for RedbSnapshot {
    fn get(&self, table: TableId, key: &[u8]) -> Result<Option<Bytes<'_>>> {
        let table = self.table(table)?;
        self.guarded(|file| {
            let found = table.get(key).map_err(|error| explained(file, error))?;
            // Read the value once here, where a panic on a damaged page becomes an error. If this succeeds, later reads of
            // the value succeed too.
            Ok(found.inspect(|guard| _ = black_box(guard.value())).map(|guard| Bytes::Page(Box::new(Guard(guard)))))
        })
    }

    fn visit(&self, table: TableId, span: &Span, order: Order, visitor: &mut Visitor<'_>) -> Result<()> {
        let to = span.to.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        if span.to.as_deref().is_some_and(|to| to <= span.from.as_slice()) {
            return Ok(());
        }
        let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Included(span.from.as_slice()), to);
        let (table, file) = (self.table(table)?, self.damage.file());
        // A panic in the visitor must propagate. Only a panic in the storage engine becomes an error.
        let is_visiting = Cell::new(false);
        let walk = || {
            let mut rows = table.range::<&[u8]>(bounds).map_err(|error| explained(file, error))?;
            loop {
                let row = match order {
                    Order::Forward => rows.next(),
                    Order::Backward => rows.next_back(),
                };
                let Some((key, value)) = row.transpose().map_err(|error| explained(file, error))? else { return Ok(()) };
                let (key, value) = (key.value(), value.value());
                is_visiting.set(true);
                if let ControlFlow::Break(()) = visitor(key, value)? {
                    return Ok(());
                }
                is_visiting.set(false);
            }
        };
        let visited = catch_unwind(AssertUnwindSafe(walk)).unwrap_or_else(|panic| match is_visiting.get() {
            true => resume_unwind(panic),
            false => Err(impossible(file, panic.as_ref())),
        });
        self.damage.noted(visited)
    }

    fn rows(&self, table: TableId) -> Result<u64> {
        let table = self.table(table)?;
        self.guarded(|file| table.len().map_err(|error| explained(file, error)))
    }

    fn damage(&self) -> &Damage {
        &self.damage
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::super::testing::CACHE_BYTES;
    use super::*;
    use crate::vocab::tables::{CONTACTS, USERS};

    fn open(path: &Path) -> Result<RedbPort> {
        RedbPort::open(Space::unlimited(), path, DatabaseKind::Environment, CACHE_BYTES)
    }

    fn put(port: &RedbPort, key: &[u8]) {
        let mut batch = Overlay::new();
        batch.set(CONTACTS, key.into(), Some(key.into()));
        port.commit(&batch).expect("the write succeeds");
    }

    #[test]
    fn a_new_file_has_the_tables_of_its_kind_and_only_its_owner_may_read_it() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let path = folder.path().join("world.redb");
        // An interrupted first start may leave a temporary file.
        std::fs::write(folder.path().join("world.redb.new"), b"not a file of the engine").expect("the write succeeds");
        let port = open(&path).expect("the file opens");
        assert_eq!(std::fs::metadata(&path).expect("the file exists").permissions().mode() & 0o777, 0o600);
        let names: Vec<_> = std::fs::read_dir(folder.path())
            .expect("the folder can be listed")
            .map(|file| file.expect("the entry can be read").file_name())
            .collect();
        assert_eq!(names, ["world.redb"]);
        let tables = port.table_names().expect("the data is readable");
        let expected = TABLES.iter().filter(|info| info.database_kind.is_in(DatabaseKind::Environment)).count();
        assert!(tables.len() == expected && !tables.iter().any(|name| name == USERS.info().name));
    }

    #[test]
    fn a_file_in_use_and_a_file_of_another_format_are_rejected_by_name() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let path = folder.path().join("world.redb");
        let _port = open(&path).expect("the file opens");
        assert_eq!(open(&path).err(), Some(Error::InUse(path)));
        let other = folder.path().join("notes.txt");
        std::fs::write(&other, "not a file of the engine ".repeat(1_000)).expect("the write succeeds");
        let refusal = open(&other).err().expect("the operation is rejected").to_string();
        assert!(refusal.contains("notes.txt"), "{refusal}");
        assert!(std::fs::read_to_string(&other).expect("the file exists").starts_with("not a file"), "the file is unchanged");
    }

    #[test]
    fn a_panic_of_a_visitor_stays_a_panic() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let port = open(&folder.path().join("world.redb")).expect("the file opens");
        put(&port, b"a");
        let snapshot = port.snapshot().expect("the data is readable");
        let visit = || snapshot.visit(CONTACTS, &Span::default(), Order::Forward, &mut |_, _| panic!("the visitor's"));
        let panic = catch_unwind(AssertUnwindSafe(visit)).expect_err("the panic is passed on");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"the visitor's"));
    }

    /// The test copies the file while it is open, because the copy is in the state in which a kill would leave the file.
    #[test]
    fn after_settling_or_a_large_commit_a_crash_needs_no_repair() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let (path, killed) = (folder.path().join("world.redb"), folder.path().join("killed.redb"));
        let port = open(&path).expect("the file opens");
        let needs_repair = || {
            std::fs::copy(&path, &killed).expect("the copy succeeds");
            let repaired = Arc::new(AtomicBool::new(false));
            let flag = repaired.clone();
            let mut builder = Database::builder();
            builder.set_repair_callback(move |_| flag.store(true, Ordering::SeqCst));
            drop(builder.open(&killed).expect("the copied file opens"));
            repaired.load(Ordering::SeqCst)
        };
        put(&port, b"a");
        assert!(needs_repair(), "without settling, the next start reads the whole file");
        port.settle().expect("the store settles");
        assert!(!needs_repair());
        put(&port, b"b");
        assert!(needs_repair());
        let mut batch = Overlay::new();
        for number in 0..LARGE_BATCH_ROWS as u32 {
            batch.set(CONTACTS, number.to_be_bytes().as_slice().into(), Some(b"x".as_slice().into()));
        }
        port.commit(&batch).expect("the write succeeds");
        assert!(!needs_repair(), "a large commit also settles");
    }
}
