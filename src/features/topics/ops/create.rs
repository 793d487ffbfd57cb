//! Creates a topic.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::text::LongText;
use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects;
use crate::features::topics::check_name;
use crate::features::topics::model::{DisplayOrder, TopicName};
use crate::features::topics::views::{TopicView, topic_view};
use crate::features::topics::{self, Topic, TopicDefault, TopicVisibility};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, TopicId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Create;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewTopic {
    /// The ID of the topic's project.
    pub project_id: ProjectId,
    /// The name of the topic. Unique in the project, ignoring case.
    pub name: TopicName,
    /// The description that is shown to contacts.
    pub description: Option<LongText<{ limits::DESCRIPTION_CHARACTERS_MAX }>>,
    /// Whether contacts who have neither opted in nor opted out are subscribed to the topic. The default is `opt_out`.
    #[serde(default)]
    pub default_subscription: TopicDefault,
    /// Which contacts see the topic. The default is `private`.
    #[serde(default)]
    pub visibility: TopicVisibility,
    /// The position of the topic in lists. The topic with the smallest position comes first. If absent, the topic comes last.
    pub display_order: Option<DisplayOrder>,
}

impl Operation for Create {
    const SPEC: Spec = Spec::post("topics.create", "/v1/topics", needs(Permission::AudienceWrite))
        .summary("Create a topic")
        .about("Returns 409 if a topic in the project has this name; data.id is then the ID of that topic.")
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::NameTaken, Code::LimitReached]);
    type Input = NewTopic;
    type Output = Created<TopicView>;

    fn example() -> (Value, Self::Output) {
        let input = json!({
            "projectId": "66f1a2b3d4e5f60718293a4b", "name": "Product updates", "description": "What is new, once a month",
            "defaultSubscription": "opt_in", "visibility": "public",
        });
        (input, Created(TopicView::sample()))
    }
}

impl Command for Create {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: NewTopic) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        projects::require(tx, caller.account(), project)?;
        let others = topics::all(tx, project)?;
        check_name(&others, &input.name, None)?;
        if others.len() >= limits::TOPICS_PER_PROJECT_MAX {
            let detail = format!("A brand can have at most {} topics. Delete a topic first.", limits::TOPICS_PER_PROJECT_MAX);
            return Err(Failure::because(Code::LimitReached, detail));
        }
        let last = others.iter().map(|topic| topic.display_order).max().unwrap_or(0);
        let behind_all = (last + 1).min(limits::TOPIC_DISPLAY_ORDER_MAX);
        let topic = Topic {
            id: TopicId::make(tx.now(), tx.random()),
            name: input.name.to_string(),
            description: input.description.filter(|text| !text.is_empty()).map(|text| text.to_string()),
            default_subscription: input.default_subscription,
            visibility: input.visibility,
            display_order: input.display_order.map_or(behind_all, DisplayOrder::get),
            is_active: true,
            created_at: tx.now(),
            updated_at: tx.now(),
        };
        topics::save(tx, project, &topic)?;
        Ok(Created(topic_view(tx, project, topic)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn a_new_topic_is_active_private_last_and_opt_out() {
        let app = TestApp::new();
        app.post_in("/v1/topics", json!({ "name": "first", "displayOrder": 41 })).data();
        let answer = app.post_in("/v1/topics", json!({ "name": "Updates" }));
        assert_eq!(answer.status, 201);
        let made = answer.data();
        for (field, value) in [
            ("defaultSubscription", json!("opt_out")),
            ("visibility", json!("private")),
            ("displayOrder", json!(42)),
            ("isActive", json!(true)),
            ("description", json!(null)),
        ] {
            assert_eq!(made[field], value, "{field}");
        }
        assert_eq!(app.get_in(&format!("/v1/topics/{}", made["id"].as_str().expect("the topic has an ID"))).data(), made);
    }

    #[test]
    fn a_repeated_request_creates_no_second_topic_and_returns_the_first_id() {
        let app = TestApp::new();
        let id = app.post_in("/v1/topics", json!({ "name": "Updates" })).data()["id"].clone();
        let again = app.post_in("/v1/topics", json!({ "name": "UPDATES" }));
        assert_eq!((again.refusal().0, again.refusal().1, &again.body["data"]["id"]), (409, "NAME_TAKEN", &id));
        assert_eq!(app.get_in("/v1/topics").data()["total"], 1);
    }

    #[test]
    fn invalid_values_are_refused_with_their_path() {
        let app = TestApp::new();
        for (body, path) in [
            (json!({ "name": "a", "defaultSubscription": "maybe" }), "defaultSubscription: "),
            (json!({ "name": "a", "visibility": "hidden" }), "visibility: "),
            (json!({ "name": "a", "displayOrder": -1 }), "displayOrder: "),
            (json!({ "name": "" }), "name: "),
        ] {
            let answer = app.post_in("/v1/topics", body);
            assert_eq!(answer.refusal().0, 400);
            assert!(answer.refusal().2.starts_with(path), "{answer:?}");
        }
    }
}
