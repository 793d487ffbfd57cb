//! The table of soft bounces, and all access to it.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::{Read, Record, Result, RowCheck, Table, WriteTx};
use crate::vocab::ids::ProjectId;
use crate::vocab::tables;

const SOFT_BOUNCES: Table<ContactKey, SoftBounces> = Table::new(tables::SOFT_BOUNCES);

/// The check that decodes every row of this table.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(SOFT_BOUNCES)];

/// The key of a contact: the project, and the contact's number.
type ContactKey = (ProjectId, u32);

/// A contact's consecutive soft bounces, without a delivery in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SoftBounces {
    pub many: u8,
    pub last_at: Timestamp,
}

impl Record for SoftBounces {}

/// Returns the soft bounces last recorded for a contact. Messages may have been delivered since.
pub fn soft_bounces(tx: &impl Read, contact: ContactKey) -> Result<Option<SoftBounces>> {
    tx.get(SOFT_BOUNCES, &contact)
}

pub fn save_soft_bounces(tx: &mut WriteTx<'_>, contact: ContactKey, row: SoftBounces) {
    tx.put(SOFT_BOUNCES, &contact, &row);
}

pub fn forget_soft_bounces(tx: &mut WriteTx<'_>, contact: ContactKey) {
    tx.delete(SOFT_BOUNCES, &contact);
}
