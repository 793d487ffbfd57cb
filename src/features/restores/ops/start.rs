//! Starts restoring a past state, from which users then choose a brand.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::response::WireTime;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, manager};
use crate::features::accounts;
use crate::features::restores::requests;
use crate::features::restores::views::RestoreView;
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;

pub struct Start;

/// The state to restore.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartRestore {
    /// The time of the state to restore. If absent, the newest state is restored.
    pub at: Option<WireTime>,
    /// The ID of the brand to restore. If the brand did not exist at that time, the restore fails. If absent, choose the brand when the
    /// restore is ready.
    pub project_id: Option<ProjectId>,
}

impl Operation for Start {
    const SPEC: Spec = Spec::post("restores.start", "/v1/system/restores", manager())
        .summary("Start the restore of a brand")
        .about(
            "Restores the state at a given time from the continuous backup into a temporary folder beside the data. Returns immediately; \
             when GET /v1/system/restores shows the status `ready`, choose a brand with POST /v1/system/restores/apply within an hour. An \
             installation can have one restore at a time. The disk needs free space for a second copy of all data. Requires the setting \
             backup.url. Only the installation's own account, which is the first account, may use this operation.",
        )
        .fails(&[Code::WrongState]);
    type Input = StartRestore;
    type Output = Done<RestoreView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "at": "2026-01-01T00:00:00Z" }), Done(RestoreView::sample()))
    }
}

impl Async for Start {
    async fn run(context: Context, input: StartRestore) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        accounts::require_installations(&context.engine.control.read(), account)?;
        let restore = requests::start(&context, &Self::SPEC, (Some(account), input.project_id), input.at).await?;
        Ok(Done(requests::view(&context.engine, Some(account), restore)?))
    }
}
