//! The reasons for suppression, ordered by seriousness.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::Record;

/// Why an address is on the suppression list. The least serious reason comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SuppressionReason")]
pub enum Reason {
    /// The recipient does not want marketing email. Transactional messages are still sent.
    Unsubscribe,
    /// A user or a program with access to the account added the address.
    Manual,
    /// A mail server reported that the address does not exist, or messages to the address bounced repeatedly.
    BounceHard,
    /// The recipient reported a message as spam.
    Complaint,
    /// The recipient's data was erased.
    Erased,
}

impl Reason {
    /// All reasons, least serious first.
    pub const ALL: [Self; 5] = [Self::Unsubscribe, Self::Manual, Self::BounceHard, Self::Complaint, Self::Erased];

    /// Returns whether the reason also prevents transactional messages.
    pub fn stops_transactional(self) -> bool {
        self != Self::Unsubscribe
    }

    /// Returns the number that represents this reason in keys. It must never change. 0 is reserved for all reasons together.
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

/// Where the suppression came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SuppressionSource")]
pub enum Source {
    /// The API or the dashboard, or the deletion of a contact.
    Api,
    /// A mail server's reply during handoff.
    Smtp,
    /// A bounce message or a complaint that arrived by mail.
    Inbound,
    /// The recipient unsubscribed.
    Recipient,
    /// A mail service's webhook, which reported a bounce or a complaint.
    MailService,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppression {
    pub reason: Reason,
    pub source: Source,
    /// The normalized address; absent if the recipient's data was erased.
    pub email: Option<String>,
    /// The mail server's reply, or a note written by a user.
    pub note: Option<String>,
    pub created_at: Timestamp,
}

impl Record for Suppression {}
