//! Saves a block for use in other emails of a brand.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects;
use crate::features::saved_blocks::views::SavedBlockView;
use crate::features::saved_blocks::{BlockName, SavedBlock, check_name, checked, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, SavedBlockId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Create;

/// The block to save.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSavedBlock {
    pub project_id: ProjectId,
    /// The name of the block. Unique in the project, ignoring case.
    pub name: BlockName,
    /// The block, in the format of an email's document. Its IDs are not saved.
    pub block: Value,
}

impl Operation for Create {
    const SPEC: Spec = Spec::post("saved_blocks.create", "/v1/projects/{projectId}/blocks", needs(Permission::EmailWrite))
        .summary("Save a block for other emails")
        .rate(RouteGroup::Emails)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::NameTaken, Code::LimitReached]);
    type Input = NewSavedBlock;
    type Output = Created<SavedBlockView>;

    fn example() -> (Value, Self::Output) {
        let view = SavedBlockView::sample();
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "name": view.name, "block": view.block }), Created(view))
    }
}

impl Command for Create {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: NewSavedBlock) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        let block = checked(&input.block)?;
        projects::require(tx, caller.account(), project)?;
        check_name(tx, project, &input.name, None)?;
        if store::all(tx, project)?.len() >= limits::SAVED_BLOCKS_MAX {
            let detail =
                format!("A brand can have at most {} saved blocks. Delete a saved block first.", limits::SAVED_BLOCKS_MAX);
            return Err(Failure::because(Code::LimitReached, detail));
        }
        let saved = SavedBlock {
            id: SavedBlockId::make(tx.now(), tx.random()),
            name: input.name.to_string(),
            block,
            created_at: tx.now(),
            updated_at: tx.now(),
        };
        store::save(tx, project, &saved);
        SavedBlockView::new(saved).map(Created)
    }
}
