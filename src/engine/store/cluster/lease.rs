//! The lease, which determines which node leads and until when, according to the database's clock.

use std::time::Duration;

use tokio_postgres::types::Type;

use super::database::Link;
use super::{Error, Result};
use crate::base::clock::{Clock, Timestamp};
use crate::engine::store::commit_log::StoreName;
use crate::vocab::limits;

/// The number of a lease, which grows by one each time a process takes the lease.
pub type Epoch = i64;

/// The process that has the lease, or had it last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub epoch: Epoch,
    /// The random name of the process, which is different after each start.
    pub process: String,
    /// The node's name in its settings.
    pub node: String,
    /// The address that other nodes use to reach this node.
    pub address: String,
    /// The remaining time of the lease in milliseconds, according to the database's clock; negative if the lease has expired.
    pub remaining_ms: i64,
    /// The node that has reported a loss of commits; empty if there is none, or if the operator has accepted the loss.
    pub loss: String,
}

/// A process that wants to take the lease.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub process: String,
    pub node: String,
    pub address: String,
}

/// Reads which process has the lease, or had it last.
pub async fn read(link: &mut Link) -> Result<Holder> {
    let select = "SELECT epoch, holder, node, address, CAST(extract(epoch FROM (expires - now())) * 1000 AS bigint), \
                  (SELECT coalesce(max(loss), '') FROM mailmill_cluster) FROM mailmill_lease ORDER BY expires DESC";
    let rows = link.query(select, &[]).await?;
    let row = rows.first().ok_or(Error::NotInitialized)?;
    let (epoch, process, node, address) = (row.get(0), row.get(1), row.get(2), row.get(3));
    Ok(Holder { epoch, process, node, address, remaining_ms: row.get(4), loss: row.get(5) })
}

/// Returns how far the clock of this machine is ahead of the database's clock, in milliseconds; negative if it is behind.
pub async fn clock_offset_ms(link: &mut Link, clock: &dyn Clock) -> Result<i64> {
    let select = "SELECT CAST(extract(epoch FROM now()) * 1000 AS bigint)";
    // Open the connection first, so that only the time of the statement counts.
    link.query(select, &[]).await?;
    let before = clock.now();
    let rows = link.query(select, &[]).await?;
    let row = rows.first().ok_or_else(|| Error::Database("the database returned no time".to_owned()))?;
    let middle = before.plus_ms(clock.now().ms_since(before) / 2);
    Ok(middle.ms_since(Timestamp(row.get(0))))
}

/// Takes the lease for `time` if the lease still has the epoch `after`, which the process has checked, and has expired or ends implausibly
/// late. Returns the new epoch. Returns `None` if the lease is valid, if it has changed, for example because another process was faster, or
/// if a loss of commits was reported. All rows of the lease expire at the same time, so a process takes either all of them or none.
pub async fn acquire(link: &mut Link, candidate: &Candidate, time: Duration, after: Epoch) -> Result<Option<Epoch>> {
    let update = "UPDATE mailmill_lease SET epoch = epoch + 1, holder = $1, node = $2, address = $3, \
                  expires = now() + CAST($4 AS float8) * INTERVAL '1 millisecond' WHERE epoch = $5 \
                  AND (expires <= now() OR expires > now() + CAST($6 AS float8) * INTERVAL '1 millisecond') \
                  AND NOT EXISTS (SELECT 1 FROM mailmill_cluster WHERE loss <> '') RETURNING epoch";
    let (ms, ms_max) = (time.as_millis() as f64, limits::CLUSTER_LEASE_MS_MAX as f64);
    let values = [
        (&candidate.process as _, Type::TEXT),
        (&candidate.node as _, Type::TEXT),
        (&candidate.address as _, Type::TEXT),
        (&ms as _, Type::FLOAT8),
        (&after as _, Type::INT8),
        (&ms_max as _, Type::FLOAT8),
    ];
    let rows = link.query(update, &values).await?;
    let epochs: Vec<Epoch> = rows.iter().map(|row| row.get(0)).collect();
    match epochs.first() {
        Some(epoch) if epochs == [*epoch; StoreName::ALL.len()] => Ok(Some(*epoch)),
        None => Ok(None),
        Some(_) => {
            Err(Error::Damaged(format!("the rows of mailmill_lease are incomplete, or have different epochs: {epochs:?}")))
        }
    }
}

/// Extends the lease to end `time` from now. Returns false if another process has taken it, or if a loss of commits was reported.
pub async fn renew(link: &mut Link, process: &str, epoch: Epoch, time: Duration) -> Result<bool> {
    let update = "UPDATE mailmill_lease SET expires = now() + CAST($3 AS float8) * INTERVAL '1 millisecond' \
                  WHERE holder = $1 AND epoch = $2 AND NOT EXISTS (SELECT 1 FROM mailmill_cluster WHERE loss <> '')";
    let ms = time.as_millis() as f64;
    let values = [(&process as _, Type::TEXT), (&epoch as _, Type::INT8), (&ms as _, Type::FLOAT8)];
    Ok(link.execute(update, &values).await? == StoreName::ALL.len())
}

/// Ends the lease immediately, so that another process can take it.
pub async fn release(link: &mut Link, process: &str, epoch: Epoch) -> Result<()> {
    let update = "UPDATE mailmill_lease SET expires = now() - INTERVAL '1 millisecond' WHERE holder = $1 AND epoch = $2";
    link.execute(update, &[(&process as _, Type::TEXT), (&epoch as _, Type::INT8)]).await?;
    Ok(())
}

/// Records that `node` has found that the database has lost commits. `own` are the positions of the node's newest commits. Until the operator
/// accepts the loss, no process takes or renews the lease: a node without these commits must not continue silently.
///
/// Records nothing if it is too late: the operator has accepted a loss since the process started, when the number of accepted losses was
/// `accepted`, or other nodes have continued without the commits for [`limits::CLUSTER_LOSS_REPORT_TIME`].
pub async fn report_loss(link: &mut Link, node: &str, accepted: i64, own: [u64; StoreName::ALL.len()]) -> Result<()> {
    let update = "UPDATE mailmill_cluster SET loss = $1 WHERE loss = '' AND losses_accepted = $2 AND NOT EXISTS (SELECT 1 FROM mailmill_log \
                  WHERE at < now() - CAST($3 AS float8) * INTERVAL '1 second' AND ((log = 'control' AND seq > $4) \
                  OR (log = 'test' AND seq > $5) OR (log = 'live' AND seq > $6)))";
    let seconds = limits::CLUSTER_LOSS_REPORT_TIME.as_secs_f64();
    let [control, test, live] = own.map(|position| position as i64);
    let values = [
        (&node as _, Type::TEXT),
        (&accepted as _, Type::INT8),
        (&seconds as _, Type::FLOAT8),
        (&control as _, Type::INT8),
        (&test as _, Type::INT8),
        (&live as _, Type::INT8),
    ];
    link.execute(update, &values).await?;
    Ok(())
}

/// Lets the cluster continue without the commits that the database has lost. Returns whether a loss was reported.
pub async fn accept_loss(link: &mut Link) -> Result<bool> {
    let update = "UPDATE mailmill_cluster SET loss = '', losses_accepted = losses_accepted + 1 WHERE loss <> ''";
    Ok(link.execute(update, &[]).await? > 0)
}
