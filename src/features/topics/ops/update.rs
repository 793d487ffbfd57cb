//! Changes a topic.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::patch::Patch;
use crate::base::text::LongText;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects;
use crate::features::topics::model::{DisplayOrder, TopicName};
use crate::features::topics::views::{TopicView, topic_view};
use crate::features::topics::{self, TopicDefault, TopicVisibility};
use crate::features::topics::{check_name, find};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, TopicId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Update;

/// The changes to a topic. Omitted fields stay unchanged; `null` clears the description.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TopicPatch {
    /// The topic's ID.
    pub id: TopicId,
    /// The ID of the topic's project.
    pub project_id: ProjectId,
    /// The new name of the topic. Unique in the project, ignoring case.
    pub name: Option<TopicName>,
    /// The description that is shown to contacts.
    #[serde(default)]
    pub description: Patch<LongText<{ limits::DESCRIPTION_CHARACTERS_MAX }>>,
    /// Whether contacts who have neither opted in nor opted out are subscribed to the topic.
    pub default_subscription: Option<TopicDefault>,
    /// Which contacts see the topic.
    pub visibility: Option<TopicVisibility>,
    /// The position of the topic in lists. The topic with the smallest position comes first.
    pub display_order: Option<DisplayOrder>,
    /// Whether the topic is active. An inactive topic is not shown on the preferences page, and is listed only if the request sets
    /// `includeInactive`.
    pub is_active: Option<bool>,
}

impl Operation for Update {
    const SPEC: Spec = Spec::patch("topics.update", "/v1/topics/{id}", needs(Permission::AudienceWrite))
        .summary("Change a topic")
        .about("A new default applies to contacts who have not made a choice. Explicit choices do not change.")
        .fails(&[Code::NotFound, Code::NameTaken]);
    type Input = TopicPatch;
    type Output = Done<TopicView>;

    fn example() -> (Value, Self::Output) {
        let topic = TopicView { is_active: false, ..TopicView::sample() };
        (json!({ "id": topic.id, "projectId": "66f1a2b3d4e5f60718293a4b", "isActive": false }), Done(topic))
    }
}

impl Command for Update {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: TopicPatch) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        projects::require(tx, caller.account(), project)?;
        let before = find(tx, project, input.id)?;
        let mut after = before.clone();
        if let Some(name) = input.name {
            check_name(&topics::all(tx, project)?, &name, Some(before.id))?;
            after.name = name.to_string();
        }
        input.description.map(|text| text.to_string()).apply(&mut after.description);
        after.description = after.description.filter(|text| !text.is_empty());
        after.default_subscription = input.default_subscription.unwrap_or(before.default_subscription);
        after.visibility = input.visibility.unwrap_or(before.visibility);
        after.display_order = input.display_order.map_or(before.display_order, DisplayOrder::get);
        after.is_active = input.is_active.unwrap_or(before.is_active);
        if after != before {
            after.updated_at = tx.now();
            topics::save(tx, project, &after)?;
        }
        Ok(Done(topic_view(tx, project, after)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn only_given_fields_change_and_the_time_only_if_something_does() {
        let app = TestApp::new();
        let made = app.post_in("/v1/topics", json!({ "name": "Updates", "description": "New things" })).data();
        let path = format!("/v1/topics/{}", made["id"].as_str().expect("the topic has an ID"));
        app.clock.advance_ms(1_000);
        assert_eq!(app.patch_in(&path, json!({ "name": "Updates", "visibility": "private" })).data(), made);
        let after = app.patch_in(&path, json!({ "visibility": "public", "description": null })).data();
        assert_eq!(
            (&after["visibility"], &after["description"], &after["name"]),
            (&json!("public"), &json!(null), &json!("Updates"))
        );
        assert_ne!(after["updatedAt"], made["updatedAt"]);
    }

    #[test]
    fn a_name_can_change_its_case_but_not_duplicate_another() {
        let app = TestApp::new();
        app.post_in("/v1/topics", json!({ "name": "Offers" })).data();
        let made = app.post_in("/v1/topics", json!({ "name": "Updates" })).data();
        let path = format!("/v1/topics/{}", made["id"].as_str().expect("the topic has an ID"));
        assert_eq!(app.patch_in(&path, json!({ "name": "UPDATES" })).data()["name"], "UPDATES");
        assert_eq!(app.patch_in(&path, json!({ "name": "offers" })).refusal().1, "NAME_TAKEN");
    }
}
