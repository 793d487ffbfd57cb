//! Returns the progress of an export and the link to its file.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::export::{ExportView, view_with_link};
use crate::engine::api::response::WireTime;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::features::contacts::jobs::{self, Task};
use crate::vocab::codes::Code;
use crate::vocab::ids::{JobId, ProjectId};
use crate::vocab::permissions::Permission;

/// `contacts.export_status`
pub struct ExportStatus;

/// Selects an export.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportRef {
    /// As returned by the export.
    pub job_id: JobId,
    /// The project of the export.
    pub project_id: ProjectId,
}

impl Operation for ExportStatus {
    const SPEC: Spec = Spec::get("contacts.export_status", "/v1/contacts/exports/{jobId}", needs(Permission::AudienceRead))
        .summary("Get the progress of an export")
        .about("Once the file is written, downloadUrl is present for one hour.")
        .fails(&[Code::NotFound]);
    type Input = ExportRef;
    type Output = Done<ExportView>;

    fn example() -> (Value, Self::Output) {
        let sample = ExportView::sample();
        let input = json!({ "jobId": sample.job_id, "projectId": sample.project_id });
        let answer = ExportView {
            status: "completed",
            contact_count: 1_815,
            completed_at: Some(WireTime::sample()),
            download_url: Some(format!(
                "https://mail.example.com/v1/contacts/exports/{}/file?token=1767229200.5d41",
                sample.job_id
            )),
            download_expires_at: Some(WireTime::sample()),
            ..sample
        };
        (input, Done(answer))
    }
}

/// Asynchronous because the engine signs links, and a query has no access to the engine.
impl Async for ExportStatus {
    async fn run(context: Context, input: ExportRef) -> Result<Self::Output, Failure> {
        let tx = context.data().store.read();
        let job = jobs::of_account(&tx, context.caller.account(), input.job_id, Some(input.project_id))?;
        let Task::Export(export) = &job.task else { return Err(jobs::wrong_kind(job.id)) };
        Ok(Done(view_with_link(&context.engine, &job, export)))
    }
}
