//! What servers said while we delivered, and what simulated recipients do: taken from the queue that sending writes.

use super::bounces::{self, List};
use super::leaving::{self, Scope};
use super::model::Bounce;
use super::person::Person;
use super::recording;
use crate::base::clock::Timestamp;
use crate::engine::access::visits::Visit;
use crate::engine::api::{Engine, Failure};
use crate::engine::mail::inbound::replies;
use crate::engine::store::{Result, WriteTx};
use crate::features::contacts::Source;
use crate::features::sending;
use crate::features::sending::engagement::{self, Happening};
use crate::features::suppressions::Source as SaidBy;
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// A simulated recipient's mail client.
const SIMULATED_AGENT: &str = "Mozilla/5.0 (simulated recipient)";

/// Make something of what has happened; true if there may be more.
pub async fn step(engine: &Engine, environment: Environment) -> Result<bool, Failure> {
    let store = &engine.world(environment).store;
    if engagement::happened(&store.read(), engine.clock.now(), 1)?.is_empty() {
        return Ok(false);
    }
    let list = List::new(engine);
    Ok(store.write(move |tx| take(tx, &list)).await??)
}

fn take(tx: &mut WriteTx<'_>, list: &List) -> Result<bool> {
    let due = engagement::happened(tx, tx.now(), limits::HAPPENINGS_PER_STEP)?;
    for (key, happening) in &due {
        engagement::is_done(tx, key);
        let (_, mailing, number) = *key;
        if let Some(person) = Person::find(tx, mailing, number)? {
            act(tx, list, &person, happening)?;
        }
    }
    Ok(due.len() == limits::HAPPENINGS_PER_STEP)
}

fn act(tx: &mut WriteTx<'_>, list: &List, person: &Person, happening: &Happening) -> Result<()> {
    let mut bounced = |class, words: &str| bounces::bounced(tx, list, person, (class, SaidBy::Smtp), words).map(drop);
    match happening {
        Happening::Refused { reply } => bounced(replies::class(None, reply).into(), reply),
        Happening::Bounce { hard: true } => bounced(Bounce::Hard, "550 5.1.1 simulated"),
        Happening::Bounce { hard: false } => bounced(Bounce::Soft, "552 5.2.2 simulated"),
        Happening::Complaint => bounces::complained(tx, list, person, "abuse").map(drop),
        Happening::Open => recording::record(tx, &[visit(person, None, tx.now())]),
        Happening::Click => match sending::link(tx, person.mailing.translation_for(&person.recipient), 0)? {
            Some(_) => recording::record(tx, &[visit(person, Some(0), tx.now())]),
            // Nothing to click; whoever would have has opened the message all the same.
            None => recording::record(tx, &[visit(person, None, tx.now())]),
        },
        Happening::Unsubscribe => leaving::leave(tx, list, person, Scope::List, Source::OneClick),
    }
}

fn visit(person: &Person, link: Option<u16>, at: Timestamp) -> Visit {
    Visit {
        mailing: person.mailing.id,
        recipient: person.number,
        link,
        at,
        agent: SIMULATED_AGENT.into(),
        is_head: false,
        is_ahead: false,
    }
}
