//! API keys as the API returns them.

use schemars::JsonSchema;
use serde::Serialize;

use super::api_keys::short_id;
use super::model::{Key, KeyUsage};
use crate::engine::api::response::WireTime;
use crate::vocab::environment::Environment;
use crate::vocab::permissions::PermissionSet;

/// The metadata of an API key, without the key itself.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    /// The first 8 characters of the key's ID, which are enough to revoke the key.
    pub id: String,
    pub name: String,
    pub environment: Environment,
    pub permissions: PermissionSet,
    pub created_at: WireTime,
    /// When the key was revoked; absent if the key still works.
    pub revoked_at: Option<WireTime>,
    /// When the key was last used; absent if the key was never used. The time can lag by a few seconds.
    pub last_used_at: Option<WireTime>,
    /// The number of requests made with the key.
    pub requests: u64,
}

impl KeyView {
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
