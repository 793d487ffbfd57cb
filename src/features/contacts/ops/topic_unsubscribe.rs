//! Unsubscribes a contact from a topic.

use serde_json::Value;

use super::topic_subscribe::{ChooseTopic, ContactTopicChoice, choose};
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;

pub struct TopicUnsubscribe;

impl Operation for TopicUnsubscribe {
    const SPEC: Spec = Spec::post("contacts.topic_unsubscribe", "/v1/topics/{id}/unsubscribe", needs(Permission::AudienceWrite))
        .client("topics.unsubscribe")
        .summary("Unsubscribe a contact from a topic")
        .about(
            "Stores the contact's explicit choice, which overrides the topic's default. Other topics and the contact's status do \
                not change.",
        )
        .fails(&[Code::NotFound]);
    type Input = ChooseTopic;
    type Output = Done<ContactTopicChoice>;

    fn example() -> (Value, Self::Output) {
        let (input, choice) = ContactTopicChoice::sample(false);
        (input, Done(choice))
    }
}

impl Command for TopicUnsubscribe {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ChooseTopic) -> Result<Self::Output, Failure> {
        choose(tx, caller, input, false)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::TestApp;

    #[test]
    fn a_repeated_request_changes_nothing_and_returns_the_same() {
        let app = TestApp::new();
        let contact = app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data()["id"].clone();
        let topic = app.post_in("/v1/topics", json!({ "name": "Updates" })).data()["id"].clone();
        let path = format!("/v1/topics/{}/unsubscribe", topic.as_str().expect("the topic has an id"));
        let first = app.post_in(&path, json!({ "subscriberId": contact })).data();
        assert_eq!(first, json!({ "topicId": topic, "subscriberId": contact, "subscribed": false }));
        assert_eq!(app.post_in(&path, json!({ "subscriberId": contact })).data(), first);
    }
}
