//! Returns a delivery.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::engine::store::Read;
use crate::features::webhooks::views::{DeliveryView, delivery_view};
use crate::features::webhooks::{model, require, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, DeliveryId, WebhookId};
use crate::vocab::permissions::Permission;

pub struct Delivery;

/// The delivery to get.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeliveryRef {
    /// The ID of the webhook.
    pub webhook_id: WebhookId,
    /// The ID of the delivery.
    pub delivery_id: DeliveryId,
}

impl Operation for Delivery {
    const SPEC: Spec =
        Spec::get("webhooks.delivery", "/v1/webhooks/{webhookId}/deliveries/{deliveryId}", needs(Permission::WebhookRead))
            .client("webhooks.deliveries.get")
            .summary("Get a delivery")
            .about("Includes every attempt: its time, and the endpoint's response or the error.")
            .fails(&[Code::NotFound]);
    type Input = DeliveryRef;
    type Output = Done<DeliveryView>;

    fn example() -> (Value, Self::Output) {
        let delivery = DeliveryView::sample();
        (json!({ "webhookId": "66f1a2b3000000017a1b2c3d", "deliveryId": delivery.id }), Done(delivery))
    }
}

impl Query for Delivery {
    fn run(view: &View<'_>, input: DeliveryRef) -> Result<Self::Output, Failure> {
        let (_, delivery) = find(view.tx, view.caller.account(), &input)?;
        Ok(Done(delivery_view(&delivery)))
    }
}

/// Returns the delivery and its webhook, or `NotFound`.
pub fn find(tx: &impl Read, account: AccountId, which: &DeliveryRef) -> Result<(model::Webhook, model::Delivery), Failure> {
    let webhook = require(tx, account, which.webhook_id)?;
    let absent = || {
        Failure::because(Code::NotFound, "The webhook has no delivery with this ID.")
            .see("webhooks.deliveries", "GET /v1/webhooks/{webhookId}/deliveries lists the deliveries")
    };
    let delivery = store::delivery(tx, webhook.id, which.delivery_id)?.ok_or_else(absent)?;
    Ok((webhook, delivery))
}
