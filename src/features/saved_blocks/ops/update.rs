//! Renames a saved block.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects;
use crate::features::saved_blocks::views::SavedBlockView;
use crate::features::saved_blocks::{BlockName, check_name, find, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, SavedBlockId};
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Update;

/// The saved block, and its new name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RenameSavedBlock {
    pub project_id: ProjectId,
    pub block_id: SavedBlockId,
    /// The new name of the block. Unique in the project, ignoring case.
    pub name: BlockName,
}

impl Operation for Update {
    const SPEC: Spec =
        Spec::patch("saved_blocks.update", "/v1/projects/{projectId}/blocks/{blockId}", needs(Permission::EmailWrite))
            .summary("Rename a saved block")
            .rate(RouteGroup::Emails)
            .fails(&[Code::NotFound, Code::NameTaken]);
    type Input = RenameSavedBlock;
    type Output = Done<SavedBlockView>;

    fn example() -> (Value, Self::Output) {
        let view = SavedBlockView { name: "Hours".into(), ..SavedBlockView::sample() };
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "blockId": view.id, "name": view.name }), Done(view))
    }
}

impl Command for Update {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: RenameSavedBlock) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        projects::require(tx, caller.account(), project)?;
        let mut saved = find(tx, project, input.block_id)?;
        check_name(tx, project, &input.name, Some(saved.id))?;
        if saved.name != *input.name {
            saved.name = input.name.to_string();
            saved.updated_at = tx.now();
            store::save(tx, project, &saved);
        }
        SavedBlockView::new(saved).map(Done)
    }
}
