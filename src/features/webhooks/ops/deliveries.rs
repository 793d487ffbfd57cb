//! Lists the deliveries of a webhook.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs};
use crate::features::webhooks::model::DeliveryStatus;
use crate::features::webhooks::views::{DeliveryView, delivery_view};
use crate::features::webhooks::{require, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::WebhookId;
use crate::vocab::permissions::Permission;

pub struct Deliveries;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListDeliveries {
    /// The ID of the webhook.
    pub webhook_id: WebhookId,
    /// Return only deliveries with this status.
    pub status: Option<DeliveryStatus>,
    #[serde(default)]
    pub limit: Limit,
    /// The number of deliveries to skip.
    pub offset: Option<Offset>,
    /// The page number, starting at 1. Use it instead of `offset`.
    pub page: Option<PageNumber>,
}

impl Operation for Deliveries {
    const SPEC: Spec = Spec::get("webhooks.deliveries", "/v1/webhooks/{webhookId}/deliveries", needs(Permission::WebhookRead))
        .client("webhooks.deliveries.list")
        .summary("List deliveries")
        .about(
            "Lists deliveries, newest first, with the record of every attempt. Deliveries are kept for the \
             number of days in the setting webhooks.deliveries_kept_days. A status filter searches the newest 20,000 deliveries.",
        )
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = ListDeliveries;
    type Output = Page<DeliveryView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        let input = json!({ "webhookId": "66f1a2b3000000017a1b2c3d", "status": "success" });
        (input, Page { items: vec![DeliveryView::sample()], total: 1, window })
    }
}

impl Query for Deliveries {
    fn run(view: &View<'_>, input: ListDeliveries) -> Result<Self::Output, Failure> {
        let webhook = require(view.tx, view.caller.account(), input.webhook_id)?;
        let window = Window::new(input.limit, input.offset, input.page);
        let state = store::state(view.tx, (webhook.account, webhook.id))?;
        let total = input.status.map_or(state.kept_total(), |status| state.kept(status));
        let mut found = store::deliveries(view.tx, webhook.id, input.status, window.offset, window.limit)?;
        // The store orders deliveries only to the second, so sort the page by the exact time.
        found.sort_by_key(|delivery| std::cmp::Reverse(delivery.created_at));
        Ok(Page { items: found.iter().map(delivery_view).collect(), total, window })
    }
}
