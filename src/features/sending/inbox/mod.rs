//! The built-in inbox: where everything goes that must not leave the machine.
//!
//! A message is kept with the record that it was sent in one transaction, so it is here exactly once. Each account has room for a
//! number of messages; the oldest give way. Addresses at one reserved domain behave as their names say, so that bounces and complaints
//! can be tried without harm to anybody.

mod store;

pub use store::{Head, all, body, delete, sweep};

use super::letter::Posted;
use super::model::{Delivery, Event, Mailing, Recipient, Schedule};
use super::{engagement, engagement::DeliveryEvent};
use crate::engine::api::Failure;
use crate::engine::store::{Read, Result, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, MessageId};
use crate::vocab::limits;

/// The domain of simulated recipients: under a name that the DNS never has.
pub const SIMULATOR: &str = "simulator.mailmill.example";

/// The account's message with this id, or the failure that says there is none.
pub fn require(tx: &impl Read, account: AccountId, id: MessageId) -> std::result::Result<Head, Failure> {
    let absent = || Failure::because(Code::NotFound, "There is no such message, or newer ones took its place.");
    store::head(tx, account, id)?.ok_or_else(absent)
}

/// What is handed to the inbox.
pub type Kept = Posted;

/// How a simulated recipient behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behaviour {
    Accepts,
    /// Its server says later the first time.
    Defers,
    /// Its server refuses.
    Refuses,
    /// It is accepted, and something happens afterwards.
    Then(Later),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Later {
    SoftBounce,
    Complaint,
    Open,
    Click,
    Unsubscribe,
}

/// TABLE: what the names of simulated recipients mean. What follows a `+` is free.
const BEHAVIOURS: [(&str, Behaviour); 8] = [
    ("delivered", Behaviour::Accepts),
    ("deferred", Behaviour::Defers),
    ("hard-bounce", Behaviour::Refuses),
    ("soft-bounce", Behaviour::Then(Later::SoftBounce)),
    ("complaint", Behaviour::Then(Later::Complaint)),
    ("open", Behaviour::Then(Later::Open)),
    ("click", Behaviour::Then(Later::Click)),
    ("unsubscribe", Behaviour::Then(Later::Unsubscribe)),
];

fn behaviour(posted: &Posted) -> Behaviour {
    if !posted.recipient.domain_ascii().eq_ignore_ascii_case(SIMULATOR) {
        return Behaviour::Accepts;
    }
    let local = posted.recipient.local();
    let name = local.split_once('+').map_or(local, |(name, _)| name);
    let known = BEHAVIOURS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    // As a real server does with a name that it does not have.
    known.map_or(Behaviour::Refuses, |(_, behaviour)| *behaviour)
}

/// Take a message in, or behave as its simulated recipient does; says what became of it.
pub fn take(
    tx: &mut WriteTx<'_>,
    mailing: &Mailing,
    number: u32,
    posted: &Posted,
    schedule: Schedule,
    recipient: &Recipient,
) -> Result<Event> {
    let is_first = !matches!(recipient.delivery, Delivery::Handoff { attempt: 2.., .. });
    let behaviour = behaviour(posted);
    match behaviour {
        Behaviour::Defers if is_first => {
            let reply = "450 4.2.1 This simulated mailbox takes the message at the next try.".to_owned();
            return Ok(Event::Deferred { reply, schedule });
        }
        Behaviour::Refuses => {
            return Ok(Event::Refused { reply: "550 5.1.1 There is no such simulated mailbox.".to_owned() });
        }
        Behaviour::Accepts | Behaviour::Defers | Behaviour::Then(_) => {}
    }
    let id = MessageId::make(tx.now(), tx.random());
    store::put(tx, mailing, number, id, posted)?;
    if let Behaviour::Then(later) = behaviour {
        let happening = match later {
            Later::SoftBounce => DeliveryEvent::Bounce { hard: false },
            Later::Complaint => DeliveryEvent::Complaint,
            Later::Open => DeliveryEvent::Open,
            Later::Click => DeliveryEvent::Click,
            Later::Unsubscribe => DeliveryEvent::Unsubscribe,
        };
        let at = tx.now().plus_ms(limits::SIMULATED_PAUSE_MS);
        engagement::happens(tx, at, mailing.id, number, &happening);
    }
    Ok(Event::Accepted { reply: format!("250 2.0.0 kept as {id}") })
}
