//! Returns the progress of a large bulk write.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::bulk::{BulkResult, RowError};
use crate::base::optional::Nullable;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::contacts::jobs::{self, State, Task};
use crate::vocab::codes::Code;
use crate::vocab::ids::{JobId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct BulkStatus;

/// Selects a bulk write or a bulk change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BulkJobRef {
    /// The job's ID, as returned by the bulk write or bulk change.
    pub job_id: JobId,
    /// The job's project. Optional; if given, the job must belong to it.
    pub project_id: Option<ProjectId>,
}

/// The progress of a bulk write.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BulkProgress {
    pub job_id: JobId,
    #[schemars(extend("enum" = ["pending", "processing", "completed", "failed"]))]
    pub status: &'static str,
    pub total_contacts: u64,
    /// The number of rows that have been processed.
    pub processed: u64,
    /// The result of the bulk write; `null` until the job is completed.
    pub result: Nullable<BulkResult>,
    /// Why the job failed, and what to do; `null` if the job did not fail.
    pub error: Nullable<String>,
    pub created_at: WireTime,
    /// When the job ended; `null` until then.
    pub completed_at: Nullable<WireTime>,
}

impl Operation for BulkStatus {
    const SPEC: Spec = Spec::get("contacts.bulk_status", "/v1/contacts/bulk/{jobId}", needs(Permission::AudienceRead))
        .client("contacts.bulk.get")
        .also_at(&["/v1/subscribers/bulk/{jobId}"])
        .summary("Get the progress of a bulk write")
        .about("Returns finished jobs until 30 days after they end.")
        .fails(&[Code::NotFound]);
    type Input = BulkJobRef;
    type Output = Done<BulkProgress>;

    fn example() -> (Value, Self::Output) {
        let job_id = JobId::parse("66f1a2b3d4e5f60718293a4c").expect("the id has 24 hexadecimal characters");
        let progress = BulkProgress {
            job_id,
            status: "completed",
            total_contacts: 20_000,
            processed: 20_000,
            result: Some(BulkResult { success: 20_000, failed: 0, updated: 512, errors: Vec::new() }).into(),
            error: None.into(),
            created_at: WireTime::sample(),
            completed_at: Some(WireTime::sample()).into(),
        };
        (json!({ "jobId": job_id }), Done(progress))
    }
}

impl Query for BulkStatus {
    fn run(view: &View<'_>, input: BulkJobRef) -> Result<Self::Output, Failure> {
        let job = jobs::of_account(view.tx, view.caller.account(), input.job_id, input.project_id)?;
        let Task::Bulk(bulk) = &job.task else { return Err(jobs::wrong_kind(job.id)) };
        let result = match job.state {
            State::Completed => {
                let reported = jobs::bulk_counts(&job.counts);
                let notes = jobs::notes(view.tx, job.id, 0, limits::BULK_ERRORS_SHOWN_MAX)?;
                let errors = notes.into_iter().map(RowError::from).collect();
                Some(BulkResult { success: reported.success, failed: reported.failed, updated: reported.updated, errors })
            }
            _ => None,
        };
        Ok(Done(BulkProgress {
            job_id: job.id,
            status: job.state.word(),
            total_contacts: bulk.rows.into(),
            processed: job.counts.total,
            result: result.into(),
            error: job.state.reason().into(),
            created_at: WireTime(job.created_at),
            completed_at: job.completed_at.map(WireTime).into(),
        }))
    }
}
