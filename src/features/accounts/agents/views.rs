//! Agents' requests as the API returns them to users.

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{Claim, SENSITIVE, State};
use crate::base::clock::Timestamp;
use crate::engine::access::session_cache::UserSession;
use crate::engine::api::response::WireTime;
use crate::features::accounts::api_keys::short_id;
use crate::vocab::environment::Environment;
use crate::vocab::ids::ClaimId;
use crate::vocab::permissions::{Permission, PermissionSet};

/// An agent's request for a key.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalView {
    pub id: ClaimId,
    /// The name that the agent chose. It is not verified.
    pub agent_name: String,
    pub status: ApprovalStatus,
    /// The permissions that the agent requested.
    pub wanted: PermissionSet,
    /// The permissions that the user granted; absent if the request was not granted.
    pub granted: Option<PermissionSet>,
    /// The environment of the granted key; absent if the request was not granted.
    pub environment: Option<Environment>,
    /// The first 8 characters of the fetched key's ID; absent if the agent has not fetched a key.
    pub key_id: Option<String>,
    /// Whether the key that the agent fetched was revoked.
    pub key_revoked: bool,
    pub created_at: WireTime,
    /// When the request expires.
    pub expires_at: WireTime,
    pub decided_at: Option<WireTime>,
    /// The email of the user who decided. This user may no longer be a member. Absent until a user decides.
    pub decided_by: Option<String>,
}

/// The state of an agent's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalStatus {
    Waiting,
    /// The request was denied or revoked, or the user who granted it left or lost a permission before the agent fetched the key.
    Denied,
    /// The request was granted, but the agent has not fetched the key yet.
    Approved,
    /// The agent has fetched its key.
    Fetched,
    /// The request was granted, but it expired before the agent fetched the key.
    Expired,
}

/// A permission that an agent requested.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScopeView {
    pub permission: Permission,
    /// A sentence that describes what the permission allows.
    pub allows: String,
    /// Whether you have the permission yourself. You can grant only permissions that you have.
    pub yours: bool,
    /// Whether granting the permission requires a recent sign-in.
    pub grave: bool,
}

/// Returns a view of each requested permission.
pub fn scopes(requested: PermissionSet, who: &UserSession) -> Vec<ScopeView> {
    let own = who.user.role.permissions();
    let scope = |permission: Permission| ScopeView {
        permission,
        allows: permission.allows().to_owned(),
        yours: own.contains(permission),
        grave: SENSITIVE.contains(&permission),
    };
    requested.iter().map(scope).collect()
}

/// Returns the view of a request. `decided_by` is the email of the user who decided; `key_works` is whether the issued key still works.
pub fn view(claim: Claim, now: Timestamp, decided_by: Option<String>, key_works: bool) -> ApprovalView {
    let status = match &claim.state {
        State::Waiting => ApprovalStatus::Waiting,
        State::Denied(_) => ApprovalStatus::Denied,
        State::Approved(..) if now >= claim.expires_at => ApprovalStatus::Expired,
        State::Approved(..) => ApprovalStatus::Approved,
        State::KeyIssued(..) => ApprovalStatus::Fetched,
    };
    let key = match &claim.state {
        State::KeyIssued(_, _, key) => Some(*key),
        State::Waiting | State::Denied(_) | State::Approved(..) => None,
    };
    ApprovalView {
        id: claim.id,
        status,
        wanted: claim.requested,
        granted: claim.granted().map(|granted| granted.permissions),
        environment: claim.granted().map(|granted| granted.environment),
        key_id: key.map(short_id),
        key_revoked: key.is_some() && !key_works,
        created_at: WireTime(claim.created_at),
        expires_at: WireTime(claim.expires_at),
        decided_at: claim.decision().map(|decision| WireTime(decision.at)),
        decided_by,
        agent_name: claim.agent_name,
    }
}

impl ApprovalView {
    pub fn sample() -> Self {
        Self {
            id: ClaimId::from_bytes([0x66; 12]),
            agent_name: "Shop helper".into(),
            status: ApprovalStatus::Fetched,
            wanted: super::model::DEFAULT_SCOPE,
            granted: Some(PermissionSet::of(&[Permission::AudienceRead])),
            environment: Some(Environment::Test),
            key_id: Some("9c1185a5".into()),
            key_revoked: false,
            created_at: WireTime::sample(),
            expires_at: WireTime::sample(),
            decided_at: Some(WireTime::sample()),
            decided_by: Some("ada@example.com".into()),
        }
    }
}
