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
use crate::engine::store::{Result, WriteTx};
use crate::features::contacts::Source;
use crate::features::engagement::{self, DeliveryEvent};
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
    Ok(store.write(move |tx| take(tx, &list)).await??)
}

fn take(tx: &mut WriteTx<'_>, list: &SuppressionList) -> Result<bool> {
    let due = engagement::due_events(tx, tx.now(), limits::DELIVERY_EVENTS_PER_STEP)?;
    for (key, event) in &due {
        engagement::remove_event(tx, key);
        let (_, mailing, number) = *key;
        if let Some(recipient) = MessageRecipient::find(tx, mailing, number)? {
            act(tx, list, &recipient, event)?;
        }
    }
    Ok(due.len() == limits::DELIVERY_EVENTS_PER_STEP)
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
            // The message has no link to click, but a simulated recipient who would click has at least opened the message.
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
