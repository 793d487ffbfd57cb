//! Accounts and keys as the operator sees them.

use schemars::JsonSchema;
use serde::Serialize;

use super::api_keys::short_id;
use super::model::{Key, KeyUsage};
use crate::engine::api::response::WireTime;
use crate::vocab::environment::Environment;
use crate::vocab::permissions::PermissionSet;

/// An API key, without the key itself.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    /// The first 8 characters of its id, which are enough to revoke it.
    pub id: String,
    pub name: String,
    pub environment: Environment,
    pub permissions: PermissionSet,
    pub created_at: WireTime,
    /// When it was revoked; absent while it works.
    pub revoked_at: Option<WireTime>,
    /// When the key was last used, up to some seconds late; absent if never.
    pub last_used_at: Option<WireTime>,
    /// Requests made with it.
    pub requests: u64,
}

impl KeyView {
    /// An example for the documentation.
    pub fn sample() -> Self {
        Self {
            id: "9c1185a5".into(),
            name: "Shop".into(),
            environment: Environment::Live,
            permissions: PermissionSet::ALL,
            created_at: WireTime::sample(),
            revoked_at: None,
            last_used_at: Some(WireTime::sample()),
            requests: 42,
        }
    }
}

/// Returns the view of a key for the operator.
pub fn view(key: Key, usage: KeyUsage) -> KeyView {
    KeyView {
        id: short_id(key.id),
        name: key.name,
        environment: key.environment,
        permissions: key.permissions,
        created_at: WireTime(key.created_at),
        revoked_at: key.revoked_at.map(WireTime),
        last_used_at: usage.last_used_at.map(WireTime),
        requests: usage.requests,
    }
}
