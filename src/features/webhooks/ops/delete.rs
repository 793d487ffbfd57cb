//! Deletes a webhook.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::get::WebhookRef;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::webhooks::{require, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::WebhookId;
use crate::vocab::permissions::Permission;

pub struct Delete;

/// The result of deleting a webhook.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedWebhook {
    /// The ID of the deleted webhook.
    pub id: WebhookId,
    /// Always true in a successful response.
    pub deleted: bool,
}

impl Operation for Delete {
    const SPEC: Spec = Spec::delete("webhooks.delete", "/v1/webhooks/{webhookId}", needs(Permission::WebhookWrite))
        .summary("Delete a webhook")
        .about("Also deletes the webhook's deliveries; pending ones are not delivered. An attempt in flight may still arrive.")
        .fails(&[Code::NotFound]);
    type Input = WebhookRef;
    type Output = Done<DeletedWebhook>;

    fn example() -> (Value, Self::Output) {
        let id = WebhookId::parse("66f1a2b3000000017a1b2c3d").expect("the ID has 24 hexadecimal characters");
        (json!({ "webhookId": id }), Done(DeletedWebhook { id, deleted: true }))
    }
}

impl Command for Delete {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: WebhookRef) -> Result<Self::Output, Failure> {
        let webhook = require(tx, caller.account(), input.webhook_id)?;
        store::delete(tx, &webhook)?;
        Ok(Done(DeletedWebhook { id: webhook.id, deleted: true }))
    }
}
