//! Members, sessions and invitations as the API returns them.

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
    /// The owner, who has full access and cannot be removed.
    Owner,
    /// An admin, who has every permission, but cannot remove the owner, change the owner's role, or reset the owner's password.
    Admin,
    /// An editor, who works on brands, emails, contacts and campaigns.
    Editor,
    /// A viewer, who has read-only access.
    Viewer,
    /// A member who has exactly the given permissions.
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

/// Returns the role that a request assigns. The role of owner cannot be assigned: only setup and sign-up create an owner.
pub fn role(word: MemberRole, permissions: Option<PermissionSet>) -> Result<Role, Failure> {
    match (word, permissions) {
        (MemberRole::Custom, Some(permissions)) if !permissions.is_empty() => Ok(Role::Custom(permissions)),
        (MemberRole::Custom, _) => {
            Err(Failure::field("permissions", "the custom role requires at least one permission; select a permission"))
        }
        (_, Some(_)) => Err(Failure::field(
            "permissions",
            "only the custom role accepts permissions; remove this field, or set `role` to `custom`",
        )),
        (MemberRole::Owner, None) => {
            Err(Failure::field("role", "there can be only one owner; use admin, editor, viewer or custom"))
        }
        (MemberRole::Admin, None) => Ok(Role::Admin),
        (MemberRole::Editor, None) => Ok(Role::Editor),
        (MemberRole::Viewer, None) => Ok(Role::Viewer),
    }
}

/// A member of the account, as the API shows it to the owner and admins.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberView {
    pub id: UserId,
    pub email: String,
    /// The member's display name; empty if not given.
    pub name: String,
    pub role: MemberRole,
    pub permissions: PermissionSet,
    /// Whether the member has an authenticator app. If so, sign-in requires a code from the app.
    pub second_factor: bool,
    pub created_at: WireTime,
}

impl MemberView {
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
    /// When the invitation link expires.
    pub expires_at: WireTime,
}

impl InvitationView {
    pub fn new(invitation: &Invitation) -> Self {
        Self {
            id: invitation.id,
            email: invitation.email.clone(),
            role: MemberRole::of(invitation.role),
            created_at: WireTime(invitation.created_at),
            expires_at: WireTime(invitation.expires_at),
        }
    }

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

/// An invitation or password-reset link for the caller to share. It is returned only once.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkView {
    /// The link. Anyone who has the link can use it, so share it over a private channel. No mail is sent.
    pub link: String,
    pub email: String,
    pub expires_at: WireTime,
}

impl LinkView {
    pub fn sample(page: &str) -> Self {
        let link = format!("https://mail.example.com/{page}/0123456789abcdefghijABCDEFGHIJ01");
        Self { link, email: "bob@example.com".into(), expires_at: WireTime::sample() }
    }
}

/// The state of the session that makes the request, and the user of the session.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionState {
    pub session_id: SessionId,
    pub user_id: UserId,
    pub email: String,
    pub name: String,
    pub role: MemberRole,
    pub permissions: PermissionSet,
    /// Whether the user can manage the account: members, keys and the audit log.
    pub manages: bool,
    /// The environment that the session works in.
    pub environment: Environment,
    /// Whether the user has an authenticator app. If so, sign-in requires a code from the app.
    pub second_factor: bool,
    /// The number of unused recovery codes; absent if the user has no authenticator app.
    pub recovery_codes_left: Option<usize>,
    /// Whether the user authenticated recently enough for actions that require a recent sign-in.
    pub fresh: bool,
    pub expires_at: WireTime,
}

impl SessionState {
    /// Returns the state of a session. `recovery_left` is the number of unused recovery codes; `None` if the user has no
    /// authenticator app.
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

/// A session of the signed-in user.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    pub id: SessionId,
    /// The kind of session: `browser`, or `program` for a token from `POST /v1/auth/login`.
    pub kind: &'static str,
    /// Whether this is the session that makes the request.
    pub current: bool,
    /// The network address that the user signed in from.
    pub address: String,
    /// The user agent of the browser.
    pub agent: String,
    pub created_at: WireTime,
    /// When the session last made a request.
    pub seen_at: WireTime,
    pub expires_at: WireTime,
}

impl SessionView {
    /// Returns the view of a session. `own` is the ID of the session that makes the request.
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

/// Confirms that an action succeeded.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActionConfirmation")]
pub struct Ack {
    /// Always true; a failed action returns an error instead.
    pub done: bool,
}

impl Ack {
    /// Confirms that the action succeeded.
    pub const DONE: Self = Self { done: true };
}
