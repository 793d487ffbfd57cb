//! Subscribes a contact to a topic.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::topics::{self, find};
use crate::features::{contact_records, projects};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ContactId, ProjectId, TopicId};
use crate::vocab::permissions::Permission;

pub struct TopicSubscribe;

/// The contact and the topic.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChooseTopic {
    /// The topic's ID.
    pub id: TopicId,
    /// The contact's ID.
    pub subscriber_id: ContactId,
    /// The project of the contact and the topic.
    pub project_id: ProjectId,
}

/// A contact's current choice for a topic.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactTopicChoice {
    pub topic_id: TopicId,
    pub subscriber_id: ContactId,
    /// Whether the contact is subscribed to the topic.
    pub subscribed: bool,
}

impl ContactTopicChoice {
    /// Returns an example for the documentation: the request and its response.
    pub fn sample(subscribed: bool) -> (Value, Self) {
        let id = "66f1a2b3c4d5e6f70819202a";
        let subscriber_id = ContactId::parse("66f1a2b30000000a5c3e9d71").expect("the id has 24 hexadecimal characters");
        let input = json!({ "id": id, "subscriberId": subscriber_id, "projectId": "66f1a2b3d4e5f60718293a4b" });
        let topic_id = TopicId::parse(id).expect("the id has 24 hexadecimal characters");
        (input, Self { topic_id, subscriber_id, subscribed })
    }
}

impl Operation for TopicSubscribe {
    const SPEC: Spec = Spec::post("contacts.topic_subscribe", "/v1/topics/{id}/subscribe", needs(Permission::AudienceWrite))
        .client("topics.subscribe")
        .summary("Subscribe a contact to a topic")
        .about("Stores the contact's explicit choice, which overrides the topic's default. The contact's status does not change.")
        .fails(&[Code::NotFound]);
    type Input = ChooseTopic;
    type Output = Done<ContactTopicChoice>;

    fn example() -> (Value, Self::Output) {
        let (input, choice) = ContactTopicChoice::sample(true);
        (input, Done(choice))
    }
}

impl Command for TopicSubscribe {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ChooseTopic) -> Result<Self::Output, Failure> {
        choose(tx, caller, input, true)
    }
}

/// Stores a contact's choice for a topic.
pub fn choose(
    tx: &mut WriteTx<'_>,
    caller: &Caller,
    input: ChooseTopic,
    subscribed: bool,
) -> Result<Done<ContactTopicChoice>, Failure> {
    let project = input.project_id;
    projects::require(tx, caller.account(), project)?;
    let topic = find(tx, project, input.id)?;
    let absent = || Failure::because(Code::NotFound, "The brand has no contact with this ID.").in_field("subscriberId");
    let contact = contact_records::find(tx, project, input.subscriber_id)?.ok_or_else(absent)?;
    topics::choose(tx, project, topic.id, contact.id.number(), subscribed)?;
    Ok(Done(ContactTopicChoice { topic_id: topic.id, subscriber_id: contact.id, subscribed }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::topics::{is_subscribed, subscribers};
    use crate::testing::TestApp;

    struct Scene {
        app: TestApp,
        topic: TopicId,
        contact: ContactId,
    }

    impl Scene {
        fn new(default: &str) -> Self {
            let app = TestApp::new();
            let made = app.post_in("/v1/topics", json!({ "name": "Updates", "defaultSubscription": default })).data();
            let added = app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data();
            let id = |made: &Value| made["id"].as_str().expect("the object has an id").to_owned();
            let topic = TopicId::parse(&id(&made)).expect("the topic has a valid id");
            Self { app, topic, contact: ContactId::parse(&id(&added)).expect("the contact has a valid id") }
        }

        fn choose(&self, verb: &str) -> Value {
            let path = format!("/v1/topics/{}/{verb}", self.topic);
            self.app.post_in(&path, json!({ "subscriberId": self.contact })).data()
        }

        fn gets_it(&self) -> bool {
            let (tx, project) = (self.app.read(), self.app.project);
            let topic = find(&tx, project, self.topic).expect("the row exists");
            let gets_it = is_subscribed(&tx, project, &topic, self.contact.number()).expect("the store is readable");
            let all = subscribers(&tx, project, &topic).expect("the store is readable");
            assert_eq!(all.contains(self.contact.number()), gets_it, "the stored set matches the contact's choice");
            gets_it
        }
    }

    #[test]
    fn a_choice_overrides_the_default() {
        for (default, by_default) in [("opt_in", true), ("opt_out", false)] {
            let scene = Scene::new(default);
            assert_eq!(scene.gets_it(), by_default, "{default}");
            let answer = scene.choose("subscribe");
            assert_eq!(answer, json!({ "topicId": scene.topic, "subscriberId": scene.contact, "subscribed": true }));
            assert!(scene.gets_it());
            assert_eq!(scene.choose("unsubscribe")["subscribed"], false);
            assert!(!scene.gets_it());
        }
    }

    #[test]
    fn a_choice_outlives_a_change_of_the_default() {
        let scene = Scene::new("opt_in");
        scene.choose("unsubscribe");
        let path = format!("/v1/topics/{}", scene.topic);
        for default in ["opt_out", "opt_in"] {
            scene.app.patch_in(&path, json!({ "defaultSubscription": default })).data();
            assert!(!scene.gets_it(), "{default}");
        }
    }

    #[test]
    fn a_deleted_contact_is_not_a_subscriber() {
        let scene = Scene::new("opt_out");
        scene.choose("subscribe");
        scene.app.delete_in(&format!("/v1/contacts/{}", scene.contact)).data();
        let (tx, project) = (scene.app.read(), scene.app.project);
        let topic = find(&tx, project, scene.topic).expect("the row exists");
        assert!(subscribers(&tx, project, &topic).expect("the store is readable").is_empty());
        let again = scene.app.post_in(&format!("/v1/topics/{}/subscribe", scene.topic), json!({ "subscriberId": scene.contact }));
        assert_eq!(again.refusal().0, 404);
    }

    #[test]
    fn unknown_contacts_and_topics_are_refused() {
        let scene = Scene::new("opt_out");
        let unknown = "66f1a2b3c4d5e6f70819202a";
        let topic = scene.app.post_in(&format!("/v1/topics/{}/subscribe", scene.topic), json!({ "subscriberId": unknown }));
        assert!(topic.refusal().2.starts_with("subscriberId: "), "{topic:?}");
        let path = format!("/v1/topics/{unknown}/subscribe");
        let contact = scene.app.post_in(&path, json!({ "subscriberId": scene.contact }));
        assert_eq!(contact.refusal().0, 404);
    }
}
