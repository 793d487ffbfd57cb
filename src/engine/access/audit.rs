//! The audit log: one row per command, written in the command's own transaction.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use std::ops::ControlFlow;

use crate::engine::store::{self, Order, Read, Record, Span, Table, WriteTx, key::Key};
use crate::vocab::ids::{AccountId, KeyId, UserId};
use crate::vocab::limits;
use crate::vocab::tables;

const AUDIT: Table<(Timestamp, u64), AuditRecord> = Table::new(tables::AUDIT);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// The ID of the operation that ran, such as `contacts.create`.
    pub operation: String,
    /// The API key that was used; `None` if a user or the operator ran the command.
    pub key: Option<KeyId>,
    /// The user who ran the command; `None` for API keys and for the operator of the machine.
    pub user: Option<UserId>,
    /// The account that the command belongs to; `None` for the operator of the machine.
    pub account: Option<AccountId>,
    /// The ID of the request that ran the command.
    pub request: String,
}

impl Record for AuditRecord {}

/// Adds an entry to the audit log; `number` distinguishes entries of the same millisecond.
pub fn note(tx: &mut WriteTx<'_>, number: u64, record: &AuditRecord) {
    let at = tx.now();
    tx.put(AUDIT, &(at, number), record);
}

/// An entry of the audit log, with its time and number.
pub type AuditRow = ((Timestamp, u64), AuditRecord);

/// Returns up to `limit` of the newest entries before `before` that `wanted` selects, newest first. Reads a bounded number of rows.
pub fn newest(
    tx: &impl Read,
    before: Option<(Timestamp, u64)>,
    limit: usize,
    wanted: impl Fn(&AuditRecord) -> bool,
) -> store::Result<Vec<AuditRow>> {
    let span = Span { from: Vec::new(), to: before.map(|place| place.to_bytes()) };
    let (mut found, mut walked) = (Vec::new(), 0);
    tx.visit(AUDIT, &span, Order::Backward, |place, record| {
        walked += 1;
        if wanted(&record) {
            found.push((place, record));
        }
        let has_room = found.len() < limit && walked < limits::AUDIT_WALK_MAX;
        Ok(if has_room { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(found)
}

/// Deletes up to `limit` audit entries older than the retention period; returns true if there may be more.
pub fn sweep(tx: &mut WriteTx<'_>, limit: usize) -> store::Result<bool> {
    let end = tx.now().plus_ms(-limits::AUDIT_KEPT_MS);
    let span = Span { from: Vec::new(), to: Some((end,).to_bytes()) };
    Ok(tx.delete_span(AUDIT, &span, limit)? == limit)
}
