//! Removes a connection and its credentials.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::engine::store::{Read, ReadTx, WriteTx};
use crate::features::connections::model::Connection;
use crate::features::connections::{oauth, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, ConnectionId};
use crate::vocab::limits;
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
    /// Whether the platform revoked the tokens of the connection. An API key stays valid until you revoke it on the platform.
    pub revoked: bool,
}

impl Operation for Delete {
    const SPEC: Spec = Spec::delete("connections.delete", "/v1/connections", needs(Permission::ProjectWrite))
        .summary("Remove a connection")
        .about(
            "Deletes the stored key or tokens. Asks Klaviyo or HubSpot to revoke tokens, unless sending is on hold; `revoked` is true \
             if they were revoked. Imports that use the connection fail; imported contacts are kept. An API key stays valid until you \
             revoke it on the platform.",
        )
        .fails(&[Code::NotFound]);
    type Input = ConnectionRef;
    type Output = Done<RemovedConnection>;

    fn example() -> (Value, Self::Output) {
        let id = ConnectionId::parse("66f1a2b3d4e5f60718293a60").expect("the ID has 24 hexadecimal characters");
        (json!({ "connectionId": id }), Done(RemovedConnection { id, deleted: true, revoked: false }))
    }
}

impl Async for Delete {
    async fn run(context: Context, input: ConnectionRef) -> Result<Self::Output, Failure> {
        let (account, id) = (context.caller.account(), input.connection_id);
        let connection = context.read(move |tx: &ReadTx| require(tx, account, id)).await?;
        // Removing the connection must not depend on the platform being available.
        let revoked = timeout(limits::PROVIDER_REVOKE_TIME, oauth::revoke(&context.engine, &connection)).await;
        let revoked = matches!(revoked, Ok(Ok(true)));
        let deleting = move |tx: &mut WriteTx<'_>| {
            let connection = require(tx, account, id)?;
            store::delete(tx, &connection);
            Ok(Done(RemovedConnection { id, deleted: true, revoked }))
        };
        context.write(&Self::SPEC, deleting).await
    }
}

fn require(tx: &impl Read, account: AccountId, id: ConnectionId) -> Result<Connection, Failure> {
    store::find(tx, account, id)?.ok_or_else(|| {
        Failure::because(Code::NotFound, "The account has no connection with this ID.")
            .see("connections.list", "GET /v1/connections lists the connections")
    })
}
