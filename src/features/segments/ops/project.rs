//! Returns the project of a segment, for callers that know only the segment's ID, for example from a log or a link.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::projects::{self, OwningProject};
use crate::features::segments::store;
use crate::vocab::codes::Code;
use crate::vocab::ids::SegmentId;
use crate::vocab::permissions::Permission;

pub struct Project;

/// Identifies a segment by its ID alone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SegmentIdOnly {
    /// The segment's ID.
    pub id: SegmentId,
}

impl Operation for Project {
    const SPEC: Spec = Spec::get("segments.project", "/v1/segments/{id}/project", needs(Permission::AudienceRead)).client("segments.get_project")
        .summary("Get the project of a segment")
        .about(
            "All other operations on segments also require the project ID, so store both IDs instead of calling this operation each time.",
        )
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = SegmentIdOnly;
    type Output = Done<OwningProject>;

    fn example() -> (Value, Self::Output) {
        (json!({ "id": "66f1a2b3d4e5f60718293a4d" }), Done(OwningProject::sample()))
    }
}

impl Query for Project {
    fn run(view: &View<'_>, input: SegmentIdOnly) -> Result<Self::Output, Failure> {
        let has = |tx: &_, project| store::exists(tx, project, input.id);
        let project_id = projects::having(view.tx, view.caller.account(), has)?.ok_or(Code::NotFound)?;
        Ok(Done(OwningProject { project_id }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::TestApp;

    #[test]
    fn a_segment_is_found_in_any_project() {
        let app = TestApp::new();
        let other = app.another_project();
        for project in [app.project.to_string(), other.to_string()] {
            let made = app.post("/v1/segments", json!({ "projectId": project, "name": "all" })).data();
            let id = made["id"].as_str().expect("the segment has an ID");
            assert_eq!(app.get(&format!("/v1/segments/{id}/project")).data(), json!({ "projectId": project }));
        }
        assert_eq!(app.get("/v1/segments/66f1a2b3e5f60718293a4b5c/project").refusal().0, 404);
    }
}
