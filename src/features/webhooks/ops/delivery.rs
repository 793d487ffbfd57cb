//! Returns a delivery.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::engine::store::Read;
use crate::features::webhooks::views::{DeliveryView, delivery_view};
use crate::features::webhooks::{fanout, model, require, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, DeliveryId, WebhookId};
use crate::vocab::permissions::Permission;

pub struct Delivery;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeliveryRef {
    /// The ID of the webhook.
    pub webhook_id: WebhookId,
    /// The ID of the delivery.
    pub delivery_id: DeliveryId,
}

/// A delivery with its body.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryDetails {
    #[serde(flatten)]
    pub delivery: DeliveryView,
    /// The raw body: the event as JSON text, exactly as it is sent and signed. Absent if the event is no longer stored. Also absent if the
    /// caller lacks the permission `webhook:write`, because events contain contacts' data.
    pub body: Option<String>,
}

impl Operation for Delivery {
    const SPEC: Spec = Spec::get(
        "webhooks.delivery",
        "/v1/webhooks/{webhookId}/deliveries/{deliveryId}",
        needs(Permission::WebhookRead),
    )
    .client("webhooks.deliveries.get")
    .summary("Get a delivery")
    .about(
        "Includes every attempt: its time, and the endpoint's response or the error. With the permission `webhook:write`, the \
                 delivery also includes its body if the event is still stored; events are kept for seven days.",
    )
    .fails(&[Code::NotFound]);
    type Input = DeliveryRef;
    type Output = Done<DeliveryDetails>;

    fn example() -> (Value, Self::Output) {
        let delivery = DeliveryView::sample();
        let event = json!({
            "id": delivery.event_id, "type": delivery.event_type, "timestamp": "2026-01-01T00:00:00.000Z", "apiVersion": "v1",
            "data": { "subscriberId": "66f1a2b3d4e5f60718293a4c", "email": "ada@example.com" },
        });
        let input = json!({ "webhookId": "66f1a2b3000000017a1b2c3d", "deliveryId": delivery.id });
        (input, Done(DeliveryDetails { delivery, body: Some(event.to_string()) }))
    }
}

impl Query for Delivery {
    fn run(view: &View<'_>, input: DeliveryRef) -> Result<Self::Output, Failure> {
        let (_, delivery) = find(view.tx, view.caller.account(), &input)?;
        let body = match view.caller.principal.permissions().contains(Permission::WebhookWrite) {
            true if delivery.is_test() => delivery.test_body.clone(),
            true => fanout::event_of(view.tx, &delivery)?.map(|event| event.body),
            false => None,
        };
        Ok(Done(DeliveryDetails { delivery: delivery_view(&delivery), body }))
    }
}

/// Returns the delivery and its webhook. Fails with `NotFound` if either does not exist.
pub fn find(tx: &impl Read, account: AccountId, which: &DeliveryRef) -> Result<(model::Webhook, model::Delivery), Failure> {
    let webhook = require(tx, account, which.webhook_id)?;
    let absent = || {
        Failure::because(Code::NotFound, "The webhook has no delivery with this ID.")
            .see("webhooks.deliveries", "GET /v1/webhooks/{webhookId}/deliveries lists the deliveries")
    };
    let delivery = store::delivery(tx, webhook.id, which.delivery_id)?.ok_or_else(absent)?;
    Ok((webhook, delivery))
}
