//! Pauses, resumes and cancels mailings, resends messages whose delivery is unknown, records evidence of deliveries, and skips
//! recipients.

use serde_json::json;

use super::model::{Counter, Delivery, Event, Mailing, Skip, State};
use super::{recipients, store, webhook_events};
use crate::engine::api::Failure;
use crate::engine::hold::Hold;
use crate::engine::store::{Read, Result as StoreResult, WriteTx};
use crate::features::sending::store::send_queue;
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, MailingId};
use crate::vocab::webhook_events::WebhookEvent;

/// Returns the mailing with this ID if it belongs to the account, or else `NotFound`.
pub fn require(tx: &impl Read, account: AccountId, id: MailingId) -> Result<Mailing, Failure> {
    let absent = || Failure::because(Code::NotFound, "The account has no direct send or batch with this ID.");
    store::find(tx, account, id)?.ok_or_else(absent)
}

/// Rejects a change to a mailing that is on hold: a success response would be wrong, because the mailing would not resume.
pub fn require_not_held(tx: &impl Read, hold: &Hold, account: AccountId, id: MailingId) -> Result<(), Failure> {
    match hold.holds(require(tx, account, id)?.hold_number) {
        true => Err(Code::OnHold.into()),
        false => Ok(()),
    }
}

fn change(
    tx: &mut WriteTx<'_>,
    account: AccountId,
    id: MailingId,
    change: impl FnOnce(&mut Mailing) -> Result<(), &'static str>,
) -> Result<Mailing, Failure> {
    let mut mailing = require(tx, account, id)?;
    change(&mut mailing).map_err(|word| {
        let detail = format!("This action is not possible for a send with the status {word}.");
        Failure::because(Code::WrongState, detail).with(json!({ "status": word }))
    })?;
    mailing.updated_at = tx.now();
    recipients::save(tx, &mailing)?;
    Ok(mailing)
}

/// Pauses a mailing. Replies to messages that were already handed over are still recorded.
pub fn pause(tx: &mut WriteTx<'_>, account: AccountId, id: MailingId) -> Result<Mailing, Failure> {
    change(tx, account, id, Mailing::pause)
}

pub fn resume(tx: &mut WriteTx<'_>, account: AccountId, id: MailingId) -> Result<Mailing, Failure> {
    change(tx, account, id, Mailing::resume)
}

/// Cancels a mailing. The worker then marks the waiting recipients as skipped.
pub fn cancel(tx: &mut WriteTx<'_>, account: AccountId, id: MailingId) -> Result<Mailing, Failure> {
    let now = tx.now();
    change(tx, account, id, |mailing| mailing.cancel(now))
}

/// Queues the message again for recipients whose delivery is unknown, at the risk of duplicates. Returns the number of these
/// recipients.
pub fn resend_unknown(tx: &mut WriteTx<'_>, account: AccountId, id: MailingId) -> Result<u64, Failure> {
    let mut mailing = require(tx, account, id)?;
    if matches!(mailing.state, State::Cancelled { .. } | State::Failed { .. } | State::Planning) {
        let word = mailing.word();
        let detail = format!("A send with the status {word} cannot be sent again.");
        return Err(Failure::because(Code::WrongState, detail).with(json!({ "status": word })));
    }
    let unknown = store::counted(tx, id, Counter::UNKNOWN)?;
    let mut found = Vec::new();
    store::visit_counted(
        tx,
        id,
        0,
        |counter| counter == Counter::UNKNOWN,
        |number, recipient| {
            found.extend(recipient.map(|recipient| (number, recipient)));
            let all = found.len() as u64 == unknown;
            Ok(if all { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) })
        },
    )?;
    for (number, recipient) in &found {
        recipients::advance(tx, &mailing, *number, recipient, Event::Resend)?
            .expect("a recipient whose delivery is unknown can be queued again");
    }
    if let Some((first, _)) = found.first() {
        let cursor = store::cursor(tx, id)?.min(*first);
        store::set_cursor(tx, id, cursor);
        if mailing.state.is_final() {
            mailing.state = State::Sending;
        }
        mailing.updated_at = tx.now();
        recipients::save(tx, &mailing)?;
        if mailing.state.may_send() {
            send_queue::enqueue(tx, &mailing);
        }
    }
    Ok(found.len() as u64)
}

/// Records evidence that a mail server accepted the message, such as a click, an unsubscribe or a bounce. Returns true if this
/// changed the recipient's state from unknown or handoff to sent.
pub fn evidence(tx: &mut WriteTx<'_>, id: MailingId, number: u32, what: &'static str) -> StoreResult<bool> {
    let Some(recipient) = store::recipient(tx, id, number)? else { return Ok(false) };
    if !matches!(recipient.delivery, Delivery::Unknown { .. } | Delivery::Handoff { .. }) {
        return Ok(false);
    }
    let Some(mailing) = store::by_id(tx, id)? else { return Ok(false) };
    let advanced = recipients::advance(tx, &mailing, number, &recipient, Event::Evidence { what })?.is_ok();
    if advanced && webhook_events::is_wanted(tx, &mailing, WebhookEvent::EmailDelivered)? {
        webhook_events::delivered(tx, &mailing, number, &recipient)?;
    }
    Ok(advanced)
}

/// Skips the recipients with these numbers, if they are queued or deferred. Returns how many were skipped.
pub fn skip(tx: &mut WriteTx<'_>, id: MailingId, numbers: &[u32], why: &Skip) -> StoreResult<u64> {
    let Some(mailing) = store::by_id(tx, id)? else { return Ok(0) };
    let mut skipped = 0;
    for number in numbers {
        let Some(recipient) = store::recipient(tx, id, *number)? else { continue };
        let event = Event::Skip { why: why.clone() };
        skipped += u64::from(recipients::advance(tx, &mailing, *number, &recipient, event)?.is_ok());
    }
    Ok(skipped)
}
