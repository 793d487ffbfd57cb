//! Sends, batches and inbox messages as the API returns them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::inbox::InboxRow;
use super::model::{Audience, Counts, Delivery, Mailing, Recipient, State, WaitReason};
use crate::base::clock::Timestamp;
use crate::engine::api::Listed;
use crate::engine::api::response::WireTime;
use crate::vocab::ids::{ConversationId, EmailId, MailingId, MessageId};

/// A batch, which is a send to an audience, and its progress.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchView {
    pub batch_id: MailingId,
    /// The status: `queued`, `processing`, `paused`, `throttled`, `completed`, `partial`, `cancelled` or `failed`.
    pub status: String,
    /// The kind of recipients: `audience`, `segment`, `tag` or `email`.
    pub recipient_type: String,
    /// The ID of the segment or tag; absent for other kinds of recipients.
    pub recipient_id: Option<String>,
    /// The provider that delivers the mail.
    pub provider: String,
    /// The total number of recipients, including skipped ones. It grows until all contacts of the audience have been added.
    pub total_count: u64,
    /// The number of recipients whose message is queued, in flight or waiting for a retry.
    pub queued_count: u64,
    pub sent_count: u64,
    pub failed_count: u64,
    /// The number of recipients whose delivery is unknown, because the service stopped, the connection broke, or no valid reply arrived in
    /// time. The message is sent to them again automatically only if the batch belongs to a campaign whose `unknown` field is `resend`.
    pub unknown_count: u64,
    /// The number of skipped recipients, by reason.
    pub skipped: BTreeMap<String, u64>,
    pub from: String,
    pub from_name: Option<String>,
    /// The subject. If the batch has several languages, the subject in the first language.
    pub subject: String,
    pub created_at: WireTime,
    pub updated_at: Option<WireTime>,
    /// Why the batch failed.
    pub error: Option<String>,
    /// Why and until when the batch is waiting. Absent if it is not waiting.
    pub throttle: Option<BatchThrottle>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchThrottle {
    pub throttled_at: WireTime,
    /// When the batch continues automatically.
    pub expires_at: WireTime,
    /// Why the batch is waiting: `quota`, `transport` or `deferred`.
    pub reason: String,
    /// The number of recipients whose message is queued, in flight or waiting for a retry.
    pub remaining_count: u64,
}

impl BatchView {
    pub fn new(mailing: &Mailing, counts: &Counts, provider: &str) -> Self {
        let (recipient_type, recipient_id) = match mailing.audience {
            Audience::Addresses => ("email", None),
            Audience::Everyone => ("audience", None),
            Audience::Segment(id) => ("segment", Some(id.to_string())),
            Audience::Tag(id) => ("tag", Some(id.to_string())),
        };
        let throttle = match mailing.state {
            State::Waiting { reason, until } => Some(BatchThrottle {
                throttled_at: WireTime(mailing.updated_at),
                expires_at: WireTime(until),
                reason: reason.word().to_owned(),
                remaining_count: counts.open(),
            }),
            _ => None,
        };
        Self {
            batch_id: mailing.id,
            status: status(mailing, counts).to_owned(),
            recipient_type: recipient_type.to_owned(),
            recipient_id,
            provider: provider.to_owned(),
            total_count: counts.total,
            queued_count: counts.open(),
            sent_count: counts.sent,
            failed_count: counts.failed,
            unknown_count: counts.unknown,
            skipped: counts.skipped.iter().map(|(reason, many)| ((*reason).to_owned(), *many)).collect(),
            from: mailing.from.address.clone(),
            from_name: mailing.from.name.clone(),
            subject: mailing.first().subject.clone(),
            created_at: WireTime(mailing.created_at),
            updated_at: Some(WireTime(mailing.updated_at)),
            error: if let State::Failed { reason, .. } = &mailing.state { Some(reason.clone()) } else { None },
            throttle,
        }
    }

    /// Returns an example for the documentation.
    pub fn sample() -> Self {
        Self {
            batch_id: MailingId::from_bytes([0x66; 12]),
            status: "completed".into(),
            recipient_type: "tag".into(),
            recipient_id: Some("66f1a2b3000000005d41aa07".into()),
            provider: "smtp".into(),
            total_count: 1_204,
            queued_count: 0,
            sent_count: 1_187,
            failed_count: 2,
            unknown_count: 0,
            skipped: BTreeMap::from([("suppressed".to_owned(), 3), ("unsubscribed".to_owned(), 12)]),
            from: "news@example.com".into(),
            from_name: Some("Example".into()),
            subject: "New in spring".into(),
            created_at: WireTime::sample(),
            updated_at: Some(WireTime::sample()),
            error: None,
            throttle: None,
        }
    }
}

/// Returns the status of a mailing in the API.
pub(super) fn status(mailing: &Mailing, counts: &Counts) -> &'static str {
    match mailing.state {
        State::Planning => "queued",
        State::Sending if counts.sent + counts.failed + counts.unknown == 0 => "queued",
        State::Sending | State::Waiting { reason: WaitReason::Deferred, .. } => "processing",
        State::Paused => "paused",
        State::Waiting { .. } => "throttled",
        State::Finished { .. } if counts.failed + counts.unknown == 0 => "completed",
        State::Finished { .. } if counts.sent == 0 && counts.unknown == 0 => "failed",
        State::Finished { .. } => "partial",
        State::Cancelled { .. } => "cancelled",
        State::Failed { .. } => "failed",
    }
}

/// A direct send and its status.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendView {
    pub send_id: MailingId,
    /// The status of the first recipient: `queued`, `handoff`, `sent`, `deferred`, `failed`, `unknown` or `skipped`.
    pub status: String,
    /// The provider that delivers the mail.
    pub provider: String,
    /// The ID of the email that the first recipient receives.
    pub email_id: Option<EmailId>,
    pub conversation_id: Option<ConversationId>,
    pub from: String,
    pub from_name: Option<String>,
    pub subject: String,
    pub transactional: bool,
    pub created_at: WireTime,
    /// The recipient, and the recipients of copies.
    pub recipients: Vec<RecipientView>,
}

/// One recipient of a direct send.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecipientView {
    pub email: String,
    /// The status: `queued`, `handoff`, `sent`, `deferred`, `failed`, `unknown` or `skipped`.
    pub status: String,
    /// The last reply of the next mail server, or Mailmill's own description of the result.
    pub reply: Option<String>,
    /// Why the recipient was skipped, or why the delivery is unknown.
    pub reason: Option<String>,
    /// When the next delivery attempt is due; absent unless the recipient's status is `deferred`.
    pub next_attempt_at: Option<WireTime>,
    /// When the status last changed. Absent for queued, deferred and skipped recipients.
    pub at: Option<WireTime>,
}

impl RecipientView {
    pub fn new(recipient: &Recipient) -> Self {
        let email = recipient.address.as_ref().map_or_else(String::new, |address| address.email.clone());
        let mut view = Self {
            email,
            status: recipient.delivery.word().to_owned(),
            reply: None,
            reason: None,
            next_attempt_at: None,
            at: None,
        };
        match &recipient.delivery {
            Delivery::Queued => {}
            Delivery::Handoff { at, .. } => view.at = Some(WireTime(*at)),
            Delivery::Sent { at, reply } | Delivery::Failed { at, reply } => {
                view.at = Some(WireTime(*at));
                view.reply = Some(reply.clone());
            }
            Delivery::Deferred { next_at, reply, .. } => {
                view.reply = Some(reply.clone());
                view.next_attempt_at = Some(WireTime(*next_at));
            }
            Delivery::Unknown { why, at, .. } => {
                view.reason = Some(why.word().to_owned());
                view.at = Some(WireTime(*at));
            }
            Delivery::Skipped { why } => view.reason = Some(why.word().to_owned()),
        }
        view
    }
}

impl SendView {
    pub fn new(mailing: &Mailing, recipients: &[Recipient], provider: &str) -> Self {
        let first = recipients.first().map_or("skipped", |recipient| recipient.delivery.word());
        let translation = recipients.first().map_or_else(|| mailing.first(), |recipient| mailing.translation_for(recipient));
        Self {
            send_id: mailing.id,
            status: first.to_owned(),
            provider: provider.to_owned(),
            email_id: translation.email,
            conversation_id: mailing.conversation,
            from: mailing.from.address.clone(),
            from_name: mailing.from.name.clone(),
            subject: translation.subject.clone(),
            transactional: mailing.transactional,
            created_at: WireTime(mailing.created_at),
            recipients: recipients.iter().map(RecipientView::new).collect(),
        }
    }

    /// Returns an example for the documentation.
    pub fn sample() -> Self {
        Self {
            send_id: MailingId::from_bytes([0x66; 12]),
            status: "sent".into(),
            provider: "smtp".into(),
            email_id: None,
            conversation_id: None,
            from: "hello@example.com".into(),
            from_name: Some("Example".into()),
            subject: "Your order".into(),
            transactional: true,
            created_at: WireTime::sample(),
            recipients: vec![RecipientView {
                email: "ada@example.com".into(),
                status: "sent".into(),
                reply: Some("250 2.0.0 Ok: queued as 4F5B2".into()),
                reason: None,
                next_attempt_at: None,
                at: Some(WireTime(Timestamp(1_767_225_600_000))),
            }],
        }
    }
}

/// A message in the built-in inbox.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageView {
    pub id: MessageId,
    /// The ID of the send or batch that the message belongs to.
    pub send_id: MailingId,
    pub from: String,
    pub from_name: Option<String>,
    pub to: String,
    pub subject: String,
    /// The size in bytes of the message as it would have been sent.
    pub size: u64,
    pub received_at: WireTime,
}

impl From<InboxRow> for MessageView {
    fn from(head: InboxRow) -> Self {
        Self {
            id: head.id,
            send_id: head.mailing,
            from: head.from,
            from_name: head.from_name,
            to: head.to,
            subject: head.subject,
            size: head.bytes,
            received_at: WireTime(head.received_at),
        }
    }
}

impl MessageView {
    /// Returns an example for the documentation.
    pub fn sample() -> Self {
        Self {
            id: MessageId::from_bytes([0x66; 12]),
            send_id: MailingId::from_bytes([0x66; 12]),
            from: "hello@example.com".into(),
            from_name: Some("Example".into()),
            to: "ada@example.com".into(),
            subject: "Your order".into(),
            size: 18_402,
            received_at: WireTime::sample(),
        }
    }
}

impl Listed for MessageView {
    const PLURAL: &'static str = "messages";
    const ARRAY_WHEN_PAGED: bool = false;
}
