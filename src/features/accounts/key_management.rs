//! Creates, lists and revokes API keys, both for the managers of an account and for the operator of the installation.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::model::NewKey;
pub use super::views::KeyView;
use super::{api_keys, store, usage, views};
use crate::base::text::Name;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Context, Engine, Failure};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, KeyId};
use crate::vocab::limits;
use crate::vocab::permissions::PermissionSet;

/// The properties of the key to create.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyRequest {
    /// A name that describes the purpose of the key.
    pub name: Name<{ limits::KEY_NAME_CHARACTERS_MAX }>,
    pub environment: Environment,
    /// The key's permissions; `["all"]` for all permissions.
    pub permissions: PermissionSet,
}

/// A newly created key.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedKeyView {
    pub id: KeyId,
    /// The key itself. Only its hash is stored, so the key cannot be shown again.
    pub key: String,
    pub name: String,
    pub environment: Environment,
    pub permissions: PermissionSet,
}

impl CreatedKeyView {
    /// Returns an example for the documentation: the request and its response.
    pub fn sample() -> (Value, Self) {
        let view = Self {
            id: KeyId::parse("9c1185a5c5e9fc5461280899").expect("the id has 24 hexadecimal characters"),
            key: "sk_test_…".into(),
            name: "Shop".into(),
            environment: Environment::Test,
            permissions: PermissionSet::ALL,
        };
        (json!({ "name": "Shop", "environment": "test", "permissions": ["all"] }), view)
    }
}

/// A list of all keys, newest first. Revoked keys stay in the list for 90 days.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "KeyList")]
pub struct Keys {
    pub keys: Vec<KeyView>,
}

impl Keys {
    pub fn sample() -> Self {
        Self { keys: vec![KeyView::sample()] }
    }
}

/// Selects an API key.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyRef {
    /// The key's ID, or the start of the ID: at least the 8 characters that lists show.
    #[schemars(length(min = limits::KEY_ID_CHARACTERS_SHOWN, max = 24))]
    pub id: String,
}

impl KeyRef {
    /// Returns an example for the documentation: the request and its response.
    pub fn sample() -> (Value, KeyView) {
        (json!({ "id": "9c1185a5" }), KeyView { revoked_at: Some(WireTime::sample()), ..KeyView::sample() })
    }
}

/// Creates a key for `account`, or for the installation's own account if `account` is `None`. `operation` is recorded in the audit log.
pub async fn create(
    context: &Context,
    operation: &'static str,
    account: Option<AccountId>,
    request: KeyRequest,
) -> Result<CreatedKeyView, Failure> {
    let KeyRequest { name, environment, permissions } = request;
    if permissions.is_empty() {
        return Err(Failure::field("permissions", "select at least one permission"));
    }
    let new = NewKey { name: name.to_string(), environment, permissions };
    let act = (context.caller.act(operation), context.envelope);
    let created = api_keys::create_key(&context.engine, account, new, Some(act)).await?;
    let key = created.token.expose().clone();
    Ok(CreatedKeyView { id: created.key.id, key, name: created.key.name, environment, permissions })
}

/// Lists the keys of `account`, or of every account if `account` is `None`.
pub async fn list(engine: &Arc<Engine>, account: Option<AccountId>) -> Result<Keys, Failure> {
    // Store the counts of requests that are still only in memory, so that the list includes these requests.
    usage::flush(engine).await?;
    let tx = engine.control.read();
    let mut keys = store::keys(&tx)?;
    keys.retain(|key| account.is_none_or(|account| key.account == account));
    keys.sort_by_key(|key| std::cmp::Reverse(key.created_at));
    let views = keys.into_iter().map(|key| {
        let usage = store::usage(&tx, key.id)?;
        Ok(views::view(key, usage))
    });
    Ok(Keys { keys: views.collect::<Result<_, Failure>>()? })
}

/// Revokes a key of `account`, or of any account if `account` is `None`. `operation` is recorded in the audit log.
pub async fn revoke(
    context: &Context,
    operation: &'static str,
    account: Option<AccountId>,
    key: KeyRef,
) -> Result<KeyView, Failure> {
    let shown = limits::KEY_ID_CHARACTERS_SHOWN;
    if !(shown..=24).contains(&key.id.len()) {
        return Err(Failure::field(
            "id",
            format_args!("enter at least the first {shown} characters of the 24-character ID, as shown in the list of keys"),
        ));
    }
    let act = (context.caller.act(operation), context.envelope);
    let key = api_keys::revoke_key(&context.engine, account, key.id, act).await?;
    let usage = store::usage(&context.engine.control.read(), key.id)?;
    Ok(views::view(key, usage))
}
