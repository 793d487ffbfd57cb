//! Lists the projects in the caller's account.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs_one};
use crate::features::projects::{ProjectStatus, READERS, store, views};
use crate::vocab::permissions::Permission;

pub struct List;

/// The page of projects to return.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListProjects {
    #[serde(default)]
    pub limit: Limit,
    /// The number of projects to skip.
    pub offset: Option<Offset>,
    /// The number of the page to return, starting at 1. Use it instead of `offset`; if both are set, `offset` is ignored.
    pub page: Option<PageNumber>,
    /// If given, only projects with this import status are returned.
    pub status: Option<ProjectStatus>,
}

impl Operation for List {
    const SPEC: Spec = Spec::get("projects.list", "/v1/projects", needs_one(&Permission::ALL))
        .summary("List projects")
        .about(
            "Lists projects, newest first. Use a project's ID as `projectId` in other operations. The fields `description`, `urls`, \
             `logoUrls`, `palette` and `error` are included only with one of the permissions `email:read`, `project:write`, \
             `audience:read` or `campaign:read`.",
        )
        .blocking();
    type Input = ListProjects;
    type Output = Page<views::ProjectView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        (json!({ "limit": 20, "status": "pending" }), Page { items: vec![views::ProjectView::sample()], total: 1, window })
    }
}

impl Query for List {
    fn run(view: &View<'_>, input: ListProjects) -> Result<Self::Output, Failure> {
        let window = Window::new(input.limit, input.offset, input.page);
        let projects = store::list(view.tx, view.caller.account(), input.status)?;
        let total = projects.len() as u64;
        let permissions = view.caller.principal.permissions();
        let reads = READERS.iter().any(|permission| permissions.contains(*permission));
        let view = |project| if reads { views::project_view(view.tx, project) } else { Ok(views::summary(project)) };
        let items = window.cut(projects).into_iter().map(view).collect::<Result<_, _>>()?;
        Ok(Page { items, total, window })
    }
}
