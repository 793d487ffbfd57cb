//! A scheduled import, its schedule and the result of its last run.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::fetch::KnownVersion;
use crate::engine::store::Record;
use crate::features::contacts::jobs::{ColumnMap, Counts, OnConflict};
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{AccountId, JobId, ProjectId, ScheduledImportId};
use crate::vocab::limits;
use crate::vocab::providers::ConsentMode;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// A file at a URL whose contacts are imported regularly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScheduledImport {
    pub id: ScheduledImportId,
    pub account: AccountId,
    pub project: ProjectId,
    pub name: String,
    pub every_hours: u32,
    pub source: Source,
    pub pause: Option<Pause>,
    /// When the next run starts or, during a run, when its import is checked again.
    pub due_at: Timestamp,
    pub running: Option<Running>,
    /// The version of the file whose import completed last.
    pub known: FileVersion,
    pub last_run: Option<LastRun>,
    /// The number of failed runs since the last one that succeeded.
    pub failures: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for ScheduledImport {}

/// The file, and how its rows become contacts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub url: String,
    /// The columns; `None` if they are guessed from the headers.
    pub columns: Option<ColumnMap>,
    /// The separator between cells; `None` if it is detected.
    pub delimiter: Option<u8>,
    pub on_conflict: OnConflict,
    /// Names of tags that are added to every contact in the file.
    pub tags: Vec<String>,
    /// The status for contacts whose row has no status.
    pub status: Option<Status>,
    /// What happens to contacts without a status, if `status` is absent.
    pub consent_mode: ConsentMode,
}

impl Source {
    /// Returns the status for contacts whose row has no status; `None` if they are left out.
    pub fn status_of_undecided(&self) -> Option<Status> {
        match (self.status, self.consent_mode) {
            (Some(status), _) => Some(status),
            (None, ConsentMode::IncludeAll) => Some(Status::NonSubscribed),
            (None, ConsentMode::SubscribedOnly) => None,
        }
    }
}

/// Why no run starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pause {
    ByUser,
    /// Too many runs failed in a row. The reason is a sentence for users.
    AfterFailure(String),
}

/// The version of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileVersion {
    /// The version as the server named it.
    pub named: KnownVersion,
    /// The SHA-256 digest of the file, for servers that name no version.
    pub digest: Option<[u8; 32]>,
}

/// A run whose file is being imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    pub job: JobId,
    pub started_at: Timestamp,
    /// The version of the file; unknown if the settings have changed since the run started, so that the file is imported again.
    pub file: FileVersion,
}

/// The last run that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRun {
    pub ended_at: Timestamp,
    pub outcome: RunOutcome,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunOutcome {
    Imported {
        job: JobId,
        counts: Counts,
        excluded: u64,
    },
    /// The file has not changed since the last import.
    Unchanged,
    /// The reason, as a sentence for users, and the import, if it had started.
    Failed {
        reason: String,
        job: Option<JobId>,
    },
}

/// Why a run failed.
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

    /// Changes the time between two runs. If the last run succeeded, the next run starts one new interval after its end.
    pub fn set_interval(&mut self, every_hours: u32, now: Timestamp) {
        self.every_hours = every_hours;
        if let Some(run) = self.last_run.as_ref().filter(|_| self.running.is_none() && self.failures == 0) {
            self.due_at = run.ended_at.plus_ms(self.interval_ms()).max(now);
        }
    }

    /// Starts a run now. Ends a pause.
    pub fn start_now(&mut self, now: Timestamp) {
        (self.pause, self.failures) = (None, 0);
        if self.running.is_none() {
            self.due_at = now;
        }
    }

    /// Forgets the known version, so that the next run imports the file with the current settings.
    pub fn forget_version(&mut self) {
        self.known = FileVersion::default();
        if let Some(running) = &mut self.running {
            running.file = FileVersion::default();
        }
    }

    /// Records a run that succeeded.
    pub fn succeed(&mut self, outcome: RunOutcome, now: Timestamp) {
        let started_at = self.running.take().map_or(now, |running| {
            self.known = running.file;
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
        // Rows of the file may be missing, so the file is imported again even if it does not change.
        self.known = FileVersion::default();
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
