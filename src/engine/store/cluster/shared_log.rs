//! The log of one store in the database: appends records and reads them.

use tokio::time::Instant;
use tokio_postgres::types::Type;

use super::database::{Database, Failure, Link};
use super::lease::Epoch;
use super::{Error, Result};
use crate::engine::store::commit_log::{self, Links, Record, StoreName, Unreadable};
use crate::vocab::limits;

/// The compression level of zstd. Every commit waits for the compression, and higher levels save little space.
const LEVEL: i32 = 1;
/// The format version of packed records, which is their first byte. Also increase it when the format of a row changes: nodes of older
/// versions then stop, instead of reading rows that they cannot decode.
const FORMAT: u8 = 1;

/// The result of an append whose outcome is known.
#[derive(Debug, PartialEq, Eq)]
pub enum Appended {
    Done,
    /// The record is not in the log, because another process has taken the lease.
    Fenced,
}

/// A connection to the log of one store.
pub struct SharedLog {
    store: StoreName,
    link: Link,
    /// Whether appends skip the check of the lease: a deliberate bug that the tests of the cluster must detect.
    #[cfg(test)]
    is_unchecked: bool,
}

impl SharedLog {
    pub fn new(store: StoreName, database: std::sync::Arc<Database>) -> Self {
        Self {
            store,
            link: Link::new(database),
            #[cfg(test)]
            is_unchecked: false,
        }
    }

    #[cfg(test)]
    pub fn set_unchecked(&mut self, is_unchecked: bool) {
        self.is_unchecked = is_unchecked;
    }

    /// Appends a record if this process still has the lease. Repeats the append until the outcome is known, an error is permanent,
    /// or `is_stopping` returns true.
    pub async fn append(&mut self, position: u64, epoch: Epoch, body: &[u8], is_stopping: impl Fn() -> bool) -> Result<Appended> {
        let mut warned = None;
        loop {
            let sent = self.send(position, epoch, body).await;
            let known = match sent {
                Ok(true) => return Ok(Appended::Done),
                Ok(false) | Err(Failure::Taken) => self.outcome(position, epoch, body).await,
                Err(Failure::Unknown(error)) => Err(error),
            };
            match known {
                Ok(Some(appended)) => return Ok(appended),
                // The record is absent and this process has the lease, so the append is repeated.
                Ok(None) => {}
                Err(error) if !error.is_temporary() => return Err(error),
                Err(error) => self.warn(error, &mut warned),
            }
            if is_stopping() {
                return Err(Error::Stopping);
            }
            tokio::time::sleep(limits::CLUSTER_RETRY_PAUSE).await;
            // Determine the outcome of the previous attempt before the next attempt.
            match self.outcome(position, epoch, body).await {
                Ok(Some(appended)) => return Ok(appended),
                Ok(None) => {}
                Err(error) if !error.is_temporary() => return Err(error),
                Err(_) => tokio::time::sleep(limits::CLUSTER_RETRY_PAUSE).await,
            }
        }
    }

    /// Logs why the outcome of an append is unknown: immediately if the reason is new, and otherwise at intervals.
    fn warn(&self, error: Error, warned: &mut Option<(Error, Instant)>) {
        if warned.as_ref().is_none_or(|(last, at)| *last != error || at.elapsed() >= limits::CLUSTER_WARN_PAUSE) {
            tracing::warn!(store = self.store.word(), %error, "an append has no known outcome yet");
            *warned = Some((error, Instant::now()));
        }
    }

    /// Sends one append. Returns false if the lease was lost or the previous record is missing.
    async fn send(&mut self, position: u64, epoch: Epoch, body: &[u8]) -> Result<bool, Failure> {
        // `FOR SHARE` locks the row of the lease: a process that takes the lease waits for this append, and a later append finds a
        // different epoch.
        let checked = "WITH lease AS (SELECT epoch FROM mailmill_lease WHERE log = $1 AND epoch = $3 FOR SHARE) \
             INSERT INTO mailmill_log (log, seq, epoch, batch, at) SELECT $1, $2, $3, $4, now() FROM lease \
             WHERE EXISTS (SELECT 1 FROM mailmill_log WHERE log = $1 AND seq = $2 - 1) \
                OR EXISTS (SELECT 1 FROM mailmill_snapshot WHERE log = $1 AND seq = $2 - 1 AND complete)";
        let seq = position as i64;
        let store = self.store.word();
        let values = [(&store as _, Type::TEXT), (&seq as _, Type::INT8), (&epoch as _, Type::INT8), (&body as _, Type::BYTEA)];
        #[cfg(test)]
        if self.is_unchecked {
            let unchecked = "INSERT INTO mailmill_log (log, seq, epoch, batch, at) SELECT $1, $2, $3, $4, now()";
            return Ok(self.link.execute(unchecked, &values).await? == 1);
        }
        Ok(self.link.execute(checked, &values).await? == 1)
    }

    /// Determines the outcome of an append. Returns `None` if the record is absent and can be appended again.
    async fn outcome(&mut self, position: u64, epoch: Epoch, body: &[u8]) -> Result<Option<Appended>> {
        let (seq, store) = (position as i64, self.store.word());
        let values = [(&store as _, Type::TEXT), (&seq as _, Type::INT8)];
        // Read the lease before the record: if the lease is lost, none of this process's appends is still running, so an absent
        // record stays absent.
        let leases = self.link.query("SELECT epoch FROM mailmill_lease WHERE log = $1", &values[..1]).await?;
        let is_ours = leases.first().is_some_and(|row| row.get::<_, Epoch>(0) == epoch);
        let found = self.link.query("SELECT batch FROM mailmill_log WHERE log = $1 AND seq = $2", &values).await?;
        if let Some(row) = found.first() {
            let there: &[u8] = row.get(0);
            if there != body {
                return Ok(Some(Appended::Fenced));
            }
            // A synchronous standby may not have the record yet: after a restart, a database shows commits even if it had not yet waited
            // for the standby. The commit of this update waits until the standby has everything before it. If another process has the
            // lease, nothing is updated, but that process's own commits have waited for the standby.
            let touch = "UPDATE mailmill_lease SET expires = expires WHERE log = $1 AND epoch = $2";
            self.link.execute(touch, &[(&store as _, Type::TEXT), (&epoch as _, Type::INT8)]).await?;
            return Ok(Some(Appended::Done));
        }
        if !is_ours {
            return Ok(Some(Appended::Fenced));
        }
        let newest = self.newest().await?;
        if newest + 1 < position {
            return Err(Error::Lost { store: self.store, own: position - 1, newest });
        }
        Ok(None)
    }

    /// Reads up to [`limits::CLUSTER_RECORDS_PER_READ`] records after `position`, oldest first, in packed form.
    pub async fn after(&mut self, position: u64) -> Result<Vec<(u64, Vec<u8>)>> {
        let select = "SELECT seq, batch FROM mailmill_log WHERE log = $1 AND seq > $2 ORDER BY seq LIMIT $3";
        let (seq, store, limit) = (position as i64, self.store.word(), limits::CLUSTER_RECORDS_PER_READ as i64);
        let values = [(&store as _, Type::TEXT), (&seq as _, Type::INT8), (&limit as _, Type::INT8)];
        let rows = self.link.query(select, &values).await?;
        Ok(rows.iter().map(|row| (row.get::<_, i64>(0) as u64, row.get(1))).collect())
    }

    /// Returns the position of the newest record or the newest snapshot, whichever is greater; 0 if there is neither.
    pub async fn newest(&mut self) -> Result<u64> {
        let select = "SELECT greatest(coalesce((SELECT max(seq) FROM mailmill_log WHERE log = $1), 0), \
                      coalesce((SELECT max(seq) FROM mailmill_snapshot WHERE log = $1 AND complete), 0))";
        let rows = self.link.query(select, &[(&self.store.word(), Type::TEXT)]).await?;
        Ok(rows.first().map_or(0, |row| row.get::<_, i64>(0) as u64))
    }

    /// Checks that the log can continue a file whose newest record has this position and ID: the log has this record, unless truncation
    /// deleted it, and the records after it.
    pub async fn check(&mut self, position: u64, id: [u8; 16]) -> Result<()> {
        let (store, newest) = (self.store, self.newest().await?);
        if newest < position {
            return Err(Error::Lost { store, own: position, newest });
        }
        if newest > position && self.after(position).await?.first().is_none_or(|(next, _)| *next != position + 1) {
            return Err(Error::Behind { store });
        }
        match self.at(position).await? {
            Some(record) if Links::of(&record.batch).is_some_and(|links| links.own != id) => {
                Err(Error::Diverged { store, position })
            }
            // Truncation always keeps the newest record. If the log ends at this position but lacks the record, nothing was appended since
            // the import that created the log, so the file's record comes from a different log.
            None if newest == position && id != Links::default().own => Err(Error::Diverged { store, position }),
            _ => Ok(()),
        }
    }

    /// Returns the record at a position, if the log still has it.
    pub async fn at(&mut self, position: u64) -> Result<Option<Record>> {
        let (seq, store) = (position as i64, self.store.word());
        let values = [(&store as _, Type::TEXT), (&seq as _, Type::INT8)];
        let rows = self.link.query("SELECT batch FROM mailmill_log WHERE log = $1 AND seq = $2", &values).await?;
        rows.first().map(|row| unpack(self.store, position, row.get(0))).transpose()
    }
}

/// Returns the result of [`SharedLog::newest`] for every log, in the order of [`StoreName::ALL`].
pub async fn ends(link: &mut Link) -> Result<[u64; StoreName::ALL.len()]> {
    let select = "SELECT log, greatest(coalesce((SELECT max(seq) FROM mailmill_log WHERE log = lease.log), 0), \
                  coalesce((SELECT max(seq) FROM mailmill_snapshot WHERE log = lease.log AND complete), 0)) FROM mailmill_lease AS lease";
    let rows = link.query(select, &[]).await?;
    let end = |store: StoreName| rows.iter().find(|row| row.get::<_, &str>(0) == store.word());
    Ok(StoreName::ALL.map(|store| end(store).map_or(0, |row| row.get::<_, i64>(1) as u64)))
}

/// Compresses an encoded record, and adds a header with its format and length.
pub fn pack(encoded: &[u8]) -> Result<Vec<u8>> {
    let compressed = zstd::bulk::compress(encoded, LEVEL);
    let compressed = compressed
        .map_err(|error| Error::Local(format!("a record of the cluster's log cannot be compressed: {error}; report this bug")))?;
    let length = u32::try_from(encoded.len()).ok().filter(|length| *length as usize <= limits::CLUSTER_RECORD_BYTES_MAX);
    let length = length.ok_or_else(|| {
        Error::Local("a commit is too large for the log of the cluster; make the change in smaller steps".to_owned())
    })?;
    let mut body = Vec::with_capacity(compressed.len() + 5);
    body.push(FORMAT);
    body.extend_from_slice(&length.to_le_bytes());
    body.extend_from_slice(&compressed);
    Ok(body)
}

/// Unpacks a record that [`pack`] created. A record of another store or position counts as damaged.
pub fn unpack(store: StoreName, position: u64, body: &[u8]) -> Result<Record> {
    let damaged = || Error::Damaged(format!("commit {position} of the {} store cannot be read", store.word()));
    let (length, compressed) = match body {
        [1..=FORMAT, length @ ..] => length.split_first_chunk::<4>().ok_or_else(damaged)?,
        [0, ..] => return Err(damaged()),
        [_, ..] => return Err(Error::Newer),
        [] => return Err(damaged()),
    };
    let length = u32::from_le_bytes(*length) as usize;
    if length > limits::CLUSTER_RECORD_BYTES_MAX {
        return Err(damaged());
    }
    let encoded = zstd::bulk::decompress(compressed, length).map_err(|_| damaged())?;
    let record = commit_log::decode(&mut encoded.as_slice()).map_err(|unreadable| match unreadable {
        Unreadable::Newer => Error::Newer,
        Unreadable::Damaged => damaged(),
    })?;
    if (record.store, record.position) == (store, position) { Ok(record) } else { Err(damaged()) }
}
