//! Agents' requests as users see them.

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
    /// The name the agent gives itself; it is not verified.
    pub agent_name: String,
    pub status: ApprovalStatus,
    /// The requested permissions.
    pub wanted: PermissionSet,
    /// The granted permissions; absent if none.
    pub granted: Option<PermissionSet>,
    /// The environment of the granted key.
    pub environment: Option<Environment>,
    /// The first 8 characters of the id of the key that the agent fetched.
    pub key_id: Option<String>,
    /// Whether that key was revoked.
    pub key_revoked: bool,
    pub created_at: WireTime,
    /// When the request expires.
    pub expires_at: WireTime,
    pub decided_at: Option<WireTime>,
    /// The email of the user who decided, who may no longer be a member; absent until then.
    pub decided_by: Option<String>,
}

/// The state of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalStatus {
    Waiting,
    /// Denied; or granted by a user who left or lost a permission before the agent fetched the key.
    Denied,
    /// Granted, but not fetched yet.
    Approved,
    /// The agent has its key.
    Fetched,
    /// Granted, but never fetched.
    Expired,
}

/// One requested permission.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScopeView {
    pub permission: Permission,
    /// A sentence that describes what it allows.
    pub allows: String,
    /// Whether you have the permission yourself; you cannot grant it otherwise.
    pub yours: bool,
    /// Whether granting it needs a recent sign-in.
    pub grave: bool,
}

/// Returns the requested permissions, one by one.
pub fn scopes(claim: &Claim, who: &UserSession) -> Vec<ScopeView> {
    let own = who.user.role.permissions();
    let scope = |permission: Permission| ScopeView {
        permission,
        allows: permission.allows().to_owned(),
        yours: own.contains(permission),
        grave: SENSITIVE.contains(&permission),
    };
    claim.requested.iter().map(scope).collect()
}

/// Returns the view of a request. `decided_by` is the email of the user who decided; `key_works` is whether its key still works.
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
    /// An example for the documentation.
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
