//! The hold on sending: after a restore, or on a copy of a data folder, nothing is sent by itself until a person decides.
//!
//! What was in progress when the data was saved may have been sent since, by the folder that it was copied from. So campaigns, retries,
//! schedules and webhook deliveries wait; what a request asks for afterwards is sent as usual. Holds are numbered, and each mailing and
//! schedule carries the number of the last hold before it: clocks, which may be wrong after a restore, decide nothing. The hold is a row
//! of the control store, so that it outlives restarts, and a value in memory, so that reading it costs nothing. It does not know what
//! waits.

use std::fmt;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::base::clock::Timestamp;
use crate::engine::store::{Error, Read, Result, Table, WriteTx};
use crate::vocab::tables;

const META: Table<String, Vec<u8>> = Table::new(tables::META);
/// In [`META`] of the control store.
const HOLD: &str = "hold";
/// In [`META`] of every store: the number of the last hold.
const NUMBER: &str = "hold_number";

/// The number of a hold: the first is 1. What was created before any hold carries 0.
pub type HoldNumber = u64;

/// Sending is on hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnHold {
    /// For people to read. It decides nothing.
    pub since: Timestamp,
    pub number: HoldNumber,
    pub cause: Cause,
}

/// Why sending is on hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Cause {
    /// The data is that of a backup made at this time.
    Restored { made_at: String },
    /// The folder is a copy of the one that it was opened in before; in words, what shows that.
    Copied { sign: String },
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Restored { made_at } => write!(f, "this data was restored from the backup made at {made_at}"),
            Self::Copied { sign } => write!(f, "this data folder is a copy: {sign}"),
        }
    }
}

impl OnHold {
    /// Whether this hold holds what was created after the hold of this number and before the next.
    pub fn holds(&self, number: HoldNumber) -> bool {
        number < self.number
    }
}

/// Whether sending is on hold.
pub struct Hold(watch::Sender<Option<OnHold>>);

impl Hold {
    /// As the control store says.
    pub fn new(now: Option<OnHold>) -> Self {
        Self(watch::Sender::new(now))
    }

    /// Whether sending is on hold. As cheap as a look at a number.
    pub fn is_on(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Since when and why, if it is.
    pub fn current(&self) -> Option<OnHold> {
        self.0.borrow().clone()
    }

    /// Whether what carries this number must wait.
    pub fn holds(&self, number: HoldNumber) -> bool {
        self.0.borrow().as_ref().is_some_and(|hold| hold.holds(number))
    }

    /// Let sending go on. The row is to be removed before: see [`clear`].
    pub fn release(&self) {
        self.0.send_replace(None);
    }

    /// Ends when sending is not on hold.
    pub async fn released(&self) {
        // The sender is this value itself: it cannot be gone.
        let _ = self.0.subscribe().wait_for(Option::is_none).await;
    }
}

/// The hold that the control store has.
pub fn read(tx: &impl Read) -> Result<Option<OnHold>> {
    let Some(bytes) = tx.get(META, &HOLD.to_owned())? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|_| Error::Corrupt(tables::META.info().name))
}

/// The number of the last hold that the store has seen.
pub fn last_number(tx: &impl Read) -> Result<HoldNumber> {
    let Some(bytes) = tx.get(META, &NUMBER.to_owned())? else { return Ok(0) };
    bytes.try_into().map(HoldNumber::from_be_bytes).map_err(|_| Error::Corrupt(tables::META.info().name))
}

/// Note the number of a new hold; every store needs it.
pub fn set_number(tx: &mut WriteTx<'_>, number: HoldNumber) {
    tx.put(META, &NUMBER.to_owned(), &number.to_be_bytes().to_vec());
}

/// Put sending on hold, as the control store is concerned.
pub fn put(tx: &mut WriteTx<'_>, hold: &OnHold) {
    let bytes = serde_json::to_vec(hold).expect("text and numbers");
    tx.put(META, &HOLD.to_owned(), &bytes);
    set_number(tx, hold.number);
}

/// End the hold, as the control store is concerned.
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
