//! The import of a project, from addresses to a brand, in stages. An import survives a restart in any stage.
//!
//! | Stage | Work | Result |
//! |---|---|---|
//! | fetching | fetches robots.txt, the requested pages, their style sheets, and some other pages of the same site | one row per file |
//! | reading | extracts the facts from the files in a worker process | a draft of the brand |
//! | measuring | fetches and analyzes logos and images | their sizes and colors in the draft |
//! | completed | | brand, products, images and knowledge-base entries; the files are deleted |
//!
//! A step does a limited part of one stage and commits its result together with the new state of the import, so after a restart, the import
//! continues with the interrupted step. This module does not interpret pages. That is the task of `reading`.

pub mod changes;
mod draft;
mod fetch;
mod finalize;
mod measure;
pub(super) mod model;
mod plan;
pub(super) mod tasks;
#[cfg(test)]
mod tests;
mod worker;

pub use model::{Import, ImportMetrics, Stage};
pub use tasks::run_task;
pub use worker::step;

pub use super::store::imports::find;

use model::{FetchOutcome, FetchTask, File, FileRole};

use super::model::{Project, ProjectStatus};
use super::store;
use super::store::imports::{self, files, forget_files, robots, save, waiting};
use crate::engine::api::{EnvironmentData, Failure};
use crate::engine::store::{Result, WriteTx};
use crate::vocab::ids::{AccountId, ProjectId};

/// The error that users see if reading the files of a site exceeds the limits of a worker process.
const TOO_COSTLY: &str = "Reading the pages of this site takes too much time or memory. Import other pages of the site, or enter the \
                          brand's facts yourself.";

/// Stores a new import of a project. The worker then starts the import.
pub fn open(tx: &mut WriteTx<'_>, account: AccountId, project: &Project) -> Result<()> {
    forget_files(tx, project.id)?;
    let import = Import {
        account,
        stage: Stage::Waiting,
        percentage: 0,
        plan: plan::first(&project.urls),
        next: 0,
        chosen: false,
        draft: None,
        failures: 0,
        metrics: ImportMetrics::default(),
        started_at: tx.now(),
    };
    imports::start(tx, project.id, &import);
    Ok(())
}

pub fn reopen(tx: &mut WriteTx<'_>, account: AccountId, mut project: Project) -> Result<Project> {
    project.status = ProjectStatus::Pending;
    project.error = None;
    project.updated_at = tx.now();
    store::save(tx, account, &project);
    open(tx, account, &project)?;
    Ok(project)
}

/// Removes a finished import from the queue and stores its result.
fn close(tx: &mut WriteTx<'_>, project: ProjectId, mut import: Import, stage: Stage) -> Result<()> {
    forget_files(tx, project)?;
    import.stage = stage;
    import.percentage = 100;
    import.plan = Vec::new();
    import.draft = None;
    import.metrics.duration_ms = tx.now().ms_since(import.started_at).max(0) as u64;
    save(tx, project, &import);
    imports::dequeue(tx, project);
    Ok(())
}

/// Marks an import as failed because a worker process could not read the files within its limits.
async fn give_up(data: &EnvironmentData, project: ProjectId) -> std::result::Result<(), Failure> {
    let change = move |tx: &mut WriteTx<'_>| -> Result<()> {
        let is_open = |import: &Import| matches!(import.stage, Stage::Fetching | Stage::Reading);
        let Some(import) = find(tx, project)?.filter(is_open) else { return Ok(()) };
        fail(tx, project, import, TOO_COSTLY.to_owned())
    };
    data.store.write(change).await??;
    Ok(())
}

/// Marks the import as failed. `reason` is shown to users.
fn fail(tx: &mut WriteTx<'_>, project: ProjectId, import: Import, reason: String) -> Result<()> {
    if let Some(mut project) = store::find(tx, import.account, project)? {
        project.status = ProjectStatus::Error;
        project.error = Some(reason);
        project.updated_at = tx.now();
        store::save(tx, import.account, &project);
    }
    close(tx, project, import, Stage::Failed)
}
