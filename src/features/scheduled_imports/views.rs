//! Scheduled imports as the API returns them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{
    EventResult, FileSource, LastRun, Pause, PlatformSource, RowProblem, RunOutcome, ScheduledImport, Source, Target, Work,
};
use crate::engine::api::Listed;
use crate::engine::api::response::WireTime;
use crate::features::contacts::jobs::{ColumnMap, FieldMap, OnConflict, ProviderSource};
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{ConnectionId, JobId, ProjectId, ScheduledImportId};
use crate::vocab::providers::{ConsentMode, Provider, SourceKind};

/// An import of contacts or customer events that runs regularly.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduledImportView {
    pub id: ScheduledImportId,
    pub project_id: ProjectId,
    pub name: String,
    /// The number of hours between two runs.
    pub every_hours: u32,
    /// What each row of the file becomes; always `contacts` for a platform.
    #[schemars(extend("enum" = ["contacts", "events"]))]
    pub target: &'static str,
    /// The URL of the file; absent for a platform.
    pub url: Option<String>,
    /// The separator between cells; absent if it is detected.
    pub delimiter: Option<String>,
    /// The mapped columns; absent if they are guessed from the headers.
    pub column_map: Option<ColumnMap>,
    /// What happens to contacts that already exist; present only for imports of contacts from a file.
    #[schemars(extend("enum" = ["upsert", "skip"]))]
    pub on_conflict: Option<&'static str>,
    /// The tags that are added to every contact in the file.
    pub tags: Vec<String>,
    /// The status for contacts whose row has no status.
    pub status: Option<Status>,
    /// Whether contacts who have neither subscribed nor unsubscribed are imported, if `status` is absent. Omitted for imports of events.
    pub consent_mode: Option<ConsentMode>,
    /// The column header for each event field.
    pub mapping: BTreeMap<String, String>,
    /// The name that every event receives.
    pub event_name: Option<String>,
    /// The platform from which contacts are imported; absent for a file.
    pub provider: Option<Provider>,
    /// The platform's name for display.
    pub provider_name: Option<&'static str>,
    pub connection_id: Option<ConnectionId>,
    /// The sources on the platform.
    pub sources: Vec<ImportedSource>,
    /// The contact field for each platform field that users mapped. All other fields are imported with the default mapping.
    pub field_map: FieldMap,
    /// The tag that is added to all contacts from the sources.
    pub tag: Option<String>,
    /// The time up to which all of the platform's changes have been imported. The next run imports later changes.
    pub changes_until: Option<WireTime>,
    /// `running` while a run imports contacts or events.
    #[schemars(extend("enum" = ["active", "running", "paused"]))]
    pub state: &'static str,
    /// Why the scheduled import is paused, if it was paused after failures.
    pub paused_reason: Option<String>,
    /// The ID of the contact import that is in progress.
    pub import_id: Option<JobId>,
    /// When the next run starts; absent during a run and during a pause.
    pub next_run_at: Option<WireTime>,
    /// The last run that has ended.
    pub last_run: Option<RunView>,
    /// The number of failed runs since the last run that succeeded, or since a user last started a run or ended a pause.
    pub failures: u32,
    pub created_at: WireTime,
    pub updated_at: WireTime,
}

/// A source on a platform.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ImportedSource {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: SourceKind,
    pub name: String,
}

impl From<&ProviderSource> for ImportedSource {
    fn from(source: &ProviderSource) -> Self {
        Self { id: source.id.clone(), kind: source.kind, name: source.name.clone() }
    }
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
    /// The ID of the contact import, if it has started. `GET /v1/contacts/imports/{id}` returns its details for 30 days after it ends.
    pub import_id: Option<JobId>,
    /// The number of rows that created a contact or stored an event.
    pub created: u64,
    /// The number of rows that changed a contact.
    pub updated: u64,
    /// The number of rows that changed nothing, such as events that were already stored.
    pub skipped: u64,
    /// The number of rows that were not imported because they have errors. For an import of contacts, the import's list of errors contains
    /// these rows.
    pub failed: u64,
    /// The number of rows that were left out: contacts without a status, and events that are too old.
    pub excluded: u64,
    /// The first rows with errors; only for imports of events.
    pub problems: Vec<ProblemView>,
    /// Why the run failed, and what to do.
    pub error: Option<String>,
}

/// Why a row was not imported.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProblemView {
    /// The number of the row in the file. The row with the headers is row 1.
    pub row: u32,
    /// The invalid field.
    pub field: String,
    pub error: String,
}

impl From<&RowProblem> for ProblemView {
    fn from(problem: &RowProblem) -> Self {
        Self { row: problem.row, field: problem.field.clone(), error: problem.error.clone() }
    }
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
            problems: Vec::new(),
            error: None,
        };
        match &run.outcome {
            RunOutcome::Unchanged => none,
            RunOutcome::Failed { reason, job } => Self { result: "failed", import_id: *job, error: Some(reason.clone()), ..none },
            RunOutcome::Events(EventResult { counts, excluded, problems }) => Self {
                result: "imported",
                created: counts.created,
                skipped: counts.skipped,
                failed: counts.failed,
                excluded: *excluded,
                problems: problems.iter().map(ProblemView::from).collect(),
                ..none
            },
            RunOutcome::Contacts { job, counts, excluded } => Self {
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
    let import_id = match row.running.as_ref().map(|running| &running.work) {
        Some(Work::Contacts(job)) => Some(*job),
        Some(Work::Events(_)) | None => None,
    };
    let view = ScheduledImportView {
        id: row.id,
        project_id: row.project,
        name: row.name.clone(),
        every_hours: row.every_hours,
        target: "contacts",
        url: None,
        delimiter: None,
        column_map: None,
        on_conflict: None,
        tags: Vec::new(),
        status: None,
        consent_mode: None,
        mapping: BTreeMap::new(),
        event_name: None,
        provider: None,
        provider_name: None,
        connection_id: None,
        sources: Vec::new(),
        field_map: FieldMap::new(),
        tag: None,
        changes_until: row.known.changes_until.map(WireTime),
        state,
        paused_reason,
        import_id,
        next_run_at: (state == "active").then_some(WireTime(row.due_at)),
        last_run: row.last_run.as_ref().map(RunView::new),
        failures: row.failures,
        created_at: WireTime(row.created_at),
        updated_at: WireTime(row.updated_at),
    };
    view.with(&row.source)
}

impl ScheduledImportView {
    /// Adds the fields that describe the source.
    fn with(self, source: &Source) -> Self {
        let FileSource { url, delimiter, target } = match source {
            Source::File(file) => file,
            Source::Platform(PlatformSource { provider, connection, sources, consent_mode, fields, tag }) => {
                return Self {
                    provider: Some(*provider),
                    provider_name: Some(provider.label()),
                    connection_id: Some(*connection),
                    sources: sources.iter().map(ImportedSource::from).collect(),
                    consent_mode: Some(*consent_mode),
                    field_map: fields.clone(),
                    tag: Some(tag.clone()),
                    ..self
                };
            }
        };
        let file = Self { url: Some(url.clone()), delimiter: delimiter.map(|byte| char::from(byte).to_string()), ..self };
        match target {
            Target::Contacts(rows) => Self {
                column_map: rows.columns.clone(),
                on_conflict: Some(match rows.on_conflict {
                    OnConflict::Upsert => "upsert",
                    OnConflict::Skip => "skip",
                }),
                tags: rows.tags.clone(),
                status: rows.status,
                consent_mode: Some(rows.consent_mode),
                ..file
            },
            Target::Events(rows) => {
                Self { target: "events", mapping: rows.mapping.clone(), event_name: rows.event_name.clone(), ..file }
            }
        }
    }

    /// Returns a scheduled import of contacts from a file, for the examples in the API documentation.
    pub fn sample() -> Self {
        Self {
            id: ScheduledImportId::parse("66f1a2b30000000b7a1b2c3d").expect("the ID has 24 hexadecimal characters"),
            project_id: ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the ID has 24 hexadecimal characters"),
            name: "Shop customers".into(),
            every_hours: 24,
            target: "contacts",
            url: Some("https://shop.acme.example/export/contacts.csv".into()),
            delimiter: None,
            column_map: Some(ColumnMap { email: "E-mail".into(), ..ColumnMap::default() }),
            on_conflict: Some("upsert"),
            tags: vec!["shop".into()],
            status: None,
            consent_mode: Some(ConsentMode::IncludeAll),
            mapping: BTreeMap::new(),
            event_name: None,
            provider: None,
            provider_name: None,
            connection_id: None,
            sources: Vec::new(),
            field_map: FieldMap::new(),
            tag: None,
            changes_until: None,
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
                problems: Vec::new(),
                error: None,
            }),
            failures: 0,
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
        }
    }

    /// Returns a scheduled import of customer events, as a sample for the dashboard's templates.
    #[cfg(test)]
    pub fn sample_of_events() -> Self {
        let sample = Self::sample();
        let problem = ProblemView { row: 17, field: "properties.value".into(), error: "must be an amount".into() };
        let mapping = [("name", "Event"), ("email", "E-mail")].map(|(field, header)| (field.into(), header.into()));
        Self {
            name: "Orders".into(),
            target: "events",
            url: Some("https://shop.acme.example/export/orders.csv".into()),
            column_map: None,
            on_conflict: None,
            tags: Vec::new(),
            consent_mode: None,
            mapping: mapping.into(),
            last_run: sample.last_run.map(|run| RunView { import_id: None, failed: 1, problems: vec![problem], ..run }),
            ..Self::sample()
        }
    }

    /// Returns a scheduled import from a platform, as a sample for the dashboard's templates.
    #[cfg(test)]
    pub fn sample_of_platform() -> Self {
        let source = ImportedSource { id: "Y6nRLr".into(), kind: SourceKind::List, name: "Newsletter".into() };
        Self {
            name: "Newsletter".into(),
            url: None,
            column_map: None,
            on_conflict: None,
            tags: Vec::new(),
            consent_mode: Some(ConsentMode::SubscribedOnly),
            provider: Some(Provider::Klaviyo),
            provider_name: Some(Provider::Klaviyo.label()),
            connection_id: ConnectionId::parse("66f1a2b3d4e5f60718293a60"),
            sources: vec![source],
            tag: Some("Klaviyo import 2026-01-01".into()),
            changes_until: Some(WireTime::sample()),
            ..Self::sample()
        }
    }
}
