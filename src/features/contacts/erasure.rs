//! A queue of deleted contacts about whom other features still store data. A deletion adds to it, and those features work through it.
//!
//! Contacts do not know which features store data. A row here keeps the address until the erasure is complete, because some data can be
//! found only by address.

use serde::{Deserialize, Serialize};

use super::model::{Contact, Status};
use crate::base::clock::Timestamp;
use crate::engine::store::{Order, Read, Record, Result, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, ContactId, ProjectId};
use crate::vocab::tables;

const ERASURES: Table<(ProjectId, u32), Erasure> = Table::new(tables::ERASURES);

/// A contact to be erased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erasure {
    pub account: AccountId,
    pub contact: ContactId,
    pub email: String,
    /// The last status. A contact that had unsubscribed or bounced must not be mailed by mistake later.
    pub status: Status,
    pub asked_at: Timestamp,
    /// The next stage of the work.
    pub stage: u8,
    /// Where that stage resumes: the key of the last row it checked.
    pub after: Vec<u8>,
}

impl Record for Erasure {}

/// Queues the erasure of all other data about this contact.
pub(super) fn ask(tx: &mut WriteTx<'_>, account: AccountId, project: ProjectId, contact: &Contact) {
    let erasure = Erasure {
        account,
        contact: contact.id,
        email: contact.email.clone(),
        status: contact.status,
        asked_at: tx.now(),
        stage: 0,
        after: Vec::new(),
    };
    tx.put(ERASURES, &(project, contact.id.number()), &erasure);
}

/// Returns up to `limit` queued erasures.
pub fn waiting(tx: &impl Read, limit: usize) -> Result<Vec<((ProjectId, u32), Erasure)>> {
    tx.list(ERASURES, &Span::default(), Order::Forward, limit)
}

/// Saves the progress of an erasure.
pub fn save(tx: &mut WriteTx<'_>, place: (ProjectId, u32), erasure: &Erasure) {
    tx.put(ERASURES, &place, erasure);
}

/// Removes a completed erasure from the queue.
pub fn finish(tx: &mut WriteTx<'_>, place: (ProjectId, u32)) {
    tx.delete(ERASURES, &place);
}
