//! Stores soft bounces and, for each node of the cluster, the ID of the last report of visits that was stored. Only this module reads or
//! writes these rows.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::{Read, Record, Result, RowCheck, Table, WriteTx};
use crate::vocab::ids::ProjectId;
use crate::vocab::tables;

const META: Table<String, Vec<u8>> = Table::new(tables::META);
const SOFT_BOUNCES: Table<ContactKey, SoftBounces> = Table::new(tables::SOFT_BOUNCES);

/// The check that decodes every row of the table of soft bounces.
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

/// Records that the visits in a node's report are stored. Returns false if this was recorded before: a node that got no response repeats
/// its report. A node sends its next report only after the previous one was stored, so one row per node is enough.
pub fn note_visit_report(tx: &mut WriteTx<'_>, node: &str, report: &str) -> Result<bool> {
    let key = format!("visits of node {node}");
    if tx.get(META, &key)?.is_some_and(|last| last == report.as_bytes()) {
        return Ok(false);
    }
    tx.put(META, &key, &report.as_bytes().to_vec());
    Ok(true)
}
