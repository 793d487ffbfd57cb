//! Creates an API key, which is shown once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::text::Name;
use crate::engine::api::{Async, Context, Created, Failure, Operation, Spec, operator};
use crate::features::accounts::api_keys;
use crate::features::accounts::model::NewKey;
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::KeyId;
use crate::vocab::limits;
use crate::vocab::permissions::PermissionSet;

pub struct CreateKey;

/// The terms of the key.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OperatorKeyRequest {
    /// A name that says what the key is for.
    pub name: Name<{ limits::KEY_NAME_CHARACTERS_MAX }>,
    pub environment: Environment,
    /// The key's permissions; `["all"]` for everything.
    pub permissions: PermissionSet,
}

/// The new key.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewKeyView {
    pub id: KeyId,
    /// The key itself. Only its hash is stored, so this is the only time it can be seen.
    pub key: String,
    pub name: String,
    pub environment: Environment,
    pub permissions: PermissionSet,
}

impl Operation for CreateKey {
    const SPEC: Spec =
        Spec::post("accounts.create_key", "/admin/keys", operator()).summary("Create an API key").fails(&[Code::LimitReached]);
    type Input = OperatorKeyRequest;
    type Output = Created<NewKeyView>;

    fn example() -> (Value, Self::Output) {
        let view = NewKeyView {
            id: KeyId::parse("9c1185a5c5e9fc5461280899").expect("24 hexadecimal characters"),
            key: "sk_test_…".into(),
            name: "Shop".into(),
            environment: Environment::Test,
            permissions: PermissionSet::ALL,
        };
        (json!({ "name": "Shop", "environment": "test", "permissions": ["all"] }), Created(view))
    }
}

impl Async for CreateKey {
    async fn run(context: Context, input: OperatorKeyRequest) -> Result<Self::Output, Failure> {
        let OperatorKeyRequest { name, environment, permissions } = input;
        if permissions.is_empty() {
            return Err(Failure::field("permissions", "give at least one permission, or all"));
        }
        let new = NewKey { name: name.to_string(), environment, permissions };
        let created =
            api_keys::create_key(&context.engine, None, new, Some((context.caller.act(Self::SPEC.id), context.envelope))).await?;
        let key = created.token.expose().clone();
        Ok(Created(NewKeyView { id: created.key.id, key, name: created.key.name, environment, permissions }))
    }
}
