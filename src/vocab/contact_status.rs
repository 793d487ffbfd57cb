//! TABLE: the subscription statuses of contacts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a contact may be mailed and, if not, the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "ContactStatus")]
pub enum Status {
    /// Campaigns may be sent to the contact.
    Subscribed,
    /// The contact unsubscribed, or a user unsubscribed the contact. Only transactional messages may be sent to the contact.
    Unsubscribed,
    /// The contact's address does not accept mail.
    Bounced,
    /// The contact is stored, but has never subscribed.
    NonSubscribed,
}

impl Status {
    pub const ALL: [Status; 4] = [Status::Subscribed, Status::Unsubscribed, Status::Bounced, Status::NonSubscribed];

    /// Returns the status's name in the API.
    pub fn word(self) -> &'static str {
        match self {
            Status::Subscribed => "subscribed",
            Status::Unsubscribed => "unsubscribed",
            Status::Bounced => "bounced",
            Status::NonSubscribed => "non-subscribed",
        }
    }
}
