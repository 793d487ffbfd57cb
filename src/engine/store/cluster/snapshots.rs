//! Snapshots of the stores, which are kept in the cluster's database, and the truncation of each log before its older snapshot.
//!
//! The database keeps two snapshots of each store, and the log from the older one onward. So a node that reads the newest snapshot finds
//! the commits after it, even if the leader writes another snapshot in the meantime.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_postgres::types::Type;

use super::database::{Database, Link};
use super::shared_log::{pack, unpack};
use super::{Error, Result};
use crate::base::clock::Timestamp;
use crate::engine::store::Store;
use crate::engine::store::backup::read_rows;
use crate::engine::store::commit_log::{self, Record, StoreName};
use crate::engine::store::tx::ReadTx;
use crate::vocab::limits;

/// The status of one store's log in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogStatus {
    pub store: StoreName,
    /// The position of the newest commit.
    pub newest: u64,
    /// The number of commits in the log.
    pub records: u64,
    /// The size in bytes of the commits in the log.
    pub bytes: u64,
    /// The positions of the snapshots, oldest first.
    pub snapshots: Vec<u64>,
    /// The size in bytes of the commits after the newest snapshot.
    pub bytes_since: u64,
    /// The size in bytes of the newest snapshot.
    pub snapshot_bytes: u64,
}

pub async fn status(link: &mut Link, store: StoreName) -> Result<LogStatus> {
    let name = store.word();
    let snapshots = positions(link, store).await?;
    let last = snapshots.last().copied().unwrap_or(0) as i64;
    let values = [(&name as _, Type::TEXT), (&last as _, Type::INT8)];
    let select = "SELECT coalesce(max(seq), 0), count(*), CAST(coalesce(sum(length(batch)), 0) AS bigint), \
                  CAST(coalesce(sum(CASE WHEN seq > $2 THEN length(batch) ELSE 0 END), 0) AS bigint) FROM mailmill_log WHERE log = $1";
    let log = link.query(select, &values).await?;
    let size =
        "SELECT CAST(coalesce(sum(length(body)), 0) AS bigint) FROM mailmill_snapshot WHERE log = $1 AND seq = $2 AND complete";
    let size = link.query(size, &values).await?;
    let number = |rows: &[tokio_postgres::Row], column: usize| rows.first().map_or(0, |row| row.get::<_, i64>(column)) as u64;
    Ok(LogStatus {
        store,
        newest: number(&log, 0).max(last as u64),
        records: number(&log, 1),
        bytes: number(&log, 2),
        snapshots,
        bytes_since: number(&log, 3),
        snapshot_bytes: number(&size, 0),
    })
}

/// Returns the positions of the complete snapshots of a store, oldest first.
async fn positions(link: &mut Link, store: StoreName) -> Result<Vec<u64>> {
    let select = "SELECT DISTINCT seq FROM mailmill_snapshot WHERE log = $1 AND complete ORDER BY seq";
    let rows = link.query(select, &[(&store.word(), Type::TEXT)]).await?;
    Ok(rows.iter().map(|row| row.get::<_, i64>(0) as u64).collect())
}

/// Takes a snapshot of each store whose log has grown enough since the last snapshot, and truncates the log. Returns the number of new
/// snapshots.
pub async fn tend(database: &Arc<Database>, stores: [&Arc<Store>; 3]) -> Result<usize> {
    let mut link = Link::new(database.clone());
    let mut taken = 0;
    for (name, store) in StoreName::ALL.into_iter().zip(stores) {
        let now = status(&mut link, name).await?;
        // A new node reads the snapshot and then applies every commit after it, so a snapshot is also due after many small commits.
        let commits_since = now.newest - now.snapshots.last().copied().unwrap_or(0);
        let has_many = commits_since > limits::CLUSTER_LOG_COMMITS_MAX && now.bytes_since > now.snapshot_bytes / 4;
        if has_many || now.bytes_since > now.snapshot_bytes.max(limits::CLUSTER_LOG_BYTES_MIN) {
            take(&mut link, name, store.read()).await?;
            truncate(&mut link, name).await?;
            taken += 1;
        }
    }
    Ok(taken)
}

/// Stores a snapshot of the rows that `tx` sees; returns its position.
pub async fn take(link: &mut Link, store: StoreName, tx: ReadTx) -> Result<u64> {
    let position = commit_log::position(&tx)?;
    let name = store.word();
    let seq = position as i64;
    let place = [(&name as _, Type::TEXT), (&seq as _, Type::INT8)];
    // Delete parts that an interrupted attempt may have left.
    link.execute("DELETE FROM mailmill_snapshot WHERE log = $1 AND seq <= $2 AND NOT complete", &place).await?;
    let exists = "SELECT 1 FROM mailmill_snapshot WHERE log = $1 AND seq = $2 LIMIT 1";
    if !link.query(exists, &place).await?.is_empty() {
        return Ok(position);
    }
    // A blocking thread reads the rows, a few parts ahead of the insertion into the database.
    let (parts, mut read) = mpsc::channel::<Result<Vec<u8>>>(limits::CLUSTER_PARTS_AHEAD);
    let reading = tokio::task::spawn_blocking(move || {
        let rows = read_rows(&tx, store.database_kind(), limits::CLUSTER_PART_BYTES, |batch| {
            let mut encoded = Vec::new();
            commit_log::encode_changes((store, position, Timestamp(0)), &batch, &mut encoded);
            parts.blocking_send(pack(&encoded)).is_ok()
        });
        if let Err(error) = rows {
            // Sending fails only if the receiver has stopped after an error of its own.
            let _ = parts.blocking_send(Err(error.into()));
        }
    });
    let insert = "INSERT INTO mailmill_snapshot (log, seq, part, body, complete) VALUES ($1, $2, $3, $4, false)";
    let mut part = 0_i64;
    while let Some(body) = read.recv().await {
        let body = body?;
        let values = [place[0].clone(), place[1].clone(), (&part as _, Type::INT8), (&body as _, Type::BYTEA)];
        link.execute(insert, &values).await?;
        part += 1;
    }
    reading.await.map_err(|error| Error::Local(error.to_string()))?;
    // Another node may have deleted parts, if this node has lost the lease in the meantime. The remaining parts must not count as a
    // snapshot.
    let complete = "UPDATE mailmill_snapshot SET complete = true WHERE log = $1 AND seq = $2 \
                    AND (SELECT count(*) FROM mailmill_snapshot WHERE log = $1 AND seq = $2) = $3";
    let completed = link.execute(complete, &[place[0].clone(), place[1].clone(), (&part as _, Type::INT8)]).await?;
    if completed as i64 != part || part == 0 {
        return Err(Error::SnapshotReplaced { store });
    }
    tracing::info!(store = name, position, parts = part, "the cluster has a new snapshot");
    Ok(position)
}

/// Deletes all snapshots of a store except the newest two, and the records that the older of these two contains. Keeps the records of the
/// last ten minutes, so that nodes that lag slightly need no snapshot, and always keeps the newest record.
pub async fn truncate(link: &mut Link, store: StoreName) -> Result<()> {
    let kept = positions(link, store).await?;
    let [.., older, _] = kept.as_slice() else { return Ok(()) };
    let (name, older) = (store.word(), *older as i64);
    let values = [(&name as _, Type::TEXT), (&older as _, Type::INT8)];
    link.execute("DELETE FROM mailmill_snapshot WHERE log = $1 AND seq < $2", &values).await?;
    let delete = "DELETE FROM mailmill_log WHERE log = $1 AND seq IN (SELECT seq FROM mailmill_log WHERE log = $1 AND seq <= $2 \
                  AND seq < (SELECT max(seq) FROM mailmill_log WHERE log = $1) AND at < now() - INTERVAL '10 minutes' \
                  ORDER BY seq LIMIT 1000)";
    while link.execute(delete, &values).await? > 0 {}
    Ok(())
}

/// Reads the newest snapshot of a store, and calls `each` with the rows of each part. Returns the position of the snapshot.
pub async fn read(link: &mut Link, store: StoreName, mut each: impl FnMut(Record) -> Result<()>) -> Result<u64> {
    let newest = positions(link, store).await?.last().copied();
    let position = newest.ok_or_else(|| Error::Damaged(format!("there is no snapshot of the {} store", store.word())))?;
    let (name, seq) = (store.word(), position as i64);
    let place = [(&name as _, Type::TEXT), (&seq as _, Type::INT8)];
    let count = link.query("SELECT count(*) FROM mailmill_snapshot WHERE log = $1 AND seq = $2", &place).await?;
    let count = count.first().map_or(0, |row| row.get::<_, i64>(0));
    for part in 0..count {
        let values = [place[0].clone(), place[1].clone(), (&part as _, Type::INT8)];
        let rows = link.query("SELECT body FROM mailmill_snapshot WHERE log = $1 AND seq = $2 AND part = $3", &values).await?;
        // A newer snapshot may have replaced this one in the meantime.
        let row = rows.first().ok_or(Error::SnapshotReplaced { store })?;
        each(unpack(store, position, row.get(0))?)?;
    }
    Ok(position)
}
