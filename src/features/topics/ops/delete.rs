//! Deletes a topic.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::get::TopicRef;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects;
use crate::features::topics;
use crate::features::topics::find;
use crate::vocab::codes::Code;
use crate::vocab::ids::TopicId;
use crate::vocab::permissions::Permission;

pub struct Delete;

#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedTopic {
    /// The ID of the deleted topic.
    pub id: TopicId,
    /// Always true; a failed deletion returns an error instead.
    pub deleted: bool,
}

impl Operation for Delete {
    const SPEC: Spec = Spec::delete("topics.delete", "/v1/topics/{id}", needs(Permission::AudienceWrite))
        .summary("Delete a topic")
        .about("Also deletes the contacts' choices for this topic. To keep the choices, set isActive to false instead.")
        .fails(&[Code::NotFound]);
    type Input = TopicRef;
    type Output = Done<DeletedTopic>;

    fn example() -> (Value, Self::Output) {
        let id = TopicId::parse("66f1a2b3c4d5e6f70819202a").expect("the ID has 24 hexadecimal characters");
        (json!({ "id": id, "projectId": "66f1a2b3d4e5f60718293a4b" }), Done(DeletedTopic { id, deleted: true }))
    }
}

impl Command for Delete {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: TopicRef) -> Result<Self::Output, Failure> {
        projects::require(tx, caller.account(), input.project_id)?;
        let topic = find(tx, input.project_id, input.id)?;
        topics::delete(tx, input.project_id, topic.id)?;
        Ok(Done(DeletedTopic { id: topic.id, deleted: true }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn deleting_a_topic_deletes_its_choices() {
        let app = TestApp::new();
        let contact = app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data()["id"].clone();
        let made = app.post_in("/v1/topics", json!({ "name": "Updates" })).data();
        let path = format!("/v1/topics/{}", made["id"].as_str().expect("the topic has an ID"));
        app.post_in(&format!("{path}/subscribe"), json!({ "subscriberId": contact })).data();
        let topic = TopicId::parse(made["id"].as_str().expect("the topic has an ID")).expect("the ID is valid");
        assert_eq!(topics::choice(&app.read(), app.project, topic, 0), Ok(Some(true)));
        assert_eq!(app.delete_in(&path).data(), json!({ "id": made["id"], "deleted": true }));
        assert_eq!(topics::choice(&app.read(), app.project, topic, 0), Ok(None));
        assert_eq!(app.get_in(&path).refusal().0, 404);
    }
}
