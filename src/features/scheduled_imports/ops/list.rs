//! Lists the scheduled imports.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs};
use crate::features::scheduled_imports::store;
use crate::features::scheduled_imports::views::{ScheduledImportView, scheduled_import_view};
use crate::vocab::ids::ProjectId;
use crate::vocab::permissions::Permission;

pub struct List;

/// The page of scheduled imports to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListScheduledImports {
    /// If given, only the scheduled imports of the project with this ID are returned.
    pub project_id: Option<ProjectId>,
    #[serde(default)]
    pub limit: Limit,
    /// The number of scheduled imports to skip.
    pub offset: Option<Offset>,
    /// The page number, starting at 1. Use it instead of `offset`.
    pub page: Option<PageNumber>,
}

impl Operation for List {
    const SPEC: Spec = Spec::get("scheduled_imports.list", "/v1/scheduled-imports", needs(Permission::AudienceRead))
        .summary("List scheduled imports")
        .about("Lists scheduled imports, oldest first.");
    type Input = ListScheduledImports;
    type Output = Page<ScheduledImportView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        (json!({}), Page { items: vec![ScheduledImportView::sample()], total: 1, window })
    }
}

impl Query for List {
    fn run(view: &View<'_>, input: ListScheduledImports) -> Result<Self::Output, Failure> {
        let window = Window::new(input.limit, input.offset, input.page);
        let mut all = store::all(view.tx, view.caller.account())?;
        all.retain(|row| input.project_id.is_none_or(|project| row.project == project));
        let total = all.len() as u64;
        Ok(Page { items: window.cut(all).iter().map(scheduled_import_view).collect(), total, window })
    }
}
