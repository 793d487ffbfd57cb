//! Snapshots: all rows of the three stores, each store as of one of its commits, in parts. A restore starts from a snapshot.
//!
//! The rows are read in read transactions while commands write, and uploaded as they are read, so a snapshot needs neither a copy on disk
//! nor much memory. The manifest is written last: without it, the parts are not a snapshot.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::capture::Capture;
use super::names::{Epoch, SnapshotName};
use super::part::{self, Header, Positions};
use super::status::SnapshotStatus;
use super::target::SealedTarget;
use super::{Error, Result};
use crate::base::clock::{Clock, Timestamp};
use crate::engine::store::commit_log::{self, Record, StoreName};
use crate::engine::store::{ReadTx, Store, backup};
use crate::vocab::limits;

/// The maximum number of complete parts that are waiting to be uploaded.
const PARTS_WAITING: usize = 1;
/// The pause between two checks of whether readers see a commit.
const VISIBLE_AFTER: Duration = Duration::from_millis(1);

/// The stores of an installation: control, test and live.
pub type Stores = [Arc<Store>; 3];

/// The content of a snapshot's manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    /// The positions of the three stores in the snapshot.
    pub positions: Positions,
    pub parts: u64,
    /// Maps the name of each store to the digests of its tables.
    pub stores: BTreeMap<String, backup::Digests>,
}

impl Manifest {
    pub fn rows(&self) -> u64 {
        self.stores.values().flat_map(|tables| tables.values()).map(|table| table.rows).sum()
    }
}

/// Writes a snapshot of the stores. The log must have started before this call. Fails with [`Error::Interrupted`] if the log lacks commits,
/// because such a log cannot make the three stores consistent with each other.
pub async fn take(
    sealed: &SealedTarget,
    epoch: Epoch,
    capture: &Capture,
    stores: &Stores,
    clock: &dyn Clock,
) -> Result<SnapshotStatus> {
    // The transactions see every commit before the first cut, so a restore needs the log only from the next part on. Every commit that they
    // see was in the queue before the second cut, so a restore up to that cut makes the three stores consistent with each other.
    let (log_from, seen) = capture.cut();
    let transactions = read_after(stores, &seen).await?;
    let consistent_at = capture.cut().0 - 1;
    if let Some(reason) = capture.spool().interruption() {
        return Err(Error::Interrupted(reason.to_owned()));
    }
    let now = clock.now();
    let name = SnapshotName { epoch, log_from, consistent_at, at: now };
    let (parts, mut received) = mpsc::channel(PARTS_WAITING);
    let reading = tokio::task::spawn_blocking(move || read(&transactions, now, &parts));
    let (mut count, mut bytes) = (0, 0);
    while let Some(content) = received.recv().await {
        bytes += sealed.write_persistently(&name.part(count), content).await?;
        count += 1;
    }
    let (positions, digests) = reading
        .await
        .map_err(|_| Error::Local("the data files could not be read; search the log for the cause".to_owned()))??;
    let manifest = Manifest { positions, parts: count, stores: digests };
    let text = serde_json::to_vec(&manifest).expect("a manifest can be written as JSON");
    bytes += sealed.write_persistently(&name.manifest(), text).await?;
    Ok(SnapshotStatus { at: now, rows: manifest.rows(), bytes })
}

/// Returns transactions that see all commits up to `seen`. Readers see a commit a few microseconds after it is logged.
async fn read_after(stores: &Stores, seen: &Positions) -> Result<Vec<ReadTx>> {
    let mut transactions = Vec::new();
    for (name, store) in StoreName::ALL.into_iter().zip(stores) {
        loop {
            let tx = store.read();
            if commit_log::position(&tx)? >= seen.get(name).unwrap_or(0) {
                transactions.push(tx);
                break;
            }
            tokio::time::sleep(VISIBLE_AFTER).await;
        }
    }
    Ok(transactions)
}

/// Reads all rows and sends them in parts; returns the positions of the stores and the digests of their tables.
fn read(
    transactions: &[ReadTx],
    now: Timestamp,
    parts: &mpsc::Sender<Vec<u8>>,
) -> Result<(Positions, BTreeMap<String, backup::Digests>)> {
    let mut positions = Positions::default();
    let mut stores = BTreeMap::new();
    for (store, tx) in StoreName::ALL.into_iter().zip(transactions) {
        let position = commit_log::position(tx)?;
        positions.set(store, position);
        let mut number = 0;
        let mut broken = None;
        let digests = backup::read_rows(tx, store.database_kind(), limits::BACKUP_PART_BYTES, |batch| {
            let record = Record { store, position, at: now, batch: Arc::new(batch) };
            let mut records = Vec::new();
            commit_log::encode(&record, &mut records);
            let mut header = Header::new(number, Positions::default());
            header.note(&record, records.len());
            number += 1;
            let sent = part::pack(&header, &records).map(|content| parts.blocking_send(content));
            match sent {
                Ok(Ok(())) => true,
                // The receiver stopped because an upload failed, and reports that error itself.
                Ok(Err(_)) => false,
                Err(error) => {
                    broken = Some(error);
                    false
                }
            }
        })?;
        if let Some(error) = broken {
            return Err(error);
        }
        stores.insert(store.word().to_owned(), digests);
    }
    Ok((positions, stores))
}
