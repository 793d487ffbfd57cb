//! Why an address is not mailed, and which reason weighs more.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::Record;

/// Why an address is on the list, the lightest reason first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Its owner wants no more marketing. Messages that somebody waits for still go out.
    Unsubscribe,
    /// Somebody of the account put it there.
    Manual,
    /// Its mail server says that there is no such address.
    BounceHard,
    /// Its owner said that a message was spam.
    Complaint,
    /// All that was known of its owner was erased.
    Erased,
}

impl Reason {
    /// All of them, the lightest first.
    pub const ALL: [Self; 5] = [Self::Unsubscribe, Self::Manual, Self::BounceHard, Self::Complaint, Self::Erased];

    /// Whether it also stops messages that somebody waits for.
    pub fn stops_transactional(self) -> bool {
        self != Self::Unsubscribe
    }

    /// The number in keys. Never changed, and 0 is for all reasons together.
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

/// Who put an address on the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A caller of the interface.
    Api,
    /// A mail server's answer while a message was handed over.
    Smtp,
    /// A message about a message that came back.
    Inbound,
    /// The owner of the address, by a link or by mail.
    Recipient,
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppression {
    pub reason: Reason,
    pub source: Source,
    /// The normalised address; none if it was erased.
    pub email: Option<String>,
    /// What a mail server said, or what somebody noted.
    pub note: Option<String>,
    pub created_at: Timestamp,
}

impl Record for Suppression {}
