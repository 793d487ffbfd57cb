//! The installation's restore, and the progress of its copy. Each is stored in one row, which a new restore overwrites.

use super::model::{CopyProgress, Restore};
use crate::engine::store::{Read, Result, Table, WriteTx};
use crate::vocab::ids::JobId;
use crate::vocab::tables;

const META: Table<String, Vec<u8>> = Table::new(tables::META);
/// The key of the restore in the control store.
const RESTORE: &str = "brand restore";
/// The key of the progress in the environment's store.
const PROGRESS: &str = "brand restore progress";

/// Returns the newest restore; `None` if there is none, or if a later version of Mailmill wrote it.
pub fn restore(tx: &impl Read) -> Result<Option<Restore>> {
    Ok(tx.get(META, &RESTORE.to_owned())?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

pub fn save(tx: &mut WriteTx<'_>, restore: &Restore) {
    let bytes = serde_json::to_vec(restore).expect("a restore can be written as JSON");
    tx.put(META, &RESTORE.to_owned(), &bytes);
}

pub fn delete(tx: &mut WriteTx<'_>) {
    tx.delete(META, &RESTORE.to_owned());
}

/// Returns the progress of a restore's copy. If none is stored, returns the progress of a copy that has not started.
pub fn progress(tx: &impl Read, restore: JobId) -> Result<CopyProgress> {
    let found = tx.get(META, &PROGRESS.to_owned())?.and_then(|bytes| serde_json::from_slice::<CopyProgress>(&bytes).ok());
    Ok(found.filter(|found| found.restore == restore).unwrap_or_else(|| CopyProgress::new(restore)))
}

pub fn save_progress(tx: &mut WriteTx<'_>, progress: &CopyProgress) {
    let bytes = serde_json::to_vec(progress).expect("the progress can be written as JSON");
    tx.put(META, &PROGRESS.to_owned(), &bytes);
}
