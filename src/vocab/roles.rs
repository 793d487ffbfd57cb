//! What members of an account may do: roles, each a set of permissions.
//!
//! Which operation needs which permission stands in that operation's declaration; who has which role, in the members' rows.

use serde::{Deserialize, Serialize};

use super::permissions::{Permission, PermissionSet};

/// What a member is to the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// Everything; the only one who can neither be removed nor given less.
    Owner,
    /// Everything but what concerns the owner.
    Admin,
    /// All work on brands, emails, contacts and campaigns, and no management of the account.
    Editor,
    /// Looking only.
    Viewer,
    /// Exactly these permissions, and no management of the account.
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
    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Role::Owner => "owner",
            Role::Admin => "admin",
            Role::Editor => "editor",
            Role::Viewer => "viewer",
            Role::Custom(_) => "custom",
        }
    }

    /// What it allows.
    pub const fn permissions(self) -> PermissionSet {
        match self {
            Role::Owner | Role::Admin => PermissionSet::ALL,
            Role::Editor => EDITING,
            Role::Viewer => READING,
            Role::Custom(permissions) => permissions,
        }
    }

    /// Whether it manages the account: members, keys, the audit log.
    pub const fn manages(self) -> bool {
        matches!(self, Role::Owner | Role::Admin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_looks_changes_nothing_and_who_edits_manages_nothing() {
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
