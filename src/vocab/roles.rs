//! The roles of an account's members, each a set of permissions.
//!
//! An operation's declaration says which permission it needs; the member's row has the role.

use serde::{Deserialize, Serialize};

use super::permissions::{Permission, PermissionSet};

/// A member's role in the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// Every permission. The owner can be neither removed nor restricted.
    Owner,
    /// Everything except what concerns the owner.
    Admin,
    /// All work on brands, emails, contacts and campaigns, without management of the account.
    Editor,
    /// Reads only.
    Viewer,
    /// Exactly these permissions, without management of the account.
    Custom(PermissionSet),
}

const READING: PermissionSet = PermissionSet::of(&[
    Permission::AudienceRead,
    Permission::EmailRead,
    Permission::EmailValidate,
    Permission::EmailPreview,
    Permission::DomainRead,
    Permission::CampaignRead,
    Permission::WebhookRead,
]);

const EDITING: PermissionSet = READING.and(PermissionSet::of(&[
    Permission::AudienceWrite,
    Permission::EmailWrite,
    Permission::EmailSend,
    Permission::CampaignWrite,
    Permission::ProjectWrite,
]));

impl Role {
    /// The name on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Role::Owner => "owner",
            Role::Admin => "admin",
            Role::Editor => "editor",
            Role::Viewer => "viewer",
            Role::Custom(_) => "custom",
        }
    }

    /// The role's permissions.
    pub const fn permissions(self) -> PermissionSet {
        match self {
            Role::Owner | Role::Admin => PermissionSet::ALL,
            Role::Editor => EDITING,
            Role::Viewer => READING,
            Role::Custom(permissions) => permissions,
        }
    }

    /// Whether the role manages the account: members, keys, the audit log.
    pub const fn manages(self) -> bool {
        matches!(self, Role::Owner | Role::Admin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn viewers_change_nothing_and_editors_manage_nothing() {
        assert!(
            Role::Viewer
                .permissions()
                .iter()
                .all(|permission| { !permission.word().ends_with(":write") && permission != Permission::EmailSend })
        );
        assert!(Role::Editor.permissions().contains(Permission::CampaignWrite));
        assert!(!Role::Editor.manages() && !Role::Custom(PermissionSet::ALL).manages() && Role::Admin.manages());
    }
}
