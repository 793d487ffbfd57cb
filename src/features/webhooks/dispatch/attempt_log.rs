//! The log of attempts. Each attempt is recorded before it starts and again after it ends.
//!
//! If the process stops during an attempt, the log has a start without an end, and the attempt counts as failed.

use bytes::Bytes;

use super::super::fanout::{ERASED, event_of};
use super::super::model::{AttemptOutcome, Breaker, Delivery, DeliveryStatus, End, RetryBackoff, Webhook};
use super::super::store::{self, DeliveryWriter, Due, FORGOTTEN, WebhookKey};
use crate::base::clock::Timestamp;
use crate::engine::store::{Result, WriteTx};
use crate::vocab::ids::{DeliveryId, WebhookId};
use crate::vocab::limits;
use crate::vocab::settings::Webhooks;

const SWITCHED_OFF: &str = "The webhook was disabled.";

/// The rules for retries and endpoint pauses.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub backoff: RetryBackoff,
    pub breaker: Breaker,
    /// When the service started.
    pub started_at: Timestamp,
}

impl Rules {
    pub fn new(settings: &Webhooks, started_at: Timestamp) -> Self {
        let failures = u32::try_from(settings.pause_after_failures.get()).unwrap_or(u32::MAX);
        let breaker = Breaker { failures, pause_ms: ms(settings.pause_seconds.get()) };
        Self { backoff: retry_backoff(settings), breaker, started_at }
    }

    /// If the service has started recently, returns the time before which interrupted attempts are not retried. Without this delay, a
    /// service that keeps crashing would use up all attempts before any of them reached the endpoint.
    fn steady_at(&self, now: Timestamp) -> Option<Timestamp> {
        let runs_for = now.ms_since(self.started_at);
        (0..limits::WEBHOOK_STEADY_MS).contains(&runs_for).then(|| self.started_at.plus_ms(limits::WEBHOOK_STEADY_MS))
    }
}

/// Returns the retry backoff from the settings.
pub fn retry_backoff(settings: &Webhooks) -> RetryBackoff {
    RetryBackoff { pauses_ms: [settings.first_retry_seconds, settings.second_retry_seconds].map(|pause| ms(pause.get())) }
}

fn ms(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX / 2_000) * 1000
}

/// A recorded attempt that is about to be made.
pub struct StartedAttempt {
    pub webhook: Webhook,
    pub delivery: Delivery,
    pub number: usize,
    pub body: Bytes,
}

/// Starts attempts for due deliveries, and ends deliveries that cannot be attempted.
pub fn begin(tx: &mut WriteTx<'_>, due: &[Due], rules: &Rules) -> Result<Vec<StartedAttempt>> {
    let mut writer = DeliveryWriter::open(tx);
    let mut started = Vec::new();
    for row in due {
        started.extend(begin_one(&mut writer, row, rules)?);
    }
    writer.close();
    Ok(started)
}

fn begin_one(writer: &mut DeliveryWriter<'_, '_>, due: &Due, rules: &Rules) -> Result<Option<StartedAttempt>> {
    let (account, id, at, delivery) = *due;
    let now = writer.tx.now();
    let webhook = store::find(writer.tx, account, id)?;
    let before = store::delivery(writer.tx, id, delivery)?.filter(|delivery| delivery.due_at == Some(at));
    let (Some(webhook), Some(before)) = (webhook, before) else {
        // The webhook or the delivery was deleted, or the delivery is now due at a different time.
        store::not_due(writer.tx, due);
        return Ok(None);
    };
    let mut delivery = before.clone();
    let mut body = None;
    if delivery.is_under_way() {
        delivery.lose(now, &rules.backoff, chance(writer.tx));
    } else if !webhook.active {
        delivery.stop(DeliveryStatus::Cancelled, SWITCHED_OFF, now);
    } else if let Some(steady_at) = rules.steady_at(now).filter(|_| delivery.was_cut_off()) {
        delivery.wait_until(steady_at);
    } else {
        let event = event_of(writer.tx, &delivery)?;
        body = event.map(|event| Bytes::from(event.body));
        if body.is_none() {
            delivery.stop(DeliveryStatus::Failed, FORGOTTEN, now);
        }
    }
    let number = body.is_some().then(|| delivery.begin(now)).flatten();
    writer.put(Some(&before), &delivery)?;
    let (Some(body), Some(number)) = (body, number) else { return Ok(None) };
    Ok(Some(StartedAttempt { webhook, delivery, number, body }))
}

/// Returns the random number from which [`RetryBackoff`] computes the jitter.
fn chance(tx: &WriteTx<'_>) -> u16 {
    u16::from_be_bytes(tx.random().bytes())
}

#[derive(Clone, Debug)]
pub struct EndedAttempt {
    pub key: WebhookKey,
    pub delivery: DeliveryId,
    pub end: End,
    pub verdict: AttemptOutcome,
}

/// Records how attempts ended.
pub fn settle(tx: &mut WriteTx<'_>, ended: &[EndedAttempt], rules: &Rules) -> Result<()> {
    let mut writer = DeliveryWriter::open(tx);
    for EndedAttempt { key, delivery, end, verdict } in ended {
        let Some(before) = store::delivery(writer.tx, key.1, *delivery)? else { continue };
        if store::find(writer.tx, key.0, key.1)?.is_none() {
            continue;
        }
        let mut end = end.clone();
        // The event's data was erased, and the endpoint's response may repeat that data, so the response is not stored.
        if before.note.as_deref() == Some(ERASED) {
            end.response.clear();
        }
        let mut delivery = before.clone();
        let chance = chance(writer.tx);
        if delivery.end(end.clone(), *verdict, &rules.backoff, chance) {
            writer.put(Some(&before), &delivery)?;
            if *verdict != AttemptOutcome::NotSent {
                writer.add_attempt(*key, &end, *verdict, &rules.breaker)?;
            }
        }
    }
    writer.close();
    Ok(())
}

/// Ends attempts that an earlier process left in flight, and records them as failed.
pub fn lost(tx: &mut WriteTx<'_>, due: &[(WebhookId, DeliveryId)], rules: &Rules) -> Result<()> {
    let mut writer = DeliveryWriter::open(tx);
    for (webhook, id) in due {
        let Some(before) = store::delivery(writer.tx, *webhook, *id)?.filter(Delivery::is_under_way) else { continue };
        let mut delivery = before.clone();
        delivery.lose(writer.tx.now(), &rules.backoff, chance(writer.tx));
        writer.put(Some(&before), &delivery)?;
    }
    writer.close();
    Ok(())
}

/// Returns the ID of an attempt: the delivery's ID and the attempt's number.
pub fn attempt_id(delivery: DeliveryId, number: usize) -> String {
    format!("{delivery}-{number}")
}

/// Returns the start of a response as it is stored: control characters other than line breaks and tabs are replaced by spaces.
pub fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(limits::WEBHOOK_RESPONSE_BYTES_READ)]);
    let shown = |character: char| if character.is_control() && !matches!(character, '\n' | '\t') { ' ' } else { character };
    text.chars().take(limits::WEBHOOK_RESPONSE_CHARACTERS_KEPT).map(shown).collect()
}
