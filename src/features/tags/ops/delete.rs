//! Deletes a tag.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::get::TagRef;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects;
use crate::features::tags;
use crate::features::tags::find;
use crate::vocab::codes::Code;
use crate::vocab::ids::TagId;
use crate::vocab::permissions::Permission;

pub struct Delete;

#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedTag {
    /// The ID of the deleted tag.
    pub id: TagId,
    /// Always true; a failed deletion returns an error instead.
    pub deleted: bool,
}

impl Operation for Delete {
    const SPEC: Spec = Spec::delete("tags.delete", "/v1/tags/{id}", needs(Permission::AudienceWrite))
        .summary("Delete a tag")
        .about("The tag is removed from its contacts, which are kept. In segments that filter by the tag, no contact has it anymore.")
        .fails(&[Code::NotFound]);
    type Input = TagRef;
    type Output = Done<DeletedTag>;

    fn example() -> (Value, Self::Output) {
        let id = TagId::parse("66f1a2b3000000015c3e9d71").expect("the ID has 24 hexadecimal characters");
        (json!({ "id": id, "projectId": "66f1a2b3d4e5f60718293a4b" }), Done(DeletedTag { id, deleted: true }))
    }
}

impl Command for Delete {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: TagRef) -> Result<Self::Output, Failure> {
        projects::require(tx, caller.account(), input.project_id)?;
        let tag = find(tx, input.project_id, input.id)?;
        tags::delete(tx, input.project_id, &tag)?;
        Ok(Done(DeletedTag { id: tag.id, deleted: true }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn contacts_stay_without_the_tag_and_a_new_tag_of_its_name_is_empty() {
        let app = TestApp::new();
        app.post_in("/v1/contacts", json!({ "email": "ada@example.com", "tags": ["vip", "news"] })).data();
        let tags = app.get_in("/v1/tags?search=vip").data();
        let path = format!("/v1/tags/{}", tags["tags"][0]["id"].as_str().expect("the tag has an ID"));
        assert_eq!(app.delete_in(&path).data()["deleted"], true);
        assert_eq!(app.get_in("/v1/contacts").data()["contacts"][0]["tags"], json!(["news"]));
        assert_eq!(app.delete_in(&path).refusal().0, 404);
        assert_eq!(app.post_in("/v1/tags", json!({ "name": "vip" })).data()["subscriberCount"], 0);
        assert_eq!(app.get_in("/v1/contacts?tags=vip").data()["total"], 0);
    }
}
