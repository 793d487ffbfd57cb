//! The roles of an account's members. Each role is a set of permissions.
//!
//! The declaration of an operation states which permission the operation requires; the member's row contains the role.

use serde::{Deserialize, Serialize};

use super::permissions::{Permission, PermissionSet};

/// A member's role in the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The role has every permission. The owner can be neither removed nor restricted.
    Owner,
    /// The role has every permission, but cannot remove the owner, change the owner's role, or create a password-reset link for the owner.
    Admin,
    /// The role can do all work on brands, emails, contacts and campaigns, but cannot manage the account.
    Editor,
    /// The role can read data, and check and preview emails.
    Viewer,
    /// The role has exactly the permissions in the set and cannot manage the account.
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
    /// Returns the role's name in the API.
    pub const fn word(self) -> &'static str {
        match self {
            Role::Owner => "owner",
            Role::Admin => "admin",
            Role::Editor => "editor",
            Role::Viewer => "viewer",
            Role::Custom(_) => "custom",
        }
    }

    pub const fn permissions(self) -> PermissionSet {
        match self {
            Role::Owner | Role::Admin => PermissionSet::ALL,
            Role::Editor => EDITING,
            Role::Viewer => READING,
            Role::Custom(permissions) => permissions,
        }
    }

    /// Returns whether the role may manage the account: its members, keys and audit log.
    pub const fn manages(self) -> bool {
        matches!(self, Role::Owner | Role::Admin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn viewers_cannot_change_data_and_editors_cannot_manage_the_account() {
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
