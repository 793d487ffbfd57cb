//! The change feed: which rows changed, in commit order, written in the transaction of the change.
//!
//! Whatever is derived from the tables (the search index) follows this feed and keeps, in its own commit, the position it has
//! come to. So after a crash it goes on where it was: nothing is missed and nothing needs to be compared.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::codec::Record;
use super::port::{Order, Snapshot, Span};
use super::tx::{Read, ReadTx, Table, WriteTx};
use super::{Result, key::Key};
use crate::vocab::tables;

const FEED: Table<u64, Change> = Table::new(tables::FEED);

/// Rows `first..=last` of one scope changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Whose rows: the project's id.
    pub scope: [u8; 12],
    /// The first number that changed.
    pub first: u32,
    /// The last number that changed.
    pub last: u32,
    /// The rows are new: nothing derived from them exists yet.
    pub fresh: bool,
}

impl Record for Change {}

impl WriteTx<'_> {
    /// Note a change in the feed.
    pub fn feed(&mut self, change: &Change) {
        let position = self.feed_next;
        self.feed_next += 1;
        self.put(FEED, &position, change);
    }
}

/// Up to `limit` changes after `position`, with their positions.
pub fn after(tx: &impl Read, position: u64, limit: usize) -> Result<Vec<(u64, Change)>> {
    tx.list(FEED, &Span { from: (position + 1).to_bytes(), to: None }, Order::Forward, limit)
}

/// Forget up to `limit` changes up to `position`. The newest row always stays: it is what the next position is counted from.
pub fn forget(tx: &mut WriteTx<'_>, position: u64, limit: usize) -> Result<usize> {
    let last = newest_position(tx)?;
    let span = Span { from: Vec::new(), to: Some((position + 1).min(last).to_bytes()) };
    tx.delete_span(FEED, &span, limit)
}

/// The position of the newest change; 0 before the first.
fn newest_position(tx: &impl Read) -> Result<u64> {
    Ok(tx.list(FEED, &Span::default(), Order::Backward, 1)?.first().map_or(0, |(position, _)| *position))
}

/// A read transaction on `snapshot`, with its feed position.
pub(super) fn newest(snapshot: Arc<dyn Snapshot>) -> Result<ReadTx> {
    let mut tx = ReadTx { snapshot, feed_position: 0, memo: Arc::default() };
    // The control file has no feed.
    tx.feed_position = newest_position(&tx).or_else(|error| match error {
        super::Error::Io(_) => Ok(0),
        other => Err(other),
    })?;
    Ok(tx)
}
