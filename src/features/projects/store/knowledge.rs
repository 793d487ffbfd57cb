//! The knowledge base of a project: entries from its sites or from users, for use in its emails.
//!
//! This file does not depend on how entries are used; the code that writes emails selects them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::{Order, Read, Record, Result, RowCheck, Table, WriteTx};
use crate::vocab::ids::{KnowledgeId, ProjectId};
use crate::vocab::tables;

const ENTRIES: Table<(ProjectId, KnowledgeId), Entry> = Table::new(tables::PROJECT_KNOWLEDGE);

/// The check that decodes every row of this table.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(ENTRIES)];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub id: KnowledgeId,
    pub title: String,
    pub content: String,
    pub origin: KnowledgeOrigin,
    /// The URL of the page that the entry was read from, if it comes from a site.
    pub url: Option<String>,
    pub source_file_name: Option<String>,
    pub preview_html: Option<String>,
    pub thumbnail_url: Option<String>,
    pub screenshot_url: Option<String>,
    /// When the entry was created or last changed.
    pub date: Timestamp,
}

impl Record for Entry {}

impl Entry {
    /// Returns whether the entry came from a page and a user removed it. The row has no content; it only keeps the next import from adding
    /// the entry again.
    pub fn is_removed(&self) -> bool {
        self.content.is_empty()
    }
}

/// The origin of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KnowledgeOrigin {
    /// The entry was read from the project's sites.
    Website,
    /// The entry was created from a favorite email.
    Favorite,
    /// The entry was created from an uploaded file.
    Upload,
    /// The entry was written by a user.
    Manual,
}

/// Returns all entries of a project, newest first. There are at most [`crate::vocab::limits::KNOWLEDGE_ENTRIES_MAX`].
pub fn all(tx: &impl Read, project: ProjectId) -> Result<Vec<Entry>> {
    Ok(all_with_removed(tx, project)?.into_iter().filter(|entry| !entry.is_removed()).collect())
}

/// Returns all entries of a project, including removed entries that came from its pages.
pub fn all_with_removed(tx: &impl Read, project: ProjectId) -> Result<Vec<Entry>> {
    let rows = tx.list(ENTRIES, &ENTRIES.under(&(project,)), Order::Backward, usize::MAX)?;
    Ok(rows.into_iter().map(|(_, entry)| entry).collect())
}

pub fn find(tx: &impl Read, project: ProjectId, id: KnowledgeId) -> Result<Option<Entry>> {
    Ok(tx.get(ENTRIES, &(project, id))?.filter(|entry| !entry.is_removed()))
}

pub fn save(tx: &mut WriteTx<'_>, project: ProjectId, entry: &Entry) {
    tx.put(ENTRIES, &(project, entry.id), entry);
}

pub fn delete(tx: &mut WriteTx<'_>, project: ProjectId, id: KnowledgeId) {
    tx.delete(ENTRIES, &(project, id));
}

/// Removes an entry from a project. If the entry came from the project's pages, the next import does not add it again.
pub fn remove(tx: &mut WriteTx<'_>, project: ProjectId, entry: &Entry) {
    match entry.url {
        Some(_) => save(tx, project, &Entry { content: String::new(), ..entry.clone() }),
        None => delete(tx, project, entry.id),
    }
}
