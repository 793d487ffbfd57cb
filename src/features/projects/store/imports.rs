//! The tables of imports, their queue and their fetched files, and all access to them.

use std::ops::ControlFlow;

use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::features::projects::importing::changes::ImportChanges;
use crate::features::projects::importing::model::{File, FileRole, Import, Queued};
use crate::vocab::ids::ProjectId;
use crate::vocab::tables;

const IMPORTS: Table<ProjectId, Import> = Table::new(tables::PROJECT_IMPORTS);
const QUEUE: Table<ProjectId, Queued> = Table::new(tables::PROJECT_IMPORT_QUEUE);
const CHANGES: Table<ProjectId, ImportChanges> = Table::new(tables::IMPORT_CHANGES);
const FILES: Table<(ProjectId, u32), File> = Table::new(tables::PROJECT_IMPORT_FILES);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(IMPORTS), RowCheck::of(QUEUE), RowCheck::of(CHANGES), RowCheck::of(FILES)];

/// The number of file rows to delete in one call. It is small, because each row can be several megabytes in size.
const FILES_REMOVED_AT_ONCE: usize = 64;

/// Saves an import and adds it to the queue.
pub fn start(tx: &mut WriteTx<'_>, project: ProjectId, import: &Import) {
    save(tx, project, import);
    tx.put(QUEUE, &project, &Queued { account: import.account });
}

pub fn dequeue(tx: &mut WriteTx<'_>, project: ProjectId) {
    tx.delete(QUEUE, &project);
}

/// Returns the import of a project, whether it is running or finished.
pub fn find(tx: &impl Read, project: ProjectId) -> Result<Option<Import>> {
    tx.get(IMPORTS, &project)
}

/// Returns up to `limit` unfinished imports, oldest projects first.
pub fn waiting(tx: &impl Read, limit: usize) -> Result<Vec<(ProjectId, Queued)>> {
    tx.list(QUEUE, &Span::default(), Order::Forward, limit)
}

pub fn save(tx: &mut WriteTx<'_>, project: ProjectId, import: &Import) {
    tx.put(IMPORTS, &project, import);
}

/// Returns the changes that the last import found; returns `None` if no changes are waiting for a decision.
pub fn changes(tx: &impl Read, project: ProjectId) -> Result<Option<ImportChanges>> {
    tx.get(CHANGES, &project)
}

/// Saves the changes; deletes the stored changes if `changes` is `None`.
pub fn save_changes(tx: &mut WriteTx<'_>, project: ProjectId, changes: Option<&ImportChanges>) {
    match changes {
        Some(changes) => tx.put(CHANGES, &project, changes),
        None => tx.delete(CHANGES, &project),
    }
}

/// Returns all fetched files in the order of the plan.
pub fn files(tx: &impl Read, project: ProjectId) -> Result<Vec<File>> {
    Ok(tx.list(FILES, &FILES.under(&(project,)), Order::Forward, usize::MAX)?.into_iter().map(|(_, file)| file).collect())
}

/// Returns the robots.txt files, which come first in the plan. Stops at the first file of another kind, because the remaining files can be
/// many megabytes in size.
pub fn robots(tx: &impl Read, project: ProjectId) -> Result<Vec<File>> {
    let mut found = Vec::new();
    tx.visit(FILES, &FILES.under(&(project,)), Order::Forward, |_, file: File| {
        if file.kind != FileRole::Robots {
            return Ok(ControlFlow::Break(()));
        }
        found.push(file);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Deletes the fetched files of a project. One transaction is enough, because the length of a plan is limited.
pub fn forget_files(tx: &mut WriteTx<'_>, project: ProjectId) -> Result<()> {
    while tx.delete_span(FILES, &FILES.under(&(project,)), FILES_REMOVED_AT_ONCE)? == FILES_REMOVED_AT_ONCE {}
    Ok(())
}

/// Stores the file fetched by the task with this index in the plan.
pub fn put_file(tx: &mut WriteTx<'_>, project: ProjectId, task: u32, file: &File) {
    tx.put(FILES, &(project, task), file);
}
