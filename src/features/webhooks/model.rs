//! Webhooks, their deliveries and the health of their endpoints, with the rules for when to attempt a delivery, when to stop, and when to
//! pause an endpoint. The functions use no clock, randomness or network: they get the time and random numbers as arguments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::base::secret::sha256;
use crate::engine::store::Record;
use crate::vocab::ids::{AccountId, DeliveryId, EventId, WebhookId};
use crate::vocab::limits;
use crate::vocab::webhook_events::{Subscription, WebhookEvent};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    pub id: WebhookId,
    pub account: AccountId,
    pub url: String,
    /// The subscribed event types, without duplicates.
    pub events: Vec<Subscription>,
    pub description: Option<String>,
    /// Whether the owner has enabled the webhook. A webhook whose endpoint is paused remains active.
    pub active: bool,
    /// Whether deliveries also have the Standard Webhooks headers.
    pub standard_signature: bool,
    /// The custom headers as JSON, sealed with [`headers_context`] because they often contain credentials.
    pub sealed_headers: Vec<u8>,
    /// The bytes of the secret, sealed with [`secret_context`].
    pub sealed_secret: Vec<u8>,
    /// The secret before the last rotation, which is also used for signing until its grace period ends.
    pub previous: Option<PreviousSecret>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Webhook {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviousSecret {
    pub sealed: Vec<u8>,
    pub until: Timestamp,
}

impl Webhook {
    /// Returns whether the webhook is active and subscribes to this event.
    pub fn wants(&self, kind: WebhookEvent) -> bool {
        self.active && self.events.iter().any(|event| event.kind() == Some(kind))
    }

    /// Returns the previous secret during its grace period.
    pub fn previous_secret(&self, now: Timestamp) -> Option<&PreviousSecret> {
        self.previous.as_ref().filter(|previous| now < previous.until)
    }

    /// Returns the events that the webhook subscribes to, even if it is inactive.
    pub fn interests(&self) -> impl Iterator<Item = WebhookEvent> {
        self.events.iter().filter_map(|event| event.kind())
    }
}

/// Returns the context for sealing a secret. Sealed bytes can be opened only with the same context, so the secret of one webhook cannot be
/// used for another.
pub fn secret_context(account: AccountId, webhook: WebhookId) -> Vec<u8> {
    format!("webhooks/{account}/{webhook}/secret").into_bytes()
}

/// Returns the sealing context of custom headers.
pub fn headers_context(account: AccountId, webhook: WebhookId) -> Vec<u8> {
    format!("webhooks/{account}/{webhook}/headers").into_bytes()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryStatus {
    /// An attempt is in flight, or another one will be made.
    Pending,
    /// The endpoint responded with a 2xx status.
    Success,
    /// No attempts are left, or no attempt can be made.
    Failed,
    /// The webhook was disabled, or the event was erased.
    Cancelled,
}

impl DeliveryStatus {
    /// All statuses, in the order of the counts in [`EndpointState`].
    pub const ALL: [Self; 4] = [Self::Pending, Self::Success, Self::Failed, Self::Cancelled];
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    pub id: DeliveryId,
    pub webhook: WebhookId,
    pub account: AccountId,
    pub event: EventId,
    /// The name of the event type in the API. A test delivery has a name that is not an event type.
    pub event_type: String,
    pub status: DeliveryStatus,
    /// The attempts made so far. Invariant: all attempts except the last have ended.
    pub attempts: Vec<Attempt>,
    /// The time when the next attempt is due, or when the attempt in flight is considered lost. Invariant: the time is set if and
    /// only if the delivery is pending.
    pub due_at: Option<Timestamp>,
    /// The body of a test delivery. The body of any other delivery is stored with its event.
    pub test_body: Option<String>,
    /// For a redelivery, the first delivery of this event to this webhook.
    pub first: Option<DeliveryId>,
    /// A link in the list of redeliveries: the first delivery refers to the newest redelivery, and each redelivery refers to the previous
    /// one.
    pub linked: Option<DeliveryId>,
    /// Why the delivery ended, if no attempt shows the reason.
    pub note: Option<String>,
    pub created_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

impl Record for Delivery {}

/// The error of an attempt that a crash interrupted.
const CUT_OFF: &str = "The service stopped before this attempt ended; the request may have arrived.";

/// One attempt of a delivery. Its start is recorded before the attempt is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    pub started_at: Timestamp,
    pub end: Option<End>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    pub at: Timestamp,
    pub duration_ms: u32,
    pub status_code: Option<u16>,
    /// The start of the endpoint's response.
    pub response: String,
    /// Why there is no response, or what is wrong with the response.
    pub error: Option<String>,
}

/// The outcome of an attempt, which determines what happens to the delivery and its endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    Success,
    Failure,
    /// The endpoint requested a pause of this length.
    Wait {
        ms: i64,
    },
    /// The endpoint is gone permanently.
    Gone,
    /// This service lacked the resources to send the request, so the attempt does not count.
    NotSent,
}

/// Retry backoff: the pauses before the second and the third attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryBackoff {
    pub pauses_ms: [i64; limits::WEBHOOK_ATTEMPTS_MAX - 1],
}

impl RetryBackoff {
    /// Returns the longest possible pause, for any jitter and any pause that an endpoint requests.
    pub fn longest_ms(&self) -> i64 {
        let own = self.pauses_ms.into_iter().max().unwrap_or(0);
        (own * 6 / 5).max(limits::WEBHOOK_RETRY_AFTER_MAX_MS)
    }

    /// Returns the pause after this many attempts, or `None` if no attempt follows. The pause differs from the setting by up to 20%, so
    /// that deliveries that failed at the same time are not all retried at the same time.
    fn pause(&self, attempts: usize, chance: u16) -> Option<i64> {
        let pause = *self.pauses_ms.get(attempts.checked_sub(1)?)?;
        Some(pause * 4 / 5 + pause * 2 / 5 * i64::from(chance) / i64::from(u16::MAX))
    }
}

/// Returns the ID of the first delivery of an event to a webhook. The ID is derived from the IDs of both, so that the delivery is created
/// only once.
pub fn first_delivery(webhook: WebhookId, event: EventId) -> DeliveryId {
    let sum = sha256(&[webhook.0, event.0].concat());
    let mut bytes = [0; 12];
    bytes[..4].copy_from_slice(&event.0[..4]);
    bytes[4..].copy_from_slice(&sum[..8]);
    DeliveryId::from_bytes(bytes)
}

impl Delivery {
    /// Creates a delivery whose first attempt is due.
    pub fn new(id: DeliveryId, webhook: &Webhook, event: EventId, event_type: &str, now: Timestamp) -> Self {
        Self {
            id,
            webhook: webhook.id,
            account: webhook.account,
            event,
            event_type: event_type.to_owned(),
            status: DeliveryStatus::Pending,
            attempts: Vec::new(),
            due_at: Some(now),
            test_body: None,
            first: None,
            linked: None,
            note: None,
            created_at: now,
            ended_at: None,
        }
    }

    /// Returns whether this is a test delivery, which has only one attempt.
    pub fn is_test(&self) -> bool {
        self.test_body.is_some()
    }

    /// Returns whether the last attempt of the delivery has not ended.
    pub fn is_under_way(&self) -> bool {
        self.attempts.last().is_some_and(|attempt| attempt.end.is_none())
    }

    fn attempts_max(&self) -> usize {
        if self.is_test() { 1 } else { limits::WEBHOOK_ATTEMPTS_MAX }
    }

    /// Starts an attempt and returns its number; `None` if no attempt is left.
    pub fn begin(&mut self, now: Timestamp) -> Option<usize> {
        if self.status != DeliveryStatus::Pending || self.is_under_way() || self.attempts.len() >= self.attempts_max() {
            return None;
        }
        self.attempts.push(Attempt { started_at: now, end: None });
        self.due_at = Some(now.plus_ms(limits::WEBHOOK_ATTEMPT_LOST_MS));
        Some(self.attempts.len())
    }

    /// Ends the attempt in flight. Returns whether an attempt was in flight.
    pub fn end(&mut self, end: End, verdict: AttemptOutcome, backoff: &RetryBackoff, chance: u16) -> bool {
        let now = end.at;
        // An attempt that was not sent does not count and is made again later. A test delivery has only one attempt, and the user who sent
        // it must see the failure.
        if verdict == AttemptOutcome::NotSent && self.is_under_way() && self.status == DeliveryStatus::Pending && !self.is_test()
        {
            self.attempts.pop();
            self.due_at = Some(now.plus_ms(limits::WEBHOOK_NOT_SENT_PAUSE_MS));
            return true;
        }
        let number = self.attempts.len();
        let Some(attempt) = self.attempts.last_mut().filter(|attempt| attempt.end.is_none()) else { return false };
        attempt.end = Some(end);
        if self.status != DeliveryStatus::Pending {
            return true;
        }
        let asked_ms = if let AttemptOutcome::Wait { ms } = verdict { ms } else { 0 };
        let pause = backoff.pause(number, chance).filter(|_| number < self.attempts_max());
        match (verdict, pause) {
            (AttemptOutcome::Success, _) => self.close(DeliveryStatus::Success, now),
            (AttemptOutcome::Gone, _) | (_, None) => self.close(DeliveryStatus::Failed, now),
            (AttemptOutcome::Failure | AttemptOutcome::Wait { .. } | AttemptOutcome::NotSent, Some(pause)) => {
                self.due_at = Some(now.plus_ms(pause.max(asked_ms)))
            }
        }
        true
    }

    /// Ends the attempt that an earlier process left in flight, and records the attempt as failed.
    pub fn lose(&mut self, now: Timestamp, backoff: &RetryBackoff, chance: u16) {
        let started_at = self.attempts.last().map_or(now, |attempt| attempt.started_at);
        let duration_ms = u32::try_from(now.ms_since(started_at)).unwrap_or(0);
        let end = End { at: now, duration_ms, status_code: None, response: String::new(), error: Some(CUT_OFF.to_owned()) };
        self.end(end, AttemptOutcome::Failure, backoff, chance);
    }

    /// Returns whether the service stopped before one of the delivery's attempts ended.
    pub fn was_cut_off(&self) -> bool {
        self.attempts.iter().filter_map(|attempt| attempt.end.as_ref()).any(|end| end.error.as_deref() == Some(CUT_OFF))
    }

    /// Postpones a pending delivery to this time.
    pub fn wait_until(&mut self, at: Timestamp) {
        if self.status == DeliveryStatus::Pending {
            self.due_at = Some(at);
        }
    }

    /// Ends a pending delivery without another attempt.
    pub fn stop(&mut self, status: DeliveryStatus, note: &str, now: Timestamp) {
        if self.status == DeliveryStatus::Pending {
            self.note = Some(note.to_owned());
            self.close(status, now);
        }
    }

    fn close(&mut self, status: DeliveryStatus, now: Timestamp) {
        self.status = status;
        self.due_at = None;
        self.ended_at = Some(now);
    }
}

/// The counters of a webhook and its endpoint's health.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointState {
    /// The number of deliveries that have succeeded.
    pub successes: u64,
    /// The number of deliveries that have failed.
    pub failures: u64,
    pub attempts: u64,
    /// The number of attempts with a response.
    pub answers: u64,
    /// The total duration of the attempts with a response, in milliseconds.
    pub answer_ms: u64,
    pub last_triggered_at: Option<Timestamp>,
    /// The number of stored deliveries for each status, in the order of [`DeliveryStatus::ALL`].
    pub kept: [u64; 4],
    pub health: Health,
}

impl Record for EndpointState {}

impl EndpointState {
    pub fn kept(&self, status: DeliveryStatus) -> u64 {
        self.kept[status as usize]
    }

    pub fn kept_total(&self) -> u64 {
        self.kept.iter().sum()
    }
}

/// The health of an endpoint: a circuit breaker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// The number of consecutive failed attempts.
    pub failures: u32,
    /// The number of pauses since the last success, not counting pauses that the endpoint requested.
    pub pauses: u32,
    pub paused_until: Option<Timestamp>,
    pub reason: Option<PauseReason>,
}

/// Why an endpoint is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PauseReason {
    /// Too many consecutive attempts failed.
    Failing,
    /// The endpoint requested a pause, with `Retry-After` and status 429 or 503.
    RateLimited,
    /// The endpoint responded with status 410.
    Gone,
}

/// When to pause an endpoint, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breaker {
    /// The number of consecutive failures after which a pause starts.
    pub failures: u32,
    /// The length of the first pause. Each later pause is twice as long as the previous pause, up to a maximum.
    pub pause_ms: i64,
}

impl Health {
    /// Returns the time until which the endpoint is paused, if it is paused. Ignores a pause longer than the maximum, because it was stored
    /// while the clock was wrong.
    pub fn pause_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.paused_until.filter(|until| now < *until && until.ms_since(now) <= limits::WEBHOOK_PAUSE_MAX_MS)
    }

    pub fn is_paused(&self, now: Timestamp) -> bool {
        self.pause_at(now).is_some()
    }

    /// Records the outcome of an attempt.
    pub fn note(&mut self, verdict: AttemptOutcome, breaker: &Breaker, now: Timestamp) {
        if verdict == AttemptOutcome::Success {
            *self = Self::default();
            return;
        }
        self.failures = self.failures.saturating_add(1);
        // An attempt that ends during a pause was in flight when the pause started, so its failure starts no new pause.
        let paused = self.is_paused(now);
        let doubled = breaker.pause_ms.saturating_mul(1 << self.pauses.min(20)).min(limits::WEBHOOK_PAUSE_MAX_MS);
        // An endpoint that requests pauses shorter than the breaker's pause is still considered to be failing.
        let asked_ms = if let AttemptOutcome::Wait { ms } = verdict { ms } else { 0 };
        let is_failing = !paused && self.failures >= breaker.failures && asked_ms < doubled;
        match verdict {
            AttemptOutcome::Gone if !paused || self.reason != Some(PauseReason::Gone) => {
                self.pause(now, PauseReason::Gone, limits::WEBHOOK_PAUSE_MAX_MS);
            }
            AttemptOutcome::Failure | AttemptOutcome::Wait { .. } if is_failing => self.pause(now, PauseReason::Failing, doubled),
            AttemptOutcome::Wait { ms } => {
                let until = Some(now.plus_ms(ms)).max(self.pause_at(now));
                (self.paused_until, self.reason) = (until, self.reason.filter(|_| paused).or(Some(PauseReason::RateLimited)));
            }
            AttemptOutcome::Gone | AttemptOutcome::Failure | AttemptOutcome::Success | AttemptOutcome::NotSent => {}
        }
    }

    fn pause(&mut self, now: Timestamp, reason: PauseReason, ms: i64) {
        self.pauses = self.pauses.saturating_add(1);
        self.paused_until = Some(now.plus_ms(ms));
        self.reason = Some(reason);
    }
}

/// A time range whose events are delivered again, and the progress of the redelivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redelivery {
    pub from: Timestamp,
    pub to: Timestamp,
    /// Whether to include events that have already arrived.
    pub all: bool,
    /// The last event that the redelivery has processed.
    pub after: Option<EventId>,
    /// The number of deliveries that the redelivery has created.
    pub queued: u64,
    pub started_at: Timestamp,
    pub completed_at: Option<Timestamp>,
}

impl Record for Redelivery {}

/// The numbers of deliveries and attempts that ended on one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Day {
    pub successes: u64,
    pub failures: u64,
    pub attempts: u64,
}

impl Record for Day {}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: RetryBackoff = RetryBackoff { pauses_ms: [5_000, 30_000] };
    const BREAKER: Breaker = Breaker { failures: 3, pause_ms: 10_000 };

    fn delivery() -> Delivery {
        let webhook = Webhook {
            id: WebhookId::from_bytes([1; 12]),
            account: AccountId::from_bytes([2; 12]),
            url: "https://acme.example/hook".into(),
            events: Vec::new(),
            description: None,
            active: true,
            standard_signature: false,
            sealed_headers: Vec::new(),
            sealed_secret: Vec::new(),
            previous: None,
            created_at: Timestamp(0),
            updated_at: Timestamp(0),
        };
        let event = EventId::from_bytes([3; 12]);
        Delivery::new(first_delivery(webhook.id, event), &webhook, event, "subscriber.added", Timestamp(0))
    }

    fn end(at: i64) -> End {
        End { at: Timestamp(at), duration_ms: 1, status_code: Some(500), response: String::new(), error: None }
    }

    #[test]
    fn three_attempts_are_made_with_pauses_and_no_fourth() {
        let mut delivery = delivery();
        assert_eq!(delivery.begin(Timestamp(0)), Some(1));
        assert_eq!(delivery.begin(Timestamp(0)), None, "only one attempt runs at a time");
        assert!(delivery.end(end(100), AttemptOutcome::Failure, &BACKOFF, u16::MAX / 2));
        let due = delivery.due_at.expect("the delivery is pending").0;
        assert!((5_090..=5_110).contains(&due), "{due}");
        assert_eq!(delivery.begin(Timestamp(due)), Some(2));
        assert!(delivery.end(end(6_000), AttemptOutcome::Failure, &BACKOFF, 0));
        assert_eq!(delivery.due_at, Some(Timestamp(6_000 + 24_000)));
        assert_eq!(delivery.begin(Timestamp(30_000)), Some(3));
        assert!(delivery.end(end(30_100), AttemptOutcome::Failure, &BACKOFF, 0));
        assert_eq!((delivery.status, delivery.due_at), (DeliveryStatus::Failed, None));
        assert_eq!(delivery.begin(Timestamp(99_000)), None);
        assert!(!delivery.end(end(99_000), AttemptOutcome::Success, &BACKOFF, 0), "no attempt is in flight");
    }

    #[test]
    fn the_pause_is_within_a_fifth_of_the_setting() {
        assert_eq!([0, u16::MAX].map(|chance| BACKOFF.pause(1, chance)), [Some(4_000), Some(6_000)]);
        assert_eq!([0, u16::MAX].map(|chance| BACKOFF.pause(2, chance)), [Some(24_000), Some(36_000)]);
        assert_eq!((BACKOFF.pause(3, 0), BACKOFF.pause(0, 0)), (None, None));
    }

    #[test]
    fn an_attempt_of_an_ended_process_counts_as_made() {
        let mut delivery = delivery();
        for number in 1..=limits::WEBHOOK_ATTEMPTS_MAX {
            assert_eq!(delivery.begin(Timestamp(0)), Some(number));
            delivery.lose(Timestamp(20_000), &BACKOFF, 0);
        }
        assert_eq!((delivery.status, delivery.begin(Timestamp(30_000))), (DeliveryStatus::Failed, None));
    }

    #[test]
    fn an_attempt_that_was_not_sent_does_not_count() {
        let mut delivery = delivery();
        for at in [0, 100_000, 200_000, 300_000] {
            assert_eq!(delivery.begin(Timestamp(at)), Some(1));
            assert!(delivery.end(end(at), AttemptOutcome::NotSent, &BACKOFF, 0));
            let due_at = Some(Timestamp(at + limits::WEBHOOK_NOT_SENT_PAUSE_MS));
            assert_eq!((delivery.attempts.len(), delivery.status, delivery.due_at), (0, DeliveryStatus::Pending, due_at));
        }
        let mut test = Delivery { test_body: Some("{}".into()), ..self::delivery() };
        test.begin(Timestamp(0));
        assert!(test.end(end(0), AttemptOutcome::NotSent, &BACKOFF, 0));
        assert_eq!((test.attempts.len(), test.status), (1, DeliveryStatus::Failed));
    }

    #[test]
    fn a_requested_pause_is_kept_and_a_gone_endpoint_is_not_retried() {
        let mut waits = delivery();
        waits.begin(Timestamp(0));
        waits.end(end(0), AttemptOutcome::Wait { ms: 120_000 }, &BACKOFF, 0);
        assert_eq!(waits.due_at, Some(Timestamp(120_000)));
        let mut gone = delivery();
        gone.begin(Timestamp(0));
        gone.end(end(0), AttemptOutcome::Gone, &BACKOFF, 0);
        assert_eq!((gone.status, gone.attempts.len()), (DeliveryStatus::Failed, 1));
    }

    #[test]
    fn a_canceled_delivery_stays_so_when_its_attempt_ends() {
        let mut delivery = delivery();
        delivery.begin(Timestamp(0));
        delivery.stop(DeliveryStatus::Cancelled, "off", Timestamp(5));
        assert!(delivery.end(end(10), AttemptOutcome::Success, &BACKOFF, 0));
        assert_eq!((delivery.status, delivery.due_at, delivery.ended_at), (DeliveryStatus::Cancelled, None, Some(Timestamp(5))));
    }

    #[test]
    fn the_breaker_pauses_after_failures_in_a_row_twice_as_long_each_time_and_forgets_with_a_success() {
        let mut health = Health::default();
        let mut now = Timestamp(0);
        for _ in 0..2 {
            health.note(AttemptOutcome::Failure, &BREAKER, now);
        }
        assert!(!health.is_paused(now));
        for pause in [10_000, 20_000, 40_000] {
            health.note(AttemptOutcome::Failure, &BREAKER, now);
            assert_eq!((health.paused_until, health.reason), (Some(now.plus_ms(pause)), Some(PauseReason::Failing)));
            // Failures of attempts that were in flight when the pause started do not extend the pause.
            health.note(AttemptOutcome::Failure, &BREAKER, now.plus_ms(1));
            assert_eq!(health.paused_until, Some(now.plus_ms(pause)));
            now = now.plus_ms(pause);
            assert!(!health.is_paused(now), "the endpoint is probed again");
        }
        health.note(AttemptOutcome::Success, &BREAKER, now);
        assert_eq!(health, Health::default());
        for _ in 0..100 {
            let until = health.paused_until.unwrap_or(now);
            health.note(AttemptOutcome::Failure, &BREAKER, until);
        }
        let last = health.paused_until.expect("the endpoint is paused");
        health.note(AttemptOutcome::Failure, &BREAKER, last);
        assert_eq!(health.paused_until.map(|until| until.ms_since(last)), Some(limits::WEBHOOK_PAUSE_MAX_MS));
    }

    #[test]
    fn a_gone_or_rate_limited_endpoint_is_paused_with_the_reason() {
        let mut gone = Health::default();
        gone.note(AttemptOutcome::Gone, &BREAKER, Timestamp(0));
        assert_eq!((gone.is_paused(Timestamp(1)), gone.reason), (true, Some(PauseReason::Gone)));
        let mut waits = Health::default();
        waits.note(AttemptOutcome::Wait { ms: 2_000 }, &BREAKER, Timestamp(0));
        assert_eq!((waits.paused_until, waits.reason), (Some(Timestamp(2_000)), Some(PauseReason::RateLimited)));
    }

    #[test]
    fn an_endpoint_that_keeps_requesting_short_pauses_is_failing() {
        let mut health = Health::default();
        for _ in 0..BREAKER.failures {
            health.note(AttemptOutcome::Wait { ms: 0 }, &BREAKER, Timestamp(0));
        }
        assert_eq!((health.paused_until, health.reason), (Some(Timestamp(10_000)), Some(PauseReason::Failing)));
        health.note(AttemptOutcome::Wait { ms: 60_000 }, &BREAKER, Timestamp(10_000));
        assert_eq!(
            (health.paused_until, health.reason),
            (Some(Timestamp(70_000)), Some(PauseReason::RateLimited)),
            "the requested pause, if it is longer"
        );
    }
}
