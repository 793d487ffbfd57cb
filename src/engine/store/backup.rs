//! Copying a store while it is written to, and proving that a copy is whole.
//!
//! A backup is a fresh file filled from one snapshot: consistent by construction, compact, and free of whatever damage the old
//! file's free pages may hold. Its digest is taken from the rows as they are read, and again from the rows of the copy.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::port::{Order, Overlay, Port, Span};
use super::redb_port::RedbPort;
use super::tx::{Read, ReadTx};
use super::{Error, Result};
use crate::vocab::tables::{Realm, TABLES, TableId, TableInfo};

/// Rows copied in one transaction of the copy.
const ROWS_PER_COMMIT: usize = 20_000;
/// Bytes copied in one transaction of the copy: rows may be blob chunks.
const BYTES_PER_COMMIT: usize = 16 * 1024 * 1024;
/// Memory for pages of the copy.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// What one table of a backup holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableDigest {
    pub rows: u64,
    /// SHA-256 over every key and value with their lengths, in order, in hexadecimal.
    pub sha256: String,
}

/// Table name to digest, for every table that has rows.
pub type Digests = BTreeMap<String, TableDigest>;

/// Copy everything `tx` sees into a new file at `target`. After an error what is there is no backup.
pub fn copy(tx: &ReadTx, realm: Realm, target: &Path) -> Result<Digests> {
    if target.exists() {
        return Err(Error::Io(format!("{} is there already", target.display())));
    }
    let port = RedbPort::open(target, realm, CACHE_BYTES)?;
    let mut digests = Digests::new();
    for info in TABLES.iter().filter(|info| info.realm.is_in(realm)) {
        let mut batch = Overlay::new();
        let (mut rows, mut bytes) = (0, 0);
        let digest = digest(tx, info.id, |key, value| {
            batch.set(info.id, key.into(), Some(value.into()));
            rows += 1;
            bytes += key.len() + value.len();
            if rows >= ROWS_PER_COMMIT || bytes >= BYTES_PER_COMMIT {
                port.commit(&std::mem::take(&mut batch))?;
                (rows, bytes) = (0, 0);
            }
            Ok(())
        })?;
        port.commit(&batch)?;
        note(&mut digests, info, digest);
    }
    Ok(digests)
}

/// The digests of the file at `path`, read back row by row after every page was compared with its checksum (rows alone would not
/// show damage to the pages through which they are looked up). A damaged file is an error.
pub fn digests(path: &Path, realm: Realm) -> Result<Digests> {
    // The engine trusts its own pages and may panic on damaged ones.
    std::panic::catch_unwind(|| read_back(path, realm))
        .unwrap_or_else(|_| Err(Error::Io(format!("{}: it is too damaged to be read", path.display()))))
}

fn read_back(path: &Path, realm: Realm) -> Result<Digests> {
    let port = RedbPort::open_verified(path, CACHE_BYTES)?;
    let here = port.table_names()?;
    let tx = ReadTx { snapshot: port.snapshot()?, feed_position: 0 };
    let mut digests = Digests::new();
    for info in TABLES.iter().filter(|info| info.realm.is_in(realm) && here.iter().any(|name| name == info.name)) {
        note(&mut digests, info, digest(&tx, info.id, |_, _| Ok(()))?);
    }
    Ok(digests)
}

/// Tables without rows are left out, so that a newer program, which has more tables, finds the same in an old backup.
fn note(digests: &mut Digests, info: &TableInfo, digest: TableDigest) {
    if digest.rows > 0 {
        digests.insert(info.name.to_owned(), digest);
    }
}

fn digest(tx: &impl Read, table: TableId, mut each: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<TableDigest> {
    let mut sum = Sha256::new();
    let mut rows = 0;
    tx.visit_bytes(table, &Span::default(), Order::Forward, &mut |key, value| {
        for part in [key, value] {
            sum.update((part.len() as u64).to_le_bytes());
            sum.update(part);
        }
        rows += 1;
        each(key, value)?;
        Ok(ControlFlow::Continue(()))
    })?;
    let sha256 = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(TableDigest { rows, sha256 })
}
