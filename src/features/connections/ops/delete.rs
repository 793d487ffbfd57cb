//! Removes a connection and its key.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::connections::store;
use crate::vocab::codes::Code;
use crate::vocab::ids::ConnectionId;
use crate::vocab::permissions::Permission;

pub struct Delete;

/// The connection to remove.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectionRef {
    pub connection_id: ConnectionId,
}

/// The result of removing a connection.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RemovedConnection {
    /// The ID of the removed connection.
    pub id: ConnectionId,
    /// Always true in a successful response.
    pub deleted: bool,
}

impl Operation for Delete {
    const SPEC: Spec = Spec::delete("connections.delete", "/v1/connections", needs(Permission::ProjectWrite))
        .summary("Remove a connection")
        .about(
            "Deletes the stored key. Imports that use the connection fail; imported contacts stay. The key itself stays valid until you \
             revoke it on the platform.",
        )
        .fails(&[Code::NotFound]);
    type Input = ConnectionRef;
    type Output = Done<RemovedConnection>;

    fn example() -> (Value, Self::Output) {
        let id = ConnectionId::parse("66f1a2b3d4e5f60718293a60").expect("the ID has 24 hexadecimal characters");
        (json!({ "connectionId": id }), Done(RemovedConnection { id, deleted: true }))
    }
}

impl Command for Delete {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ConnectionRef) -> Result<Self::Output, Failure> {
        let found = store::find(tx, caller.account(), input.connection_id)?;
        let connection = found.ok_or_else(|| {
            Failure::because(Code::NotFound, "The account has no connection with this ID.")
                .see("connections.list", "GET /v1/connections lists the connections")
        })?;
        store::delete(tx, &connection);
        Ok(Done(RemovedConnection { id: connection.id, deleted: true }))
    }
}
