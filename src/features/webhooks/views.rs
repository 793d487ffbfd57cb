//! Webhooks and deliveries as the API returns them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::dispatch::attempt::custom_headers;
use super::dispatch::attempt_log::attempt_id;
use super::headers::HIDDEN;
use super::model::{Attempt, Delivery, DeliveryStatus, PauseReason, Redelivery, Webhook};
use super::store;
use crate::base::clock::Timestamp;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Engine, Failure, Listed};
use crate::engine::store::Read;
use crate::vocab::ids::{DeliveryId, EventId, WebhookId};
use crate::vocab::webhook_events::{Subscription, WebhookEvent};

/// A webhook without its secret.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookView {
    pub id: WebhookId,
    /// The URL for deliveries.
    pub url: String,
    /// The events that the webhook receives.
    pub events: Vec<Subscription>,
    /// Whether the webhook receives events. Mailmill does not change this setting: if an endpoint fails, it is paused, but its webhook
    /// stays active.
    pub active: bool,
    pub description: Option<String>,
    /// The headers that are sent with every delivery, by name. Values are not returned: each value is `********`, which keeps the current
    /// value when it is sent back.
    pub custom_headers: BTreeMap<String, String>,
    /// Whether deliveries also have the Standard Webhooks signature.
    pub standard_signature: bool,
    /// Always true, because every webhook has a secret. The secret itself is returned only when it is created.
    pub secret_configured: bool,
    /// When the previous secret stops being used for signing; absent if only the current secret is used.
    pub previous_secret_expires_at: Option<WireTime>,
    /// The number of deliveries that have succeeded.
    pub success_count: u64,
    /// The number of deliveries that have failed.
    pub failure_count: u64,
    /// The number of deliveries that have not ended.
    pub pending_count: u64,
    /// When the last attempt ended; absent if no attempt has ended.
    pub last_triggered_at: Option<WireTime>,
    /// When the endpoint's pause ends; absent if the endpoint is not paused. Deliveries wait during a pause.
    pub paused_until: Option<WireTime>,
    /// Why the endpoint is paused.
    pub pause_reason: Option<PauseReason>,
    /// The number of consecutive failed attempts.
    pub consecutive_failures: u32,
    /// The active redelivery of events from a time range or, if there is none, the last redelivery.
    pub redelivery: Option<RedeliveryView>,
    pub created_at: WireTime,
    pub updated_at: WireTime,
}

impl Listed for WebhookView {
    const PLURAL: &'static str = "webhooks";
    const ARRAY_WHEN_PAGED: bool = false;
}

/// A redelivery of events from a time range.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RedeliveryView {
    /// The status of the redelivery: `processing` or `completed`.
    pub status: &'static str,
    pub from: WireTime,
    pub to: WireTime,
    /// The number of deliveries that the redelivery has created so far.
    pub queued: u64,
    pub started_at: WireTime,
    pub completed_at: Option<WireTime>,
}

pub fn redelivery_view(redelivery: &Redelivery) -> RedeliveryView {
    RedeliveryView {
        status: if redelivery.completed_at.is_some() { "completed" } else { "processing" },
        from: WireTime(redelivery.from),
        to: WireTime(redelivery.to),
        queued: redelivery.queued,
        started_at: WireTime(redelivery.started_at),
        completed_at: redelivery.completed_at.map(WireTime),
    }
}

pub fn webhook_view(tx: &impl Read, engine: &Engine, webhook: &Webhook, now: Timestamp) -> Result<WebhookView, Failure> {
    let key = (webhook.account, webhook.id);
    let state = store::state(tx, key)?;
    let paused_until = state.health.pause_at(now);
    let headers = custom_headers(engine, webhook).ok_or_else(|| {
        Failure::internal("the custom headers of a webhook could not be decrypted; check whether the master key has changed")
    })?;
    Ok(WebhookView {
        id: webhook.id,
        url: webhook.url.clone(),
        events: webhook.events.clone(),
        active: webhook.active,
        description: webhook.description.clone(),
        custom_headers: headers.into_keys().map(|name| (name, HIDDEN.to_owned())).collect(),
        standard_signature: webhook.standard_signature,
        secret_configured: !webhook.sealed_secret.is_empty(),
        previous_secret_expires_at: webhook.previous_secret(now).map(|former| WireTime(former.until)),
        success_count: state.successes,
        failure_count: state.failures,
        pending_count: state.kept(DeliveryStatus::Pending),
        last_triggered_at: state.last_triggered_at.map(WireTime),
        paused_until: paused_until.map(WireTime),
        pause_reason: state.health.reason.filter(|_| paused_until.is_some()),
        consecutive_failures: state.health.failures,
        redelivery: store::redelivery(tx, key)?.as_ref().map(redelivery_view),
        created_at: WireTime(webhook.created_at),
        updated_at: WireTime(webhook.updated_at),
    })
}

impl WebhookView {
    /// Returns a webhook for the examples in the API documentation.
    pub fn sample() -> Self {
        Self {
            id: WebhookId::parse("66f1a2b3000000017a1b2c3d").expect("the ID has 24 hexadecimal characters"),
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
            last_triggered_at: Some(WireTime::sample()),
            paused_until: None,
            pause_reason: None,
            consecutive_failures: 0,
            redelivery: None,
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
        }
    }
}

/// A webhook with its secret, which no later response contains.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookWithSecret {
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// The signing secret. `X-Service-Signature` is the HMAC-SHA256 of the raw body, keyed with exactly this text. To verify the Standard
    /// Webhooks signature, pass this text unchanged to the public Standard Webhooks libraries.
    pub secret: String,
}

/// A delivery of an event to a webhook.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryView {
    pub id: DeliveryId,
    /// The ID of the event, which is the same in every delivery of the event.
    pub event_id: EventId,
    pub event_type: String,
    pub status: DeliveryStatus,
    /// The number of attempts that were started, at most three.
    pub attempts: usize,
    pub last_attempt_at: Option<WireTime>,
    /// When the next attempt is due; absent while an attempt is in flight, and if no attempt follows. If the endpoint is paused at that
    /// time, the attempt is made later.
    pub next_attempt_at: Option<WireTime>,
    /// The endpoint's response to the last finished attempt; absent if there was no response.
    pub response: Option<ResponseView>,
    /// Why the delivery ended without success or, while the delivery is pending, why its last attempt failed.
    pub error: Option<String>,
    /// Whether the delivery was created by `POST /v1/webhooks/{webhookId}/test`.
    pub test: bool,
    /// If this is a redelivery, the ID of the event's first delivery to this webhook.
    pub redelivery_of: Option<DeliveryId>,
    /// All attempts, in the order in which they were made.
    pub attempt_log: Vec<AttemptView>,
    pub created_at: WireTime,
    pub completed_at: Option<WireTime>,
}

impl Listed for DeliveryView {
    const PLURAL: &'static str = "deliveries";
    const ARRAY_WHEN_PAGED: bool = false;
}

/// An endpoint's response.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResponseView {
    pub status_code: u16,
    /// The first 1,000 characters of the response body.
    pub body: String,
}

/// One attempt of a delivery.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptView {
    /// The ID of the attempt: the value of `X-Service-Delivery-Id`.
    pub id: String,
    pub started_at: WireTime,
    /// When the attempt ended; absent while it is in flight.
    pub ended_at: Option<WireTime>,
    /// The duration of the attempt in milliseconds; absent while it is in flight.
    pub response_time: Option<u32>,
    pub status_code: Option<u16>,
    /// The start of the endpoint's response.
    pub response: Option<String>,
    pub error: Option<String>,
}

pub fn delivery_view(delivery: &Delivery) -> DeliveryView {
    let last = delivery.attempts.last();
    let end = delivery.attempts.iter().rev().find_map(|attempt| attempt.end.as_ref());
    let response = end.and_then(|end| Some(ResponseView { status_code: end.status_code?, body: end.response.clone() }));
    let failed = delivery.status != DeliveryStatus::Success;
    let attempt = |(index, attempt): (usize, &Attempt)| AttemptView {
        id: attempt_id(delivery.id, index + 1),
        started_at: WireTime(attempt.started_at),
        ended_at: attempt.end.as_ref().map(|end| WireTime(end.at)),
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
        last_attempt_at: last.map(|attempt| WireTime(attempt.started_at)),
        next_attempt_at: delivery.due_at.filter(|_| !delivery.is_under_way()).map(WireTime),
        response,
        error: delivery.note.clone().or(end.and_then(|end| end.error.clone())).filter(|_| failed),
        test: delivery.is_test(),
        redelivery_of: delivery.first,
        attempt_log: delivery.attempts.iter().enumerate().map(attempt).collect(),
        created_at: WireTime(delivery.created_at),
        completed_at: delivery.ended_at.map(WireTime),
    }
}

impl DeliveryView {
    /// Returns a delivery for the examples in the API documentation.
    pub fn sample() -> Self {
        let id = DeliveryId::parse("66f1a2b3000000027a1b2c3d").expect("the ID has 24 hexadecimal characters");
        Self {
            id,
            event_id: EventId::parse("66f1a2b3000000037a1b2c3d").expect("the ID has 24 hexadecimal characters"),
            event_type: WebhookEvent::SubscriberAdded.word().into(),
            status: DeliveryStatus::Success,
            attempts: 1,
            last_attempt_at: Some(WireTime::sample()),
            next_attempt_at: None,
            response: Some(ResponseView { status_code: 200, body: "ok".into() }),
            error: None,
            test: false,
            redelivery_of: None,
            attempt_log: vec![AttemptView {
                id: attempt_id(id, 1),
                started_at: WireTime::sample(),
                ended_at: Some(WireTime::sample()),
                response_time: Some(84),
                status_code: Some(200),
                response: Some("ok".into()),
                error: None,
            }],
            created_at: WireTime::sample(),
            completed_at: Some(WireTime::sample()),
        }
    }
}
