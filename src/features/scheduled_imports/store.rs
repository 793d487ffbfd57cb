//! The tables of scheduled imports, and all access to them.
//!
//! Invariant: the queue contains a scheduled import, under its due time, if and only if the worker has to process it.

use super::model::ScheduledImport;
use crate::base::clock::Timestamp;
use crate::engine::store::key::Key;
use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, ScheduledImportId};
use crate::vocab::{limits, tables};

const ROWS: Table<(AccountId, ScheduledImportId), ScheduledImport> = Table::new(tables::SCHEDULED_IMPORTS);
const QUEUE: Table<(Timestamp, AccountId, ScheduledImportId), ()> = Table::new(tables::SCHEDULED_IMPORT_QUEUE);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(ROWS), RowCheck::of(QUEUE)];

pub fn find(tx: &impl Read, account: AccountId, id: ScheduledImportId) -> Result<Option<ScheduledImport>> {
    tx.get(ROWS, &(account, id))
}

/// Returns every scheduled import of the account, oldest first.
pub fn all(tx: &impl Read, account: AccountId) -> Result<Vec<ScheduledImport>> {
    let rows = tx.list(ROWS, &ROWS.under(&(account,)), Order::Forward, limits::SCHEDULED_IMPORTS_MAX)?;
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// Returns up to `limit` scheduled imports that are due, earliest due time first.
pub fn due(tx: &impl Read, now: Timestamp, limit: usize) -> Result<Vec<ScheduledImport>> {
    let span = Span { from: Vec::new(), to: Some(now.plus_ms(1).to_bytes()) };
    let mut due = Vec::new();
    for ((_, account, id), ()) in tx.list(QUEUE, &span, Order::Forward, limit)? {
        due.extend(find(tx, account, id)?);
    }
    Ok(due)
}

/// Saves a scheduled import, and updates its entry in the queue. `before` is the stored row, if there is one.
pub fn save(tx: &mut WriteTx<'_>, before: Option<&ScheduledImport>, after: &ScheduledImport) {
    if let Some(before) = before {
        tx.delete(QUEUE, &(before.due_at, before.account, before.id));
    }
    tx.put(ROWS, &(after.account, after.id), after);
    if after.is_queued() {
        tx.put(QUEUE, &(after.due_at, after.account, after.id), &());
    }
}

pub fn delete(tx: &mut WriteTx<'_>, row: &ScheduledImport) {
    tx.delete(ROWS, &(row.account, row.id));
    tx.delete(QUEUE, &(row.due_at, row.account, row.id));
}
