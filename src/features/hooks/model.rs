//! An incoming webhook and the deliveries that it received.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::Record;
use crate::vocab::ids::{AccountId, HookId, ProjectId, TopicId};

/// What the request bodies sent to a webhook contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HookKind {
    /// A contact to add or update.
    Contacts,
    /// A customer event to record.
    Events,
}

/// An incoming webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hook {
    pub id: HookId,
    pub account: AccountId,
    pub project: ProjectId,
    pub name: String,
    pub kind: HookKind,
    /// The hash of the secret in the URL.
    pub url_hash: [u8; 32],
    /// How requests are signed; `None` if signatures are not checked.
    pub signature: Option<SignatureCheck>,
    /// The path of each field's value in the body. If there are no paths, each field gets the value with the same name in the body.
    pub mapping: BTreeMap<String, String>,
    /// The name that every event receives. If absent, the name comes from the body.
    pub event_name: Option<String>,
    /// The tags to add to every contact.
    pub tags: Vec<String>,
    /// The topic to which contacts with consent are subscribed.
    pub topic: Option<TopicId>,
    /// Where the contacts agreed to marketing email. If absent, new contacts are non-subscribed.
    pub consent_source: Option<String>,
    /// The page that browsers are redirected to after they submit a form.
    pub redirect_url: Option<String>,
    pub active: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Hook {}

/// How the signatures of requests are checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignatureCheck {
    /// The header with the signature.
    pub header: String,
    pub sealed_secret: Vec<u8>,
}

/// How many requests a webhook accepted and rejected, and when the last request arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    pub accepted: u64,
    pub rejected: u64,
    /// The number of the next delivery.
    pub next: u64,
    pub last_at: Option<Timestamp>,
}

impl Record for Standing {}

/// A request that a webhook received, with its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookDelivery {
    pub at: Timestamp,
    pub outcome: RequestOutcome,
}

impl Record for HookDelivery {}

/// The outcome of a request. The reason for a rejection contains no text from the body, because that text may be personal data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RequestOutcome {
    Created,
    Updated,
    /// The contact already had these values, or the event was already known.
    Unchanged,
    Recorded,
    /// The request was rejected because of this field, for this reason.
    Rejected {
        field: String,
        reason: String,
    },
}

impl RequestOutcome {
    /// Returns the name of the outcome in the API.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Recorded => "recorded",
            Self::Rejected { .. } => "rejected",
        }
    }
}
