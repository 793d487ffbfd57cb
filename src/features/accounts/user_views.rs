//! Members, sessions and sign-ins as the API returns them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::{Invitation, Session, User};
use crate::engine::access::session_cache::{SessionKind, UserSession};
use crate::engine::api::Failure;
use crate::engine::api::response::WireTime;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{InvitationId, SessionId, UserId};
use crate::vocab::permissions::PermissionSet;
use crate::vocab::roles::Role;

/// A member's role in the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MemberRole {
    /// Full access; cannot be removed.
    Owner,
    /// Everything except what concerns the owner.
    Admin,
    /// Works on brands, emails, contacts and campaigns.
    Editor,
    /// Read-only access.
    Viewer,
    /// Exactly the given permissions.
    Custom,
}

impl MemberRole {
    fn of(role: Role) -> Self {
        match role {
            Role::Owner => MemberRole::Owner,
            Role::Admin => MemberRole::Admin,
            Role::Editor => MemberRole::Editor,
            Role::Viewer => MemberRole::Viewer,
            Role::Custom(_) => MemberRole::Custom,
        }
    }
}

/// Returns the role that a request assigns. Only set-up creates the owner.
pub fn role(word: MemberRole, permissions: Option<PermissionSet>) -> Result<Role, Failure> {
    match (word, permissions) {
        (MemberRole::Custom, Some(permissions)) if !permissions.is_empty() => Ok(Role::Custom(permissions)),
        (MemberRole::Custom, _) => Err(Failure::field("permissions", "the role custom needs at least one permission")),
        (_, Some(_)) => Err(Failure::field("permissions", "only the role custom takes permissions; remove them")),
        (MemberRole::Owner, None) => {
            Err(Failure::field("role", "there can be only one owner; use admin, editor, viewer or custom"))
        }
        (MemberRole::Admin, None) => Ok(Role::Admin),
        (MemberRole::Editor, None) => Ok(Role::Editor),
        (MemberRole::Viewer, None) => Ok(Role::Viewer),
    }
}

/// A member of the account.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberView {
    pub id: UserId,
    pub email: String,
    /// Empty if not given.
    pub name: String,
    pub role: MemberRole,
    pub permissions: PermissionSet,
    /// Whether sign-in requires a code from an authenticator app.
    pub second_factor: bool,
    pub created_at: WireTime,
}

impl MemberView {
    /// Returns the view of a member for the owner and admins.
    pub fn new(user: &User, second_factor: bool) -> Self {
        Self {
            id: user.id,
            email: user.email.clone(),
            name: user.name.clone(),
            role: MemberRole::of(user.role),
            permissions: user.role.permissions(),
            second_factor,
            created_at: WireTime(user.created_at),
        }
    }

    /// An example for the documentation.
    pub fn sample() -> Self {
        Self {
            id: UserId::from_bytes([0x66; 12]),
            email: "ada@example.com".into(),
            name: "Ada".into(),
            role: MemberRole::Editor,
            permissions: Role::Editor.permissions(),
            second_factor: true,
            created_at: WireTime::sample(),
        }
    }
}

/// An open invitation.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationView {
    pub id: InvitationId,
    pub email: String,
    pub role: MemberRole,
    pub created_at: WireTime,
    /// When the link expires.
    pub expires_at: WireTime,
}

impl InvitationView {
    /// Returns the view of an invitation for the owner and admins.
    pub fn new(invitation: &Invitation) -> Self {
        Self {
            id: invitation.id,
            email: invitation.email.clone(),
            role: MemberRole::of(invitation.role),
            created_at: WireTime(invitation.created_at),
            expires_at: WireTime(invitation.expires_at),
        }
    }

    /// An example for the documentation.
    pub fn sample() -> Self {
        Self {
            id: InvitationId::from_bytes([0x67; 12]),
            email: "bob@example.com".into(),
            role: MemberRole::Viewer,
            created_at: WireTime::sample(),
            expires_at: WireTime::sample(),
        }
    }
}

/// A link to pass on, which is shown once.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkView {
    /// Anyone who has the link can use it: share it over a private channel. No mail is sent.
    pub link: String,
    pub email: String,
    pub expires_at: WireTime,
}

impl LinkView {
    /// An example for the documentation.
    pub fn sample(page: &str) -> Self {
        let link = format!("https://mail.example.com/{page}/0123456789abcdefghijABCDEFGHIJ01");
        Self { link, email: "bob@example.com".into(), expires_at: WireTime::sample() }
    }
}

/// The signed-in user.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionState {
    pub session_id: SessionId,
    pub user_id: UserId,
    pub email: String,
    pub name: String,
    pub role: MemberRole,
    pub permissions: PermissionSet,
    /// Whether the user manages the account: members, keys, the audit log.
    pub manages: bool,
    /// The environment that the session works on.
    pub environment: Environment,
    /// Whether sign-in requires a code from an authenticator app.
    pub second_factor: bool,
    /// The number of unused recovery codes; absent without an app.
    pub recovery_codes_left: Option<usize>,
    /// Whether the user has authenticated in the last minutes.
    pub fresh: bool,
    pub expires_at: WireTime,
}

impl SessionState {
    /// Returns the state of a session. `recovery_left` is the number of recovery codes, if an app is set up.
    pub fn new(who: &UserSession, recovery_left: Option<usize>, now: crate::base::clock::Timestamp) -> Self {
        let UserSession { user, session, environment } = who;
        Self {
            session_id: session.id,
            user_id: user.id,
            email: user.email.clone(),
            name: user.name.clone(),
            role: MemberRole::of(user.role),
            permissions: user.role.permissions(),
            manages: user.role.manages(),
            environment: *environment,
            second_factor: recovery_left.is_some(),
            recovery_codes_left: recovery_left,
            fresh: session.is_fresh(now),
            expires_at: WireTime(session.expires_at),
        }
    }

    /// An example for the documentation.
    pub fn sample() -> Self {
        Self {
            session_id: SessionId::from_bytes([0x68; 12]),
            user_id: UserId::from_bytes([0x66; 12]),
            email: "ada@example.com".into(),
            name: "Ada".into(),
            role: MemberRole::Editor,
            permissions: Role::Editor.permissions(),
            manages: false,
            environment: Environment::Live,
            second_factor: true,
            recovery_codes_left: Some(10),
            fresh: true,
            expires_at: WireTime::sample(),
        }
    }
}

/// One of your sessions.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    pub id: SessionId,
    /// `browser`, or `program` for a token of `POST /v1/auth/login`.
    pub kind: &'static str,
    /// Whether it is the session of this request.
    pub current: bool,
    /// The address that the sign-in came from.
    pub address: String,
    /// The browser's user agent.
    pub agent: String,
    pub created_at: WireTime,
    /// When the session last made a request.
    pub seen_at: WireTime,
    pub expires_at: WireTime,
}

impl SessionView {
    /// Returns the view of a session for its user.
    pub fn new(session: Session, seen_at: crate::base::clock::Timestamp, own: SessionId) -> Self {
        Self {
            id: session.id,
            kind: match session.kind {
                SessionKind::Browser => "browser",
                SessionKind::Program => "program",
            },
            current: session.id == own,
            address: session.address,
            agent: session.agent,
            created_at: WireTime(session.created_at),
            seen_at: WireTime(seen_at),
            expires_at: WireTime(session.expires_at),
        }
    }

    /// An example for the documentation.
    pub fn sample() -> Self {
        Self {
            id: SessionId::from_bytes([0x68; 12]),
            kind: "browser",
            current: true,
            address: "192.0.2.7".into(),
            agent: "Mozilla/5.0".into(),
            created_at: WireTime::sample(),
            seen_at: WireTime::sample(),
            expires_at: WireTime::sample(),
        }
    }
}

/// The result of an action.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Accomplished")]
pub struct Ack {
    /// Always true; a failure returns an error.
    pub done: bool,
}

impl Ack {
    /// The action was done.
    pub const DONE: Self = Self { done: true };
}
