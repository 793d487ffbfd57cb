//! The import of a project: from addresses to a brand, in stages that each survive a restart.
//!
//! | Stage | What it does | What it leaves behind |
//! |---|---|---|
//! | fetching | robots.txt, the given pages, their style sheets, and some pages of the same site | one row per file |
//! | reading | everything the files say, on a thread of its own | a draft of the brand |
//! | measuring | logos and images are fetched and looked at | their sizes and colours in the draft |
//! | completed | | brand, images and knowledge-base entries; the files are gone |
//!
//! A step does a bounded part of one stage and writes it down in the transaction that moves the import on, so whatever moment the
//! process ends, the import goes on there. It does not know how pages are understood: that is `reading`.

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

/// Rows of files removed in one transaction: each may be megabytes.
const FILES_REMOVED_AT_ONCE: usize = 64;

/// How far an import is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Import {
    pub account: AccountId,
    /// The caller has named the project: the name stays whatever the site says.
    pub named: bool,
    pub stage: Stage,
    /// How much of the whole is done, in percent.
    pub percentage: u8,
    /// What is to be fetched, in this order; grows while pages name more.
    pub plan: Vec<FetchTask>,
    /// The first errand that is not done.
    pub next: u32,
    /// Further pages of the site were chosen.
    pub chosen: bool,
    pub draft: Option<Draft>,
    /// Failures of ours in a row; the import is given up after a few.
    pub failures: u8,
    pub metrics: ImportMetrics,
    pub started_at: Timestamp,
}

impl Record for Import {}

/// Marks an import that is not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queued {
    pub account: AccountId,
}

impl Record for Queued {}

/// What is being done.
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
    /// The word on the wire.
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

/// Something to be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchTask {
    pub url: String,
    pub kind: Kind,
}

/// What a file is to the import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    Robots,
    /// A page that the caller has named.
    Given,
    /// A page that the site itself has named.
    Page,
    Sitemap,
    Manifest,
    Style,
}

/// What an errand came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Where it was asked for.
    pub url: String,
    /// Where it came from in the end.
    pub found_at: String,
    pub kind: Kind,
    pub outcome: Outcome,
}

impl Record for File {}

/// Bytes, or why there are none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    Fetched {
        content_type: String,
        /// The header `Content-Language`.
        language: String,
        bytes: Vec<u8>,
    },
    /// The site has nothing there (a status of 404 or 410).
    Absent,
    Failed(String),
}

/// What an import has come to, in numbers and words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportMetrics {
    /// Pages that were read.
    pub pages_read: u32,
    /// Pages that could not be fetched.
    pub pages_failed: u32,
    pub stylesheets_read: u32,
    /// Bytes that were fetched, without images.
    pub bytes_read: u64,
    /// Logos and images that were fetched and measured.
    pub images_measured: u32,
    pub products_found: u32,
    /// Texts that became entries of the knowledge base.
    pub knowledge_entries: u32,
    pub duration_ms: u64,
    /// Facts of a brand that the sites do not tell.
    pub missing: Vec<String>,
    /// What a person should know about how the sites were read.
    pub notes: Vec<String>,
}

/// Begin an import.
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

/// Begin the import of a project anew, with its name kept if it was kept before.
pub fn reopen(tx: &mut WriteTx<'_>, account: AccountId, mut project: Project) -> Result<Project> {
    let named = find(tx, project.id)?.is_none_or(|import| import.named);
    project.status = ProjectStatus::Pending;
    project.error = None;
    project.updated_at = tx.now();
    store::save(tx, account, &project);
    open(tx, account, &project, named)?;
    Ok(project)
}

/// The import of a project, running or over.
pub fn find(tx: &impl Read, project: ProjectId) -> Result<Option<Import>> {
    tx.get(IMPORTS, &project)
}

/// Imports that are not done, in the order their projects were made; at most `limit`.
fn waiting(tx: &impl Read, limit: usize) -> Result<Vec<(ProjectId, Queued)>> {
    tx.list(QUEUE, &Span::default(), Order::Forward, limit)
}

/// Further pages of the site. Pages and sitemaps are parsed for them, on a thread that may be kept busy.
async fn choose_further(import: Import, known: Vec<File>) -> std::result::Result<Vec<FetchTask>, Failure> {
    tokio::task::spawn_blocking(move || plan::choose(&import, &known)).await.map_err(Failure::internal)
}

/// Write an import that goes on.
fn save(tx: &mut WriteTx<'_>, project: ProjectId, import: &Import) {
    tx.put(IMPORTS, &project, import);
}

/// Everything that was fetched, in the order of the plan.
fn files(tx: &impl Read, project: ProjectId) -> Result<Vec<File>> {
    Ok(tx.list(FILES, &FILES.under(&(project,)), Order::Forward, usize::MAX)?.into_iter().map(|(_, file)| file).collect())
}

/// The robots files among them, which come first: the others may be many megabytes.
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

/// Remove what was fetched. A plan is bounded, so one transaction takes all of it.
fn forget_files(tx: &mut WriteTx<'_>, project: ProjectId) -> Result<()> {
    while tx.delete_span(FILES, &FILES.under(&(project,)), FILES_REMOVED_AT_ONCE)? == FILES_REMOVED_AT_ONCE {}
    Ok(())
}

/// The import is over: take it out of the queue and keep what it came to.
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

/// The import has failed: `reason` tells a person what to do.
fn fail(tx: &mut WriteTx<'_>, project: ProjectId, import: Import, reason: String) -> Result<()> {
    if let Some(mut project) = store::find(tx, import.account, project)? {
        project.status = ProjectStatus::Error;
        project.error = Some(reason);
        project.updated_at = tx.now();
        store::save(tx, import.account, &project);
    }
    close(tx, project, import, Stage::Failed)
}
