//! Returns the file of an export to anyone who has the download link.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::export::file_path;
use crate::engine::api::file::{self, Disposition};
use crate::engine::api::http_types::Reply;
use crate::engine::api::operation::Media;
use crate::engine::api::{Bare, Context, Failure, Operation, Raw, RawRequest, Spec, public};
use crate::engine::store::ReadTx;
use crate::features::contacts::jobs::{self, Task};
use crate::vocab::codes::Code;
use crate::vocab::ids::{BlobId, JobId};
use crate::vocab::rates::RouteGroup;

pub struct ExportDownload;

/// The parts of a download link.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DownloadLink {
    pub job_id: JobId,
    /// The expiry time and the signature, which make the link valid for one hour after the export is complete.
    pub token: Option<String>,
}

impl Operation for ExportDownload {
    const SPEC: Spec = Spec::get("contacts.export_download", "/v1/contacts/exports/{jobId}/file", public())
        .summary("Download the file of an export")
        .about("Needs no API key: the download link itself grants access for one hour. Returns text/csv.")
        .rate(RouteGroup::Imports)
        .fails(&[Code::NotFound]);
    type Input = DownloadLink;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "jobId": "66f1a2b3d4e5f60718293a4c", "token": "1767229200.5d41" }), Bare)
    }
}

impl Raw for ExportDownload {
    const MEDIA: Media = Media::gives("text/csv; charset=utf-8");

    async fn run(context: Context, input: DownloadLink, _: RawRequest) -> Result<Reply, Failure> {
        let path = file_path(input.job_id);
        let token = input.token.unwrap_or_default();
        // Use the current time of the engine's clock, so that a link expires on time even if this request has waited for a long time.
        if !context.engine.links.check(&path, &token, context.engine.clock.now()) {
            return Err(gone());
        }
        // Search both environments: the link does not name the environment, but a job's ID exists in only one of them.
        for data in context.engine.environments() {
            let tx = data.store.read();
            if let Some(blob) = blob(&tx, input.job_id)? {
                return file::send(tx, blob, Disposition::Attachment)?.ok_or_else(gone);
            }
        }
        Err(gone())
    }
}

fn gone() -> Failure {
    Failure::because(
        Code::NotFound,
        "This download link is invalid or has expired. Export the contacts again with POST /v1/contacts/exports.",
    )
}

fn blob(tx: &ReadTx, id: JobId) -> Result<Option<BlobId>, Failure> {
    let job = jobs::find(tx, id)?;
    Ok(job.and_then(|job| if let Task::Export(export) = job.task { export.file } else { None }))
}
