//! Returns one topic.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::projects;
use crate::features::topics::find;
use crate::features::topics::views::{TopicView, topic_view};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, TopicId};
use crate::vocab::permissions::Permission;

pub struct Get;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TopicRef {
    /// The topic's ID.
    pub id: TopicId,
    /// The ID of the topic's project.
    pub project_id: ProjectId,
}

impl Operation for Get {
    const SPEC: Spec = Spec::get("topics.get", "/v1/topics/{id}", needs(Permission::AudienceRead))
        .summary("Get a topic")
        .fails(&[Code::NotFound]);
    type Input = TopicRef;
    type Output = Done<TopicView>;

    fn example() -> (Value, Self::Output) {
        let topic = TopicView::sample();
        (json!({ "id": topic.id, "projectId": "66f1a2b3d4e5f60718293a4b" }), Done(topic))
    }
}

impl Query for Get {
    fn run(view: &View<'_>, input: TopicRef) -> Result<Self::Output, Failure> {
        projects::require(view.tx, view.caller.account(), input.project_id)?;
        Ok(Done(topic_view(view.tx, input.project_id, find(view.tx, input.project_id, input.id)?)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn another_projects_topic_is_not_found() {
        let app = TestApp::new();
        let made = app.post_in("/v1/topics", json!({ "name": "Updates" })).data();
        let path = format!("/v1/topics/{}", made["id"].as_str().expect("the topic has an ID"));
        assert_eq!(app.get_in(&path).status, 200);
        let other = app.another_project();
        assert_eq!(app.get(&format!("{path}?projectId={other}")).refusal().1, "RESOURCE_NOT_FOUND");
    }
}
