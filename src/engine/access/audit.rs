//! The audit log: one row per command, written in the command's own transaction.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use std::ops::ControlFlow;

use crate::engine::store::codec::decode_fields;
use crate::engine::store::{self, Order, Read, Record, Span, Table, WriteTx, key::Key};
use crate::vocab::ids::{AccountId, KeyId, UserId};
use crate::vocab::limits;
use crate::vocab::tables;

const AUDIT: Table<(Timestamp, u64), AuditRecord> = Table::new(tables::AUDIT);

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// The operation's id.
    pub operation: String,
    /// The key that was used; `None` for users.
    pub key: Option<KeyId>,
    /// The user; `None` for keys and for the operator of the machine.
    pub user: Option<UserId>,
    /// The account; `None` for the operator of the machine.
    pub account: Option<AccountId>,
    /// The request's id.
    pub request: String,
}

impl Record for AuditRecord {
    const VERSION: u8 = 2;

    fn upgrade(version: u8, bytes: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct First {
            operation: String,
            key: Option<KeyId>,
            request: String,
        }
        let First { operation, key, request } = (version == 1).then(|| decode_fields(bytes)).flatten()?;
        Some(Self { operation, key, user: None, account: None, request })
    }
}

/// Adds an entry; `number` distinguishes entries of one millisecond.
pub fn note(tx: &mut WriteTx<'_>, number: u64, record: &AuditRecord) {
    let at = tx.now();
    tx.put(AUDIT, &(at, number), record);
}

/// An entry, with its time.
pub type AuditRow = ((Timestamp, u64), AuditRecord);

/// The newest `limit` entries before `before` that are `wanted`, newest first; reads a bounded number of rows.
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

/// Deletes entries older than the retention, a bounded number; returns true if there may be more.
pub fn sweep(tx: &mut WriteTx<'_>, limit: usize) -> store::Result<bool> {
    let end = tx.now().plus_ms(-limits::AUDIT_KEPT_MS);
    let span = Span { from: Vec::new(), to: Some((end,).to_bytes()) };
    Ok(tx.delete_span(AUDIT, &span, limit)? == limit)
}
