//! Who did what: one row per command, in the command's own transaction.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::{self, Record, Span, Table, WriteTx, key::Key};
use crate::vocab::ids::KeyId;
use crate::vocab::limits;
use crate::vocab::tables;

const AUDIT: Table<(Timestamp, u64), Act> = Table::new(tables::AUDIT);

/// One act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    /// The operation's id.
    pub operation: String,
    /// The key it was done with; `None` for the operator of the machine.
    pub key: Option<KeyId>,
    /// The request's id.
    pub request: String,
}

impl Record for Act {}

/// Note an act; `number` tells acts of one millisecond apart.
pub fn note(tx: &mut WriteTx<'_>, number: u64, act: &Act) {
    let at = tx.now();
    tx.put(AUDIT, &(at, number), act);
}

/// Forget acts older than the retention, a bounded number; true if there may be more.
pub fn sweep(tx: &mut WriteTx<'_>, limit: usize) -> store::Result<bool> {
    let end = tx.now().plus_ms(-limits::AUDIT_KEPT_MS);
    let span = Span { from: Vec::new(), to: Some((end,).to_bytes()) };
    Ok(tx.delete_span(AUDIT, &span, limit)? == limit)
}
