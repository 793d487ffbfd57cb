//! The embedded engine: one redb file.

use std::ops::{Bound, ControlFlow};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use redb::{AccessGuard, Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, TableDefinition};

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

/// One redb file with the tables of one realm.
pub struct RedbPort {
    database: Database,
}

impl RedbPort {
    /// Open the file, or make it, with every table of `realm`.
    pub fn open(path: &Path, realm: Realm, cache_bytes: usize) -> Result<Self> {
        let mut builder = Database::builder();
        builder.set_cache_size(cache_bytes);
        let database = builder.create(path).map_err(|error| match error {
            redb::DatabaseError::DatabaseAlreadyOpen => Error::InUse(path.to_path_buf()),
            other => Error::Io(format!("{}: {other}", path.display())),
        })?;
        Self::with_tables(database, realm)
    }

    /// The same over any storage: the power-cut tests bring one that loses writes.
    #[cfg(test)]
    pub fn on_backend(backend: impl redb::StorageBackend, realm: Realm) -> Result<Self> {
        let database = Database::builder().create_with_backend(backend).map_err(io)?;
        Self::with_tables(database, realm)
    }

    fn with_tables(database: Database, realm: Realm) -> Result<Self> {
        let writing = database.begin_write().map_err(io)?;
        for info in TABLES.iter().filter(|info| info.realm.is_in(realm)) {
            writing.open_table(definition(info.id)).map_err(io)?;
        }
        writing.commit().map_err(io)?;
        Ok(Self { database })
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
