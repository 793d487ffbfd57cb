//! Returns the progress of an import from a file or a platform.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::contacts::batch::Counts;
use crate::features::contacts::jobs::{self, State, Task};
use crate::vocab::codes::Code;
use crate::vocab::ids::{JobId, ProjectId};
use crate::vocab::permissions::Permission;
use crate::vocab::providers::Provider;

pub struct ImportStatus;

/// Selects an import or another job.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportRef {
    /// The ID of the import, as returned when the import was started.
    pub id: JobId,
    /// The import's project. Optional; if given, the import must belong to it.
    #[serde(rename = "projectId")]
    pub project_id: Option<ProjectId>,
}

/// The progress of an import. API clients expect its field names in snake case.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ImportProgress {
    /// Always `contact_import`.
    pub object: &'static str,
    pub id: JobId,
    #[schemars(extend("enum" = ["pending", "processing", "completed", "failed", "uploaded"]))]
    pub status: &'static str,
    pub counts: RowCounts,
    /// The approximate share of the import that is done, from 0 to 1.
    pub progress: f64,
    /// The platform that the contacts are imported from; absent for a file.
    pub provider: Option<Provider>,
    /// The number of contacts that were left out because they never subscribed or have no status. Absent for a file import that keeps rows
    /// without a status.
    pub excluded: Option<u64>,
    /// Why the import is paused, and what resumes it; absent if it is not paused.
    pub waiting: Option<String>,
    /// Why the import failed, and what to do; absent if it did not fail.
    pub error: Option<String>,
    pub created_at: WireTime,
    pub completed_at: Option<WireTime>,
}

/// The number of rows with each result, so far.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct RowCounts {
    /// The number of rows processed so far, without rows that were left out (see `excluded`). Equals the sum of the other counts.
    pub total: u64,
    /// The number of rows that created a contact.
    pub created: u64,
    /// The number of rows that changed a contact.
    pub updated: u64,
    /// The number of rows that changed nothing, because the contact exists and `onConflict` is `skip`, or because the contact already
    /// matched the row.
    pub skipped: u64,
    /// The number of rows with errors, which were not imported. GET /v1/contacts/imports/{id}/errors lists the errors.
    pub failed: u64,
}

impl From<Counts> for RowCounts {
    fn from(counts: Counts) -> Self {
        let Counts { total, created, updated, skipped, failed } = counts;
        Self { total, created, updated, skipped, failed }
    }
}

impl Operation for ImportStatus {
    const SPEC: Spec = Spec::get("contacts.import_status", "/v1/contacts/imports/{id}", needs(Permission::AudienceRead))
        .client("contacts.imports.get")
        .summary("Get the progress of an import")
        .about("Returns finished imports until 30 days after they end.")
        .fails(&[Code::NotFound]);
    type Input = ImportRef;
    type Output = Done<ImportProgress>;

    fn example() -> (Value, Self::Output) {
        let id = JobId::parse("66f1a2b3d4e5f60718293a4c").expect("the id has 24 hexadecimal characters");
        let progress = ImportProgress {
            object: "contact_import",
            id,
            status: "completed",
            counts: RowCounts { total: 1_000, created: 900, updated: 60, skipped: 38, failed: 2 },
            progress: 1.0,
            provider: None,
            excluded: None,
            waiting: None,
            error: None,
            created_at: WireTime::sample(),
            completed_at: Some(WireTime::sample()),
        };
        (json!({ "id": id }), Done(progress))
    }
}

impl Query for ImportStatus {
    fn run(view: &View<'_>, input: ImportRef) -> Result<Self::Output, Failure> {
        let job = jobs::of_account(view.tx, view.caller.account(), input.id, input.project_id)?;
        let (progress, platform, excluded) = match &job.task {
            Task::Import(import) => (import.progress(view.tx)?, None, import.leaves_out_undecided.then_some(import.excluded)),
            Task::Provider(import) => (import.progress(), Some(import), Some(import.excluded)),
            Task::Bulk(_) | Task::Export(_) | Task::Change(_) => return Err(jobs::wrong_kind(job.id)),
        };
        let is_open = matches!(job.state, State::Waiting | State::Running);
        let pause = platform.and_then(|import| import.pause.as_ref()).filter(|_| is_open);
        Ok(Done(ImportProgress {
            object: "contact_import",
            id: job.id,
            status: job.state.word(),
            counts: job.counts.into(),
            progress: if job.state == State::Completed { 1.0 } else { progress },
            provider: platform.map(|import| import.provider),
            excluded,
            waiting: pause.map(|pause| pause.reason.clone()),
            error: job.state.reason(),
            created_at: WireTime(job.created_at),
            completed_at: job.completed_at.map(WireTime),
        }))
    }
}
