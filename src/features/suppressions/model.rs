//! The reasons for suppression and their order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::Record;

/// Why an address is on the list, the lightest reason first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The recipient wants no more marketing email. Transactional messages still go out.
    Unsubscribe,
    /// A member of the account added it.
    Manual,
    /// Its mail server reports that the address does not exist.
    BounceHard,
    /// The recipient reported a message as spam.
    Complaint,
    /// The recipient's data was erased.
    Erased,
}

impl Reason {
    /// All reasons, the lightest first.
    pub const ALL: [Self; 5] = [Self::Unsubscribe, Self::Manual, Self::BounceHard, Self::Complaint, Self::Erased];

    /// Whether the reason also stops transactional messages.
    pub fn stops_transactional(self) -> bool {
        self != Self::Unsubscribe
    }

    /// The number used in keys. Never change it; 0 means all reasons together.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Unsubscribe => 1,
            Self::Manual => 2,
            Self::BounceHard => 3,
            Self::Complaint => 4,
            Self::Erased => 5,
        }
    }
}

/// What added an address to the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// An API call.
    Api,
    /// A mail server's response during handoff.
    Smtp,
    /// A bounce message.
    Inbound,
    /// The recipient, by a link or by mail.
    Recipient,
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppression {
    pub reason: Reason,
    pub source: Source,
    /// The normalized address; absent if it was erased.
    pub email: Option<String>,
    /// The mail server's response, or a note by a user.
    pub note: Option<String>,
    pub created_at: Timestamp,
}

impl Record for Suppression {}
