//! From events to deliveries: for each event of the queue, one for every active webhook that asks for it, all in one transaction.
//!
//! A step can be repeated at any time: the id of an event's first delivery to a webhook is always the same. An event that was erased
//! comes by here again, and everything that deliveries of it say is forgotten.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::json;

use super::model::{Delivery, DeliveryStatus, Webhook, first_delivery};
use super::store::{self, DeliveryWriter};
use crate::base::clock::Timestamp;
use crate::engine::api::{Engine, Failure};
use crate::engine::outbox::{self, Envelope, Event};
use crate::engine::store::{Read, Result, WriteTx};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, DeliveryId, EventId};
use crate::vocab::limits;

/// What is said of deliveries of which nothing is to be told any more.
pub const ERASED: &str = "What the event told of was erased.";
/// What is said of deliveries for which there was no room.
const NO_ROOM: &str = "Too many deliveries to this endpoint were waiting; deliver it again when the endpoint is well.";

/// Make the deliveries of some events; true if there may be more.
pub async fn step(engine: &Engine, environment: Environment) -> Result<bool, Failure> {
    let store = &engine.data(environment).store;
    if outbox::queued(&store.read(), 1)?.is_empty() {
        return Ok(false);
    }
    Ok(store.write(take).await??)
}

fn take(tx: &mut WriteTx<'_>) -> Result<bool> {
    let ids = outbox::queued(tx, limits::WEBHOOK_EVENTS_PER_STEP)?;
    let mut known: BTreeMap<AccountId, Vec<Webhook>> = BTreeMap::new();
    let mut left = 0;
    let mut writer = DeliveryWriter::open(tx);
    for (index, id) in ids.iter().enumerate() {
        if writer.made() >= limits::WEBHOOK_DELIVERIES_PER_STEP {
            left = ids.len() - index;
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
    Ok(left > 0 || ids.len() == limits::WEBHOOK_EVENTS_PER_STEP)
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

/// Put a new delivery, if its endpoint does not have more waiting already than it should.
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

/// Deliver an event to a webhook once more; its earlier deliveries are `known`, the first in front. Its id; nothing if it was repeated
/// too often already.
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

/// What endpoints answered may repeat what they were told.
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

/// The event of a delivery, while it can still be told.
pub fn event_of(tx: &impl Read, delivery: &Delivery) -> Result<Option<Event>> {
    Ok(outbox::find(tx, delivery.event)?.filter(|event| !event.is_erased()))
}

/// What a test tells.
pub fn test_body(id: EventId, event_type: &str, webhook: &Webhook, now: Timestamp) -> String {
    let data = json!({ "webhookId": webhook.id, "message": "This is a test: nothing has happened." });
    let of = Envelope { account: webhook.account, project: None, conversation: None };
    outbox::envelope(id, event_type, now, of, &data)
}
