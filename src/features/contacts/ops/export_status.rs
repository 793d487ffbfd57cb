//! Returns the progress of an export and the download link.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::export::{ExportView, view_with_link};
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::contacts::jobs::{self, Task};
use crate::vocab::codes::Code;
use crate::vocab::ids::{JobId, ProjectId};
use crate::vocab::permissions::Permission;

pub struct ExportStatus;

/// Selects an export.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportRef {
    /// The job's ID, as returned when the export was started.
    pub job_id: JobId,
    /// The project of the export.
    pub project_id: ProjectId,
}

impl Operation for ExportStatus {
    const SPEC: Spec = Spec::get("contacts.export_status", "/v1/contacts/exports/{jobId}", needs(Permission::AudienceRead))
        .client("contacts.exports.get")
        .summary("Get the progress of an export")
        .about("Once the file has been written, the response contains downloadUrl for one hour.")
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

impl Query for ExportStatus {
    fn run(view: &View<'_>, input: ExportRef) -> Result<Self::Output, Failure> {
        let job = jobs::of_account(view.tx, view.caller.account(), input.job_id, Some(input.project_id))?;
        let Task::Export(export) = &job.task else { return Err(jobs::wrong_kind(job.id)) };
        Ok(Done(view_with_link(&view.caller.engine, &job, export)))
    }
}
