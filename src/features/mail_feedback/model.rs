//! A mail service and the counts of the events that it has reported.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::mail::feedback::{EventKind, Refusal};
use crate::engine::store::Record;
use crate::vocab::ids::{AccountId, MailFeedbackId};
use crate::vocab::mail_services::MailService;

/// The minimum time between two stored rejections, so that a flood of forged requests causes few writes.
const REJECTION_PAUSE_MS: i64 = 10_000;

/// A mail service that reports events to a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailFeedback {
    pub id: MailFeedbackId,
    pub account: AccountId,
    pub service: MailService,
    pub name: Option<String>,
    /// The hash of the secret in the URL.
    pub url_hash: [u8; 32],
    /// The secret for verifying requests, sealed with the context from [`secret_context`].
    pub sealed_secret: Option<Vec<u8>>,
    /// The ARNs of the topics from which notifications are accepted; only for Amazon SES.
    pub topics: Vec<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for MailFeedback {}

/// Returns the context for sealing a secret. Sealed bytes open only with the same context, so the secret of one mail service cannot be
/// used for another.
pub fn secret_context(account: AccountId, id: MailFeedbackId) -> Vec<u8> {
    format!("mail_feedback/{account}/{id}/secret").into_bytes()
}

/// The status of a mail service and the counts of its events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    pub counts: Counts,
    /// When the last accepted request arrived.
    pub last_request_at: Option<Timestamp>,
    /// When Mailmill last confirmed a subscription to an SNS topic.
    pub confirmed_at: Option<Timestamp>,
    pub last_rejection: Option<Rejection>,
    /// The number of requests whose IDs are remembered.
    pub remembered: u64,
}

impl Record for Standing {}

/// The last stored rejection: its time and the reason for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    pub at: Timestamp,
    pub reason: Refusal,
}

impl Standing {
    /// Returns whether to store a rejection at this time, whatever its reason: true if no rejection was stored before, or if the last
    /// stored rejection is old enough.
    pub fn notes_rejection(&self, now: Timestamp) -> bool {
        self.last_rejection.is_none_or(|last| now.ms_since(last.at) >= REJECTION_PAUSE_MS)
    }
}

/// The numbers of events by kind, of unmatched events, and of repeated requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub deliveries: u64,
    pub bounces: u64,
    pub complaints: u64,
    pub unsubscribes: u64,
    /// Events of other kinds, which have no effect.
    pub other: u64,
    /// Events that match no message.
    pub unmatched: u64,
    /// Requests that repeated an earlier request.
    pub repeated: u64,
}

impl Counts {
    /// Counts an event that matches a message.
    pub fn add(&mut self, event: &EventKind) {
        let count = match event {
            EventKind::Delivered => &mut self.deliveries,
            EventKind::Bounced { .. } => &mut self.bounces,
            EventKind::Complained { .. } => &mut self.complaints,
            EventKind::Unsubscribed => &mut self.unsubscribes,
            EventKind::Other => &mut self.other,
        };
        *count += 1;
    }

    pub fn merge(&mut self, other: &Self) {
        self.deliveries += other.deliveries;
        self.bounces += other.bounces;
        self.complaints += other.complaints;
        self.unsubscribes += other.unsubscribes;
        self.other += other.other;
        self.unmatched += other.unmatched;
        self.repeated += other.repeated;
    }
}
