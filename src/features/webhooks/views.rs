//! Webhooks and deliveries as callers see them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::delivering::attempt::custom_headers;
use super::delivering::record::attempt_id;
use super::headers::HIDDEN;
use super::model::{Attempt, Delivery, PauseReason, Redelivery, Status, Webhook};
use super::store;
use crate::base::clock::Timestamp;
use crate::engine::api::answer::Moment;
use crate::engine::api::{Engine, Failure, Listed};
use crate::engine::store::Read;
use crate::vocab::ids::{DeliveryId, EventId, WebhookId};
use crate::vocab::webhook_events::{Subscription, WebhookEvent};

/// A webhook: everything but its secret.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookView {
    pub id: WebhookId,
    /// Where deliveries are sent.
    pub url: String,
    /// What it is told of.
    pub events: Vec<Subscription>,
    /// Whether it is told at all. Only its owner changes this.
    pub active: bool,
    pub description: Option<String>,
    /// Headers that are sent with every delivery, by name. Their values are not told: `********` stands for each, and leaves it as it is
    /// where it is given back.
    pub custom_headers: BTreeMap<String, String>,
    /// Whether deliveries carry the Standard Webhooks signature too.
    pub standard_signature: bool,
    /// Always true: a webhook has a secret from its beginning. The secret itself is shown only when it is made.
    pub secret_configured: bool,
    /// Until when deliveries are signed with the secret before this one, too; absent if they are not.
    pub previous_secret_expires_at: Option<Moment>,
    /// Deliveries that have succeeded.
    pub success_count: u64,
    /// Deliveries that have failed, after all their attempts.
    pub failure_count: u64,
    /// Deliveries whose end is still to come.
    pub pending_count: u64,
    /// When the last attempt ended; absent if there was none.
    pub last_triggered_at: Option<Moment>,
    /// Until when nothing is sent because of how its endpoint does; absent if it is not left alone. What is to be delivered waits.
    pub paused_until: Option<Moment>,
    /// Why.
    pub pause_reason: Option<PauseReason>,
    /// Attempts in a row that have failed.
    pub consecutive_failures: u32,
    /// The time range that is delivered again, or was last.
    pub redelivery: Option<RedeliveryView>,
    pub created_at: Moment,
    pub updated_at: Moment,
}

impl Listed for WebhookView {
    const PLURAL: &'static str = "webhooks";
    const ARRAY_WHEN_PAGED: bool = false;
}

/// A time range whose events are delivered again.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RedeliveryView {
    /// `processing` or `completed`.
    pub status: &'static str,
    pub from: Moment,
    pub to: Moment,
    /// Deliveries that were made for it.
    pub queued: u64,
    pub started_at: Moment,
    pub completed_at: Option<Moment>,
}

/// A redelivery for callers.
pub fn redelivery_view(redelivery: &Redelivery) -> RedeliveryView {
    RedeliveryView {
        status: if redelivery.completed_at.is_some() { "completed" } else { "processing" },
        from: Moment(redelivery.from),
        to: Moment(redelivery.to),
        queued: redelivery.queued,
        started_at: Moment(redelivery.started_at),
        completed_at: redelivery.completed_at.map(Moment),
    }
}

/// A webhook for callers.
pub fn view(tx: &impl Read, engine: &Engine, webhook: &Webhook, now: Timestamp) -> Result<WebhookView, Failure> {
    let place = (webhook.account, webhook.id);
    let standing = store::standing(tx, place)?;
    let paused_until = standing.health.pause_at(now);
    let headers = custom_headers(engine, webhook).ok_or_else(|| Failure::internal("headers of a webhook do not open"))?;
    Ok(WebhookView {
        id: webhook.id,
        url: webhook.url.clone(),
        events: webhook.events.clone(),
        active: webhook.active,
        description: webhook.description.clone(),
        custom_headers: headers.into_keys().map(|name| (name, HIDDEN.to_owned())).collect(),
        standard_signature: webhook.standard_signature,
        secret_configured: !webhook.sealed_secret.is_empty(),
        previous_secret_expires_at: webhook.former_secret(now).map(|former| Moment(former.until)),
        success_count: standing.successes,
        failure_count: standing.failures,
        pending_count: standing.kept(Status::Pending),
        last_triggered_at: standing.last_triggered_at.map(Moment),
        paused_until: paused_until.map(Moment),
        pause_reason: standing.health.reason.filter(|_| paused_until.is_some()),
        consecutive_failures: standing.health.failures,
        redelivery: store::redelivery(tx, place)?.as_ref().map(redelivery_view),
        created_at: Moment(webhook.created_at),
        updated_at: Moment(webhook.updated_at),
    })
}

impl WebhookView {
    /// An example for the documents.
    pub fn sample() -> Self {
        Self {
            id: WebhookId::parse("66f1a2b3000000017a1b2c3d").expect("24 hexadecimal characters"),
            url: "https://acme.example/hooks".into(),
            events: vec![WebhookEvent::SubscriberAdded.into(), WebhookEvent::SubscriberUnsubscribed.into()],
            active: true,
            description: Some("Keeps the shop's customers up to date".into()),
            custom_headers: BTreeMap::from([("X-Shop".to_owned(), HIDDEN.to_owned())]),
            standard_signature: false,
            secret_configured: true,
            previous_secret_expires_at: None,
            success_count: 1_280,
            failure_count: 2,
            pending_count: 0,
            last_triggered_at: Some(Moment::sample()),
            paused_until: None,
            pause_reason: None,
            consecutive_failures: 0,
            redelivery: None,
            created_at: Moment::sample(),
            updated_at: Moment::sample(),
        }
    }
}

/// A webhook with its secret, which is shown only this once.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookWithSecret {
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// The key of `X-Service-Signature`: the HMAC-SHA256 of the raw body, keyed with this text as it stands here. For the Standard
    /// Webhooks form it is given to the public libraries as it is.
    pub secret: String,
}

/// An event on its way to a webhook.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryView {
    pub id: DeliveryId,
    /// The event's own id, the same in every delivery of it.
    pub event_id: EventId,
    pub event_type: String,
    pub status: Status,
    /// How many attempts were begun, three at most.
    pub attempts: usize,
    pub last_attempt_at: Option<Moment>,
    /// When it is tried next, if it is; later if the endpoint is left alone by then.
    pub next_attempt_at: Option<Moment>,
    /// What the endpoint answered last; absent if it did not.
    pub response: Option<ResponseView>,
    /// Why it is not delivered, in words.
    pub error: Option<String>,
    /// Whether it was made by `POST /v1/webhooks/{webhookId}/test`.
    pub test: bool,
    /// The first delivery of the event to this webhook, if this is a repeat.
    pub redelivery_of: Option<DeliveryId>,
    /// Every attempt, the first in front.
    pub attempt_log: Vec<AttemptView>,
    pub created_at: Moment,
    pub completed_at: Option<Moment>,
}

impl Listed for DeliveryView {
    const PLURAL: &'static str = "deliveries";
    const ARRAY_WHEN_PAGED: bool = false;
}

/// What an endpoint answered.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResponseView {
    pub status_code: u16,
    /// Its beginning, up to 1,000 characters.
    pub body: String,
}

/// One attempt.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptView {
    /// What `X-Service-Delivery-Id` said.
    pub id: String,
    pub started_at: Moment,
    /// Absent while it is under way.
    pub ended_at: Option<Moment>,
    /// From its beginning to the end of the answer, in milliseconds.
    pub response_time: Option<u32>,
    pub status_code: Option<u16>,
    /// The beginning of the answer.
    pub response: Option<String>,
    pub error: Option<String>,
}

/// A delivery for callers.
pub fn delivery_view(delivery: &Delivery) -> DeliveryView {
    let last = delivery.attempts.last();
    let end = delivery.attempts.iter().rev().find_map(|attempt| attempt.end.as_ref());
    let response = end.and_then(|end| Some(ResponseView { status_code: end.status_code?, body: end.response.clone() }));
    let failed = delivery.status != Status::Success;
    let attempt = |(index, attempt): (usize, &Attempt)| AttemptView {
        id: attempt_id(delivery.id, index + 1),
        started_at: Moment(attempt.started_at),
        ended_at: attempt.end.as_ref().map(|end| Moment(end.at)),
        response_time: attempt.end.as_ref().map(|end| end.duration_ms),
        status_code: attempt.end.as_ref().and_then(|end| end.status_code),
        response: attempt.end.as_ref().filter(|end| end.status_code.is_some()).map(|end| end.response.clone()),
        error: attempt.end.as_ref().and_then(|end| end.error.clone()),
    };
    DeliveryView {
        id: delivery.id,
        event_id: delivery.event,
        event_type: delivery.event_type.clone(),
        status: delivery.status,
        attempts: delivery.attempts.len(),
        last_attempt_at: last.map(|attempt| Moment(attempt.started_at)),
        next_attempt_at: delivery.due_at.filter(|_| !delivery.is_under_way()).map(Moment),
        response,
        error: delivery.note.clone().or(end.and_then(|end| end.error.clone())).filter(|_| failed),
        test: delivery.is_test(),
        redelivery_of: delivery.first,
        attempt_log: delivery.attempts.iter().enumerate().map(attempt).collect(),
        created_at: Moment(delivery.created_at),
        completed_at: delivery.ended_at.map(Moment),
    }
}

impl DeliveryView {
    /// An example for the documents.
    pub fn sample() -> Self {
        let id = DeliveryId::parse("66f1a2b3000000027a1b2c3d").expect("24 hexadecimal characters");
        Self {
            id,
            event_id: EventId::parse("66f1a2b3000000037a1b2c3d").expect("24 hexadecimal characters"),
            event_type: WebhookEvent::SubscriberAdded.word().into(),
            status: Status::Success,
            attempts: 1,
            last_attempt_at: Some(Moment::sample()),
            next_attempt_at: None,
            response: Some(ResponseView { status_code: 200, body: "ok".into() }),
            error: None,
            test: false,
            redelivery_of: None,
            attempt_log: vec![AttemptView {
                id: attempt_id(id, 1),
                started_at: Moment::sample(),
                ended_at: Some(Moment::sample()),
                response_time: Some(84),
                status_code: Some(200),
                response: Some("ok".into()),
                error: None,
            }],
            created_at: Moment::sample(),
            completed_at: Some(Moment::sample()),
        }
    }
}
