//! Deletes a scheduled import.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::get::ScheduledImportRef;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::scheduled_imports::model::{Running, Work};
use crate::features::scheduled_imports::{events, require, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::ScheduledImportId;
use crate::vocab::permissions::Permission;

pub struct Delete;

/// The result of deleting a scheduled import.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedScheduledImport {
    /// The ID of the deleted scheduled import.
    pub id: ScheduledImportId,
    /// Always true in a successful response.
    pub deleted: bool,
}

impl Operation for Delete {
    const SPEC: Spec = Spec::delete("scheduled_imports.delete", "/v1/scheduled-imports/{id}", needs(Permission::AudienceWrite))
        .summary("Delete a scheduled import")
        .about(
            "Contacts and events that were already imported are kept. A running contact import continues; a running event import is \
             canceled.",
        )
        .fails(&[Code::NotFound]);
    type Input = ScheduledImportRef;
    type Output = Done<DeletedScheduledImport>;

    fn example() -> (Value, Self::Output) {
        let id = ScheduledImportId::parse("66f1a2b30000000b7a1b2c3d").expect("the ID has 24 hexadecimal characters");
        (json!({ "id": id }), Done(DeletedScheduledImport { id, deleted: true }))
    }
}

impl Command for Delete {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ScheduledImportRef) -> Result<Self::Output, Failure> {
        let row = require(tx, caller.account(), input.id)?;
        if let Some(Running { work: Work::Events(import), .. }) = &row.running {
            events::release(tx, import)?;
        }
        store::delete(tx, &row);
        Ok(Done(DeletedScheduledImport { id: row.id, deleted: true }))
    }
}
