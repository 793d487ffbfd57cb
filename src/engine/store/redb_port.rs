//! The embedded engine: one redb file.
//!
//! A commit is redb's one-phase commit: one sync of the disk. What that relies on: the pages of a commit and the header that names
//! it go to the disk together, in any order, so after a power cut the newest commit counts only if the checksums of all its pages
//! match; otherwise the commit before it does. Those checksums (128-bit XXH3) find torn and lost writes, but are no defence against
//! someone who chooses the bytes *and* decides when the power fails. We accept that: whoever can do both owns the machine.
//! `power_cut.rs` tries it out.

use std::fs::{File, OpenOptions};
use std::ops::{Bound, ControlFlow};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use redb::{AccessGuard, Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, TableDefinition, TableHandle};

use super::port::{Bytes, Order, Overlay, Port, Snapshot, Span, Visitor};
use super::{Error, Result};
use crate::vocab::tables::{Realm, TABLES, TableId};

type Definition = TableDefinition<'static, &'static [u8], &'static [u8]>;
type Opened = ReadOnlyTable<&'static [u8], &'static [u8]>;

/// A value inside a page of the file.
pub struct Guard(AccessGuard<'static, &'static [u8]>);

impl Guard {
    /// The value.
    pub fn bytes(&self) -> &[u8] {
        self.0.value()
    }
}

fn definition(table: TableId) -> Definition {
    TableDefinition::new(table.info().name)
}

fn io(error: impl Into<redb::Error>) -> Error {
    Error::Io(error.into().to_string())
}

fn refused(path: &Path, error: redb::DatabaseError) -> Error {
    match error {
        redb::DatabaseError::DatabaseAlreadyOpen => Error::InUse(path.to_path_buf()),
        other => Error::Io(format!("{}: {other}", path.display())),
    }
}

/// Make an empty file at `path`, aside and then under its name: when the power fails while redb makes a file, what stays behind is
/// one that redb refuses to open.
fn make(path: &Path) -> std::io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".new");
    let aside = PathBuf::from(aside);
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
    drop(Database::builder().create_file(file).map_err(std::io::Error::other)?);
    // Not renamed but linked, which never replaces: another process may have made the file meanwhile.
    let linked = std::fs::hard_link(&aside, path);
    std::fs::remove_file(&aside)?;
    if let Err(error) = linked
        && error.kind() != std::io::ErrorKind::AlreadyExists
    {
        return Err(error);
    }
    // A new file is only safe once its name is: the folder is a file of its own to the disk.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// One redb file with the tables of one realm.
pub struct RedbPort {
    database: Database,
}

impl RedbPort {
    /// Open the file, or make it, with every table of `realm`. Only the owner may read a file that is made here.
    pub fn open(path: &Path, realm: Realm, cache_bytes: usize) -> Result<Self> {
        if !path.exists() {
            make(path).map_err(|error| Error::Io(format!("{}: {error}", path.display())))?;
        }
        let database = Database::builder().set_cache_size(cache_bytes).open(path).map_err(|error| refused(path, error))?;
        Self::with_tables(database, realm)
    }

    /// Open a file that must be there, as it is, after comparing the checksum of every page.
    pub fn open_verified(path: &Path, cache_bytes: usize) -> Result<Self> {
        let mut database = Database::builder().set_cache_size(cache_bytes).open(path).map_err(|error| refused(path, error))?;
        match database.check_integrity() {
            Ok(true) => Ok(Self { database }),
            Ok(false) => Err(Error::Io(format!("{}: its pages do not match their checksums", path.display()))),
            Err(error) => Err(refused(path, error)),
        }
    }

    /// The same over any storage: the power-cut tests bring one that loses writes.
    #[cfg(test)]
    pub fn on_backend(backend: impl redb::StorageBackend, realm: Realm) -> Result<Self> {
        let database = Database::builder().create_with_backend(backend).map_err(io)?;
        Self::with_tables(database, realm)
    }

    fn with_tables(database: Database, realm: Realm) -> Result<Self> {
        let port = Self { database };
        let here = port.table_names()?;
        let missing: Vec<_> =
            TABLES.iter().filter(|info| info.realm.is_in(realm) && !here.iter().any(|name| name == info.name)).collect();
        if !missing.is_empty() {
            let writing = port.database.begin_write().map_err(io)?;
            for info in missing {
                writing.open_table(definition(info.id)).map_err(io)?;
            }
            writing.commit().map_err(io)?;
        }
        Ok(port)
    }

    /// The names of the tables in the file.
    pub fn table_names(&self) -> Result<Vec<String>> {
        let reading = self.database.begin_read().map_err(io)?;
        Ok(reading.list_tables().map_err(io)?.map(|table| table.name().to_owned()).collect())
    }
}

impl Port for RedbPort {
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        let reading = self.database.begin_read().map_err(io)?;
        Ok(Arc::new(RedbSnapshot { reading, tables: [const { OnceLock::new() }; TABLES.len()] }))
    }

    fn commit(&self, batch: &Overlay) -> Result<()> {
        let writing = self.database.begin_write().map_err(io)?;
        for (id, changes) in batch.tables() {
            let mut table = writing.open_table(definition(id)).map_err(io)?;
            for (key, value) in changes {
                match value {
                    Some(value) => drop(table.insert(key.as_ref(), value.as_ref()).map_err(io)?),
                    None => drop(table.remove(key.as_ref()).map_err(io)?),
                }
            }
        }
        writing.commit().map_err(io)
    }
}

/// A read transaction with its tables opened when first asked for, shared by every reader until the next commit.
struct RedbSnapshot {
    reading: ReadTransaction,
    tables: [OnceLock<Opened>; TABLES.len()],
}

impl RedbSnapshot {
    fn table(&self, id: TableId) -> Result<&Opened> {
        let slot = &self.tables[id.0 as usize];
        if let Some(table) = slot.get() {
            return Ok(table);
        }
        let opened = self.reading.open_table(definition(id)).map_err(io)?;
        Ok(slot.get_or_init(|| opened))
    }
}

impl Snapshot for RedbSnapshot {
    fn get(&self, table: TableId, key: &[u8]) -> Result<Option<Bytes<'_>>> {
        Ok(self.table(table)?.get(key).map_err(io)?.map(|guard| Bytes::Page(Guard(guard))))
    }

    fn visit(&self, table: TableId, span: &Span, order: Order, visitor: &mut Visitor<'_>) -> Result<()> {
        let to = span.to.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        if span.to.as_deref().is_some_and(|to| to <= span.from.as_slice()) {
            return Ok(());
        }
        let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Included(span.from.as_slice()), to);
        let mut rows = self.table(table)?.range::<&[u8]>(bounds).map_err(io)?;
        loop {
            let row = match order {
                Order::Forward => rows.next(),
                Order::Backward => rows.next_back(),
            };
            let Some(row) = row else { return Ok(()) };
            let (key, value) = row.map_err(io)?;
            if let ControlFlow::Break(()) = visitor(key.value(), value.value())? {
                return Ok(());
            }
        }
    }
}
