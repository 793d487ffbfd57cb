//! Lists the webhooks.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs};
use crate::features::webhooks::store;
use crate::features::webhooks::views::{WebhookView, webhook_view};
use crate::vocab::permissions::Permission;

pub struct List;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListWebhooks {
    #[serde(default)]
    pub limit: Limit,
    /// The number of webhooks to skip.
    pub offset: Option<Offset>,
    /// The page number, starting at 1. Use it instead of `offset`.
    pub page: Option<PageNumber>,
}

impl Operation for List {
    const SPEC: Spec = Spec::get("webhooks.list", "/v1/webhooks", needs(Permission::WebhookRead))
        .summary("List webhooks")
        .about("Lists webhooks, oldest first.");
    type Input = ListWebhooks;
    type Output = Page<WebhookView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        (json!({}), Page { items: vec![WebhookView::sample()], total: 1, window })
    }
}

impl Query for List {
    fn run(view: &View<'_>, input: ListWebhooks) -> Result<Self::Output, Failure> {
        let window = Window::new(input.limit, input.offset, input.page);
        let all = store::all(view.tx, view.caller.account())?;
        let total = all.len() as u64;
        let to_view = |webhook| webhook_view(view.tx, &view.caller.engine, &webhook, view.now);
        Ok(Page { items: window.cut(all).into_iter().map(to_view).collect::<Result<_, _>>()?, total, window })
    }
}
