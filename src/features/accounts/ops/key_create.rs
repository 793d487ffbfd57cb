//! Creates an API key, which is shown once, for the owner and admins.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::base::text::Name;
use crate::engine::api::{Async, Context, Created, Failure, Operation, Spec, manager};
use crate::features::accounts::api_keys;
use crate::features::accounts::model::NewKey;
use crate::features::accounts::ops::create_key::{CreateKey, NewKeyView};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::limits;
use crate::vocab::permissions::PermissionSet;

/// `accounts.key_create`
pub struct KeyCreate;

/// The terms of the key.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyRequest {
    /// A name that says what the key is for.
    pub name: Name<{ limits::KEY_NAME_CHARACTERS_MAX }>,
    pub environment: Environment,
    /// The key's permissions; `["all"]` for everything.
    pub permissions: PermissionSet,
}

impl Operation for KeyCreate {
    const SPEC: Spec = Spec::post("accounts.key_create", "/v1/account/keys", manager())
        .summary("Create an API key")
        .about("The key is shown only in this response.")
        .fails(&[Code::LimitReached, Code::NotFound]);
    type Input = KeyRequest;
    type Output = Created<NewKeyView>;

    fn example() -> (Value, Self::Output) {
        CreateKey::example()
    }
}

impl Async for KeyCreate {
    async fn run(context: Context, input: KeyRequest) -> Result<Self::Output, Failure> {
        let KeyRequest { name, environment, permissions } = input;
        if permissions.is_empty() {
            return Err(Failure::field("permissions", "give at least one permission, or all"));
        }
        let new = NewKey { name: name.to_string(), environment, permissions };
        let act = (context.caller.act(Self::SPEC.id), context.envelope);
        let created = api_keys::create_key(&context.engine, Some(context.caller.account()), new, Some(act)).await?;
        let key = created.token.expose().clone();
        Ok(Created(NewKeyView { id: created.key.id, key, name: created.key.name, environment, permissions }))
    }
}
