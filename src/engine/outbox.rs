//! The outbox: events for webhooks, written in the same transaction as their cause (`assets/docs/webhooks.md`).
//!
//! An event is committed together with its cause, and is stored in the exact bytes that receivers get. An event to which an active webhook
//! subscribes stays in a separate queue until the fan-out has found its webhooks. The fan-out cannot follow the event IDs with a cursor
//! instead: IDs are ordered only to the second, so a cursor could miss new events. The outbox stores how many webhooks subscribe to each
//! kind of event; the webhooks themselves and their deliveries are stored elsewhere. Old events are deleted. Events of a kind to which no
//! webhook subscribes, whether active or inactive, are not written.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::clock::Timestamp;
use crate::base::optional::remove_nulls;
use crate::engine::store::key::{Key, after_prefix};
use crate::engine::store::{self, Order, Read, Record, RowCheck, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, EventId, ProjectId};
use crate::vocab::limits;
use crate::vocab::tables;
use crate::vocab::webhook_events::WebhookEvent;

const OUTBOX: Table<EventId, Event> = Table::new(tables::OUTBOX);
/// The queue of events. Invariant: an event to which an active webhook subscribes is queued until the fan-out has found its webhooks, and
/// an erased event until its deliveries have been erased too.
const QUEUE: Table<EventId, ()> = Table::new(tables::OUTBOX_QUEUE);
/// For each account and kind of event, the number of active webhooks that subscribe to the kind and, under the key with
/// [`ALSO_SWITCHED_OFF`], the number of all webhooks that subscribe to it.
const INTEREST: Table<(AccountId, u8), i64> = Table::new(tables::OUTBOX_INTEREST);

pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(OUTBOX), RowCheck::of(QUEUE), RowCheck::of(INTEREST)];

/// Added to the number of an event kind to get the key of the count that includes inactive webhooks.
const ALSO_SWITCHED_OFF: u8 = 0x80;

/// The API version of the payloads.
const API_VERSION: &str = "v1";

/// An event that a feature reports with [`emit`].
pub struct NewEvent {
    pub kind: WebhookEvent,
    pub account: AccountId,
    pub project: Option<ProjectId>,
    pub conversation: Option<String>,
    pub data: Value,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub kind: WebhookEvent,
    pub account: AccountId,
    pub created_at: Timestamp,
    /// The exact bytes that receivers get; empty if the event was erased.
    pub body: String,
}

impl Record for Event {}

impl Event {
    /// Returns the event as subscribers receive it; `null` if the event was erased.
    pub fn envelope(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    pub fn is_erased(&self) -> bool {
        self.body.is_empty()
    }
}

/// The account and the subject of an event, for its envelope.
pub struct Envelope<'a> {
    pub account: AccountId,
    pub project: Option<ProjectId>,
    pub conversation: Option<&'a str>,
}

/// Returns the bytes that receivers get: the payload in its envelope. Fields without a value are omitted from the payload and from the
/// envelope.
pub fn envelope(id: EventId, kind: &str, at: Timestamp, of: Envelope<'_>, data: &Value) -> String {
    let mut envelope = json!({
        "id": id,
        "type": kind,
        "timestamp": at.to_string(),
        "apiVersion": API_VERSION,
        "data": data,
        "metadata": { "userId": of.account, "projectId": of.project, "conversationId": of.conversation },
    });
    remove_nulls(&mut envelope);
    envelope.to_string()
}

/// Writes an event, which is delivered if this transaction commits. If no webhook subscribes to the event, it is not written; if only
/// inactive webhooks do, it is stored so that it can be redelivered.
pub fn emit(tx: &mut WriteTx<'_>, event: NewEvent) {
    let NewEvent { kind, account, project, conversation, data } = event;
    // If the count cannot be read, the event is written; the fan-out then finds the receivers, if there are any.
    let is_wanted = is_wanted(tx, account, kind).unwrap_or(true);
    if !is_wanted && !tx.has(INTEREST, &(account, kind as u8 | ALSO_SWITCHED_OFF)).unwrap_or(true) {
        return;
    }
    let created_at = tx.now();
    let id = EventId::make(created_at, tx.random());
    let of = Envelope { account, project, conversation: conversation.as_deref() };
    let body = envelope(id, kind.word(), created_at, of, &data);
    if is_wanted {
        tx.put(QUEUE, &id, &());
    }
    tx.put(OUTBOX, &id, &Event { kind, account, created_at, body });
}

/// Returns whether any active webhook subscribes to this kind of event. Check this before emitting an opt-in event.
pub fn is_wanted(tx: &impl Read, account: AccountId, kind: WebhookEvent) -> store::Result<bool> {
    tx.has(INTEREST, &(account, kind as u8))
}

/// Adds `delta` to the number of webhooks that subscribe to this kind of event and, if `is_active` is true, also to the number of active
/// ones.
pub fn add_interest(
    tx: &mut WriteTx<'_>,
    account: AccountId,
    kind: WebhookEvent,
    is_active: bool,
    delta: i64,
) -> store::Result<()> {
    if is_active {
        tx.add(INTEREST, &(account, kind as u8), delta)?;
    }
    tx.add(INTEREST, &(account, kind as u8 | ALSO_SWITCHED_OFF), delta).map(drop)
}

/// Reads the `limit` oldest events, and returns those that are not erased, oldest first.
pub fn waiting(tx: &impl Read, limit: usize) -> store::Result<Vec<(EventId, Event)>> {
    let all = tx.list(OUTBOX, &Span::default(), Order::Forward, limit)?;
    Ok(all.into_iter().filter(|(_, event)| !event.is_erased()).collect())
}

/// Returns the event with this ID, if it is still stored.
pub fn find(tx: &impl Read, id: EventId) -> store::Result<Option<Event>> {
    tx.get(OUTBOX, &id)
}

/// Returns up to `limit` events created from `from` to `to`, oldest first. Both times are inclusive and have a precision of one second. If
/// `after` is given, the list starts after that event instead of at `from`. Skips damaged events.
pub fn between(
    tx: &impl Read,
    (from, to): (Timestamp, Timestamp),
    after: Option<EventId>,
    limit: usize,
) -> store::Result<Vec<(EventId, Event)>> {
    let from = after.and_then(|after| after_prefix(&after.to_bytes())).unwrap_or_else(|| EventId::first_of(from).to_bytes());
    let span = Span { from, to: Some(EventId::first_of(to.plus_ms(1000)).to_bytes()) };
    tx.list_readable(OUTBOX, &span, Order::Forward, limit)
}

/// Returns the IDs of up to `limit` queued events.
pub fn queued(tx: &impl Read, limit: usize) -> store::Result<Vec<EventId>> {
    Ok(tx.list(QUEUE, &Span::default(), Order::Forward, limit)?.into_iter().map(|(id, ())| id).collect())
}

pub fn dequeue(tx: &mut WriteTx<'_>, id: EventId) {
    tx.delete(QUEUE, &id);
}

/// Erases the payloads of an account's events for whose data `about` returns true. Reads up to `limit` events, starting after the key
/// `after`, and skips damaged events. Returns true if there may be more. Sets `after` to the key of the last event read.
pub fn erase(
    tx: &mut WriteTx<'_>,
    account: AccountId,
    after: &mut Vec<u8>,
    limit: usize,
    about: impl Fn(&Value) -> bool,
) -> store::Result<bool> {
    let span = Span { from: after_prefix(after).filter(|_| !after.is_empty()).unwrap_or_default(), to: None };
    let events = tx.list_readable(OUTBOX, &span, Order::Forward, limit)?;
    for (id, event) in events.iter().filter(|(_, event)| event.account == account) {
        if about(&event.envelope()["data"]) {
            tx.put(OUTBOX, id, &Event { body: String::new(), ..event.clone() });
            // Queue the event again, so that its deliveries are erased too.
            tx.put(QUEUE, id, &());
        }
    }
    if let Some((last, _)) = events.last() {
        *after = last.to_bytes();
    }
    Ok(events.len() == limit)
}

/// Deletes up to `limit` events older than the retention period; returns true if there may be more.
pub fn sweep(tx: &mut WriteTx<'_>, limit: usize) -> store::Result<bool> {
    let oldest_kept = tx.now().plus_ms(-limits::OUTBOX_KEPT_MS);
    let span = Span { from: Vec::new(), to: Some(EventId::first_of(oldest_kept).to_bytes()) };
    Ok(tx.delete_span(OUTBOX, &span, limit)? == limit)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::clock::ManualClock;
    use crate::base::random::SeededRandom;
    use crate::engine::store::{Error, Options, Store};
    use crate::vocab::tables::DatabaseKind;

    fn event(number: u32) -> NewEvent {
        NewEvent {
            kind: WebhookEvent::SubscriberAdded,
            account: AccountId::from_bytes([1; 12]),
            project: Some(ProjectId::from_bytes([2; 12])),
            conversation: None,
            data: json!({ "number": number }),
        }
    }

    fn write(store: &Store, act: impl FnOnce(&mut WriteTx<'_>) -> store::Result<bool> + Send + 'static) -> bool {
        store.write_blocking(act).expect("the store works").expect("the change succeeds")
    }

    #[test]
    fn events_wait_in_order_of_time_and_are_deleted_after_the_retention() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let clock = Arc::new(ManualClock::at(Timestamp(1_767_225_600_000)));
        let options = Options { database_kind: DatabaseKind::Environment, cache_bytes: 1 << 20 };
        let random = Arc::new(SeededRandom::new(1));
        let store = Store::open(&folder.path().join("test.redb"), &options, clock.clone(), random).expect("the store opens");
        let account = event(0).account;
        write(&store, move |tx| {
            emit(tx, event(7));
            add_interest(tx, account, WebhookEvent::SubscriberAdded, false, 1).map(|()| false)
        });
        for number in 0..3 {
            write(&store, move |tx| {
                emit(tx, event(number));
                Ok(false)
            });
            clock.advance_ms(1000);
        }
        let found = waiting(&store.read(), 10).expect("the read succeeds");
        let envelopes: Vec<Value> = found.iter().map(|(_, event)| event.envelope()).collect();
        assert_eq!(
            envelopes.iter().map(|envelope| envelope["data"]["number"].as_u64()).collect::<Vec<_>>(),
            [Some(0), Some(1), Some(2)]
        );
        let expected = json!({
            "id": found[0].0, "type": "subscriber.added", "timestamp": "2026-01-01T00:00:00.000Z", "apiVersion": "v1",
            "data": { "number": 0 },
            "metadata": { "userId": "01".repeat(12), "projectId": "02".repeat(12) },
        });
        assert_eq!(envelopes[0], expected);

        clock.advance_ms(limits::OUTBOX_KEPT_MS - 2000);
        assert!(!write(&store, |tx| sweep(tx, 10)));
        let left = waiting(&store.read(), 10).expect("the read succeeds");
        assert_eq!(left, found[1..], "only the event that is older than the retention is gone");
        clock.advance_ms(10_000);
        assert!(write(&store, |tx| sweep(tx, 1)), "a full step returns that there may be more");
        assert_eq!(waiting(&store.read(), 10).expect("the read succeeds").len(), 1);
        store.close();
    }

    #[test]
    fn an_event_is_stored_if_a_webhook_subscribes_and_queued_if_it_is_active_or_the_event_erased() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let options = Options { database_kind: DatabaseKind::Environment, cache_bytes: 1 << 20 };
        let clock = Arc::new(ManualClock::at(Timestamp(1_767_225_600_000)));
        let random = Arc::new(SeededRandom::new(1));
        let store = Store::open(&folder.path().join("test.redb"), &options, clock, random).expect("the store opens");
        let account = event(0).account;
        write(&store, |tx| {
            emit(tx, event(0));
            Ok(false)
        });
        assert_eq!(waiting(&store.read(), 9).expect("the read succeeds"), [], "no webhook subscribes to the event");
        write(&store, move |tx| {
            add_interest(tx, account, WebhookEvent::SubscriberAdded, false, 1)?;
            emit(tx, event(0));
            Ok(false)
        });
        assert_eq!(queued(&store.read(), 9), Ok(Vec::new()), "the subscribing webhook is inactive");
        write(&store, move |tx| {
            add_interest(tx, account, WebhookEvent::SubscriberAdded, false, -1)?;
            add_interest(tx, account, WebhookEvent::SubscriberAdded, true, 1)?;
            emit(tx, event(1));
            Ok(false)
        });
        let queue = queued(&store.read(), 9).expect("the read succeeds");
        assert_eq!(queue.len(), 1);
        let (id, kept) = (queue[0], find(&store.read(), queue[0]).expect("the read succeeds").expect("the event is stored"));
        assert_eq!(kept.envelope()["id"], json!(id), "the bytes contain their own id");
        assert_eq!(between(&store.read(), (kept.created_at, kept.created_at), None, 9).expect("the read succeeds").len(), 2);
        write(&store, move |tx| {
            dequeue(tx, id);
            erase(tx, account, &mut Vec::new(), 9, |data| data["number"] == 1)
        });
        assert_eq!(queued(&store.read(), 9), Ok(vec![id]));
        assert!(find(&store.read(), id).expect("the read succeeds").is_some_and(|event| event.is_erased()));
        assert_eq!(waiting(&store.read(), 9).expect("the read succeeds").len(), 1);
        store.close();
    }

    #[test]
    fn an_event_of_a_failed_command_is_not_stored() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let options = Options { database_kind: DatabaseKind::Environment, cache_bytes: 1 << 20 };
        let clock = Arc::new(ManualClock::at(Timestamp(1_767_225_600_000)));
        let store = Store::open(&folder.path().join("test.redb"), &options, clock, Arc::new(SeededRandom::new(1)))
            .expect("the store opens");
        let refused: Result<(), Error> = store
            .write_blocking(|tx| {
                emit(tx, event(0));
                Err(Error::Busy)
            })
            .expect("the store works");
        assert_eq!((refused, waiting(&store.read(), 10)), (Err(Error::Busy), Ok(Vec::new())));
        store.close();
    }
}
