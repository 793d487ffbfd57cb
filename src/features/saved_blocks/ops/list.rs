//! Lists the saved blocks of a brand.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs_one};
use crate::features::projects;
use crate::features::saved_blocks::store;
use crate::features::saved_blocks::views::SavedBlockView;
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct List;

/// The page of saved blocks to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListSavedBlocks {
    pub project_id: ProjectId,
    #[serde(default)]
    pub limit: Limit,
    /// The number of saved blocks to skip.
    pub offset: Option<Offset>,
    /// The number of the page to return, starting at 1. Used instead of `offset`.
    pub page: Option<PageNumber>,
}

impl Operation for List {
    const SPEC: Spec = Spec::get(
        "saved_blocks.list",
        "/v1/projects/{projectId}/blocks",
        needs_one(&[Permission::EmailRead, Permission::EmailWrite]),
    )
    .summary("List saved blocks")
    .about("Lists saved blocks, newest first.")
    .rate(RouteGroup::Emails)
    .fails(&[Code::NotFound]);
    type Input = ListSavedBlocks;
    type Output = Page<SavedBlockView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        let page = Page { items: vec![SavedBlockView::sample()], total: 1, window };
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b" }), page)
    }
}

impl Query for List {
    fn run(view: &View<'_>, input: ListSavedBlocks) -> Result<Self::Output, Failure> {
        projects::require(view.tx, view.caller.account(), input.project_id)?;
        let window = Window::new(input.limit, input.offset, input.page);
        let all = store::all(view.tx, input.project_id)?;
        let total = all.len() as u64;
        let items = window.cut(all).into_iter().map(SavedBlockView::new).collect::<Result<_, _>>()?;
        Ok(Page { items, total, window })
    }
}
