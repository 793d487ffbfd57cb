//! Sending: mailings, their recipient rows, and the delivery of messages.
//!
//! [`create`] creates a mailing in the caller's transaction; planning writes its recipient rows; the dispatcher hands messages over and
//! records the outcomes. Invariants: a recipient is in exactly one state of [`Delivery`]; its handoff is durable before the final dot of
//! its message is written; and a message that was handed over is never sent again automatically.
//!
//! It knows only the ids of campaigns, and not what recipients do with a message: see [`engagement`].

mod control;
pub mod conversion;
mod create;
pub mod daily_stats;
mod delivery;
pub mod dispatch;
mod eligibility;
pub mod engagement;
pub mod inbox;
mod local_time;
mod merge_data;
mod message;
mod model;
pub mod ops;
pub mod orders;
mod planning;
pub mod preflight;
pub mod quota;
mod recipient_writer;
mod retention;
mod send_queue;
mod signing;
#[cfg(test)]
mod simulation;
mod store;
pub mod system_mail;
pub mod template;
pub mod token;
mod transport;
mod utm;
mod views;
pub mod web;
pub mod webhook_events;

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::engine::api::{Engine, Failure};
use crate::engine::store::{Read, Result};
use crate::features::suppressions::Digester;
use crate::vocab::environment::Environment;
use crate::vocab::ids::MailingId;
use crate::vocab::permissions::Permission;

pub use control::{cancel, evidence, pause, require, require_not_held, resend_unknown, resume, skip};
pub use create::{create, require_sendable};
pub use local_time::LocalTime;
pub use merge_data::{email_sent_to, row_of};
pub use model::{
    Address, Audience, Content, Counter, Counts, Delivery, Kind, Mailing, NewMailing, Plan, Policy, Recipient, Sender, Skip,
    State, To, Tracking, Translation, UnknownReason, WaitReason,
};
pub use planning::{DryRun, dry_run};
pub use retention::{Retention, sweep};
pub use send_queue::under_way;
#[cfg(test)]
pub use store::deliver;
pub use store::{by_id, content, counts, erase, find, link, mailings_after, recipient};
pub use transport::probe;
pub use utm::marked;

/// Any of these lets a key read a send whose id it has, and see the remaining quota.
const FOLLOWERS: &[Permission] = &[Permission::EmailRead, Permission::EmailSend, Permission::CampaignRead];
/// Any of these lets a key read sent messages.
const READERS: &[Permission] = &[Permission::EmailRead, Permission::CampaignRead];

/// Returns the wire name of what delivers an environment's mail.
pub fn provider(engine: &Engine, environment: Environment) -> &'static str {
    match environment {
        Environment::Live if !engine.settings.mail.development => "smtp",
        Environment::Live | Environment::Test => "inbox",
    }
}

/// Runs one step of planning audiences. Returns true if there may be more.
pub async fn plan(engine: &Arc<Engine>, environment: Environment) -> std::result::Result<bool, Failure> {
    let (store, digester) = (engine.data(environment).store.clone(), Digester::new(&engine.seal));
    let step = tokio::task::spawn_blocking(move || planning::step(&store, &digester)).await;
    step.map_err(Failure::internal)?
}

/// A page of a mailing's recipients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipients {
    pub rows: Vec<(u32, Recipient)>,
    /// Where the next page starts, if there may be one.
    pub next: Option<u32>,
}

/// Returns up to `limit` recipients of a mailing from number `from` that match `wanted`. If a long mailing has few matches, only part of it
/// is scanned; `next` says where to continue.
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
        if found.rows.len() == limit || looked == crate::vocab::limits::RECIPIENT_ROWS_SCANNED_MAX {
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
