//! Epochs determine which server may write to the target. A server creates the next epoch at each start, and at each retry after an error.
//! Only one server can create a given object, so an epoch belongs to one server.
//!
//! A server proves that it is alive with heartbeats. Other servers recognize a heartbeat by its changed bytes, so no clocks are compared. A
//! server that has been replaced finds the next epoch at its next heartbeat and stops. Parts that it wrote in the meantime are in its own
//! epoch and do no harm.

use std::time::Duration;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};

use super::names::{self, Epoch, PartName, PartNumber, SnapshotName};
use super::spool::State;
use super::target::{SealedTarget, Target};
use super::{Error, Result};
use crate::base::clock::Timestamp;
use crate::engine::store::identity::Installation;
use crate::engine::store::seal::KeyCheck;
use crate::vocab::limits;

/// The format version of the objects in a target.
const FORMAT: u32 = 1;
/// The maximum number of attempts to create an epoch when other servers create the same epoch first.
const RACES_MAX: usize = 3;

/// The first object of an epoch, which is not encrypted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Start {
    pub format: u32,
    /// The version of the program that writes in the epoch.
    pub program: String,
    pub installation: Installation,
    pub key_check: KeyCheck,
    /// The random name of the data folder whose server writes in the epoch.
    pub holder: String,
    /// A random name for this run of the server, which distinguishes it from a run with a copy of the data folder.
    pub run: String,
    /// The name of the machine, for messages.
    pub host: String,
    /// The epoch in which the log started: this epoch, unless it continues an earlier log without a gap.
    pub log_since: Epoch,
    pub first_part: PartNumber,
    /// The maximum time between two heartbeats.
    pub heartbeat_seconds: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Heartbeat {
    /// The log contains all commits up to this time.
    pub complete_until: Timestamp,
    /// The number of the newest log part when the heartbeat was written.
    pub last_part: PartNumber,
}

/// The server that wants to write to the target.
pub struct Candidate<'c> {
    pub installation: &'c Installation,
    pub host: &'c str,
    /// What the data folder knows about the target; `None` if the folder's log cannot be continued.
    pub state: Option<&'c State>,
    /// The complete parts in the data folder that the target might not have yet, oldest first.
    pub waiting: &'c [PartName],
    /// The random name of the data folder.
    pub holder: &'c str,
    pub heartbeat_seconds: u64,
}

/// Returns the newest epoch, with its start; `None` in an empty target.
pub async fn newest(target: &Target) -> Result<Option<(Epoch, Start)>> {
    let names = target.list(names::EPOCHS).await?;
    let Some(epoch) = names.iter().filter(|name| name.ends_with("/start.json")).filter_map(|name| names::epoch_of(name)).max()
    else {
        return Ok(None);
    };
    read_start(target, epoch).await.map(|start| Some((epoch, start)))
}

/// Reads the start of an epoch, which must exist.
pub async fn read_start(target: &Target, epoch: Epoch) -> Result<Start> {
    let missing = || Error::Damaged { object: names::start(epoch), found: "it is missing".to_owned() };
    find_start(target, epoch).await?.ok_or_else(missing)
}

/// Reads the start of an epoch; `None` if it does not exist.
pub async fn find_start(target: &Target, epoch: Epoch) -> Result<Option<Start>> {
    let object = names::start(epoch);
    let damaged = |found: String| Error::Damaged { object: object.clone(), found };
    let Some(text) = target.get(&object).await? else { return Ok(None) };
    let found: serde_json::Value = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
    if found["format"].as_u64().is_some_and(|format| format > u64::from(FORMAT)) {
        return Err(Error::Newer);
    }
    serde_json::from_value(found).map(Some).map_err(|error| damaged(error.to_string()))
}

/// Creates the next epoch. Waits to see whether the server of the newest epoch is alive, unless that server has stopped or used this data
/// folder. Returns the epoch, and its start.
pub async fn begin(sealed: &SealedTarget, candidate: &Candidate<'_>) -> Result<(Epoch, Start)> {
    for _ in 0..RACES_MAX {
        let newest = newest(&sealed.target).await?;
        if let Some((epoch, start)) = &newest {
            if start.installation != *candidate.installation {
                return Err(Error::Foreign { installation: start.installation.name().to_owned() });
            }
            let is_own = start.holder == candidate.holder;
            if !is_own && sealed.target.get(&names::end(*epoch)).await?.is_none() {
                watch(&sealed.target, *epoch, start).await?;
            }
        }
        let epoch = newest.as_ref().map_or(0, |(epoch, _)| *epoch) + 1;
        let log_since = match &newest {
            Some(newest) if continues(sealed, candidate, newest).await? => newest.1.log_since,
            _ => epoch,
        };
        let first_part = candidate.state.map_or(0, |state| state.shipped) + 1;
        let start = Start {
            format: FORMAT,
            program: concat!("mailmill ", env!("CARGO_PKG_VERSION")).to_owned(),
            installation: candidate.installation.clone(),
            key_check: sealed.key_check().clone(),
            holder: candidate.holder.to_owned(),
            run: HEXLOWER.encode(&sealed.random().bytes::<16>()),
            host: candidate.host.to_owned(),
            log_since,
            first_part,
            heartbeat_seconds: candidate.heartbeat_seconds,
        };
        let text = serde_json::to_vec_pretty(&start).expect("the start can be written as JSON");
        if create(&sealed.target, &names::start(epoch), text.into()).await? {
            return Ok((epoch, start));
        }
    }
    let cause =
        "several servers that use this target are starting at the same time. Let only one server use the target".to_owned();
    Err(Error::Target { object: names::EPOCHS.to_owned(), cause })
}

/// Creates the start of an epoch and reads it back, because a damaged start would stop every server. Returns false if the object
/// already exists.
async fn create(target: &Target, object: &str, text: Bytes) -> Result<bool> {
    let is_new = target.create(object, text.clone()).await?;
    if target.get(object).await?.is_some_and(|there| there == text) {
        return Ok(true);
    }
    if is_new {
        target.delete(object).await?;
        let cause = "the stored object differs from what was written. Check the storage of the target".to_owned();
        return Err(Error::Target { object: object.to_owned(), cause });
    }
    Ok(false)
}

/// Returns whether the log in the data folder continues the log of the newest epoch. If the process ended while it created an epoch, the
/// folder does not know that epoch; its log still continues if that epoch has no parts. If the process ended after it wrote a part, the
/// folder still has that part, but might not know that it was written.
///
/// If the target has other parts or snapshots that the folder does not know, the folder was set back to an earlier state, for example with
/// its virtual machine. Its log does not continue, because the target has commits that the folder no longer has.
async fn continues(sealed: &SealedTarget, candidate: &Candidate<'_>, (epoch, start): &(Epoch, Start)) -> Result<bool> {
    let target = &sealed.target;
    let Some(state) = candidate.state.filter(|state| state.holder == start.holder) else { return Ok(false) };
    if start.key_check != *sealed.key_check() || !(start.log_since..=*epoch).contains(&state.epoch) {
        return Ok(false);
    }
    let is_known = |part: &PartName| {
        let is_same = |waiting: &PartName| PartName { epoch: part.epoch, ..*waiting } == *part;
        part.number <= state.shipped || candidate.waiting.first().is_some_and(is_same)
    };
    let own = target.list(&names::log_of(state.epoch)).await?;
    if !own.iter().filter_map(|name| PartName::parse(name)).all(|part| is_known(&part)) {
        return Ok(false);
    }
    for unknown in state.epoch + 1..=*epoch {
        if !target.list(&names::log_of(unknown)).await?.is_empty() {
            return Ok(false);
        }
    }
    // All commits in a snapshot are in complete parts, even if these parts were not shipped before the process ended.
    let complete = candidate.waiting.last().map_or(state.shipped, |part| part.number.max(state.shipped));
    let snapshots = target.list(names::SNAPSHOTS).await?;
    let mut of_log =
        snapshots.iter().filter_map(|name| SnapshotName::parse(name)).filter(|(name, _)| name.epoch >= start.log_since);
    Ok(of_log.all(|(name, _)| name.consistent_at <= complete))
}

/// Waits for several heartbeat periods of the server of `epoch`. Fails if the server writes a heartbeat in this time; returns early if it
/// has stopped.
async fn watch(target: &Target, epoch: Epoch, start: &Start) -> Result<()> {
    let object = names::heartbeat(epoch);
    let period = Duration::from_secs(start.heartbeat_seconds.clamp(1, limits::BACKUP_HEARTBEAT_SECONDS));
    let before: Option<Bytes> = target.get(&object).await?;
    for _ in 0..limits::BACKUP_HEARTBEATS_MISSED {
        tokio::time::sleep(period).await;
        if target.get(&names::end(epoch)).await?.is_some() {
            return Ok(());
        }
        if target.get(&object).await? != before {
            return Err(Error::InUse { host: start.host.clone() });
        }
    }
    Ok(())
}

/// Writes a heartbeat. Fails if another server has started a newer epoch.
pub async fn beat(sealed: &SealedTarget, epoch: Epoch, heartbeat: &Heartbeat) -> Result<()> {
    if sealed.target.get(&names::start(epoch + 1)).await?.is_some() {
        let host = read_start(&sealed.target, epoch + 1).await?.host;
        return Err(Error::TakenOver { host });
    }
    let text = serde_json::to_vec(heartbeat).expect("a heartbeat can be written as JSON");
    sealed.replace(&names::heartbeat(epoch), text).await
}

/// Records that the server has stopped, so that the next server does not need to wait.
pub async fn end(target: &Target, epoch: Epoch) -> Result<()> {
    target.create(&names::end(epoch), Bytes::from_static(b"stopped\n")).await.map(drop)
}

/// Reads the last heartbeat of an epoch; `None` if there is none.
pub async fn heartbeat(sealed: &SealedTarget, epoch: Epoch) -> Result<Option<Heartbeat>> {
    let object = names::heartbeat(epoch);
    let Some(text) = sealed.get(&object).await? else { return Ok(None) };
    let damaged = |error: serde_json::Error| Error::Damaged { object: object.clone(), found: error.to_string() };
    serde_json::from_slice(&text).map(Some).map_err(damaged)
}
