//! Mail services as the API returns them.

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{MailFeedback, Standing};
use super::store;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Failure, Listed};
use crate::engine::mail::feedback::Refusal;
use crate::engine::store::Read;
use crate::vocab::ids::MailFeedbackId;
use crate::vocab::mail_services::MailService;

/// A mail service that reports events. The view contains no secrets.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MailFeedbackView {
    pub id: MailFeedbackId,
    pub service: MailService,
    pub name: Option<String>,
    /// `waiting` before the first request; `rejecting` if a request was rejected and none has been accepted since; otherwise `active`.
    pub status: MailFeedbackStatus,
    /// Whether the secret for verifying requests is set. The secret itself is never shown.
    pub secret_configured: bool,
    /// Whether requests are rejected until the secret is set.
    pub secret_required: bool,
    /// The ARNs of the topics from which notifications are accepted; only for Amazon SES.
    pub topic_arns: Vec<String>,
    /// When Mailmill last confirmed a subscription to a topic; only for Amazon SES.
    pub confirmed_at: Option<WireTime>,
    /// When the last accepted request arrived.
    pub last_event_at: Option<WireTime>,
    pub last_rejection: Option<RejectionView>,
    /// The number of reported deliveries.
    pub deliveries: u64,
    pub bounces: u64,
    pub complaints: u64,
    pub unsubscribes: u64,
    /// The number of other events, such as opens. They have no effect.
    pub other_events: u64,
    /// The number of events that match no message of this environment. They have no effect.
    pub unmatched_events: u64,
    /// The number of duplicate requests, which have no effect.
    pub repeated_requests: u64,
    pub created_at: WireTime,
    pub updated_at: WireTime,
}

/// The status of a mail service: whether its events arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MailFeedbackStatus {
    Waiting,
    Active,
    Rejecting,
}

/// The last rejected request.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RejectionView {
    pub at: WireTime,
    pub reason: Refusal,
    /// The problem and its remedy.
    pub message: &'static str,
}

impl Listed for MailFeedbackView {
    const PLURAL: &'static str = "mailServices";
    const ARRAY_WHEN_PAGED: bool = false;
}

pub fn mail_feedback_view(tx: &impl Read, row: &MailFeedback) -> Result<MailFeedbackView, Failure> {
    let standing = store::standing(tx, (row.account, row.id))?;
    let counts = standing.counts;
    Ok(MailFeedbackView {
        id: row.id,
        service: row.service,
        name: row.name.clone(),
        status: status(&standing),
        secret_configured: row.sealed_secret.is_some(),
        secret_required: row.service.info().needs_secret,
        topic_arns: row.topics.clone(),
        confirmed_at: standing.confirmed_at.map(WireTime),
        last_event_at: standing.last_request_at.map(WireTime),
        last_rejection: standing.last_rejection.map(|last| RejectionView {
            at: WireTime(last.at),
            reason: last.reason,
            message: last.reason.sentence(row.service),
        }),
        deliveries: counts.deliveries,
        bounces: counts.bounces,
        complaints: counts.complaints,
        unsubscribes: counts.unsubscribes,
        other_events: counts.other,
        unmatched_events: counts.unmatched,
        repeated_requests: counts.repeated,
        created_at: WireTime(row.created_at),
        updated_at: WireTime(row.updated_at),
    })
}

fn status(standing: &Standing) -> MailFeedbackStatus {
    let rejected_at = standing.last_rejection.map(|last| last.at);
    match standing.last_request_at {
        at if rejected_at > at => MailFeedbackStatus::Rejecting,
        None => MailFeedbackStatus::Waiting,
        Some(_) => MailFeedbackStatus::Active,
    }
}

impl MailFeedbackView {
    /// Returns a mail service for the examples in the API documentation.
    pub fn sample() -> Self {
        Self {
            id: MailFeedbackId::parse("66f1a2b3000000097a1b2c3d").expect("the ID has 24 hexadecimal characters"),
            service: MailService::Mailgun,
            name: Some("Newsletter".into()),
            status: MailFeedbackStatus::Active,
            secret_configured: true,
            secret_required: true,
            topic_arns: Vec::new(),
            confirmed_at: None,
            last_event_at: Some(WireTime::sample()),
            last_rejection: None,
            deliveries: 12_480,
            bounces: 97,
            complaints: 3,
            unsubscribes: 41,
            other_events: 0,
            unmatched_events: 5,
            repeated_requests: 2,
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
        }
    }
}

/// A mail service, with the URL of its webhook if this response shows it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MailFeedbackWithUrl {
    #[serde(flatten)]
    pub mail_service: MailFeedbackView,
    /// The URL to enter in the provider's settings. It contains a secret and is shown only in this response.
    pub url: Option<String>,
}

impl MailFeedbackWithUrl {
    /// Returns a mail service with its URL for the examples in the API documentation.
    pub fn sample() -> Self {
        let url = "https://mail.acme.example/feedback/AWbxorMAAAABehssPWbxorMAAAAJehssPcsHq1ZyM8lD3kVvW0nQ2tY5eR7u".into();
        Self { mail_service: MailFeedbackView::sample(), url: Some(url) }
    }
}
