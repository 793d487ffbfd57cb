//! Who did what: one row per command, in the command's own transaction.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use std::ops::ControlFlow;

use crate::engine::store::{self, Order, Read, Record, Span, Table, WriteTx, key::Key};
use crate::vocab::ids::{AccountId, KeyId, UserId};
use crate::vocab::limits;
use crate::vocab::tables;

const AUDIT: Table<(Timestamp, u64), AuditRecord> = Table::new(tables::AUDIT);

/// One act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// The operation's id.
    pub operation: String,
    /// The key it was done with; `None` for people.
    pub key: Option<KeyId>,
    /// Who did it; `None` for keys and for the operator of the machine.
    pub user: Option<UserId>,
    /// Whose it was; `None` for the operator of the machine.
    pub account: Option<AccountId>,
    /// The request's id.
    pub request: String,
}

impl Record for AuditRecord {}

/// Note an act; `number` tells acts of one millisecond apart.
pub fn note(tx: &mut WriteTx<'_>, number: u64, record: &AuditRecord) {
    let at = tx.now();
    tx.put(AUDIT, &(at, number), record);
}

/// An act, and when it was.
pub type AuditRow = ((Timestamp, u64), AuditRecord);

/// The newest `limit` acts before `before` that are `wanted`, the newest first; only so many rows are looked at.
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
        let goes_on = found.len() < limit && walked < limits::AUDIT_WALK_MAX;
        Ok(if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(found)
}

/// Forget acts older than the retention, a bounded number; true if there may be more.
pub fn sweep(tx: &mut WriteTx<'_>, limit: usize) -> store::Result<bool> {
    let end = tx.now().plus_ms(-limits::AUDIT_KEPT_MS);
    let span = Span { from: Vec::new(), to: Some((end,).to_bytes()) };
    Ok(tx.delete_span(AUDIT, &span, limit)? == limit)
}
