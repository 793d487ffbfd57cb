//! Changes a tag.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::patch::Patch;
use crate::base::text::{Color, LongText};
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contact_sets::{Facet, feed_set};
use crate::features::projects;
use crate::features::tags::views::{TagView, tag_view};
use crate::features::tags::{self, TagName};
use crate::features::tags::{check_name, find};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, TagId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Update;

/// The changes to a tag. Omitted fields stay unchanged; `null` clears a field.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TagPatch {
    /// The tag's ID.
    pub id: TagId,
    /// The ID of the tag's project.
    pub project_id: ProjectId,
    /// The new name of the tag. Unique in the project, ignoring case.
    pub name: Option<TagName>,
    /// The tag's color as `#RRGGBB`.
    #[serde(default)]
    pub color: Patch<Color>,
    /// A description of the tag's purpose.
    #[serde(default)]
    pub description: Patch<LongText<{ limits::DESCRIPTION_CHARACTERS_MAX }>>,
}

impl Operation for Update {
    const SPEC: Spec = Spec::patch("tags.update", "/v1/tags/{id}", needs(Permission::AudienceWrite))
        .summary("Change a tag")
        .about("Contacts keep a renamed tag, and searches find them by its new name.")
        .fails(&[Code::NotFound, Code::NameTaken]);
    type Input = TagPatch;
    type Output = Done<TagView>;

    fn example() -> (Value, Self::Output) {
        let tag = TagView { name: "weekly".into(), color: None, ..TagView::sample() };
        let input = json!({ "id": tag.id, "projectId": "66f1a2b3d4e5f60718293a4b", "name": "weekly", "color": null });
        (input, Done(tag))
    }
}

impl Command for Update {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: TagPatch) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        projects::require(tx, caller.account(), project)?;
        let before = find(tx, project, input.id)?;
        let mut after = before.clone();
        if let Some(name) = input.name {
            check_name(tx, project, &name, Some(before.id))?;
            after.name = name.to_string();
        }
        input.color.map(|color| color.to_string()).apply(&mut after.color);
        input.description.map(|text| text.to_string()).apply(&mut after.description);
        after.description = after.description.filter(|text| !text.is_empty());
        if after != before {
            after.updated_at = tx.now();
            tags::save(tx, project, Some(&before), &after);
        }
        if after.name != before.name {
            feed_set(tx, project, Facet::Tag(after.number()))?;
        }
        Ok(Done(tag_view(tx, project, after)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    fn tag(app: &TestApp, name: &str) -> String {
        let made = app.post_in("/v1/tags", json!({ "name": name, "color": "#1A73E8" })).data();
        format!("/v1/tags/{}", made["id"].as_str().expect("the tag has an ID"))
    }

    #[test]
    fn a_new_name_keeps_the_contacts_and_reindexes_them() {
        let app = TestApp::new();
        let path = tag(&app, "vip");
        app.post_in("/v1/contacts", json!({ "email": "ada@example.com", "tags": ["vip"] })).data();
        let position = app.read().feed_position();
        let after = app.patch_in(&path, json!({ "name": "Champions" })).data();
        assert_eq!((&after["name"], &after["subscriberCount"]), (&json!("Champions"), &json!(1)));
        assert_eq!(app.get_in("/v1/contacts?tags=champions").data()["contacts"][0]["tags"], json!(["Champions"]));
        assert_eq!(app.get_in("/v1/contacts?tags=vip").data()["total"], 0);
        assert!(app.read().feed_position() > position);
        // Another tag can now use the old name.
        tag(&app, "vip");
    }

    #[test]
    fn only_given_fields_change_and_null_clears() {
        let app = TestApp::new();
        let path = tag(&app, "vip");
        let after = app.patch_in(&path, json!({ "description": "Buys often" })).data();
        assert_eq!((&after["color"], &after["description"]), (&json!("#1A73E8"), &json!("Buys often")));
        let after = app.patch_in(&path, json!({ "color": null })).data();
        assert_eq!((&after["color"], &after["description"]), (&json!(null), &json!("Buys often")));
    }

    #[test]
    fn an_update_without_effect_leaves_the_time_and_the_feed_unchanged() {
        let app = TestApp::new();
        let path = tag(&app, "vip");
        app.post_in("/v1/contacts", json!({ "email": "ada@example.com", "tags": ["vip"] })).data();
        let before = app.get_in(&path).data();
        let position = app.read().feed_position();
        app.clock.advance_ms(1_000);
        assert_eq!(app.patch_in(&path, json!({ "name": "vip", "color": "#1a73e8" })).data(), before);
        assert_eq!(app.read().feed_position(), position);
    }

    #[test]
    fn a_name_can_change_its_case_but_not_duplicate_another() {
        let app = TestApp::new();
        let (path, other) = (tag(&app, "vip"), tag(&app, "news"));
        assert_eq!(app.patch_in(&path, json!({ "name": "VIP" })).data()["name"], "VIP");
        let answer = app.patch_in(&path, json!({ "name": "News" }));
        assert_eq!((answer.refusal().0, answer.refusal().1), (409, "NAME_TAKEN"));
        assert!(other.ends_with(answer.body["data"]["id"].as_str().expect("the response has the id of the other tag")));
    }
}
