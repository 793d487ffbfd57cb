//! Returns the status of a preview, for polling.

use serde_json::{Value, json};

use super::get::PreviewRef;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::previews::require;
use crate::features::previews::views::{PreviewMetadata, PreviewStatus, PreviewStatusView, Viewer};
use crate::vocab::codes::Code;
use crate::vocab::ids::PreviewId;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Status;

impl Operation for Status {
    const SPEC: Spec = Spec::get("previews.status", "/v1/emails/previews/{previewId}/status", needs(Permission::EmailPreview))
        .summary("Get the status of a preview")
        .rate(RouteGroup::Emails)
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = PreviewRef;
    type Output = Done<PreviewStatusView>;

    fn example() -> (Value, Self::Output) {
        let view = PreviewStatusView {
            preview_id: PreviewId::parse("66f1a2b3d4e5f60718293a4b").expect("the sample ID is valid"),
            status: PreviewStatus::Completed,
            metadata: PreviewMetadata::sample(false),
        };
        (json!({ "previewId": view.preview_id }), Done(view))
    }
}

impl Query for Status {
    fn run(view: &View<'_>, input: PreviewRef) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        let preview = require(view.tx, account, input.preview_id)?;
        Viewer { engine: &view.caller.engine, tx: view.tx, account }.status(&preview).map(Done)
    }
}
