//! The knowledge base of a project: texts from its sites or from users, for use in its emails.
//!
//! Does not know how a text is used; the code that writes emails chooses among them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::{Order, Read, Record, Result, Table, WriteTx};
use crate::vocab::ids::{KnowledgeId, ProjectId};
use crate::vocab::tables;

const ENTRIES: Table<(ProjectId, KnowledgeId), Entry> = Table::new(tables::PROJECT_KNOWLEDGE);

/// A text of the knowledge base.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub id: KnowledgeId,
    pub title: String,
    pub content: String,
    pub origin: KnowledgeOrigin,
    /// The page that it was read from, if it is from a site.
    pub url: Option<String>,
    pub source_file_name: Option<String>,
    pub preview_html: Option<String>,
    pub thumbnail_url: Option<String>,
    pub screenshot_url: Option<String>,
    /// When it was written or last changed.
    pub date: Timestamp,
}

impl Record for Entry {}

/// The origin of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KnowledgeOrigin {
    /// Read from the project's sites.
    Website,
    /// A favorite email.
    Favorite,
    /// An uploaded file.
    Upload,
    /// Written by a user.
    Manual,
}

/// Returns all texts of a project, newest first. There are at most [`crate::vocab::limits::KNOWLEDGE_ENTRIES_MAX`].
pub fn all(tx: &impl Read, project: ProjectId) -> Result<Vec<Entry>> {
    let rows = tx.list(ENTRIES, &ENTRIES.under(&(project,)), Order::Backward, usize::MAX)?;
    Ok(rows.into_iter().map(|(_, entry)| entry).collect())
}

/// Returns the text with this id.
pub fn find(tx: &impl Read, project: ProjectId, id: KnowledgeId) -> Result<Option<Entry>> {
    tx.get(ENTRIES, &(project, id))
}

pub fn save(tx: &mut WriteTx<'_>, project: ProjectId, entry: &Entry) {
    tx.put(ENTRIES, &(project, entry.id), entry);
}

pub fn delete(tx: &mut WriteTx<'_>, project: ProjectId, id: KnowledgeId) {
    tx.delete(ENTRIES, &(project, id));
}
