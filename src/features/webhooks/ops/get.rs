//! Returns a webhook.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::webhooks::require;
use crate::features::webhooks::views::{WebhookView, webhook_view};
use crate::vocab::codes::Code;
use crate::vocab::ids::WebhookId;
use crate::vocab::permissions::Permission;

pub struct Get;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WebhookRef {
    /// The ID of the webhook.
    pub webhook_id: WebhookId,
}

impl Operation for Get {
    const SPEC: Spec = Spec::get("webhooks.get", "/v1/webhooks/{webhookId}", needs(Permission::WebhookRead))
        .summary("Get a webhook")
        .about("The response does not include the secret, which is returned only when the secret is created.")
        .fails(&[Code::NotFound]);
    type Input = WebhookRef;
    type Output = Done<WebhookView>;

    fn example() -> (Value, Self::Output) {
        let webhook = WebhookView::sample();
        (json!({ "webhookId": webhook.id }), Done(webhook))
    }
}

impl Query for Get {
    fn run(view: &View<'_>, input: WebhookRef) -> Result<Self::Output, Failure> {
        let webhook = require(view.tx, view.caller.account(), input.webhook_id)?;
        Ok(Done(webhook_view(view.tx, &view.caller.engine, &webhook, view.now)?))
    }
}
