//! Deletes a segment.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::get::SegmentRef;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects;
use crate::features::segments::store;
use crate::vocab::codes::Code;
use crate::vocab::ids::SegmentId;
use crate::vocab::permissions::Permission;

pub struct Delete;

/// The result of deleting a segment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedSegment {
    /// The ID of the deleted segment.
    pub id: SegmentId,
    /// Always true; a failed deletion returns an error instead.
    pub deleted: bool,
}

impl Operation for Delete {
    const SPEC: Spec = Spec::delete("segments.delete", "/v1/segments/{id}", needs(Permission::AudienceWrite))
        .also_at(&["/v1/audiences/{id}"])
        .summary("Delete a segment")
        .about("The contacts that match the segment's filter are not changed.")
        .fails(&[Code::NotFound]);
    type Input = SegmentRef;
    type Output = Done<DeletedSegment>;

    fn example() -> (Value, Self::Output) {
        let id = SegmentId::parse("66f1a2b3e5f60718293a4b5c").expect("the ID has 24 hexadecimal characters");
        (json!({ "id": id, "projectId": "66f1a2b3d4e5f60718293a4b" }), Done(DeletedSegment { id, deleted: true }))
    }
}

impl Command for Delete {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: SegmentRef) -> Result<Self::Output, Failure> {
        projects::require(tx, caller.account(), input.project_id)?;
        let segment = store::require(tx, input.project_id, input.id)?;
        store::delete(tx, input.project_id, segment.id);
        Ok(Done(DeletedSegment { id: segment.id, deleted: true }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn deleting_a_segment_keeps_its_contacts_and_frees_its_name() {
        let app = TestApp::new();
        app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data();
        let made = app.post_in("/v1/segments", json!({ "name": "Everyone" })).data();
        let path = format!("/v1/segments/{}", made["id"].as_str().expect("the segment has an ID"));
        assert_eq!(app.delete_in(&path).data(), json!({ "id": made["id"], "deleted": true }));
        assert_eq!(app.delete_in(&path).refusal().0, 404);
        assert_eq!(app.get_in("/v1/contacts").data()["total"], 1);
        app.post_in("/v1/segments", json!({ "name": "everyone" })).data();
    }
}
