//! Connected accounts on other platforms.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::Record;
use crate::vocab::ids::{AccountId, ConnectionId, ProjectId};
use crate::vocab::limits;
use crate::vocab::providers::{ConnectionUse, Provider};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    pub id: ConnectionId,
    pub account: AccountId,
    pub provider: Provider,
    /// The connection's name: the name that a user gave it or, by default, the account's name on the platform.
    pub name: String,
    /// The connected account's ID on the platform.
    pub external_id: String,
    /// The connected account's name on the platform.
    pub external_name: String,
    /// The only brand that can use the connection; `None` if every brand can.
    pub project: Option<ProjectId>,
    /// The sealed key, or the sealed tokens.
    pub sealed_key: Vec<u8>,
    /// Whether the user signed in to the platform, instead of entering a key.
    pub is_oauth: bool,
    /// What the user allowed the connection to do; for a key, imports and exports, even if the key's scopes do not allow both.
    pub uses: Vec<ConnectionUse>,
    /// The digest of the sign-in's `state` parameter, which identifies a repeated callback; `None` for a key.
    pub sign_in: Option<[u8; 16]>,
    /// Why the credentials cannot be used; `None` if the platform has not rejected them.
    pub rejected: Option<String>,
    /// When the platform accepts requests again, if it asked for a pause.
    pub paused_until: Option<Timestamp>,
    pub created_at: Timestamp,
    /// When the account was connected or last reconnected.
    pub connected_at: Timestamp,
}

impl Record for Connection {}

impl Connection {
    /// Returns whether a brand can use the connection; true if no brand is given.
    pub fn serves(&self, project: Option<ProjectId>) -> bool {
        project.is_none() || self.project.is_none() || self.project == project
    }

    pub fn may(&self, purpose: ConnectionUse) -> bool {
        self.uses.contains(&purpose)
    }

    /// Returns the end of the pause that the platform asked for, if the pause has not ended. Ignores a pause longer than the maximum,
    /// because such a pause was stored while the clock was wrong.
    pub fn pause_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.paused_until.filter(|until| now < *until && until.ms_since(now) <= limits::PROVIDER_PAUSE_MS_MAX)
    }
}

/// The kind of object that an export creates on a platform. Rows contain the numbers of the variants, so the numbers must not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TemplateKind {
    /// A template for Klaviyo's HTML editor.
    KlaviyoCode = 1,
    /// A Klaviyo template with regions that users edit in the drag-and-drop editor.
    KlaviyoHybrid = 2,
    MailchimpTemplate = 3,
    /// A draft campaign.
    MailchimpCampaign = 4,
    /// A coded email template.
    HubSpotTemplate = 5,
    /// A draft of a marketing email with its own coded template.
    HubSpotEmail = 6,
}

impl TemplateKind {
    pub const ALL: [Self; 6] = [
        Self::KlaviyoCode,
        Self::KlaviyoHybrid,
        Self::MailchimpTemplate,
        Self::MailchimpCampaign,
        Self::HubSpotTemplate,
        Self::HubSpotEmail,
    ];

    pub fn provider(self) -> Provider {
        match self {
            Self::KlaviyoCode | Self::KlaviyoHybrid => Provider::Klaviyo,
            Self::MailchimpTemplate | Self::MailchimpCampaign => Provider::Mailchimp,
            Self::HubSpotTemplate | Self::HubSpotEmail => Provider::HubSpot,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::KlaviyoCode => "html",
            Self::KlaviyoHybrid => "hybrid",
            Self::MailchimpTemplate | Self::HubSpotTemplate => "template",
            Self::MailchimpCampaign => "campaign",
            Self::HubSpotEmail => "email",
        }
    }
}
