//! Returns the progress of a bulk change.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::bulk::RowError;
use super::bulk_change::ChangeResult;
use super::bulk_status::BulkJobRef;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::contacts::jobs::{self, State, Task};
use crate::vocab::codes::Code;
use crate::vocab::ids::JobId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct BulkChangeStatus;

/// The progress of a bulk change.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BulkChangeProgress {
    pub job_id: JobId,
    #[schemars(extend("enum" = ["pending", "processing", "completed", "failed"]))]
    pub status: &'static str,
    /// The number of contacts that the change covers; absent until they have been counted.
    pub total: Option<u64>,
    /// The number of contacts that have been processed.
    pub processed: u64,
    /// The result of the change; present once the job has finished.
    pub result: Option<ChangeResult>,
    /// Why the job failed, and what to do; absent if the job did not fail.
    pub error: Option<String>,
    pub created_at: WireTime,
    pub completed_at: Option<WireTime>,
}

impl Operation for BulkChangeStatus {
    const SPEC: Spec =
        Spec::get("contacts.bulk_change_status", "/v1/contacts/bulk-change/{jobId}", needs(Permission::AudienceRead))
            .client("contacts.bulk_changes.get")
            .summary("Get the progress of a bulk change")
            .about("Returns finished jobs until 30 days after they end.")
            .fails(&[Code::NotFound]);
    type Input = BulkJobRef;
    type Output = Done<BulkChangeProgress>;

    fn example() -> (Value, Self::Output) {
        let job_id = JobId::parse("66f1a2b3d4e5f60718293a4c").expect("the id has 24 hexadecimal characters");
        let progress = BulkChangeProgress {
            job_id,
            status: "processing",
            total: Some(20_000),
            processed: 6_000,
            result: None,
            error: None,
            created_at: WireTime::sample(),
            completed_at: None,
        };
        (json!({ "jobId": job_id }), Done(progress))
    }
}

impl Query for BulkChangeStatus {
    fn run(view: &View<'_>, input: BulkJobRef) -> Result<Self::Output, Failure> {
        let job = jobs::of_account(view.tx, view.caller.account(), input.job_id, input.project_id)?;
        let Task::Change(change) = &job.task else { return Err(jobs::wrong_kind(job.id)) };
        let result = match job.state {
            State::Completed | State::Failed(_) | State::Acknowledged(_) => {
                let notes = jobs::notes(view.tx, job.id, 0, limits::BULK_ERRORS_SHOWN_MAX)?;
                Some(ChangeResult::of(&job.counts, notes.into_iter().map(RowError::from).collect()))
            }
            State::Waiting | State::Running | State::AwaitingMapping => None,
        };
        Ok(Done(BulkChangeProgress {
            job_id: job.id,
            status: job.state.word(),
            total: change.total,
            processed: job.counts.total,
            result,
            error: job.state.reason(),
            created_at: WireTime(job.created_at),
            completed_at: job.completed_at.map(WireTime),
        }))
    }
}
