//! Lists the incoming webhooks.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs};
use crate::features::hooks::store;
use crate::features::hooks::views::{HookView, hook_view};
use crate::vocab::ids::ProjectId;
use crate::vocab::permissions::Permission;

pub struct List;

/// The page of incoming webhooks to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListHooks {
    /// If given, only the incoming webhooks of this project are returned.
    pub project_id: Option<ProjectId>,
    #[serde(default)]
    pub limit: Limit,
    /// The number of incoming webhooks to skip.
    pub offset: Option<Offset>,
    /// The page number, starting at 1. Use it instead of `offset`.
    pub page: Option<PageNumber>,
}

impl Operation for List {
    const SPEC: Spec = Spec::get("hooks.list", "/v1/incoming-webhooks", needs(Permission::WebhookRead))
        .client("incoming_webhooks.list")
        .summary("List incoming webhooks")
        .about("Lists incoming webhooks, oldest first. The URL of an incoming webhook is returned only when the URL is created.");
    type Input = ListHooks;
    type Output = Page<HookView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        (json!({}), Page { items: vec![HookView::sample()], total: 1, window })
    }
}

impl Query for List {
    fn run(view: &View<'_>, input: ListHooks) -> Result<Self::Output, Failure> {
        let window = Window::new(input.limit, input.offset, input.page);
        let mut all = store::all(view.tx, view.caller.account())?;
        all.retain(|hook| input.project_id.is_none_or(|project| hook.project == project));
        let total = all.len() as u64;
        let items = window.cut(all).iter().map(|hook| hook_view(view.tx, hook)).collect::<Result<_, _>>()?;
        Ok(Page { items, total, window })
    }
}
