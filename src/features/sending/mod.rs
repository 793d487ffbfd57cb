//! Sending: mailings, the ledger of their recipients, and how messages leave.
//!
//! A mailing is taken on by [`open`] in the caller's transaction; planning writes its audience into the ledger; the dispatcher hands
//! messages over and records what became of them. Invariants: a recipient is in exactly one state of [`Delivery`]; its handoff is
//! durable before the final dot of its message is written, and what was handed over is never sent again by itself.
//!
//! It does not know what campaigns are beyond their ids, nor what recipients do with a message: see [`engagement`].

mod control;
pub mod conversion;
pub mod courier;
pub mod days;
mod delivery;
pub mod dispatch;
pub mod engagement;
pub mod inbox;
mod ledger;
mod letter;
mod local_time;
mod model;
pub mod notices;
mod opening;
pub mod ops;
pub mod orders;
pub mod permit;
mod person;
mod planning;
pub mod quota;
mod retention;
mod sendable;
mod signing;
#[cfg(test)]
mod simulation;
mod store;
pub mod template;
pub mod token;
mod transport;
mod turns;
mod utm;
mod views;
pub mod web;

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::engine::api::{Engine, Failure};
use crate::engine::store::{Read, Result};
use crate::features::suppressions::Digester;
use crate::vocab::environment::Environment;
use crate::vocab::ids::MailingId;
use crate::vocab::permissions::Permission;

pub use control::{cancel, evidence, pause, require, require_not_held, resend_unknown, resume, skip};
pub use local_time::LocalTime;
pub use model::{
    Address, Audience, Content, Counter, Counts, Delivery, Doubt, Kind, Mailing, NewMailing, Plan, Policy, Recipient, Sender,
    Skip, State, To, Tracking, Wait,
};
pub use opening::{open, require_sendable};
pub use planning::{Rehearsal, rehearse};
pub use retention::{Kept, sweep};
#[cfg(test)]
pub use store::deliver;
pub use store::{by_id, content, counts, erase, find, link, mailings_after, recipient};
pub use transport::probe;
pub use turns::under_way;
pub use utm::marked;

/// Any of these lets a key follow a send whose id it has, and see what the plan leaves to send.
const FOLLOWERS: &[Permission] = &[Permission::EmailRead, Permission::EmailSend, Permission::CampaignRead];
/// Any of these lets a key read what was sent.
const READERS: &[Permission] = &[Permission::EmailRead, Permission::CampaignRead];

/// What carries the mail of an environment, in one word for callers.
pub fn provider(engine: &Engine, environment: Environment) -> &'static str {
    match environment {
        Environment::Live if !engine.settings.mail.development => "smtp",
        Environment::Live | Environment::Test => "inbox",
    }
}

/// One step of writing audiences into the ledger. True if there may be more.
pub async fn plan(engine: &Arc<Engine>, environment: Environment) -> std::result::Result<bool, Failure> {
    let (store, digester) = (engine.world(environment).store.clone(), Digester::new(&engine.seal));
    let step = tokio::task::spawn_blocking(move || planning::step(&store, &digester)).await;
    step.map_err(Failure::internal)?
}

/// A part of a mailing's ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipients {
    pub rows: Vec<(u32, Recipient)>,
    /// Where the next part begins, if there may be one.
    pub next: Option<u32>,
}

/// Up to `limit` recipients of a mailing from number `from` on that are `wanted`. Of a long ledger without any that are, only a part
/// is looked through: `next` then says where to go on.
pub fn recipients(
    tx: &impl Read,
    id: MailingId,
    from: u32,
    limit: usize,
    wanted: impl Fn(u32, &Delivery) -> bool,
) -> Result<Recipients> {
    let mut found = Recipients::default();
    let mut looked = 0;
    store::visit_recipients(tx, id, from, |number, recipient| {
        if found.rows.len() == limit || looked == crate::vocab::limits::LEDGER_ROWS_LOOKED_AT_MAX {
            found.next = Some(number);
            return Ok(ControlFlow::Break(()));
        }
        looked += 1;
        if wanted(number, &recipient.delivery) {
            found.rows.push((number, recipient));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}
