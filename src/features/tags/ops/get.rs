//! Returns one tag.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::projects;
use crate::features::tags::find;
use crate::features::tags::views::{TagView, tag_view};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, TagId};
use crate::vocab::permissions::Permission;

pub struct Get;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TagRef {
    /// The tag's ID.
    pub id: TagId,
    /// The ID of the tag's project.
    pub project_id: ProjectId,
}

impl Operation for Get {
    const SPEC: Spec =
        Spec::get("tags.get", "/v1/tags/{id}", needs(Permission::AudienceRead)).summary("Get a tag").fails(&[Code::NotFound]);
    type Input = TagRef;
    type Output = Done<TagView>;

    fn example() -> (Value, Self::Output) {
        let tag = TagView::sample();
        (json!({ "id": tag.id, "projectId": "66f1a2b3d4e5f60718293a4b" }), Done(tag))
    }
}

impl Query for Get {
    fn run(view: &View<'_>, input: TagRef) -> Result<Self::Output, Failure> {
        projects::require(view.tx, view.caller.account(), input.project_id)?;
        let tag = find(view.tx, input.project_id, input.id)?;
        Ok(Done(tag_view(view.tx, input.project_id, tag)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn counts_the_contacts_that_have_it_now() {
        let app = TestApp::new();
        let contact = |email: &str| app.post_in("/v1/contacts", json!({ "email": email, "tags": ["vip"] })).data()["id"].clone();
        contact("ada@example.com");
        let second = contact("bob@example.com");
        let id = app.get_in("/v1/tags").data()["tags"][0]["id"].as_str().expect("the tag has an ID").to_owned();
        let count = || app.get_in(&format!("/v1/tags/{id}")).data()["subscriberCount"].clone();
        assert_eq!(count(), 2);
        app.delete_in(&format!("/v1/contacts/{}", second.as_str().expect("the contact has an ID"))).data();
        assert_eq!(count(), 1);
    }

    #[test]
    fn another_projects_tag_is_not_found() {
        let app = TestApp::new();
        let id = app.post_in("/v1/tags", json!({ "name": "vip" })).data()["id"].as_str().expect("the tag has an ID").to_owned();
        let other = app.another_project();
        let answer = app.get(&format!("/v1/tags/{id}?projectId={other}"));
        assert_eq!((answer.refusal().0, answer.refusal().1), (404, "RESOURCE_NOT_FOUND"));
    }
}
