//! Returns what a restore of a brand would bring back.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, manager};
use crate::features::accounts;
use crate::features::restores::requests;
use crate::features::restores::views::BrandPreview;
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;

pub struct Preview;

/// The brand to compare.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PreviewRestore {
    /// The brand's ID in the restored state.
    pub project_id: ProjectId,
}

impl Operation for Preview {
    const SPEC: Spec = Spec::get("restores.preview", "/v1/system/restores/preview", manager())
        .summary("Preview the restore of a brand")
        .about(
            "Compares a brand in the restored state with its current state, and changes nothing. Requires a restore with the status ready. \
             Only the installation's own account, which is the first account, may use this operation.",
        )
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = PreviewRestore;
    type Output = Done<BrandPreview>;

    fn example() -> (Value, Self::Output) {
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b" }), Done(BrandPreview::sample()))
    }
}

impl Async for Preview {
    async fn run(context: Context, input: PreviewRestore) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        accounts::require_installations(&context.engine.control.read(), account)?;
        requests::preview(context, Some(account), input.project_id).await.map(Done)
    }
}
