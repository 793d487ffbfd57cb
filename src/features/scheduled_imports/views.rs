//! Scheduled imports as the API returns them.

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{LastRun, Pause, RunOutcome, ScheduledImport};
use crate::engine::api::Listed;
use crate::engine::api::response::WireTime;
use crate::features::contacts::jobs::{ColumnMap, OnConflict};
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{JobId, ProjectId, ScheduledImportId};
use crate::vocab::providers::ConsentMode;

/// A file at a URL whose contacts are imported regularly.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduledImportView {
    pub id: ScheduledImportId,
    pub project_id: ProjectId,
    pub name: String,
    pub url: String,
    /// The number of hours between two runs.
    pub every_hours: u32,
    /// The mapped columns; absent if they are guessed from the headers.
    pub column_map: Option<ColumnMap>,
    /// The separator between cells; absent if it is detected.
    pub delimiter: Option<String>,
    pub on_conflict: &'static str,
    /// The tags that every contact in the file gets.
    pub tags: Vec<String>,
    /// The status for contacts whose row has no status.
    pub status: Option<Status>,
    /// What happens to contacts without a status, if `status` is absent.
    pub consent_mode: ConsentMode,
    /// `running` while a file is imported.
    #[schemars(extend("enum" = ["active", "running", "paused"]))]
    pub state: &'static str,
    /// Why the scheduled import is paused, if it was paused after failures.
    pub paused_reason: Option<String>,
    /// The import that is running.
    pub import_id: Option<JobId>,
    /// When the next run starts; absent while a run lasts and during a pause.
    pub next_run_at: Option<WireTime>,
    /// The last run that ended.
    pub last_run: Option<RunView>,
    /// The number of failed runs since the last one that succeeded.
    pub failures: u32,
    pub created_at: WireTime,
    pub updated_at: WireTime,
}

impl Listed for ScheduledImportView {
    const PLURAL: &'static str = "imports";
    const ARRAY_WHEN_PAGED: bool = false;
}

/// The result of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    pub ended_at: WireTime,
    /// `unchanged` if the file has not changed since the last import.
    #[schemars(extend("enum" = ["imported", "unchanged", "failed"]))]
    pub result: &'static str,
    /// The import, if it started. `GET /v1/contacts/imports/{id}` returns its details, until 30 days after its end.
    pub import_id: Option<JobId>,
    /// The number of rows that created a contact.
    pub created: u64,
    /// The number of rows that changed a contact.
    pub updated: u64,
    /// The number of rows that changed nothing.
    pub skipped: u64,
    /// The number of rows with errors, which were not imported. The import's errors list them.
    pub failed: u64,
    /// The number of contacts without a status that were left out.
    pub excluded: u64,
    /// Why the run failed, and what to do.
    pub error: Option<String>,
}

impl RunView {
    fn new(run: &LastRun) -> Self {
        let none = Self {
            ended_at: WireTime(run.ended_at),
            result: "unchanged",
            import_id: None,
            created: 0,
            updated: 0,
            skipped: 0,
            failed: 0,
            excluded: 0,
            error: None,
        };
        match &run.outcome {
            RunOutcome::Unchanged => none,
            RunOutcome::Failed { reason, job } => Self { result: "failed", import_id: *job, error: Some(reason.clone()), ..none },
            RunOutcome::Imported { job, counts, excluded } => Self {
                result: "imported",
                import_id: Some(*job),
                created: counts.created,
                updated: counts.updated,
                skipped: counts.skipped,
                failed: counts.failed,
                excluded: *excluded,
                ..none
            },
        }
    }
}

pub fn scheduled_import_view(row: &ScheduledImport) -> ScheduledImportView {
    let (state, paused_reason) = match (&row.running, &row.pause) {
        (Some(_), _) => ("running", None),
        (None, None) => ("active", None),
        (None, Some(Pause::ByUser)) => ("paused", None),
        (None, Some(Pause::AfterFailure(reason))) => ("paused", Some(reason.clone())),
    };
    ScheduledImportView {
        id: row.id,
        project_id: row.project,
        name: row.name.clone(),
        url: row.source.url.clone(),
        every_hours: row.every_hours,
        column_map: row.source.columns.clone(),
        delimiter: row.source.delimiter.map(|byte| char::from(byte).to_string()),
        on_conflict: match row.source.on_conflict {
            OnConflict::Upsert => "upsert",
            OnConflict::Skip => "skip",
        },
        tags: row.source.tags.clone(),
        status: row.source.status,
        consent_mode: row.source.consent_mode,
        state,
        paused_reason,
        import_id: row.running.as_ref().map(|running| running.job),
        next_run_at: (state == "active").then_some(WireTime(row.due_at)),
        last_run: row.last_run.as_ref().map(RunView::new),
        failures: row.failures,
        created_at: WireTime(row.created_at),
        updated_at: WireTime(row.updated_at),
    }
}

impl ScheduledImportView {
    /// Returns a scheduled import for the examples in the API documentation.
    pub fn sample() -> Self {
        Self {
            id: ScheduledImportId::parse("66f1a2b30000000b7a1b2c3d").expect("the ID has 24 hexadecimal characters"),
            project_id: ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the ID has 24 hexadecimal characters"),
            name: "Shop customers".into(),
            url: "https://shop.acme.example/export/contacts.csv".into(),
            every_hours: 24,
            column_map: Some(ColumnMap { email: "E-mail".into(), ..ColumnMap::default() }),
            delimiter: None,
            on_conflict: "upsert",
            tags: vec!["shop".into()],
            status: None,
            consent_mode: ConsentMode::IncludeAll,
            state: "active",
            paused_reason: None,
            import_id: None,
            next_run_at: Some(WireTime::sample()),
            last_run: Some(RunView {
                ended_at: WireTime::sample(),
                result: "imported",
                import_id: Some(JobId::parse("66f1a2b3d4e5f60718293a4c").expect("the ID has 24 hexadecimal characters")),
                created: 12,
                updated: 40,
                skipped: 948,
                failed: 0,
                excluded: 0,
                error: None,
            }),
            failures: 0,
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
        }
    }
}
