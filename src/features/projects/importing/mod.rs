//! The import of a project: from addresses to a brand, in stages that each survive a restart.
//!
//! | Stage | What it does | What it leaves behind |
//! |---|---|---|
//! | fetching | fetches robots.txt, the given pages, their style sheets, and some pages of the same site | one row per file |
//! | reading | extracts the facts from the files, on its own thread | a draft of the brand |
//! | measuring | fetches and analyzes logos and images | their sizes and colors in the draft |
//! | completed | | brand, images and knowledge-base entries; the files are deleted |
//!
//! A step does a bounded part of one stage and commits it together with the new state of the import, so an import survives a restart at any
//! point. Does not know how pages are understood: that is the job of `reading`.

mod fetch;
mod finalize;
mod measure;
mod plan;
#[cfg(test)]
mod tests;
mod worker;

pub use worker::step;

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::{Project, ProjectStatus};
use super::reading::Draft;
use super::store;
use crate::base::clock::Timestamp;
use crate::engine::api::Failure;
use crate::engine::store::{Order, Read, Record, Result, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, ProjectId};
use crate::vocab::tables;

const IMPORTS: Table<ProjectId, Import> = Table::new(tables::PROJECT_IMPORTS);
const QUEUE: Table<ProjectId, Queued> = Table::new(tables::PROJECT_IMPORT_QUEUE);
const FILES: Table<(ProjectId, u32), File> = Table::new(tables::PROJECT_IMPORT_FILES);

/// The number of file rows deleted per transaction: each may be megabytes.
const FILES_REMOVED_AT_ONCE: usize = 64;

/// The state of an import.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Import {
    pub account: AccountId,
    /// Whether the caller named the project. If so, the name stays whatever the site says.
    pub named: bool,
    pub stage: Stage,
    /// The progress in percent.
    pub percentage: u8,
    /// The files to fetch, in this order. Grows as pages refer to more.
    pub plan: Vec<FetchTask>,
    /// The index of the first task in `plan` that is not done.
    pub next: u32,
    /// Whether further pages of the site were chosen.
    pub chosen: bool,
    pub draft: Option<Draft>,
    /// Internal failures in a row. The import fails after a few.
    pub failures: u8,
    pub metrics: ImportMetrics,
    pub started_at: Timestamp,
}

impl Record for Import {}

/// The queue entry of an unfinished import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queued {
    pub account: AccountId,
}

impl Record for Queued {}

/// The stage of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    Waiting,
    Fetching,
    Reading,
    Measuring,
    Completed,
    Failed,
}

impl Stage {
    /// Returns the name of the stage in the API.
    pub fn word(self) -> &'static str {
        match self {
            Self::Waiting => "initializing",
            Self::Fetching => "fetching",
            Self::Reading => "reading",
            Self::Measuring => "measuring",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }
}

/// A file to fetch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchTask {
    pub url: String,
    pub kind: Kind,
}

/// The role of a file in the import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    Robots,
    /// A page that the caller named.
    Given,
    /// A page that the site refers to.
    Page,
    Sitemap,
    Manifest,
    Style,
}

/// The result of a fetch task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// The requested URL.
    pub url: String,
    /// The final URL after redirects.
    pub found_at: String,
    pub kind: Kind,
    pub outcome: Outcome,
}

impl Record for File {}

/// The content, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    Fetched {
        content_type: String,
        /// The `Content-Language` header.
        language: String,
        bytes: Vec<u8>,
    },
    /// The site has no such file (status 404 or 410).
    Absent,
    Failed(String),
}

/// The results of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportMetrics {
    /// The number of pages read.
    pub pages_read: u32,
    /// The number of pages that could not be fetched.
    pub pages_failed: u32,
    pub stylesheets_read: u32,
    /// The number of bytes fetched, without images.
    pub bytes_read: u64,
    /// The number of logos and images fetched and measured.
    pub images_measured: u32,
    pub products_found: u32,
    /// The number of texts added to the knowledge base.
    pub knowledge_entries: u32,
    pub duration_ms: u64,
    /// Facts about the brand that the sites do not contain.
    pub missing: Vec<String>,
    /// Remarks for users on how the sites were read.
    pub notes: Vec<String>,
}

/// Starts an import.
pub fn open(tx: &mut WriteTx<'_>, account: AccountId, project: &Project, named: bool) -> Result<()> {
    forget_files(tx, project.id)?;
    let import = Import {
        account,
        named,
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
    tx.put(IMPORTS, &project.id, &import);
    tx.put(QUEUE, &project.id, &Queued { account });
    Ok(())
}

/// Restarts the import of a project. A name that the caller chose is kept.
pub fn reopen(tx: &mut WriteTx<'_>, account: AccountId, mut project: Project) -> Result<Project> {
    let named = find(tx, project.id)?.is_none_or(|import| import.named);
    project.status = ProjectStatus::Pending;
    project.error = None;
    project.updated_at = tx.now();
    store::save(tx, account, &project);
    open(tx, account, &project, named)?;
    Ok(project)
}

/// Returns the import of a project, running or finished.
pub fn find(tx: &impl Read, project: ProjectId) -> Result<Option<Import>> {
    tx.get(IMPORTS, &project)
}

/// Returns at most `limit` unfinished imports, oldest project first.
fn waiting(tx: &impl Read, limit: usize) -> Result<Vec<(ProjectId, Queued)>> {
    tx.list(QUEUE, &Span::default(), Order::Forward, limit)
}

/// Chooses further pages of the site. Parses pages and sitemaps, so it runs on a blocking thread.
async fn choose_further(import: Import, known: Vec<File>) -> std::result::Result<Vec<FetchTask>, Failure> {
    tokio::task::spawn_blocking(move || plan::choose(&import, &known)).await.map_err(Failure::internal)
}

/// Writes an unfinished import.
fn save(tx: &mut WriteTx<'_>, project: ProjectId, import: &Import) {
    tx.put(IMPORTS, &project, import);
}

/// Returns all fetched files in the order of the plan.
fn files(tx: &impl Read, project: ProjectId) -> Result<Vec<File>> {
    Ok(tx.list(FILES, &FILES.under(&(project,)), Order::Forward, usize::MAX)?.into_iter().map(|(_, file)| file).collect())
}

/// Returns only the robots files, which come first: the others may be many megabytes.
fn robots(tx: &impl Read, project: ProjectId) -> Result<Vec<File>> {
    let mut found = Vec::new();
    tx.visit(FILES, &FILES.under(&(project,)), Order::Forward, |_, file: File| {
        if file.kind != Kind::Robots {
            return Ok(ControlFlow::Break(()));
        }
        found.push(file);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Deletes the fetched files. A plan is bounded, so one transaction suffices.
fn forget_files(tx: &mut WriteTx<'_>, project: ProjectId) -> Result<()> {
    while tx.delete_span(FILES, &FILES.under(&(project,)), FILES_REMOVED_AT_ONCE)? == FILES_REMOVED_AT_ONCE {}
    Ok(())
}

/// Removes a finished import from the queue and stores its result.
fn close(tx: &mut WriteTx<'_>, project: ProjectId, mut import: Import, stage: Stage) -> Result<()> {
    forget_files(tx, project)?;
    import.stage = stage;
    import.percentage = 100;
    import.plan = Vec::new();
    import.draft = None;
    import.metrics.duration_ms = tx.now().ms_since(import.started_at).max(0) as u64;
    tx.put(IMPORTS, &project, &import);
    tx.delete(QUEUE, &project);
    Ok(())
}

/// Fails the import. `reason` tells the user what to do.
fn fail(tx: &mut WriteTx<'_>, project: ProjectId, import: Import, reason: String) -> Result<()> {
    if let Some(mut project) = store::find(tx, import.account, project)? {
        project.status = ProjectStatus::Error;
        project.error = Some(reason);
        project.updated_at = tx.now();
        store::save(tx, import.account, &project);
    }
    close(tx, project, import, Stage::Failed)
}
