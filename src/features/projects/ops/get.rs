//! Returns a project with its brand.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::features::projects::{READERS, brand, not_found, store, views};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;

pub struct Get;

/// Identifies a project.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProjectRef {
    pub project_id: ProjectId,
}

impl Operation for Get {
    const SPEC: Spec = Spec::get("projects.get", "/v1/projects/{projectId}", needs_one(READERS))
        .summary("Get a project")
        .about(
            "Includes `brand`, the values found on the project's sites or set by users, and `overrides`, the values set by users. Any field of \
             `brand` can be missing.",
        )
        .fails(&[Code::NotFound]);
    type Input = ProjectRef;
    type Output = Done<views::ProjectView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b" }), Done(views::ProjectView::sample()))
    }
}

impl Query for Get {
    fn run(view: &View<'_>, input: ProjectRef) -> Result<Self::Output, Failure> {
        let (project, brand) = brand(view.tx, view.caller.account(), input.project_id)?.ok_or_else(not_found)?;
        let overrides = store::overrides(view.tx, project.id)?;
        Ok(Done(views::details(project, brand, overrides)))
    }
}
