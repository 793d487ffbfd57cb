//! Copies a store while commands write to it, and verifies that a copy is complete.
//!
//! A backup is a new file with the rows of one snapshot, so it is consistent and compact, and does not copy damage in unused pages of the
//! old file. The digests of its tables are computed from the rows as they are read from the store, and again from the rows of the copy.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::identity;
use super::port::{Order, Overlay, Port, Span};
use super::redb_port::RedbPort;
use super::space::Space;
use super::tx::{Read, ReadTx};
use super::{Error, Result};
use crate::vocab::tables::{DatabaseKind, TABLES, TableId, TableInfo};

/// The maximum number of rows copied in one transaction.
const ROWS_PER_COMMIT: usize = 20_000;
/// The number of bytes after which a transaction is committed even if it has fewer rows, because rows may be large chunks of blobs.
const BYTES_PER_COMMIT: usize = 16 * 1024 * 1024;
/// The size of the page cache of the copy.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// The digest of one table's rows in a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableDigest {
    pub rows: u64,
    /// The SHA-256 hash, in hexadecimal, of all keys and values in order, each preceded by its length.
    pub sha256: String,
}

/// The digests of all tables that have rows, by table name.
pub type Digests = BTreeMap<String, TableDigest>;

/// Copies all rows that `tx` sees into a new file at `target`, except the row that counts how many times the folder was opened. After an
/// error, the file is not a usable backup.
pub fn copy(tx: &ReadTx, database_kind: DatabaseKind, target: &Path) -> Result<Digests> {
    if target.exists() {
        return Err(Error::Io(format!("{} already exists; choose a new or empty folder", target.display())));
    }
    let port = RedbPort::open(Space::unlimited(), target, database_kind, CACHE_BYTES)?;
    let mut failure = None;
    let digests = read_rows(tx, database_kind, BYTES_PER_COMMIT, |batch| {
        failure = port.commit(&batch).err();
        failure.is_none()
    })?;
    failure.map_or(Ok(digests), Err)
}

/// Reads all rows that `tx` sees, except the row that counts how many times the folder was opened, and passes them to `each` in batches of
/// about `bytes_max` bytes. Returns the digests of the tables. If `each` returns false, reading stops, and only the digests of the tables
/// that were read completely are returned.
pub fn read_rows(
    tx: &ReadTx,
    database_kind: DatabaseKind,
    bytes_max: usize,
    mut each: impl FnMut(Overlay) -> bool,
) -> Result<Digests> {
    let mut digests = Digests::new();
    for info in TABLES.iter().filter(|info| info.database_kind.is_in(database_kind)) {
        let mut batch = Overlay::new();
        let (mut rows, mut bytes, mut continues) = (0, 0, true);
        let digest = digest(tx, info.id, identity::stays_behind, |key, value| {
            batch.set(info.id, key.into(), Some(value.into()));
            rows += 1;
            bytes += key.len() + value.len();
            if rows >= ROWS_PER_COMMIT || bytes >= bytes_max {
                (rows, bytes) = (0, 0);
                continues = each(std::mem::take(&mut batch));
            }
            Ok(if continues { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        if !continues || (!batch.is_empty() && !each(batch)) {
            return Ok(digests);
        }
        note(&mut digests, info, digest);
    }
    Ok(digests)
}

/// Computes the digests of the file at `path` row by row, after comparing every page with its checksum (rows alone would not show damage to
/// index pages). Returns an error if the file is damaged.
pub fn digests(path: &Path, database_kind: DatabaseKind) -> Result<Digests> {
    digests_of(&RedbPort::open_verified(path, CACHE_BYTES)?, database_kind)
}

/// Computes the digests of an open file row by row.
pub(super) fn digests_of(port: &RedbPort, database_kind: DatabaseKind) -> Result<Digests> {
    let here = port.table_names()?;
    let tx = ReadTx { snapshot: port.snapshot()?, feed_position: 0, memo: std::sync::Arc::default() };
    let mut digests = Digests::new();
    for info in TABLES.iter().filter(|info| info.database_kind.is_in(database_kind) && here.iter().any(|name| name == info.name))
    {
        note(&mut digests, info, digest(&tx, info.id, |_, _| false, |_, _| Ok(ControlFlow::Continue(())))?);
    }
    Ok(digests)
}

/// Adds the digest of a table. Tables without rows are omitted, so that a newer program, which has more tables, computes the same digests
/// for an old backup.
fn note(digests: &mut Digests, info: &TableInfo, digest: TableDigest) {
    if digest.rows > 0 {
        digests.insert(info.name.to_owned(), digest);
    }
}

fn digest(
    tx: &impl Read,
    table: TableId,
    leaves_out: impl Fn(TableId, &[u8]) -> bool,
    mut each: impl FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>,
) -> Result<TableDigest> {
    let mut sum = Sha256::new();
    let mut rows = 0;
    tx.visit_bytes(table, &Span::default(), Order::Forward, &mut |key, value| {
        if leaves_out(table, key) {
            return Ok(ControlFlow::Continue(()));
        }
        for part in [key, value] {
            sum.update((part.len() as u64).to_le_bytes());
            sum.update(part);
        }
        rows += 1;
        each(key, value)
    })?;
    let sha256 = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(TableDigest { rows, sha256 })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::super::testing::{Dice, open, scratch};
    use super::super::tx::Table;
    use super::*;
    use crate::vocab::tables::{BLOBS, CONTACT_COUNTS, CONTACTS};

    const ROWS: Table<u32, Vec<u8>> = Table::new(CONTACTS);
    const CHUNKS: Table<u32, Vec<u8>> = Table::new(BLOBS);
    const COUNT: Table<u8, i64> = Table::new(CONTACT_COUNTS);

    fn rows(tx: &impl Read, table: TableId) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut rows = Vec::new();
        tx.visit_bytes(table, &Span::default(), Order::Forward, &mut |key, value| {
            rows.push((key.to_vec(), value.to_vec()));
            Ok(ControlFlow::Continue(()))
        })
        .expect("the data is readable");
        rows
    }

    #[test]
    fn a_copy_made_during_writes_is_one_consistent_state() {
        let (folder, store) = scratch();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut number = 0_u32;
                while !done.load(Ordering::SeqCst) || number < 200 {
                    let wrote = store.write_blocking(move |tx| {
                        for row in number * 10..number * 10 + 10 {
                            tx.put(ROWS, &row, &vec![7; 200]);
                        }
                        tx.put(CHUNKS, &(number % 5), &vec![number as u8; 40_000]);
                        tx.add(COUNT, &0, 10)
                    });
                    assert!(matches!(wrote, Ok(Ok(_))));
                    number += 1;
                }
            });
            for round in 0..8 {
                let target = folder.path().join(format!("copy{round}.redb"));
                let tx = store.read();
                let digests = copy(&tx, DatabaseKind::Environment, &target).expect("the copy succeeds");
                let image = std::fs::read(&target).expect("the file exists");
                assert_eq!(super::digests(&target, DatabaseKind::Environment), Ok(digests.clone()));
                assert!(std::fs::read(&target).expect("the file exists") == image, "reading a copy does not change the file");
                let copied = open(&target).expect("a copy opens as a store");
                let counted = copied.read().get(COUNT, &0).expect("the data is readable").unwrap_or(0);
                assert_eq!(rows(&copied.read(), CONTACTS).len() as i64, counted, "the rows and their count come from one commit");
                assert_eq!(digests.get("contacts").map_or(0, |digest| digest.rows) as i64, counted);
                assert!(rows(&copied.read(), BLOBS) == rows(&tx, BLOBS));
                assert_eq!(copied.feed_position(), tx.feed_position());
                copied.close();
            }
            done.store(true, Ordering::SeqCst);
            writer.join().expect("the writer continues");
        });
        store.close();
    }

    #[test]
    fn many_or_large_rows_are_copied_in_several_transactions() {
        let (folder, store) = scratch();
        let wrote = store.write_blocking(|tx| {
            (0..ROWS_PER_COMMIT as u32 + 1).for_each(|row| tx.put(ROWS, &row, &vec![]));
            (0..70).for_each(|chunk| tx.put(CHUNKS, &chunk, &vec![3; 256 * 1024]));
            Ok::<_, ()>(())
        });
        assert_eq!(wrote, Ok(Ok(())));
        let target = folder.path().join("copy.redb");
        let digests = copy(&store.read(), DatabaseKind::Environment, &target).expect("the copy succeeds");
        assert_eq!(digests["contacts"].rows, ROWS_PER_COMMIT as u64 + 1);
        assert_eq!(super::digests(&target, DatabaseKind::Environment), Ok(digests));
        store.close();
    }

    #[test]
    fn a_copy_never_replaces_a_file_and_reading_creates_none() {
        let (folder, store) = scratch();
        let target = folder.path().join("copy.redb");
        std::fs::write(&target, b"mine").expect("the write succeeds");
        assert!(matches!(copy(&store.read(), DatabaseKind::Environment, &target), Err(Error::Io(_))));
        assert_eq!(std::fs::read(&target).expect("the file exists"), b"mine");
        let missing = folder.path().join("missing.redb");
        assert!(matches!(digests(&missing, DatabaseKind::Environment), Err(Error::Io(_))));
        assert!(!missing.exists());
        store.close();
    }

    /// Digests alone would miss damage to index pages, but checksums find such damage. A flipped byte in an unused page has no effect; in
    /// that case the test checks that every row is still found.
    #[test]
    fn a_flipped_byte_in_a_copy_is_detected_or_harmless() {
        let (folder, store) = scratch();
        let mut dice = Dice::new(11);
        let values: Vec<_> = (0..3_000_u32).map(|_| dice.bytes(60)).collect();
        let wrote = store.write_blocking({
            let values = values.clone();
            move |tx| {
                (0..).zip(&values).for_each(|(row, value)| tx.put(ROWS, &row, value));
                tx.put(CHUNKS, &0, &vec![9; 400_000]);
                Ok::<_, ()>(())
            }
        });
        assert_eq!(wrote, Ok(Ok(())));
        let target = folder.path().join("copy.redb");
        let whole = copy(&store.read(), DatabaseKind::Environment, &target).expect("the copy succeeds");
        store.close();
        let image = std::fs::read(&target).expect("the file exists");
        // Bytes with the value 0 or 255 are skipped: zeros fill unused pages, and 255 fills the maps of free pages.
        let filled: Vec<usize> = (0..image.len()).filter(|at| !matches!(image[*at], 0 | 255)).collect();
        let (mut noticed, tries) = (0, 120);
        for _ in 0..tries {
            let at = filled[dice.below(filled.len() as u64) as usize];
            let mut damaged = image.clone();
            damaged[at] ^= 1 << dice.below(8);
            std::fs::write(&target, &damaged).expect("the write succeeds");
            if digests(&target, DatabaseKind::Environment) != Ok(whole.clone()) {
                noticed += 1;
                continue;
            }
            let store = open(&target).expect("a file that passes the check opens");
            let tx = store.read();
            for (row, value) in (0..).zip(&values) {
                assert_eq!(tx.get(ROWS, &row).as_ref(), Ok(&Some(value.clone())), "byte {at}, row {row}");
            }
            store.close();
        }
        assert!(noticed * 10 > tries * 8, "{noticed} of {tries} were detected");
    }
}
