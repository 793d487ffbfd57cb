//! Creates a tag.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::text::{Color, LongText};
use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects;
use crate::features::tags::check_name;
use crate::features::tags::views::{TagView, tag_view};
use crate::features::tags::{self, TagName};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Create;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewTag {
    /// The ID of the tag's project.
    pub project_id: ProjectId,
    /// The name of the tag. Unique in the project, ignoring case.
    pub name: TagName,
    /// The tag's color as `#RRGGBB`.
    pub color: Option<Color>,
    /// A description of the tag's purpose.
    pub description: Option<LongText<{ limits::DESCRIPTION_CHARACTERS_MAX }>>,
}

impl Operation for Create {
    const SPEC: Spec = Spec::post("tags.create", "/v1/tags", needs(Permission::AudienceWrite))
        .summary("Create a tag")
        .about(
            "Adding a new tag to a contact also creates the tag. Returns 409 if a tag in the project has this name; data.id is then the \
             ID of that tag.",
        )
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::NameTaken, Code::LimitReached]);
    type Input = NewTag;
    type Output = Created<TagView>;

    fn example() -> (Value, Self::Output) {
        let input = json!({
            "projectId": "66f1a2b3d4e5f60718293a4b", "name": "newsletter", "color": "#1A73E8",
            "description": "Signed up on the home page",
        });
        (input, Created(TagView { subscriber_count: 0, ..TagView::sample() }))
    }
}

impl Command for Create {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: NewTag) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        projects::require(tx, caller.account(), project)?;
        check_name(tx, project, &input.name, None)?;
        let full = || {
            let detail = format!("A brand can have at most {} tags. Delete a tag first.", limits::TAGS_PER_PROJECT_MAX);
            Failure::because(Code::LimitReached, detail)
        };
        let mut tag = tags::create(tx, project, &input.name)?.ok_or_else(full)?;
        let made = tag.clone();
        tag.color = input.color.map(|color| color.to_string());
        tag.description = input.description.filter(|text| !text.is_empty()).map(|text| text.to_string());
        tags::save(tx, project, Some(&made), &tag);
        Ok(Created(tag_view(tx, project, tag)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn creates_a_tag_that_can_be_read() {
        let app = TestApp::new();
        let answer = app.post_in("/v1/tags", json!({ "name": " VIP ", "color": "#1a73e8", "description": "" }));
        assert_eq!(answer.status, 201);
        let made = answer.data();
        assert_eq!((&made["name"], &made["color"], &made["description"]), (&json!("VIP"), &json!("#1A73E8"), &json!(null)));
        assert_eq!(made["subscriberCount"], 0);
        let id = made["id"].as_str().expect("the tag has an ID");
        assert_eq!(app.get_in(&format!("/v1/tags/{id}")).data(), made);
    }

    #[test]
    fn a_repeated_request_creates_no_second_tag_and_returns_the_first_id() {
        let app = TestApp::new();
        let id = app.post_in("/v1/tags", json!({ "name": "vip" })).data()["id"].clone();
        let again = app.post_in("/v1/tags", json!({ "name": "VIP" }));
        assert_eq!(again.refusal().0, 409);
        assert_eq!((&again.body["code"], &again.body["data"]["id"]), (&json!("NAME_TAKEN"), &id));
        assert_eq!(app.get_in("/v1/tags").data()["total"], 1);
    }

    #[test]
    fn a_tag_created_with_a_contact_also_reserves_its_name() {
        let app = TestApp::new();
        app.post_in("/v1/contacts", json!({ "email": "ada@example.com", "tags": ["vip"] })).data();
        assert_eq!(app.post_in("/v1/tags", json!({ "name": "vip" })).refusal().1, "NAME_TAKEN");
    }

    #[test]
    fn invalid_names_and_colors_are_refused() {
        let app = TestApp::new();
        for (body, path) in [(json!({ "name": " " }), "name: "), (json!({ "name": "a", "color": "red" }), "color: ")] {
            let answer = app.post_in("/v1/tags", body);
            let (status, code, detail) = answer.refusal();
            assert_eq!((status, code), (400, "INVALID_REQUEST"));
            assert!(detail.starts_with(path), "{detail}");
        }
    }
}
