//! The hold on sending: after a restore or an export from a cluster, or in a copy of a data folder, waiting work is not sent until a user
//! decides what happens to it.
//!
//! Messages that were in progress when the data was saved may have been sent since, from the original folder. So campaigns, retries,
//! schedules, webhook deliveries and generations wait; new requests run as usual. Imports from other services wait even if they are new,
//! because the original installation uses the same accounts. Holds are numbered, and each mailing, schedule and generation stores the
//! number of the last hold before it was created, so that a hold affects only work that was created before the hold. Times are not
//! compared, because clocks may be wrong after a restore. The hold is a row of the control store, so that it survives restarts, and also a
//! value in memory, so that reading it needs no transaction.

use std::fmt;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::base::clock::Timestamp;
use crate::engine::store::{Read, Result, RowCheck, Table, WriteTx};
use crate::vocab::tables;

const META: Table<String, Vec<u8>> = Table::new(tables::META);

pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(META)];

/// The key of the hold, in [`META`] of the control store.
const HOLD: &str = "hold";
/// The key of the last hold's number, in [`META`] of every store.
const NUMBER: &str = "hold_number";

/// The number of a hold, starting at 1. Mailings, schedules and generations created before the first hold have 0.
pub type HoldNumber = u64;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnHold {
    /// When the hold started. Used only for display.
    pub since: Timestamp,
    pub number: HoldNumber,
    pub cause: Cause,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Cause {
    /// The data was restored from a backup made at this time.
    Restored { made_at: String },
    /// The data was exported from a cluster at this time.
    Exported { made_at: String },
    /// The data folder is a copy of another data folder; `sign` describes the evidence.
    Copied { sign: String },
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Restored { made_at } => write!(f, "this data was restored from the backup made at {made_at}"),
            Self::Exported { made_at } => write!(f, "this data was exported from a cluster at {made_at}"),
            Self::Copied { sign } => write!(f, "this data folder is a copy: {sign}"),
        }
    }
}

impl OnHold {
    /// Returns whether this hold affects work with this `number`, which is the number of the last hold before the work was created.
    pub fn holds(&self, number: HoldNumber) -> bool {
        number < self.number
    }
}

/// The current state of the hold on sending.
pub struct Hold(watch::Sender<Option<OnHold>>);

impl Hold {
    /// Creates the state from the hold that the control store contains, if any.
    pub fn new(now: Option<OnHold>) -> Self {
        Self(watch::Sender::new(now))
    }

    /// Returns whether sending is on hold.
    pub fn is_on(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Returns the hold, with its time and cause, if sending is on hold.
    pub fn current(&self) -> Option<OnHold> {
        self.0.borrow().clone()
    }

    /// Returns whether a mailing, schedule or generation with this number must wait.
    pub fn holds(&self, number: HoldNumber) -> bool {
        self.0.borrow().as_ref().is_some_and(|hold| hold.holds(number))
    }

    /// Lets sending resume. The row of the hold must be removed before this call: see [`clear`].
    pub fn release(&self) {
        self.0.send_replace(None);
    }

    /// Replaces the state with the control store's state, which another node may have changed.
    pub fn set(&self, now: Option<OnHold>) {
        self.0.send_if_modified(|known| {
            let differs = *known != now;
            *known = now;
            differs
        });
    }

    /// Completes when sending is not on hold.
    pub async fn released(&self) {
        // The wait fails only if the sender was dropped, but `self` owns the sender.
        let _ = self.0.subscribe().wait_for(Option::is_none).await;
    }
}

pub fn read(tx: &impl Read) -> Result<Option<OnHold>> {
    let Some(bytes) = tx.get(META, &HOLD.to_owned())? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|_| tx.corrupt(tables::META))
}

/// Returns the number of the last hold that this store has recorded.
pub fn last_number(tx: &impl Read) -> Result<HoldNumber> {
    let Some(bytes) = tx.get(META, &NUMBER.to_owned())? else { return Ok(0) };
    bytes.try_into().map(HoldNumber::from_be_bytes).map_err(|_| tx.corrupt(tables::META))
}

/// Stores the number of a new hold in this store. The number must be stored in every store.
pub fn set_number(tx: &mut WriteTx<'_>, number: HoldNumber) {
    tx.put(META, &NUMBER.to_owned(), &number.to_be_bytes().to_vec());
}

pub fn put(tx: &mut WriteTx<'_>, hold: &OnHold) {
    let bytes = serde_json::to_vec(hold).expect("a hold has only text and numbers");
    tx.put(META, &HOLD.to_owned(), &bytes);
    set_number(tx, hold.number);
}

pub fn clear(tx: &mut WriteTx<'_>) {
    tx.delete(META, &HOLD.to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_what_was_created_before_the_hold_waits_for_its_end() {
        let cause = Cause::Restored { made_at: "2026-01-01T00:00:00Z".into() };
        let hold = Hold::new(Some(OnHold { since: Timestamp(1_000), number: 2, cause }));
        assert!(hold.is_on() && hold.holds(0) && hold.holds(1) && !hold.holds(2));
        let waiting = hold.released();
        tokio::pin!(waiting);
        assert!(futures_util::poll!(&mut waiting).is_pending());
        hold.release();
        waiting.await;
        assert!(!hold.is_on() && !hold.holds(0));
        hold.released().await;
    }
}
