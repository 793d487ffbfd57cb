//! Shows what an incoming webhook would store for a body, without storing it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::base::strict_objects::AnyJson;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::hooks::{receiving, require};
use crate::vocab::codes::Code;
use crate::vocab::ids::HookId;
use crate::vocab::permissions::Permission;

pub struct Test;

/// The body to test.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookTest {
    /// The ID of the incoming webhook.
    pub hook: HookId,
    /// A request body from the other system, such as a sample that the other system displays.
    #[schemars(with = "BTreeMap<String, AnyJson>")]
    pub body: Map<String, Value>,
}

/// What the incoming webhook would do with the body.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HookTested {
    /// Whether the body can be stored.
    pub success: bool,
    /// The field that cannot be used.
    pub field: Option<String>,
    /// Why the field cannot be used.
    pub reason: Option<String>,
    /// The values that the mapping extracts from the body, in the API's format for a contact or customer event.
    pub input: Value,
}

impl Operation for Test {
    const SPEC: Spec = Spec::post("hooks.test", "/v1/incoming-webhooks/{hook}/test", needs(Permission::WebhookRead)).client("incoming_webhooks.test")
        .summary("Test an incoming webhook")
        .about(
            "Returns the values that the mapping takes from a body, and whether they can be stored. Nothing is stored. The call itself \
             succeeds even if the test fails. Signatures are not checked.",
        )
        .fails(&[Code::NotFound]);
    type Input = HookTest;
    type Output = Done<HookTested>;

    fn example() -> (Value, Self::Output) {
        let body = json!({ "data": { "email": "ada@example.com", "first_name": "Ada" } });
        let tested = HookTested {
            success: true,
            field: None,
            reason: None,
            input: json!({ "email": "ada@example.com", "firstName": "Ada" }),
        };
        (json!({ "hook": "66f1a2b30000000a7a1b2c3d", "body": body }), Done(tested))
    }
}

impl Query for Test {
    fn run(view: &View<'_>, input: HookTest) -> Result<Self::Output, Failure> {
        let hook = require(view.tx, view.caller.account(), input.hook)?;
        let (input, checked) = receiving::try_body(&hook, &Value::Object(input.body));
        let (field, reason) = match &checked {
            Ok(()) => (None, None),
            Err(refusal) => (Some(refusal.field.to_string()), Some(refusal.reason.clone())),
        };
        Ok(Done(HookTested { success: checked.is_ok(), field, reason, input }))
    }
}
