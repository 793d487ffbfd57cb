//! Returns an incoming webhook.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::hooks::require;
use crate::features::hooks::views::{HookView, hook_view};
use crate::vocab::codes::Code;
use crate::vocab::ids::HookId;
use crate::vocab::permissions::Permission;

pub struct Get;

/// The incoming webhook to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookRef {
    /// The ID of the incoming webhook.
    pub hook: HookId,
}

impl Operation for Get {
    const SPEC: Spec = Spec::get("hooks.get", "/v1/incoming-webhooks/{hook}", needs(Permission::WebhookRead))
        .client("incoming_webhooks.get")
        .summary("Get an incoming webhook")
        .about("The response does not include the URL, which is returned only when the URL is created.")
        .fails(&[Code::NotFound]);
    type Input = HookRef;
    type Output = Done<HookView>;

    fn example() -> (Value, Self::Output) {
        let hook = HookView::sample();
        (json!({ "hook": hook.id }), Done(hook))
    }
}

impl Query for Get {
    fn run(view: &View<'_>, input: HookRef) -> Result<Self::Output, Failure> {
        let hook = require(view.tx, view.caller.account(), input.hook)?;
        Ok(Done(hook_view(view.tx, &hook)?))
    }
}
