//! Deletes a message from the built-in inbox.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::sending::inbox;
use crate::vocab::codes::Code;
use crate::vocab::ids::MessageId;
use crate::vocab::permissions::Permission;

pub struct InboxDelete;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeleteMessage {
    pub id: MessageId,
}

/// Confirms the deletion.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedMessage {
    pub id: MessageId,
    pub deleted: bool,
}

impl Operation for InboxDelete {
    const SPEC: Spec = Spec::delete("sending.inbox_delete", "/v1/inbox/{id}", needs(Permission::EmailSend))
        .client("inbox.delete")
        .summary("Delete a message from the built-in inbox")
        .about("Deletes only the message; the record of its send is kept.")
        .fails(&[Code::NotFound]);
    type Input = DeleteMessage;
    type Output = Done<DeletedMessage>;

    fn example() -> (Value, Self::Output) {
        let id = MessageId::from_bytes([0x66; 12]);
        (json!({ "id": id }), Done(DeletedMessage { id, deleted: true }))
    }
}

impl Command for InboxDelete {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: DeleteMessage) -> Result<Self::Output, Failure> {
        inbox::require(tx, caller.account(), input.id)?;
        let deleted = inbox::delete(tx, caller.account(), input.id)?;
        Ok(Done(DeletedMessage { id: input.id, deleted }))
    }
}
