//! Lists the topics of a project, with one contact's subscriptions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::text::fold;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::{contact_records, projects, topics};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ContactId, ProjectId, TopicId};
use crate::vocab::permissions::Permission;

pub struct Topics;

/// Selects a contact.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListChoices {
    /// The contact's ID.
    pub id: ContactId,
    /// The ID of the contact's project.
    pub project_id: ProjectId,
}

/// Every topic in the project, with the contact's subscription.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TopicChoices {
    /// The topics, in display order.
    pub topics: Vec<TopicChoice>,
}

/// A topic with one contact's subscription.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopicChoice {
    pub topic_id: TopicId,
    pub name: String,
    /// Whether the topic is active. Contacts see only active topics on the preferences page.
    pub is_active: bool,
    /// Whether the contact is subscribed to the topic. The contact receives mail on the topic only if the contact's status also allows
    /// mail.
    pub subscribed: bool,
    /// Whether the contact or a user set the subscription. If false, the topic's default applies.
    pub chosen: bool,
}

impl Operation for Topics {
    const SPEC: Spec = Spec::get("contacts.topics", "/v1/contacts/{id}/topics", needs(Permission::AudienceRead))
        .also_at(&["/v1/subscribers/{id}/topics"])
        .summary("List a contact's topic subscriptions")
        .about("Returns every topic in the project, including inactive topics.")
        .fails(&[Code::NotFound]);
    type Input = ListChoices;
    type Output = Done<TopicChoices>;

    fn example() -> (Value, Self::Output) {
        let topic_id = TopicId::parse("66f1a2b3c4d5e6f70819202a").expect("the id has 24 hexadecimal characters");
        let topic = TopicChoice { topic_id, name: "Product updates".into(), is_active: true, subscribed: false, chosen: true };
        let input = json!({ "id": "66f1a2b30000000a5c3e9d71", "projectId": "66f1a2b3d4e5f60718293a4b" });
        (input, Done(TopicChoices { topics: vec![topic] }))
    }
}

impl Query for Topics {
    fn run(view: &View<'_>, input: ListChoices) -> Result<Self::Output, Failure> {
        let (tx, project) = (view.tx, input.project_id);
        projects::require(tx, view.caller.account(), project)?;
        let contact = contact_records::find(tx, project, input.id)?.ok_or(Code::NotFound)?;
        let mut all = topics::all(tx, project)?;
        all.sort_by_cached_key(|topic| (topic.display_order, fold(&topic.name)));
        let mut topics = Vec::with_capacity(all.len());
        for topic in all {
            let number = contact.id.number();
            let chosen = topics::choice(tx, project, topic.id, number)?.is_some();
            let subscribed = topics::is_subscribed(tx, project, &topic, number)?;
            topics.push(TopicChoice { topic_id: topic.id, name: topic.name, is_active: topic.is_active, subscribed, chosen });
        }
        Ok(Done(TopicChoices { topics }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::TestApp;

    #[test]
    fn choices_and_defaults_are_distinguished() {
        let app = TestApp::new();
        let id = app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data()["id"].clone();
        let id = id.as_str().expect("the contact has an id");
        let topic = app.post_in("/v1/topics", json!({ "name": "Updates" })).data()["id"].clone();
        app.post_in("/v1/topics", json!({ "name": "Later", "displayOrder": 9, "defaultSubscription": "opt_out" })).data();
        let path = format!("/v1/topics/{}/unsubscribe", topic.as_str().expect("the topic has an id"));
        app.post_in(&path, json!({ "subscriberId": id })).data();
        let listed = app.get_in(&format!("/v1/contacts/{id}/topics")).data();
        let of =
            |at: usize| (&listed["topics"][at]["name"], &listed["topics"][at]["subscribed"], &listed["topics"][at]["chosen"]);
        assert_eq!(of(0), (&json!("Updates"), &json!(false), &json!(true)));
        assert_eq!(of(1), (&json!("Later"), &json!(false), &json!(false)));
    }
}
