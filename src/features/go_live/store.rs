//! The table that records what was copied to the live environment, and all access to it.

use serde::{Deserialize, Serialize};

use super::report::{CopyCounts, CopyKind};
use crate::base::clock::Timestamp;
use crate::engine::store::{Read, Record, Result, RowCheck, Table, WriteTx};
use crate::vocab::ids::ProjectId;
use crate::vocab::tables;

/// The key of a copied object: the live project, the kind, and the bytes of the original's ID.
type CopyKey = (ProjectId, u8, [u8; 12]);

const COPIES: Table<CopyKey, Copied> = Table::new(tables::LIVE_COPIES);

/// The check that decodes every row of this table.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(COPIES)];

/// The record of the last copy of an object or a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Copied {
    /// The digest of the original at the time of the copy.
    Object([u8; 32]),
    /// The last copy of a whole project. The row's key starts with the ID of the test project.
    Project(ProjectCopy),
}

impl Record for Copied {}

/// The live project to which a test project was copied, and the counts of the last copy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProjectCopy {
    pub live: ProjectId,
    pub at: Timestamp,
    pub counts: Vec<CopyCounts>,
}

const OWN: u8 = 0;

/// Returns the last copy of a test project: the live project and the counts.
pub fn project(tx: &impl Read, test: ProjectId) -> Result<Option<ProjectCopy>> {
    Ok(match tx.get(COPIES, &(test, OWN, test.0))? {
        Some(Copied::Project(copy)) => Some(copy),
        Some(Copied::Object(_)) | None => None,
    })
}

pub fn save_project(tx: &mut WriteTx<'_>, test: ProjectId, copy: ProjectCopy) {
    tx.put(COPIES, &(test, OWN, test.0), &Copied::Project(copy));
}

/// Returns the digest that an object had when it was last copied.
pub fn digest(tx: &impl Read, live: ProjectId, kind: CopyKind, id: [u8; 12]) -> Result<Option<[u8; 32]>> {
    Ok(match tx.get(COPIES, &(live, kind as u8, id))? {
        Some(Copied::Object(digest)) => Some(digest),
        Some(Copied::Project(_)) | None => None,
    })
}

pub fn save_digest(tx: &mut WriteTx<'_>, live: ProjectId, kind: CopyKind, id: [u8; 12], digest: [u8; 32]) {
    tx.put(COPIES, &(live, kind as u8, id), &Copied::Object(digest));
}
