//! Rebuilds a store's file from the rows of a snapshot and the records of the commit log.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::commit_log::{Links, Record, StoreName, links};
use super::port::{Overlay, Port};
use super::redb_port::RedbPort;
use super::space::Space;
use super::tx::ReadTx;
use super::{Error, Result, backup};

/// The maximum numbers of rows and of bytes in one transaction. The bytes are limited too, because rows may be large chunks of blobs.
const ROWS_PER_COMMIT: usize = 20_000;
const BYTES_PER_COMMIT: u64 = 16 * 1024 * 1024;
/// The size of the page cache of the new file.
const CACHE_BYTES: usize = 32 * 1024 * 1024;

/// A new file of a store, while it is being filled.
pub struct Rebuild {
    store: StoreName,
    file: PathBuf,
    port: RedbPort,
    /// Changes that are not written yet.
    batch: Overlay,
    batch_bytes: u64,
    /// The position of the newest record that was applied or, before the first one, the position of the snapshot's rows.
    position: u64,
}

impl Rebuild {
    /// Creates a store's file, which must not exist yet. `position` is the commit position of the rows that [`Rebuild::fill`] adds.
    pub fn create(store: StoreName, file: &Path, position: u64) -> Result<Self> {
        if file.exists() {
            return Err(Error::Io(format!("{} already exists; move or delete this file", file.display())));
        }
        let port = RedbPort::open(Space::unlimited(), file, store.database_kind(), CACHE_BYTES)?;
        Ok(Self { store, file: file.to_path_buf(), port, batch: Overlay::new(), batch_bytes: 0, position })
    }

    /// Adds rows from a snapshot.
    pub fn fill(&mut self, rows: Record) -> Result<()> {
        self.merge(rows)
    }

    /// Sets the commit position of the rows that were added, if it was not known when [`Rebuild::create`] was called.
    pub fn continue_from(&mut self, position: u64) {
        self.position = position;
    }

    /// Marks the file as part of a cluster. The commits of a cluster set this mark, but a snapshot that was taken before the cluster's
    /// first commit does not contain it.
    pub fn join_cluster(&mut self) -> Result<()> {
        self.flush()?;
        let tx = ReadTx { snapshot: self.port.snapshot()?, feed_position: 0, memo: Arc::default() };
        if links(&tx)?.is_none() {
            Links::default().set(&mut self.batch);
        }
        Ok(())
    }

    /// Removes the links of the cluster, so that a single machine can use the file.
    pub fn leave_cluster(&mut self) {
        Links::remove(&mut self.batch);
    }

    /// Returns the position of the newest record that was applied or, before the first one, the position of the snapshot's rows.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Applies a record from the log. Returns false if the file already contains the record; a gap is an error.
    pub fn apply(&mut self, record: Record) -> Result<bool> {
        if record.position <= self.position {
            return Ok(false);
        }
        if record.position != self.position + 1 {
            let (store, known, next) = (self.store.word(), self.position, record.position);
            return Err(Error::Io(format!(
                "the log lacks the commits of the {store} store between positions {known} and {next}"
            )));
        }
        self.position = record.position;
        self.merge(record).map(|()| true)
    }

    fn merge(&mut self, record: Record) -> Result<()> {
        self.batch_bytes += record.changed_bytes();
        self.batch.merge(Arc::unwrap_or_clone(record.batch));
        let is_full = self.batch.len() >= ROWS_PER_COMMIT || self.batch_bytes >= BYTES_PER_COMMIT;
        if is_full { self.flush() } else { Ok(()) }
    }

    /// Writes all changes so far, and returns the digests of the file's tables.
    pub fn digests(&mut self) -> Result<backup::Digests> {
        self.flush()?;
        backup::digests_of(&self.port, self.store.database_kind())
    }

    fn flush(&mut self) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        if batch.is_empty() { Ok(()) } else { self.port.commit(&batch) }
    }

    /// Completes the file, verifies the checksums of all its pages, and returns the number of its rows.
    pub fn finish(mut self) -> Result<u64> {
        self.flush()?;
        let Self { store, file, port, .. } = self;
        drop(port);
        let digests = backup::digests(&file, store.database_kind())?;
        Ok(digests.values().map(|table| table.rows).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Timestamp;

    #[test]
    fn a_gap_in_the_log_is_named_by_its_positions() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let record = |position| Record { store: StoreName::Live, position, at: Timestamp(0), batch: Arc::default() };
        let mut file = Rebuild::create(StoreName::Live, &folder.path().join("live"), 5).expect("the file can be created");
        assert!(!file.apply(record(5)).expect("the file contains the record"));
        assert!(file.apply(record(6)).expect("the record follows"));
        let gap = file.apply(record(9)).expect_err("two records are missing").to_string();
        assert_eq!(gap, "the log lacks the commits of the live store between positions 6 and 9");
    }
}
