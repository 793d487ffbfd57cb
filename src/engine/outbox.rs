//! The outbox: events for webhooks, written in the transaction of their cause (`assets/docs/webhooks.md`).
//!
//! An event is here exactly if its cause is committed, whole and in the very bytes that receivers get. It waits in a queue of its own
//! until somebody has looked for who is to be told: ids are in order only to the second, so that no cursor could tell what is new. It
//! does not know who subscribes to what, only how many do; and not how deliveries go. What is old is forgotten, and what nobody asks
//! for is not written at all.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::clock::Timestamp;
use crate::base::optional::remove_nulls;
use crate::engine::store::key::{Key, after_prefix};
use crate::engine::store::{self, Order, Read, Record, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, EventId, ProjectId};
use crate::vocab::limits;
use crate::vocab::tables;
use crate::vocab::webhook_events::WebhookEvent;

const OUTBOX: Table<EventId, Event> = Table::new(tables::OUTBOX);
/// Invariant: an event whose receivers were not looked for yet, or whose erasure they do not know of, has a row here.
const QUEUE: Table<EventId, ()> = Table::new(tables::OUTBOX_QUEUE);
/// By kind: how many active webhooks ask for it; and behind [`ALSO_SWITCHED_OFF`], how many of all.
const INTEREST: Table<(AccountId, u8), i64> = Table::new(tables::OUTBOX_INTEREST);

/// Added to the number of a kind of event.
const ALSO_SWITCHED_OFF: u8 = 0x80;

/// The version of the payloads.
const API_VERSION: &str = "v1";

/// Something that has happened, as the feature tells it.
pub struct NewEvent {
    pub kind: WebhookEvent,
    pub account: AccountId,
    pub project: Option<ProjectId>,
    pub conversation: Option<String>,
    /// The payload of this kind of event.
    pub data: Value,
}

/// An event as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub kind: WebhookEvent,
    pub account: AccountId,
    pub created_at: Timestamp,
    /// What receivers get, byte for byte. Empty: it was erased, or is of a version that had no receivers.
    pub body: String,
}

impl Record for Event {}

impl Event {
    /// The event as subscribers get it; nothing if it was erased.
    pub fn envelope(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// Whether there is nothing left to tell.
    pub fn is_erased(&self) -> bool {
        self.body.is_empty()
    }
}

/// Whose event, and about what.
pub struct Envelope<'a> {
    pub account: AccountId,
    pub project: Option<ProjectId>,
    pub conversation: Option<&'a str>,
}

/// The bytes that receivers get: the payload in its envelope. Fields without a value are left out of both.
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

/// Write an event, to be delivered if this transaction commits. Of what no webhook asks for nothing is written; what only webhooks ask
/// for that are switched off is kept for a redelivery.
pub fn emit(tx: &mut WriteTx<'_>, event: NewEvent) {
    let NewEvent { kind, account, project, conversation, data } = event;
    // Whoever cannot be asked is taken for interested: then it is seen that nobody is.
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

/// Whether somebody wants to know of this kind of event. Who emits one that is opt-in asks this first.
pub fn is_wanted(tx: &impl Read, account: AccountId, kind: WebhookEvent) -> store::Result<bool> {
    tx.has(INTEREST, &(account, kind as u8))
}

/// So many more webhooks ask for this kind of event, or so many fewer: such as are active, or switched off.
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

/// Up to `limit` events, the oldest first, of those that were not erased.
pub fn waiting(tx: &impl Read, limit: usize) -> store::Result<Vec<(EventId, Event)>> {
    let all = tx.list(OUTBOX, &Span::default(), Order::Forward, limit)?;
    Ok(all.into_iter().filter(|(_, event)| !event.is_erased()).collect())
}

/// The event with this id, while it is kept.
pub fn find(tx: &impl Read, id: EventId) -> store::Result<Option<Event>> {
    tx.get(OUTBOX, &id)
}

/// Up to `limit` events behind `after`, or from the second of `from` on, that were made before the end of the second of `to`.
pub fn between(
    tx: &impl Read,
    (from, to): (Timestamp, Timestamp),
    after: Option<EventId>,
    limit: usize,
) -> store::Result<Vec<(EventId, Event)>> {
    let from = after.and_then(|after| after_prefix(&after.to_bytes())).unwrap_or_else(|| EventId::first_of(from).to_bytes());
    let span = Span { from, to: Some(EventId::first_of(to.plus_ms(1000)).to_bytes()) };
    tx.list(OUTBOX, &span, Order::Forward, limit)
}

/// Up to `limit` events whose receivers are to be looked for.
pub fn queued(tx: &impl Read, limit: usize) -> store::Result<Vec<EventId>> {
    Ok(tx.list(QUEUE, &Span::default(), Order::Forward, limit)?.into_iter().map(|(id, ())| id).collect())
}

/// This event's receivers were looked for.
pub fn dequeue(tx: &mut WriteTx<'_>, id: EventId) {
    tx.delete(QUEUE, &id);
}

/// Erase the payloads of an account's events that are `about` somebody, from behind the key `after` on, looking at up to `limit`; true
/// if there may be more, and `after` then says how far it came.
pub fn erase(
    tx: &mut WriteTx<'_>,
    account: AccountId,
    after: &mut Vec<u8>,
    limit: usize,
    about: impl Fn(&Value) -> bool,
) -> store::Result<bool> {
    let span = Span { from: after_prefix(after).filter(|_| !after.is_empty()).unwrap_or_default(), to: None };
    let events = tx.list(OUTBOX, &span, Order::Forward, limit)?;
    for (id, event) in events.iter().filter(|(_, event)| event.account == account) {
        if about(&event.envelope()["data"]) {
            tx.put(OUTBOX, id, &Event { body: String::new(), ..event.clone() });
            // Whoever keeps something of its deliveries is to forget that too.
            tx.put(QUEUE, id, &());
        }
    }
    if let Some((last, _)) = events.last() {
        *after = last.to_bytes();
    }
    Ok(events.len() == limit)
}

/// Forget events older than the retention, a bounded number; true if there may be more.
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
        store.write_blocking(act).expect("the store works").expect("the act succeeds")
    }

    #[test]
    fn events_wait_in_the_order_of_their_time_and_are_forgotten_after_the_retention() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let clock = Arc::new(ManualClock::at(Timestamp(1_767_225_600_000)));
        let options = Options { database_kind: DatabaseKind::Environment, cache_bytes: 1 << 20 };
        let random = Arc::new(SeededRandom::new(1));
        let store = Store::open(&folder.path().join("test.redb"), &options, clock.clone(), random).expect("opens");
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
        let found = waiting(&store.read(), 10).expect("reads");
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
        let left = waiting(&store.read(), 10).expect("reads");
        assert_eq!(left, found[1..], "only the event that is older than the retention is gone");
        clock.advance_ms(10_000);
        assert!(write(&store, |tx| sweep(tx, 1)), "a full step says that there may be more");
        assert_eq!(waiting(&store.read(), 10).expect("reads").len(), 1);
        store.close();
    }

    #[test]
    fn an_event_is_kept_if_a_webhook_asks_and_queued_if_it_is_active_and_again_when_erased() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let options = Options { database_kind: DatabaseKind::Environment, cache_bytes: 1 << 20 };
        let clock = Arc::new(ManualClock::at(Timestamp(1_767_225_600_000)));
        let random = Arc::new(SeededRandom::new(1));
        let store = Store::open(&folder.path().join("test.redb"), &options, clock, random).expect("opens");
        let account = event(0).account;
        write(&store, |tx| {
            emit(tx, event(0));
            Ok(false)
        });
        assert_eq!(waiting(&store.read(), 9).expect("reads"), [], "nobody asks for it");
        write(&store, move |tx| {
            add_interest(tx, account, WebhookEvent::SubscriberAdded, false, 1)?;
            emit(tx, event(0));
            Ok(false)
        });
        assert_eq!(queued(&store.read(), 9), Ok(Vec::new()), "whoever asks is switched off");
        write(&store, move |tx| {
            add_interest(tx, account, WebhookEvent::SubscriberAdded, false, -1)?;
            add_interest(tx, account, WebhookEvent::SubscriberAdded, true, 1)?;
            emit(tx, event(1));
            Ok(false)
        });
        let queue = queued(&store.read(), 9).expect("reads");
        assert_eq!(queue.len(), 1);
        let (id, kept) = (queue[0], find(&store.read(), queue[0]).expect("reads").expect("kept"));
        assert_eq!(kept.envelope()["id"], json!(id), "the bytes name their own id");
        assert_eq!(between(&store.read(), (kept.created_at, kept.created_at), None, 9).expect("reads").len(), 2);
        write(&store, move |tx| {
            dequeue(tx, id);
            erase(tx, account, &mut Vec::new(), 9, |data| data["number"] == 1)
        });
        assert_eq!(queued(&store.read(), 9), Ok(vec![id]));
        assert!(find(&store.read(), id).expect("reads").is_some_and(|event| event.is_erased()));
        assert_eq!(waiting(&store.read(), 9).expect("reads").len(), 1);
        store.close();
    }

    #[test]
    fn an_event_of_a_failed_command_was_never_there() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let options = Options { database_kind: DatabaseKind::Environment, cache_bytes: 1 << 20 };
        let clock = Arc::new(ManualClock::at(Timestamp(1_767_225_600_000)));
        let store =
            Store::open(&folder.path().join("test.redb"), &options, clock, Arc::new(SeededRandom::new(1))).expect("opens");
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
