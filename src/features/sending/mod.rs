//! Sending: mailings, their recipient rows, and the delivery of messages.
//!
//! [`create`] creates a mailing in the caller's transaction. Planning then writes its recipient rows, and the dispatcher hands messages
//! over and records the replies. Invariants: a recipient is in exactly one state of [`Delivery`]; the handoff of a message is on disk
//! before the message's final dot is sent; and a message whose delivery is unknown is sent again only if a user requests it or the
//! campaign's policy is to resend.
//!
//! This feature refers to campaigns only by their IDs, and does not handle what recipients do with a message: see `features/tracking`.

mod control;
mod create;
mod delivery;
pub mod dispatch;
mod draft;
mod eligibility;
pub mod inbox;
mod local_time;
mod merge_data;
mod message;
mod model;
pub mod ops;
mod planning;
pub mod preflight;
mod recipient_writer;
mod recipients;
mod retention;
mod service_headers;
mod signing;
#[cfg(test)]
mod simulation;
mod store;
pub mod system_mail;
pub mod template;
pub mod test_send;
pub mod timeline;
pub mod token;
mod transport;
mod utm;
pub mod views;
pub mod web;
pub mod webhook_events;
pub mod worker;

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
    Address, Audience, Content, Counter, Counts, Delivery, Mailing, MailingKind, NewMailing, Plan, Policy, Recipient, Sender,
    Skip, State, To, Tracking, Translation, UnknownReason, WaitReason,
};
pub use planning::{DryRun, dry_run};
#[cfg(test)]
pub use recipients::deliver;
pub use retention::{Retention, sweep};
pub use service_headers::relay_services;
pub use store::ROW_CHECKS;
pub use store::inbox::ROW_CHECKS as INBOX_ROW_CHECKS;
pub use store::send_queue::ROW_CHECKS as QUEUE_ROW_CHECKS;
pub use store::send_queue::under_way;
pub use store::{by_id, content, counts, erase, find, link, mailings_after, quota, recipient};
pub use transport::probe;
pub use utm::marked;

/// A key needs one of these permissions to read the remaining quota, or a send by its ID.
const FOLLOWERS: &[Permission] = &[Permission::EmailRead, Permission::EmailSend, Permission::CampaignRead];
/// A key needs one of these permissions to read sent messages.
const READERS: &[Permission] = &[Permission::EmailRead, Permission::CampaignRead];

/// Returns the wire name of the provider that delivers an environment's mail.
pub fn provider(engine: &Engine, environment: Environment) -> &'static str {
    match environment {
        Environment::Live if !engine.settings.mail.development => "smtp",
        Environment::Live | Environment::Test => "inbox",
    }
}

/// Runs one step of planning audiences. Returns true if there may be more steps.
pub async fn plan(engine: &Arc<Engine>, environment: Environment) -> std::result::Result<bool, Failure> {
    let (store, digester) = (engine.data(environment).store.clone(), Digester::new(&engine.seal));
    let step = tokio::task::spawn_blocking(move || planning::step(&store, &digester)).await;
    step.map_err(Failure::internal)?
}

/// A page of a mailing's recipients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipients {
    pub rows: Vec<(u32, Recipient)>,
    /// The number of the first recipient on the next page, if there may be one.
    pub next: Option<u32>,
}

/// Returns up to `limit` recipients of a mailing that match `wanted`, starting at number `from`. Scans a limited number of rows, so a page
/// can contain fewer than `limit` recipients although more follow; `next` is the number at which to continue.
pub fn recipients(
    tx: &impl Read,
    id: MailingId,
    from: u32,
    limit: usize,
    wanted: impl Fn(u32, &Delivery) -> bool,
) -> Result<Recipients> {
    let mut found = Recipients::default();
    let mut scanned = 0;
    store::visit_recipients(tx, id, from, |number, recipient| {
        if found.rows.len() == limit || scanned == crate::vocab::limits::RECIPIENT_ROWS_SCANNED_MAX {
            found.next = Some(number);
            return Ok(ControlFlow::Break(()));
        }
        scanned += 1;
        if wanted(number, &recipient.delivery) {
            found.rows.push((number, recipient));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}
