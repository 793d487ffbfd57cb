//! Deleted contacts of whom others still keep something: a queue that a deletion writes and that whoever keeps it works off.
//!
//! Contacts do not know who keeps what. A row here holds the address for as long as that takes, because some things are found by
//! nothing else.

use serde::{Deserialize, Serialize};

use super::model::{Contact, Status};
use crate::base::clock::Timestamp;
use crate::engine::store::{Order, Read, Record, Result, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, ContactId, ProjectId};
use crate::vocab::tables;

const ERASURES: Table<(ProjectId, u32), Erasure> = Table::new(tables::ERASURES);

/// A person to be erased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erasure {
    pub account: AccountId,
    pub contact: ContactId,
    pub email: String,
    /// The last status: whoever had unsubscribed or bounced must not be mailed by mistake later.
    pub status: Status,
    pub asked_at: Timestamp,
    /// Which stage of the work is next.
    pub stage: u8,
    /// Where that stage goes on: the key of the last row it has looked at.
    pub after: Vec<u8>,
}

impl Record for Erasure {}

/// Have everything else that is kept of this person erased.
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

/// Up to `limit` persons that wait for it.
pub fn waiting(tx: &impl Read, limit: usize) -> Result<Vec<((ProjectId, u32), Erasure)>> {
    tx.list(ERASURES, &Span::default(), Order::Forward, limit)
}

/// Keep how far one is.
pub fn save(tx: &mut WriteTx<'_>, place: (ProjectId, u32), erasure: &Erasure) {
    tx.put(ERASURES, &place, erasure);
}

/// Nothing of the person is left.
pub fn finish(tx: &mut WriteTx<'_>, place: (ProjectId, u32)) {
    tx.delete(ERASURES, &place);
}
