//! A scheduled import, its schedule and the result of its last run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::fetch::KnownVersion;
use crate::engine::store::Record;
use crate::features::contacts::jobs::{ColumnMap, Counts, Encoding, FieldMap, OnConflict, ProviderSource};
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{AccountId, BlobId, ConnectionId, JobId, ProjectId, ScheduledImportId};
use crate::vocab::limits;
use crate::vocab::providers::{ConsentMode, Provider};

const HOUR_MS: i64 = 60 * 60 * 1000;

/// An import of contacts or customer events that runs regularly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScheduledImport {
    pub id: ScheduledImportId,
    pub account: AccountId,
    pub project: ProjectId,
    pub name: String,
    pub every_hours: u32,
    pub source: Source,
    pub pause: Option<Pause>,
    /// When the next run starts or, during a run, when that run continues.
    pub due_at: Timestamp,
    pub running: Option<Running>,
    /// What the last completed import read.
    pub known: Known,
    pub last_run: Option<LastRun>,
    /// The number of failed runs since the last run that succeeded, or since a user last started a run or ended a pause.
    pub failures: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for ScheduledImport {}

/// Where the contacts or events come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "few exist at once, and nearly all are files")]
pub enum Source {
    File(FileSource),
    Platform(PlatformSource),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSource {
    pub url: String,
    /// The separator between cells; `None` if each run detects the separator.
    pub delimiter: Option<u8>,
    pub target: Target,
}

/// What each row in a file becomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "few exist at once, and nearly all are contacts")]
pub enum Target {
    Contacts(ContactRows),
    Events(EventRows),
}

/// How each row in a file becomes a contact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContactRows {
    /// The columns; `None` if they are guessed from the headers.
    pub columns: Option<ColumnMap>,
    pub on_conflict: OnConflict,
    /// Names of tags that are added to every contact in the file.
    pub tags: Vec<String>,
    /// The status for contacts whose row has no status.
    pub status: Option<Status>,
    /// Whether contacts whose row has no status are imported or left out, if `status` is absent.
    pub consent_mode: ConsentMode,
}

impl ContactRows {
    /// Returns the status for contacts whose row has no status; `None` if they are left out.
    pub fn status_of_undecided(&self) -> Option<Status> {
        match (self.status, self.consent_mode) {
            (Some(status), _) => Some(status),
            (None, ConsentMode::IncludeAll) => Some(Status::NonSubscribed),
            (None, ConsentMode::SubscribedOnly) => None,
        }
    }
}

/// How each row in a file becomes a customer event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRows {
    /// The column header for each event field. If empty, the headers must be the field names.
    pub mapping: BTreeMap<String, String>,
    /// The name that every event receives. If absent, the name comes from a column.
    pub event_name: Option<String>,
}

/// Sets of contacts on a platform, such as lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlatformSource {
    pub provider: Provider,
    pub connection: ConnectionId,
    pub sources: Vec<ProviderSource>,
    pub consent_mode: ConsentMode,
    /// The contact field for each platform field that users mapped. All other fields are imported with the default mapping.
    pub fields: FieldMap,
    /// The name of the tag that is added to all contacts from the sources.
    pub tag: String,
}

/// Why a scheduled import is paused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pause {
    ByUser,
    /// Too many runs failed in a row. The value is the reason, as a sentence for users.
    AfterFailure(String),
}

/// What an import has read: a version of a file, or a platform's changes up to a certain time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The version, as stated by the server that provides the file.
    pub named: KnownVersion,
    /// The SHA-256 digest of the file, for servers that state no version.
    pub digest: Option<[u8; 32]>,
    /// The time up to which all of the platform's changes have been read.
    pub changes_until: Option<Timestamp>,
}

/// A run that is importing contacts or events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    pub started_at: Timestamp,
    /// What the import reads; empty if the settings have changed since the run started, so that the next run imports everything
    /// again.
    pub reads: Known,
    pub work: Work,
}

/// The import that a run performs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    Contacts(JobId),
    Events(EventImport),
}

/// An import of customer events from a stored file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventImport {
    pub file: BlobId,
    pub encoding: Encoding,
    pub delimiter: u8,
    /// The settings when the run started.
    pub rows: EventRows,
    /// The offset of the first byte that has not been processed.
    pub offset: u64,
    /// The number of the last row that has been processed. The headers are row 1.
    pub row: u32,
    pub result: EventResult,
}

/// The results of the rows imported so far. A new event counts as created; an event that was already stored counts as skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventResult {
    pub counts: Counts,
    /// The number of events that were left out because they are too old.
    pub excluded: u64,
    /// The first refused rows, each with the reason.
    pub problems: Vec<RowProblem>,
}

/// Why a row was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowProblem {
    pub row: u32,
    pub field: String,
    pub error: String,
}

/// The last run that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRun {
    pub ended_at: Timestamp,
    pub outcome: RunOutcome,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunOutcome {
    Contacts {
        job: JobId,
        counts: Counts,
        excluded: u64,
    },
    Events(EventResult),
    /// The file has not changed since the last import.
    Unchanged,
    /// `reason` is a sentence for users. `job` is the contact import, if one had started.
    Failed {
        reason: String,
        job: Option<JobId>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFailure {
    pub reason: String,
    pub job: Option<JobId>,
}

impl RunFailure {
    /// Returns a failure of a run whose import did not start.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), job: None }
    }
}

impl ScheduledImport {
    fn interval_ms(&self) -> i64 {
        i64::from(self.every_hours) * HOUR_MS
    }

    /// Changes the time between two runs. If the last run succeeded and the next run is in the future, the next run becomes due one new
    /// interval after the start of the last run, or now if that time has passed.
    pub fn set_interval(&mut self, every_hours: u32, now: Timestamp) {
        let before = self.interval_ms();
        self.every_hours = every_hours;
        if self.last_run.is_some() && self.running.is_none() && self.failures == 0 && self.due_at > now {
            self.due_at = self.due_at.plus_ms(self.interval_ms() - before).max(now);
        }
    }

    /// Ends a pause, and makes the next run due now unless a run is in progress.
    pub fn start_now(&mut self, now: Timestamp) {
        (self.pause, self.failures) = (None, 0);
        if self.running.is_none() {
            self.due_at = now;
        }
    }

    /// Discards the record of what has been read, so that the next run imports everything with the current settings.
    pub fn forget_known(&mut self) {
        self.known = Known::default();
        if let Some(running) = &mut self.running {
            running.reads = Known::default();
        }
    }

    /// Records a run that succeeded. The next run is due one interval after the start of this run, or now if that time has passed.
    pub fn succeed(&mut self, outcome: RunOutcome, now: Timestamp) {
        let started_at = self.running.take().map_or(now, |running| {
            self.known = running.reads;
            running.started_at
        });
        self.failures = 0;
        self.last_run = Some(LastRun { ended_at: now, outcome });
        self.due_at = started_at.plus_ms(self.interval_ms()).max(now);
    }

    /// Records a run that failed, and pauses after too many failures.
    pub fn fail(&mut self, failure: RunFailure, now: Timestamp) {
        let RunFailure { reason, job } = failure;
        self.running = None;
        // Some of the file's rows may not have been imported, so the file is imported again even if it has not changed. A platform's
        // changes are read again from the same time.
        self.known = Known { changes_until: self.known.changes_until, ..Known::default() };
        self.failures += 1;
        let wait = limits::SCHEDULED_IMPORT_RETRY_MS << (self.failures - 1).min(20);
        self.due_at = now.plus_ms(wait.min(self.interval_ms()));
        let is_paused = matches!(self.pause, Some(Pause::ByUser));
        if !is_paused && self.failures >= limits::SCHEDULED_IMPORT_FAILURES_MAX {
            self.pause = Some(Pause::AfterFailure(reason.clone()));
        }
        self.last_run = Some(LastRun { ended_at: now, outcome: RunOutcome::Failed { reason, job } });
    }

    /// Returns whether the worker has to process this import at `due_at`.
    pub fn is_queued(&self) -> bool {
        self.running.is_some() || self.pause.is_none()
    }
}
