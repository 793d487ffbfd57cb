//! The queue of deleted contacts about which other features still store data. Deleting a contact adds an entry, and `features/tracking`
//! processes the queue.
//!
//! The contacts feature does not depend on the features that store data about contacts. An entry keeps the contact's address until the
//! erasure is complete, because some data can be found only by address.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::{Order, Read, Record, Result, RowCheck, Span, Table, WriteTx};
use crate::features::contact_records::Contact;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{AccountId, ContactId, ProjectId};
use crate::vocab::tables;

const ERASURES: Table<(ProjectId, u32), Erasure> = Table::new(tables::ERASURES);

/// The check that decodes every row of this table.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(ERASURES)];

/// An entry in the queue: a deleted contact whose other data must be erased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erasure {
    pub account: AccountId,
    pub contact: ContactId,
    pub email: String,
    /// The contact's last status, so that an address that had unsubscribed or bounced is not mailed by mistake after the erasure.
    pub status: Status,
    pub asked_at: Timestamp,
    /// The next stage of the erasure.
    pub stage: u8,
    /// The key of the last row that this stage has checked. The stage resumes after this row.
    pub after: Vec<u8>,
}

impl Record for Erasure {}

/// Queues the erasure of all other data about `contact`.
pub fn ask(tx: &mut WriteTx<'_>, account: AccountId, project: ProjectId, contact: &Contact) {
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

/// Returns up to `limit` entries from the queue.
pub fn waiting(tx: &impl Read, limit: usize) -> Result<Vec<((ProjectId, u32), Erasure)>> {
    tx.list(ERASURES, &Span::default(), Order::Forward, limit)
}

/// Saves the progress of an erasure in its entry.
pub fn save(tx: &mut WriteTx<'_>, place: (ProjectId, u32), erasure: &Erasure) {
    tx.put(ERASURES, &place, erasure);
}

/// Removes the entry of a completed erasure from the queue.
pub fn finish(tx: &mut WriteTx<'_>, place: (ProjectId, u32)) {
    tx.delete(ERASURES, &place);
}
