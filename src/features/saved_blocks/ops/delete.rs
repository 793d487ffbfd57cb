//! Deletes a saved block.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects;
use crate::features::saved_blocks::{find, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, SavedBlockId};
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Delete;

/// The saved block to delete.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SavedBlockRef {
    pub project_id: ProjectId,
    pub block_id: SavedBlockId,
}

/// The result of deleting a saved block.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedBlock {
    pub id: SavedBlockId,
    /// Always true; a failed deletion returns an error instead.
    pub deleted: bool,
}

impl Operation for Delete {
    const SPEC: Spec =
        Spec::delete("saved_blocks.delete", "/v1/projects/{projectId}/blocks/{blockId}", needs(Permission::EmailWrite))
            .summary("Delete a saved block")
            .about("Emails that contain the block keep it.")
            .rate(RouteGroup::Emails)
            .fails(&[Code::NotFound]);
    type Input = SavedBlockRef;
    type Output = Done<DeletedBlock>;

    fn example() -> (Value, Self::Output) {
        let id = SavedBlockId::parse("66f1a2b3d4e5f60718293a4f").expect("the sample ID is valid");
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "blockId": id }), Done(DeletedBlock { id, deleted: true }))
    }
}

impl Command for Delete {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: SavedBlockRef) -> Result<Self::Output, Failure> {
        projects::require(tx, caller.account(), input.project_id)?;
        let saved = find(tx, input.project_id, input.block_id)?;
        store::delete(tx, input.project_id, saved.id);
        Ok(Done(DeletedBlock { id: saved.id, deleted: true }))
    }
}
