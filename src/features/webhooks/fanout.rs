//! Creates deliveries from events: for each queued event, one delivery for every active webhook that subscribes to the event, all in one
//! transaction.
//!
//! Steps can be repeated, because the ID of an event's first delivery to a webhook is derived from the event and the webhook. An erased
//! event is queued again, so that its content is also removed from its deliveries.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::json;

use super::model::{Delivery, DeliveryStatus, Webhook, first_delivery};
use super::store::{self, DeliveryWriter};
use crate::base::clock::Timestamp;
use crate::engine::api::{Engine, Failure};
use crate::engine::outbox::{self, Envelope, Event};
use crate::engine::store::{Error, Read, Result, Store, WriteTx};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, DeliveryId, EventId};
use crate::vocab::limits;

/// The note of a delivery whose event was erased.
pub const ERASED: &str = "The event's data was erased.";
/// The note of a delivery that exceeds the queue limit.
const NO_ROOM: &str = "Too many deliveries to this endpoint were waiting; redeliver the event when fewer are waiting.";

/// Creates the deliveries for a limited number of queued events. Returns true if there may be more.
pub async fn step(engine: &Engine, environment: Environment) -> Result<bool, Failure> {
    let store = &engine.data(environment).store;
    if outbox::queued(&store.read(), 1)?.is_empty() {
        return Ok(false);
    }
    match store.write(take).await {
        Ok(Err(Error::Damaged { .. })) | Err(Error::Panicked) => take_apart(store).await,
        taken => Ok(taken??),
    }
}

fn take(tx: &mut WriteTx<'_>) -> Result<bool> {
    let ids = outbox::queued(tx, limits::WEBHOOK_EVENTS_PER_STEP)?;
    Ok(take_some(tx, &ids)? || ids.len() == limits::WEBHOOK_EVENTS_PER_STEP)
}

/// Processes each event in its own transaction, because the transaction for all events failed on a damaged row or panicked. An event that
/// fails again is removed from the queue, so that it does not block later events.
async fn take_apart(store: &Store) -> Result<bool, Failure> {
    let ids = outbox::queued(&store.read(), limits::WEBHOOK_EVENTS_PER_STEP)?;
    let more = ids.len() == limits::WEBHOOK_EVENTS_PER_STEP;
    for id in ids {
        let taken = store.write(move |tx| take_some(tx, &[id])).await;
        match taken.and_then(|taken| taken) {
            Ok(_) => {}
            Err(error @ (Error::Damaged { .. } | Error::Panicked)) => {
                tracing::error!(%error, event = %id, "no deliveries could be created for an event");
                let remove = move |tx: &mut WriteTx<'_>| {
                    outbox::dequeue(tx, id);
                    Ok::<_, Error>(())
                };
                store.write(remove).await??;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(more)
}

/// Creates the deliveries of these events. Returns true if some events are left because the step has reached its limit.
fn take_some(tx: &mut WriteTx<'_>, ids: &[EventId]) -> Result<bool> {
    let mut known: BTreeMap<AccountId, Vec<Webhook>> = BTreeMap::new();
    let mut left = false;
    let mut writer = DeliveryWriter::open(tx);
    for id in ids {
        if writer.made() >= limits::WEBHOOK_DELIVERIES_PER_STEP {
            left = true;
            break;
        }
        if let Some(event) = outbox::find(writer.tx, *id)? {
            let webhooks = match known.entry(event.account) {
                Entry::Occupied(there) => there.into_mut(),
                Entry::Vacant(room) => room.insert(store::all(writer.tx, event.account)?),
            };
            if event.is_erased() {
                forget(&mut writer, webhooks, *id)?
            } else {
                create_deliveries(&mut writer, webhooks, *id, &event)?
            }
        }
        outbox::dequeue(writer.tx, *id);
    }
    writer.close();
    Ok(left)
}

fn create_deliveries(writer: &mut DeliveryWriter<'_, '_>, webhooks: &[Webhook], id: EventId, event: &Event) -> Result<()> {
    for webhook in webhooks.iter().filter(|webhook| webhook.wants(event.kind)) {
        let first = first_delivery(webhook.id, id);
        if store::delivery(writer.tx, webhook.id, first)?.is_none() {
            let delivery = Delivery::new(first, webhook, id, event.kind.word(), writer.tx.now());
            add(writer, delivery)?;
        }
    }
    Ok(())
}

/// Adds a new delivery. If too many deliveries to its endpoint are waiting, the new delivery fails.
fn add(writer: &mut DeliveryWriter<'_, '_>, mut delivery: Delivery) -> Result<()> {
    if !has_room(writer, &delivery)? {
        delivery.stop(DeliveryStatus::Failed, NO_ROOM, writer.tx.now());
    }
    writer.put(None, &delivery)
}

fn has_room(writer: &mut DeliveryWriter<'_, '_>, delivery: &Delivery) -> Result<bool> {
    let key = (delivery.account, delivery.webhook);
    Ok(writer.state(key)?.kept(DeliveryStatus::Pending) < limits::WEBHOOK_PENDING_MAX)
}

/// Creates another delivery of an event to a webhook, or the first delivery if `known` is empty. `known` contains the earlier deliveries,
/// starting with the first. Returns the new ID, or `None` if the event has already been redelivered the maximum number of times.
pub fn repeat(
    writer: &mut DeliveryWriter<'_, '_>,
    webhook: &Webhook,
    (id, event): (EventId, &Event),
    known: &[Delivery],
) -> Result<Option<DeliveryId>> {
    let now = writer.tx.now();
    let Some(first) = known.first() else {
        let delivery = Delivery::new(first_delivery(webhook.id, id), webhook, id, event.kind.word(), now);
        let made = delivery.id;
        return add(writer, delivery).map(|()| Some(made));
    };
    if known.len() > limits::WEBHOOK_REPEATS_MAX {
        return Ok(None);
    }
    let made = DeliveryId::make(now, writer.tx.random());
    let mut delivery = Delivery::new(made, webhook, id, event.kind.word(), now);
    delivery.first = Some(first.id);
    delivery.linked = first.linked;
    add(writer, delivery)?;
    let newer = Delivery { linked: Some(made), ..first.clone() };
    writer.put(Some(first), &newer)?;
    Ok(Some(made))
}

/// Removes the data of an erased event from its deliveries, including endpoints' responses, which may repeat the data.
fn forget(writer: &mut DeliveryWriter<'_, '_>, webhooks: &[Webhook], id: EventId) -> Result<()> {
    let now = writer.tx.now();
    for webhook in webhooks {
        for before in store::deliveries_of(writer.tx, webhook.id, id)? {
            let mut delivery = before.clone();
            for end in delivery.attempts.iter_mut().filter_map(|attempt| attempt.end.as_mut()) {
                end.response.clear();
            }
            delivery.stop(DeliveryStatus::Cancelled, ERASED, now);
            writer.put(Some(&before), &delivery)?;
        }
    }
    Ok(())
}

/// Returns the event of a delivery; `None` if the event was deleted or erased.
pub fn event_of(tx: &impl Read, delivery: &Delivery) -> Result<Option<Event>> {
    Ok(outbox::find(tx, delivery.event)?.filter(|event| !event.is_erased()))
}

/// Returns the body of a test delivery.
pub fn test_body(id: EventId, event_type: &str, webhook: &Webhook, now: Timestamp) -> String {
    let data = json!({ "webhookId": webhook.id, "message": "This is a test; no event occurred." });
    let of = Envelope { account: webhook.account, project: None, conversation: None };
    outbox::envelope(id, event_type, now, of, &data)
}
