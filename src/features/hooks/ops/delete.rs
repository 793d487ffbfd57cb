//! Deletes an incoming webhook.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::get::HookRef;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::hooks::{require, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::HookId;
use crate::vocab::permissions::Permission;

pub struct Delete;

/// The result of deleting an incoming webhook.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedHook {
    /// The ID of the deleted incoming webhook.
    pub id: HookId,
    /// Always true in a successful response.
    pub deleted: bool,
}

impl Operation for Delete {
    const SPEC: Spec = Spec::delete("hooks.delete", "/v1/incoming-webhooks/{hook}", needs(Permission::WebhookWrite))
        .client("incoming_webhooks.delete")
        .summary("Delete an incoming webhook")
        .about("After the deletion, its URL returns 404. The contacts and events that it received are kept.")
        .fails(&[Code::NotFound]);
    type Input = HookRef;
    type Output = Done<DeletedHook>;

    fn example() -> (Value, Self::Output) {
        let id = HookId::parse("66f1a2b30000000a7a1b2c3d").expect("the ID has 24 hexadecimal characters");
        (json!({ "hook": id }), Done(DeletedHook { id, deleted: true }))
    }
}

impl Command for Delete {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: HookRef) -> Result<Self::Output, Failure> {
        let hook = require(tx, caller.account(), input.hook)?;
        store::delete(tx, &hook)?;
        Ok(Done(DeletedHook { id: hook.id, deleted: true }))
    }
}
