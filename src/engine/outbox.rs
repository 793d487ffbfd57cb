//! The outbox: events for webhooks, written in the transaction of what they tell of (specification, Events).
//!
//! An event is here exactly if its cause is committed, and is delivered from here. It does not know who subscribes to what, nor
//! how deliveries go; and what nobody fetches is forgotten after a time, so that the table stays small.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::clock::Timestamp;
use crate::engine::store::key::{Key, after_prefix};
use crate::engine::store::{self, Order, Read, Record, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, EventId, ProjectId};
use crate::vocab::limits;
use crate::vocab::tables;
use crate::vocab::webhook_events::WebhookEvent;

const OUTBOX: Table<EventId, Event> = Table::new(tables::OUTBOX);

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
    pub project: Option<ProjectId>,
    pub conversation: Option<String>,
    pub created_at: Timestamp,
    /// The payload as JSON text.
    data: String,
}

impl Record for Event {}

impl Event {
    /// The event as subscribers get it.
    pub fn envelope(&self, id: EventId) -> Value {
        let data: Value = serde_json::from_str(&self.data).expect("only `emit` writes this text, from a value");
        json!({
            "id": id,
            "type": self.kind,
            "timestamp": self.created_at.to_string(),
            "apiVersion": API_VERSION,
            "data": data,
            "metadata": { "userId": self.account, "projectId": self.project, "conversationId": self.conversation },
        })
    }
}

/// Write an event, to be delivered if this transaction commits.
pub fn emit(tx: &mut WriteTx<'_>, event: NewEvent) {
    let NewEvent { kind, account, project, conversation, data } = event;
    let created_at = tx.now();
    let id = EventId::make(created_at, tx.random());
    tx.put(OUTBOX, &id, &Event { kind, account, project, conversation, created_at, data: data.to_string() });
}

/// Up to `limit` events, the oldest first.
pub fn waiting(tx: &impl Read, limit: usize) -> store::Result<Vec<(EventId, Event)>> {
    tx.list(OUTBOX, &Span::default(), Order::Forward, limit)
}

/// Forget events of an account whose payload is `about` somebody, from behind the key `after` on, looking at up to `limit`; true if
/// there may be more, and `after` then says how far it came.
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
        if serde_json::from_str(&event.data).is_ok_and(|data: Value| about(&data)) {
            tx.delete(OUTBOX, id);
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
    let mut end = [0; 12];
    // The first four bytes of an id are the second it was made in.
    end[..4].copy_from_slice(&(oldest_kept.seconds().max(0) as u32).to_be_bytes());
    let span = Span { from: Vec::new(), to: Some(EventId::from_bytes(end).to_bytes()) };
    Ok(tx.delete_span(OUTBOX, &span, limit)? == limit)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::clock::ManualClock;
    use crate::base::random::SeededRandom;
    use crate::engine::store::{Error, Options, Store};
    use crate::vocab::tables::Realm;

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
        let options = Options { realm: Realm::World, cache_bytes: 1 << 20 };
        let random = Arc::new(SeededRandom::new(1));
        let store = Store::open(&folder.path().join("test.redb"), &options, clock.clone(), random).expect("opens");
        for number in 0..3 {
            write(&store, move |tx| {
                emit(tx, event(number));
                Ok(false)
            });
            clock.advance_ms(1000);
        }
        let found = waiting(&store.read(), 10).expect("reads");
        let envelopes: Vec<Value> = found.iter().map(|(id, event)| event.envelope(*id)).collect();
        assert_eq!(
            envelopes.iter().map(|envelope| envelope["data"]["number"].as_u64()).collect::<Vec<_>>(),
            [Some(0), Some(1), Some(2)]
        );
        let expected = json!({
            "id": found[0].0, "type": "subscriber.added", "timestamp": "2026-01-01T00:00:00.000Z", "apiVersion": "v1",
            "data": { "number": 0 },
            "metadata": { "userId": "01".repeat(12), "projectId": "02".repeat(12), "conversationId": null },
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
    fn an_event_of_a_failed_command_was_never_there() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let options = Options { realm: Realm::World, cache_bytes: 1 << 20 };
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
