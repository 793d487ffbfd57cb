//! The narrow interface to the ordered key-value engine: get, range, and one atomic, durable commit.
//!
//! `conformance.rs` tests whether an engine fulfills the contract of this port.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Deref};
use std::sync::Arc;

use super::Result;
use super::damage::Damage;
use crate::vocab::tables::{TABLES, TableId};

/// A value as the engine returns it: still in the engine's page, if that saves a copy.
pub enum Bytes<'a> {
    /// A value inside a page of the engine, which the engine's own guard keeps alive.
    Page(Box<dyn Deref<Target = [u8]> + 'a>),
    /// A value borrowed from an overlay, or from an engine that keeps its rows in memory.
    Borrowed(&'a [u8]),
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Page(guard) => guard,
            Bytes::Borrowed(bytes) => bytes,
        }
    }
}

/// A half-open range of keys.
#[derive(Clone, Debug, Default)]
pub struct Span {
    /// The first key in the range.
    pub from: Vec<u8>,
    /// The first key after the range; `None` for the end of the table.
    pub to: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Forward,
    Backward,
}

/// A function that is called with each key and value of a range until it returns `Break`.
pub type Visitor<'v> = dyn FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>> + 'v;

/// An unchanging view of one commit.
pub trait Snapshot: Send + Sync {
    fn get(&self, table: TableId, key: &[u8]) -> Result<Option<Bytes<'_>>>;
    /// Calls `visitor` with every key and value in `span`, in order, until the visitor returns `Break`.
    fn visit(&self, table: TableId, span: &Span, order: Order, visitor: &mut Visitor<'_>) -> Result<()>;
    /// Returns the number of rows in a table, without reading them.
    fn rows(&self, table: TableId) -> Result<u64>;
    /// Returns what is known about damage to the file of this snapshot.
    fn damage(&self) -> &Damage;
}

/// An ordered key-value engine with one writer.
pub trait Port: Send + Sync + 'static {
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>>;
    /// Adds to `batch` the rows by which the engine identifies the commit, if it needs such rows.
    fn stamp(&self, _batch: &mut Overlay) {}
    /// Makes all changes in `batch` durable, or none of them.
    fn commit(&self, batch: &Overlay) -> Result<()>;
    /// Prepares the file so that it can be opened quickly after a crash. Called after a while without writes.
    fn settle(&self) -> Result<()>;
}

/// The changes of one table, by key: the new value, or `None` for a removal.
pub type Changes = BTreeMap<Box<[u8]>, Option<Box<[u8]>>>;

/// Uncommitted changes by table, sorted by key.
#[derive(Clone, Default)]
pub struct Overlay {
    tables: Vec<Changes>,
}

impl Overlay {
    pub fn new() -> Self {
        Self { tables: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.tables.iter().all(BTreeMap::is_empty)
    }

    pub fn table(&self, table: TableId) -> Option<&Changes> {
        self.tables.get(table.0 as usize).filter(|changes| !changes.is_empty())
    }

    pub fn tables(&self) -> impl Iterator<Item = (TableId, &Changes)> {
        self.tables
            .iter()
            .enumerate()
            .filter(|(_, changes)| !changes.is_empty())
            .map(|(index, changes)| (TableId(index as u8), changes))
    }

    /// Returns the change of a key in this overlay: `None` if there is none, `Some(None)` for a removal, or the new value.
    pub fn get(&self, table: TableId, key: &[u8]) -> Option<Option<&[u8]>> {
        self.tables.get(table.0 as usize)?.get(key).map(|value| value.as_deref())
    }

    pub fn set(&mut self, table: TableId, key: Box<[u8]>, value: Option<Box<[u8]>>) {
        if self.tables.is_empty() {
            self.tables.resize_with(TABLES.len(), BTreeMap::new);
        }
        self.tables[table.0 as usize].insert(key, value);
    }

    /// Applies the changes in `newer` on top of this overlay.
    pub fn merge(&mut self, newer: Overlay) {
        if self.is_empty() {
            *self = newer;
            return;
        }
        for (index, changes) in newer.tables.into_iter().enumerate() {
            let own = &mut self.tables[index];
            if own.is_empty() {
                *own = changes;
            } else {
                own.extend(changes);
            }
        }
    }

    pub fn len(&self) -> usize {
        self.tables.iter().map(BTreeMap::len).sum()
    }
}
