//! Lists the latest requests to an incoming webhook, with their results.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::get::HookRef;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::hooks::views::{HookDeliveryView, delivery_view};
use crate::features::hooks::{require, store};
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;

pub struct Deliveries;

/// The latest requests to an incoming webhook.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HookDeliveries {
    /// The last 50 requests, newest first.
    pub deliveries: Vec<HookDeliveryView>,
}

impl Operation for Deliveries {
    const SPEC: Spec = Spec::get("hooks.deliveries", "/v1/incoming-webhooks/{hook}/deliveries", needs(Permission::WebhookRead))
        .client("incoming_webhooks.deliveries")
        .summary("List the requests of an incoming webhook")
        .about(
            "Lists the last 50 requests, newest first. Values from the request bodies are not stored, because they may be personal \
             data.",
        )
        .fails(&[Code::NotFound]);
    type Input = HookRef;
    type Output = Done<HookDeliveries>;

    fn example() -> (Value, Self::Output) {
        let rejected = HookDeliveryView {
            at: WireTime::sample(),
            result: "rejected",
            field: Some("email".into()),
            reason: Some("missing field `email`".into()),
        };
        let deliveries = vec![rejected];
        (json!({ "hook": "66f1a2b30000000a7a1b2c3d" }), Done(HookDeliveries { deliveries }))
    }
}

impl Query for Deliveries {
    fn run(view: &View<'_>, input: HookRef) -> Result<Self::Output, Failure> {
        let hook = require(view.tx, view.caller.account(), input.hook)?;
        let deliveries: Vec<HookDeliveryView> = store::deliveries(view.tx, hook.id)?.into_iter().map(delivery_view).collect();
        Ok(Done(HookDeliveries { deliveries }))
    }
}
