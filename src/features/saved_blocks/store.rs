//! The table of saved blocks, and all access to it.

use super::SavedBlock;
use crate::engine::store::{Order, Read, Result, RowCheck, Table, WriteTx};
use crate::vocab::ids::{ProjectId, SavedBlockId};
use crate::vocab::{limits, tables};

const BLOCKS: Table<(ProjectId, SavedBlockId), SavedBlock> = Table::new(tables::SAVED_BLOCKS);

/// The check that decodes every row of this table.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(BLOCKS)];

pub fn get(tx: &impl Read, project: ProjectId, id: SavedBlockId) -> Result<Option<SavedBlock>> {
    tx.get(BLOCKS, &(project, id))
}

/// Returns the saved blocks of a project, newest first.
pub fn all(tx: &impl Read, project: ProjectId) -> Result<Vec<SavedBlock>> {
    let rows = tx.list(BLOCKS, &BLOCKS.under(&(project,)), Order::Backward, limits::SAVED_BLOCKS_MAX)?;
    Ok(rows.into_iter().map(|(_, block)| block).collect())
}

pub fn save(tx: &mut WriteTx<'_>, project: ProjectId, block: &SavedBlock) {
    tx.put(BLOCKS, &(project, block.id), block);
}

pub fn delete(tx: &mut WriteTx<'_>, project: ProjectId, id: SavedBlockId) {
    tx.delete(BLOCKS, &(project, id));
}
