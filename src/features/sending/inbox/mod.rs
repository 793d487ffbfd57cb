//! The built-in inbox: receives the mail of the test environment and, in development mode, of the live environment.
//!
//! One transaction stores a message and records that it was sent. The number and total size of an account's messages are limited; the
//! oldest messages are deleted first. An address at the reserved domain simulates the behavior that its local part names, so that users can
//! safely test bounces and complaints.

pub use super::store::inbox::{InboxRow, all, body, delete, sweep};

use super::message::RenderedMessage;
use super::model::{Delivery, Event, Mailing, Recipient, Schedule};
use super::store::inbox as store;
use crate::engine::api::Failure;
use crate::engine::store::{Read, Result, WriteTx};
use crate::features::engagement::{self, DeliveryEvent};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, MessageId};
use crate::vocab::limits;

/// The domain of simulated recipients. The name never exists in DNS.
pub const SIMULATOR: &str = "simulator.mailmill.example";

/// Returns the account's message with this ID. Fails with `NotFound` if the account has no such message.
pub fn require(tx: &impl Read, account: AccountId, id: MessageId) -> std::result::Result<InboxRow, Failure> {
    let absent =
        || Failure::because(Code::NotFound, "The inbox has no message with this ID. Old messages are deleted automatically.");
    store::head(tx, account, id)?.ok_or_else(absent)
}

pub type InboxMessage = RenderedMessage;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SimulatedBehavior {
    Accepts,
    /// The recipient's mail server defers the first attempt.
    Defers,
    /// The recipient's mail server defers every attempt.
    AlwaysDefers,
    /// The recipient's mail server rejects the message.
    Refuses,
    /// The message is accepted, and this event follows after `limits::SIMULATED_PAUSE_MS`.
    Then(LaterEvent),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaterEvent {
    SoftBounce,
    Complaint,
    Open,
    Click,
    Unsubscribe,
}

/// TABLE: the behavior of each simulated recipient, by the local part of its address. A suffix that starts with `+` is ignored.
const SIMULATED_BEHAVIORS: [(&str, SimulatedBehavior); 9] = [
    ("delivered", SimulatedBehavior::Accepts),
    ("deferred", SimulatedBehavior::Defers),
    ("mailbox-full", SimulatedBehavior::AlwaysDefers),
    ("hard-bounce", SimulatedBehavior::Refuses),
    ("soft-bounce", SimulatedBehavior::Then(LaterEvent::SoftBounce)),
    ("complaint", SimulatedBehavior::Then(LaterEvent::Complaint)),
    ("open", SimulatedBehavior::Then(LaterEvent::Open)),
    ("click", SimulatedBehavior::Then(LaterEvent::Click)),
    ("unsubscribe", SimulatedBehavior::Then(LaterEvent::Unsubscribe)),
];

#[cfg(test)]
pub fn simulated_names() -> Vec<&'static str> {
    SIMULATED_BEHAVIORS.iter().map(|(name, _)| *name).collect()
}

fn behavior(message: &RenderedMessage) -> SimulatedBehavior {
    if !message.recipient.domain_ascii().eq_ignore_ascii_case(SIMULATOR) {
        return SimulatedBehavior::Accepts;
    }
    let local = message.recipient.local();
    let name = local.split_once('+').map_or(local, |(name, _)| name);
    let known = SIMULATED_BEHAVIORS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    // An unknown local part is rejected, as on most mail servers.
    known.map_or(SimulatedBehavior::Refuses, |(_, behavior)| *behavior)
}

/// Stores a message, or simulates the failure that the recipient's address specifies. Returns the event for the recipient's row.
pub fn take(
    tx: &mut WriteTx<'_>,
    mailing: &Mailing,
    number: u32,
    message: &RenderedMessage,
    schedule: Schedule,
    recipient: &Recipient,
) -> Result<Event> {
    let is_first = !matches!(recipient.delivery, Delivery::Handoff { attempt: 2.., .. });
    let behavior = behavior(message);
    match behavior {
        SimulatedBehavior::Defers if is_first => {
            let reply = "450 4.2.1 This simulated mailbox accepts the message at the next attempt.".to_owned();
            return Ok(Event::Deferred { reply, schedule });
        }
        SimulatedBehavior::AlwaysDefers => {
            let reply = "452 4.2.2 This simulated mailbox is full.".to_owned();
            return Ok(Event::Deferred { reply, schedule });
        }
        SimulatedBehavior::Refuses => {
            return Ok(Event::Refused { reply: "550 5.1.1 This simulated mailbox does not exist.".to_owned() });
        }
        SimulatedBehavior::Accepts | SimulatedBehavior::Defers | SimulatedBehavior::Then(_) => {}
    }
    let id = MessageId::make(tx.now(), tx.random());
    store::put(tx, mailing, number, id, message)?;
    if let SimulatedBehavior::Then(later) = behavior {
        let event = match later {
            LaterEvent::SoftBounce => DeliveryEvent::Bounce { hard: false },
            LaterEvent::Complaint => DeliveryEvent::Complaint,
            LaterEvent::Open => DeliveryEvent::Open,
            LaterEvent::Click => DeliveryEvent::Click,
            LaterEvent::Unsubscribe => DeliveryEvent::Unsubscribe,
        };
        let at = tx.now().plus_ms(limits::SIMULATED_PAUSE_MS);
        engagement::schedule_event(tx, at, mailing.id, number, &event);
    }
    Ok(Event::Accepted { reply: format!("250 2.0.0 OK: stored as {id}") })
}
