//! Jobs on contacts: their tasks and their states.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::columns::Columns;
use super::records::Encoding;
use crate::base::clock::Timestamp;
use crate::engine::store::Record;
use crate::features::contacts::batch::{Counts, OnConflict, RowNote};
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{AccountId, BlobId, ConnectionId, JobId, ProjectId, SegmentId};
use crate::vocab::providers::{ConsentMode, Provider, SourceKind};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub id: JobId,
    pub account: AccountId,
    pub project: ProjectId,
    pub state: State,
    pub counts: Counts,
    /// The number of [`JobRow::Note`] rows stored so far.
    pub note_count: u32,
    pub created_at: Timestamp,
    pub completed_at: Option<Timestamp>,
    pub task: Task,
}

impl Record for Job {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    Waiting,
    Running,
    Completed,
    /// The job failed. Contains the reason as a sentence for users.
    Failed(String),
    /// The file has been uploaded, but no user has started its import.
    AwaitingMapping,
    /// The job failed, and a user has acknowledged it.
    Acknowledged(String),
}

impl State {
    pub fn word(&self) -> &'static str {
        match self {
            State::Waiting => "pending",
            State::Running => "processing",
            State::Completed => "completed",
            State::Failed(_) | State::Acknowledged(_) => "failed",
            State::AwaitingMapping => "uploaded",
        }
    }

    pub fn reason(&self) -> Option<String> {
        if let State::Failed(reason) | State::Acknowledged(reason) = self { Some(reason.clone()) } else { None }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Task {
    Bulk(Bulk),
    Import(Import),
    Export(Export),
    Change(Change),
    Provider(ProviderImport),
}

/// The task of writing the rows of one request. Rows that have not been processed are stored as [`JobRow::Waiting`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bulk {
    pub rows: u32,
    /// The index of the first row that has not been written.
    pub next: u32,
}

/// The task of importing a file that has one row for each contact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    pub file: BlobId,
    pub encoding: Encoding,
    pub delimiter: u8,
    pub columns: Columns,
    pub on_conflict: OnConflict,
    /// Names of tags that are added to every contact in the file.
    pub tags: Vec<String>,
    /// The status for contacts whose row has no status.
    pub status: Option<Status>,
    /// Whether a row is left out if neither the row nor `status` gives a status.
    pub leaves_out_undecided: bool,
    /// The number of rows that were left out because they have no status.
    pub excluded: u64,
    /// The offset of the first byte that has not been processed.
    pub offset: u64,
    /// The number of the last row that has been processed. The headers are row 1.
    pub row: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderImport {
    pub provider: Provider,
    pub connection: ConnectionId,
    pub sources: Vec<ProviderSource>,
    pub consent_mode: ConsentMode,
    pub fields: FieldMap,
    /// Contacts that have neither joined a source nor changed since this time may be left out; `None` to read all contacts.
    pub since: Option<Timestamp>,
    /// Whether, after the sources, the import also reads all contacts in the account that changed after `since`.
    pub reads_changes: bool,
    /// The name of the tag for contacts from the sources.
    pub tag: String,
    /// The position of the next page.
    pub position: Position,
    /// The row number that was assigned last; notes refer to contacts by row number. Each contact gets a row number, even if it is
    /// excluded, and so does each source that no longer exists.
    pub row: u32,
    /// The number of contacts that were not imported because they never subscribed.
    pub excluded: u64,
    /// The number of contacts read from the current source.
    pub read: u64,
    /// The number of contacts in the current source, if the platform states it.
    pub expected: Option<u64>,
    /// Why the import is paused, and until when.
    pub pause: Option<Pause>,
    /// The number of failures since a page was last committed.
    pub failures: u32,
}

/// The user's mapping of a platform's fields. Each field is mapped to a contact field (a profile field or `customFields.NAME`), or to
/// `None` if it is not imported.
pub type FieldMap = BTreeMap<String, Option<String>>;

/// A set of contacts on a platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderSource {
    pub id: String,
    pub kind: SourceKind,
    pub name: String,
}

/// The position of a page of contacts within the sources of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The index of the source.
    pub source: u32,
    /// The platform's cursor within the source; `None` for the first page.
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// The reason, as a sentence for users.
    pub reason: String,
    pub since: Timestamp,
    /// When the import tries again. Reconnecting the account resumes the import earlier.
    pub until: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Export {
    /// The contacts to export, as requested.
    pub query: ContactQuery,
    pub file_name: String,
    /// The finished file; `None` until the export is complete.
    pub file: Option<BlobId>,
}

/// Selects the contacts to export or change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContactQuery {
    pub segment: Option<SegmentId>,
    /// A filter tree as JSON, which has already been checked.
    pub filters: Option<String>,
    pub search: Option<String>,
}

/// The edits to make to each contact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContactEdits {
    /// Names of tags to add, which have already been checked.
    pub add_tags: Vec<String>,
    pub remove_tags: Vec<String>,
    pub status: Option<Status>,
    /// Whether to delete the contacts. Cannot be combined with other edits.
    pub delete: bool,
}

/// The task of changing all contacts that match a filter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub query: ContactQuery,
    pub edits: ContactEdits,
    /// The number of contacts to change; `None` before the first step.
    pub total: Option<u64>,
    /// The number of the first contact that has not been processed.
    pub next: u32,
    /// The contact number at which the change ends: one more than the highest number of a contact that the first step selected.
    pub end: u32,
}

impl Change {
    /// Creates a change that has not started.
    pub fn new(query: ContactQuery, edits: ContactEdits) -> Self {
        Self { query, edits, total: None, next: 0, end: u32::MAX }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobRow {
    /// A row that has not been processed: a contact as JSON.
    Waiting(String),
    /// A row that has been processed, with a note to report.
    Note(RowNote),
}

impl Record for JobRow {}
