//! Returns a preview with its devices.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::previews::require;
use crate::features::previews::views::{PreviewView, Viewer};
use crate::vocab::codes::Code;
use crate::vocab::ids::PreviewId;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Get;

/// Identifies a preview.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PreviewRef {
    pub preview_id: PreviewId,
}

impl Operation for Get {
    const SPEC: Spec = Spec::get("previews.get", "/v1/emails/previews/{previewId}", needs(Permission::EmailPreview))
        .summary("Get a preview")
        .rate(RouteGroup::Emails)
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = PreviewRef;
    type Output = Done<PreviewView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "previewId": "66f1a2b3d4e5f60718293a4b" }), Done(PreviewView::sample(false)))
    }
}

impl Query for Get {
    fn run(view: &View<'_>, input: PreviewRef) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        let preview = require(view.tx, account, input.preview_id)?;
        Viewer { engine: &view.caller.engine, tx: view.tx, account }.preview(&preview).map(Done)
    }
}
