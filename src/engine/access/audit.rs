//! The audit log. Each command writes its audit row in its own transaction.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use std::ops::ControlFlow;

use crate::engine::store::{self, Order, Read, Record, RowCheck, Span, Table, WriteTx, key::Key};
use crate::vocab::ids::{AccountId, KeyId, UserId};
use crate::vocab::limits;
use crate::vocab::tables;

const AUDIT: Table<(Timestamp, u64), AuditRecord> = Table::new(tables::AUDIT);

/// The check of `mailmill check-data` that decodes every row of the audit log.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(AUDIT)];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// The ID of the operation that ran, such as `contacts.create`.
    pub operation: String,
    /// The API key that was used; `None` for users, anonymous callers and the operator.
    pub key: Option<KeyId>,
    /// The user who ran the command; `None` for API keys, anonymous callers and the operator.
    pub user: Option<UserId>,
    /// The account of the caller; `None` for anonymous callers and the operator.
    pub account: Option<AccountId>,
    /// The ID of the request that ran the command.
    pub request: String,
}

impl Record for AuditRecord {}

/// Adds an entry to the audit log; `number` distinguishes entries with the same timestamp.
pub fn note(tx: &mut WriteTx<'_>, number: u64, record: &AuditRecord) {
    let at = tx.now();
    tx.put(AUDIT, &(at, number), record);
}

/// An entry of the audit log, with its time and number.
pub type AuditRow = (AuditPlace, AuditRecord);

/// A position in the audit log: the time and the number of an entry.
pub type AuditPlace = (Timestamp, u64);

/// Returns up to `limit` entries that precede `before` and that `wanted` selects, newest first, and the position at which to continue if
/// there may be more. Reads a bounded number of rows, so a page can have fewer entries than `limit`.
pub fn newest(
    tx: &impl Read,
    before: Option<AuditPlace>,
    limit: usize,
    wanted: impl Fn(&AuditRecord) -> bool,
) -> store::Result<(Vec<AuditRow>, Option<AuditPlace>)> {
    let span = Span { from: Vec::new(), to: before.map(|place| place.to_bytes()) };
    let (mut found, mut walked, mut next) = (Vec::new(), 0, None);
    tx.visit(AUDIT, &span, Order::Backward, |place, record| {
        walked += 1;
        if wanted(&record) {
            if found.len() == limit {
                next = found.last().map(|(place, _): &AuditRow| *place);
                return Ok(ControlFlow::Break(()));
            }
            found.push((place, record));
        }
        if walked < limits::AUDIT_WALK_MAX {
            return Ok(ControlFlow::Continue(()));
        }
        next = Some(place);
        Ok(ControlFlow::Break(()))
    })?;
    Ok((found, next))
}

/// Deletes up to `limit` audit entries older than the retention period; returns true if there may be more.
pub fn sweep(tx: &mut WriteTx<'_>, limit: usize) -> store::Result<bool> {
    let end = tx.now().plus_ms(-limits::AUDIT_KEPT_MS);
    let span = Span { from: Vec::new(), to: Some((end,).to_bytes()) };
    Ok(tx.delete_span(AUDIT, &span, limit)? == limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn a_page_states_where_to_continue_only_if_there_may_be_more() {
        let app = TestApp::new();
        let entries = limits::AUDIT_WALK_MAX as u64 + 3;
        let write = move |tx: &mut WriteTx<'_>| {
            for number in 0..entries {
                let operation = if number < 3 { "tags.create" } else { "contacts.create" }.to_owned();
                let record = AuditRecord { operation, key: None, user: None, account: None, request: String::new() };
                tx.put(AUDIT, &(Timestamp(1), number), &record);
            }
            Ok::<_, store::Error>(())
        };
        app.wait(app.data().store.write(write)).expect("the store is open").expect("the entries can be written");
        let is_tag = |record: &AuditRecord| record.operation == "tags.create";
        let pages = |limit: usize| {
            let (mut numbers, mut before) = (Vec::new(), None);
            loop {
                let (found, next) = newest(&app.read(), before, limit, is_tag).expect("the store can be read");
                numbers.push(found.iter().map(|((_, number), _)| *number).collect::<Vec<_>>());
                let Some(next) = next else { return numbers };
                before = Some(next);
            }
        };
        // The first page reads the maximum number of rows, and finds no matching entry.
        assert_eq!(pages(3), [vec![], vec![2, 1, 0]]);
        assert_eq!(pages(2), [vec![], vec![2, 1], vec![0]]);
    }
}
