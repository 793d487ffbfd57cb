//! Processes the queue of delivery events that sending writes: rejections by servers, and the actions of simulated recipients.

use super::bounces::{self, SuppressionList};
use super::model::Bounce;
use super::recipient::MessageRecipient;
use super::unsubscribe::{self, Scope};
use super::visits;
use crate::base::clock::Timestamp;
use crate::engine::access::visit_buffer::Visit;
use crate::engine::api::{Engine, Failure};
use crate::engine::mail::inbound::reply_class;
use crate::engine::store::{Error, Result, WriteTx};
use crate::features::contacts::Source;
use crate::features::engagement::{self, DeliveryEvent, EventKey};
use crate::features::sending;
use crate::features::suppressions::Source as SaidBy;
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// The user agent of a simulated recipient.
const SIMULATED_AGENT: &str = "Mozilla/5.0 (simulated recipient)";

/// Processes a limited number of delivery events. Returns whether more events may be queued.
pub async fn step(engine: &Engine, environment: Environment) -> Result<bool, Failure> {
    let store = &engine.data(environment).store;
    if engagement::due_events(&store.read(), engine.clock.now(), 1)?.is_empty() {
        return Ok(false);
    }
    let list = SuppressionList::new(engine);
    let all = list.clone();
    match store.write(move |tx| take(tx, &all)).await {
        Ok(Err(Error::Damaged { .. })) | Err(Error::Panicked) => take_apart(engine, environment, &list).await,
        taken => Ok(taken??),
    }
}

fn take(tx: &mut WriteTx<'_>, list: &SuppressionList) -> Result<bool> {
    let due = engagement::due_events(tx, tx.now(), limits::DELIVERY_EVENTS_PER_STEP)?;
    for (key, event) in &due {
        take_one(tx, list, key, event)?;
    }
    Ok(due.len() == limits::DELIVERY_EVENTS_PER_STEP)
}

fn take_one(tx: &mut WriteTx<'_>, list: &SuppressionList, key: &EventKey, event: &DeliveryEvent) -> Result<()> {
    engagement::remove_event(tx, key);
    let (_, mailing, number) = *key;
    match MessageRecipient::find(tx, mailing, number)? {
        Some(recipient) => act(tx, list, &recipient, event),
        None => Ok(()),
    }
}

/// Processes each event in its own transaction, after the transaction for all events failed because of a damaged row or a panic. An event
/// that fails again is removed, so that it does not block later events.
async fn take_apart(engine: &Engine, environment: Environment, list: &SuppressionList) -> Result<bool, Failure> {
    let store = &engine.data(environment).store;
    let due = engagement::due_events(&store.read(), engine.clock.now(), limits::DELIVERY_EVENTS_PER_STEP)?;
    let more = due.len() == limits::DELIVERY_EVENTS_PER_STEP;
    for (key, event) in due {
        let list = list.clone();
        let taken = store.write(move |tx| take_one(tx, &list, &key, &event)).await;
        match taken.and_then(|taken| taken) {
            Ok(()) => {}
            Err(error @ (Error::Damaged { .. } | Error::Panicked)) => {
                let (_, mailing, number) = key;
                tracing::error!(%error, %mailing, number, "a delivery event could not be recorded");
                let remove = move |tx: &mut WriteTx<'_>| {
                    engagement::remove_event(tx, &key);
                    Ok::<_, Error>(())
                };
                store.write(remove).await??;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(more)
}

fn act(tx: &mut WriteTx<'_>, list: &SuppressionList, recipient: &MessageRecipient, event: &DeliveryEvent) -> Result<()> {
    let mut bounced = |class, words: &str| bounces::bounced(tx, list, recipient, (class, SaidBy::Smtp), words).map(drop);
    match event {
        DeliveryEvent::Refused { reply } => bounced(reply_class::class(None, reply).into(), reply),
        DeliveryEvent::Bounce { hard: true } => bounced(Bounce::Hard, "550 5.1.1 simulated"),
        DeliveryEvent::Bounce { hard: false } => bounced(Bounce::Soft, "552 5.2.2 simulated"),
        DeliveryEvent::Complaint => bounces::complained(tx, list, recipient, ("abuse", SaidBy::Inbound)).map(drop),
        DeliveryEvent::Open => visits::record(tx, &[visit(recipient, None, tx.now())]),
        DeliveryEvent::Click => match sending::link(tx, recipient.mailing.translation_for(&recipient.recipient), 0)? {
            Some(_) => visits::record(tx, &[visit(recipient, Some(0), tx.now())]),
            // The message contains no link to click, but a simulated recipient who clicks must have at least opened the message.
            None => visits::record(tx, &[visit(recipient, None, tx.now())]),
        },
        DeliveryEvent::Unsubscribe => unsubscribe::leave(tx, list, recipient, Scope::List, Source::OneClick),
    }
}

fn visit(recipient: &MessageRecipient, link: Option<u16>, at: Timestamp) -> Visit {
    Visit {
        mailing: recipient.mailing.id,
        recipient: recipient.number,
        link,
        at,
        agent: SIMULATED_AGENT.into(),
        is_head: false,
        is_prefetch: false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::store::key::Key;
    use crate::testing::TestApp;
    use crate::vocab::ids::MailingId;
    use crate::vocab::tables;

    // Regression: the worker failed repeatedly because of a damaged row, and recorded no other bounces.
    #[test]
    fn a_damaged_row_does_not_block_the_events_of_other_messages() {
        let app = TestApp::new();
        app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data();
        let send = || {
            let body = json!({
                "recipientType": "email", "recipientEmail": "ada@example.com", "from": "a@example.com", "subject": "Hello",
                "template": "<p>Hello</p>",
            });
            let send = app.post_in("/v1/sending", body).data()["sendId"].clone();
            MailingId::parse(send.as_str().expect("the ID is a string")).expect("the ID is valid")
        };
        let (damaged, sound) = (send(), send());
        let write = move |tx: &mut WriteTx<'_>| {
            tx.put_bytes(tables::RECIPIENTS, (damaged, 0_u32).to_bytes(), vec![0xFF]);
            for mailing in [damaged, sound] {
                let now = tx.now();
                engagement::schedule_event(tx, now, mailing, 0, &DeliveryEvent::Bounce { hard: true });
            }
            Ok::<_, Error>(())
        };
        app.data().store.write_blocking(write).expect("the store can be written").expect("the write succeeds");
        let more = app.wait(step(app.engine(), Environment::Test)).expect("the other event is recorded");
        assert!(!more);
        assert_eq!(app.get_in("/v1/contacts").data()["contacts"][0]["status"], "bounced");
        let left = engagement::due_events(&app.read(), app.engine().clock.now(), 10).expect("the store can be read");
        assert!(left.is_empty(), "{left:?}");
    }
}
