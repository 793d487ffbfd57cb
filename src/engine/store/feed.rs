//! The change feed: the rows that changed, in commit order. Each entry is written in the same transaction as its change.
//!
//! The search index, which contains derived data, follows this feed and stores its feed position in its own commit. After a crash, it
//! continues from that position, so no change is missed and no rows need to be compared.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::codec::Record;
use super::port::{Order, Snapshot, Span};
use super::row_check::RowCheck;
use super::tx::{Read, ReadTx, Table, WriteTx};
use super::{Result, key::Key};
use crate::vocab::tables::{self, DatabaseKind};

const FEED: Table<u64, Change> = Table::new(tables::FEED);

pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(FEED)];

/// A change to the rows `first..=last` of one scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The scope of the rows: the project's ID.
    pub scope: [u8; 12],
    /// The number of the first changed row.
    pub first: u32,
    /// The number of the last changed row.
    pub last: u32,
    /// Whether the rows are new, so that no data has been derived from them yet.
    pub fresh: bool,
}

impl Record for Change {}

impl WriteTx<'_> {
    pub fn feed(&mut self, change: &Change) {
        let position = self.feed_next;
        self.feed_next += 1;
        self.put(FEED, &position, change);
    }
}

/// Returns up to `limit` changes after `position`, with their positions.
pub fn after(tx: &impl Read, position: u64, limit: usize) -> Result<Vec<(u64, Change)>> {
    tx.list(FEED, &Span { from: position.saturating_add(1).to_bytes(), to: None }, Order::Forward, limit)
}

/// Returns whether changes after `position` have already been deleted. A follower of the feed at that position must then start over.
pub fn is_forgotten(tx: &impl Read, position: u64) -> Result<bool> {
    let oldest = tx.list(FEED, &Span::default(), Order::Forward, 1)?;
    Ok(oldest.first().is_some_and(|(oldest, _)| position + 1 < *oldest))
}

/// Deletes the oldest changes up to and including `position`, but at most `limit` of them. The newest change is always kept, because the
/// next position is counted from it.
pub fn forget(tx: &mut WriteTx<'_>, position: u64, limit: usize) -> Result<usize> {
    let last = newest_position(tx)?;
    let span = Span { from: Vec::new(), to: Some(position.saturating_add(1).min(last).to_bytes()) };
    tx.delete_span(FEED, &span, limit)
}

/// Returns the position of the newest change; 0 before the first change.
fn newest_position(tx: &impl Read) -> Result<u64> {
    Ok(tx.list(FEED, &Span::default(), Order::Backward, 1)?.first().map_or(0, |(position, _)| *position))
}

/// Returns a read transaction on `snapshot`, with the feed position of the snapshot. `database_kind` is the kind of the file.
pub(super) fn newest(snapshot: Arc<dyn Snapshot>, database_kind: DatabaseKind) -> Result<ReadTx> {
    let mut tx = ReadTx { snapshot, feed_position: 0, memo: Arc::default() };
    // Return an error if the file cannot be read, because a feed that started at 0 again would assign positions twice.
    if tables::FEED.info().database_kind.is_in(database_kind) {
        tx.feed_position = newest_position(&tx)?;
    }
    Ok(tx)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{open, scratch};
    use super::super::{Error, Store};
    use super::*;

    fn change(first: u32) -> Change {
        Change { scope: [1; 12], first, last: first, fresh: true }
    }

    fn note(store: &Store, first: u32) {
        let noted = store.write_blocking(move |tx| {
            tx.feed(&change(first));
            Ok::<_, ()>(())
        });
        assert_eq!(noted, Ok(Ok(())));
    }

    fn all(store: &Store) -> Vec<(u64, u32)> {
        let changes = after(&store.read(), 0, 1_000).expect("the data is readable");
        changes.into_iter().map(|(position, change)| (position, change.first)).collect()
    }

    #[test]
    fn changes_are_numbered_in_commit_order_and_read_from_any_position() {
        let (_folder, store) = scratch();
        assert_eq!((store.feed_position(), all(&store)), (0, vec![]));
        for first in [10, 20, 30] {
            note(&store, first);
        }
        assert_eq!((store.feed_position(), all(&store)), (3, vec![(1, 10), (2, 20), (3, 30)]));
        let some = after(&store.read(), 1, 1).expect("the data is readable");
        assert_eq!(some, [(2, change(20))]);
        assert_eq!(after(&store.read(), u64::MAX, 9), Ok(vec![]));
        store.close();
    }

    #[test]
    fn positions_continue_after_deletion_and_reopening_and_are_never_reused() {
        let (folder, mut store) = scratch();
        let path = folder.path().join("world.redb");
        for round in 0..4_u32 {
            for step in 0..5 {
                note(&store, round * 5 + step);
            }
            let newest = u64::from(round + 1) * 5;
            let upto = if round % 2 == 0 { newest } else { u64::MAX };
            let forgotten = store
                .write_blocking(move |tx| forget(tx, upto, 1_000))
                .expect("the write succeeds")
                .expect("the data is readable");
            assert_eq!(forgotten, if round == 0 { 4 } else { 5 }, "all changes except the newest are deleted");
            assert_eq!(all(&store), [(newest, round * 5 + 4)]);
            store.close();
            store = open(&path).expect("the store reopens");
            assert_eq!(store.feed_position(), newest);
        }
        store.close();
    }

    #[test]
    fn deletion_is_bounded_and_keeps_changes_after_the_position() {
        let (_folder, store) = scratch();
        for first in 0..6 {
            note(&store, first);
        }
        let forgotten = store.write_blocking(|tx| forget(tx, 4, 3)).expect("the write succeeds").expect("the data is readable");
        assert_eq!((forgotten, all(&store)), (3, vec![(4, 3), (5, 4), (6, 5)]));
        store.close();
    }

    #[test]
    fn a_failed_or_rolled_back_command_uses_no_position_and_loses_no_other_change() {
        let (_folder, store) = scratch();
        // All commands form one group: the first command blocks the writer until the others are waiting.
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let first = store.queue(move |tx| {
            wait.recv().expect("the test continues");
            tx.feed(&change(1));
            Ok::<_, ()>(())
        });
        let failing = store.queue(|tx| {
            tx.feed(&change(2));
            Err::<(), _>(())
        });
        let panicking = store.queue(|tx| -> Result<(), ()> {
            tx.feed(&change(3));
            panic!("on purpose");
        });
        let rolled_back = store.queue(|tx| {
            tx.feed(&change(4));
            tx.roll_back();
            tx.feed(&change(5));
            Ok::<_, ()>(())
        });
        let emptied = store.queue(|tx| {
            tx.feed(&change(6));
            tx.roll_back();
            Ok::<_, ()>(())
        });
        go.send(()).expect("the writer waits");
        let answer = |queued: super::super::Result<tokio::sync::oneshot::Receiver<_>>| {
            queued.expect("the write is queued").blocking_recv().expect("the command gets a response")
        };
        assert_eq!(answer(first), Ok(Ok(())));
        assert_eq!(answer(failing), Ok(Err(())));
        assert_eq!(answer(panicking), Err(Error::Panicked));
        assert_eq!(answer(rolled_back), Ok(Ok(())));
        assert_eq!(answer(emptied), Ok(Ok(())));
        assert_eq!((store.feed_position(), all(&store)), (2, vec![(1, 1), (2, 5)]));
        store.close();
    }
}
