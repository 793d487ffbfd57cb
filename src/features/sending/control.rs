//! Pauses, resumes and cancels mailings, resends messages whose delivery is unknown, records evidence of deliveries, and skips
//! recipients.

use serde_json::json;

use super::model::{Counter, Delivery, Event, Mailing, Skip, State};
use super::quota::{self, SentCount};
use super::views::status;
use super::{recipient_writer, recipients, store, webhook_events};
use crate::engine::api::Failure;
use crate::engine::hold::Hold;
use crate::engine::store::{Read, Result as StoreResult, WriteTx};
use crate::features::contact_records::activity;
use crate::features::sending::store::send_queue;
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, MailingId};
use crate::vocab::webhook_events::WebhookEvent;

/// Returns the mailing with this ID if it belongs to the account; otherwise returns `NotFound`.
pub fn require(tx: &impl Read, account: AccountId, id: MailingId) -> Result<Mailing, Failure> {
    let absent = || Failure::because(Code::NotFound, "The account has no direct send or batch with this ID.");
    store::find(tx, account, id)?.ok_or_else(absent)
}

/// Rejects a change to a mailing that is on hold. A success response would be misleading, because the mailing would not resume.
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
    change: impl FnOnce(&mut Mailing) -> bool,
) -> Result<Mailing, Failure> {
    let mut mailing = require(tx, account, id)?;
    if !change(&mut mailing) {
        let status = status(&mailing, &store::counts(tx, id)?);
        let detail = format!("This action is not possible, because the status of the send is {status}.");
        return Err(Failure::because(Code::WrongState, detail).with(json!({ "status": status })));
    }
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

/// Queues the message again for recipients whose delivery is unknown, at the risk of sending duplicates. Returns the number of these
/// recipients.
pub fn resend_unknown(tx: &mut WriteTx<'_>, account: AccountId, id: MailingId) -> Result<u64, Failure> {
    let mut mailing = require(tx, account, id)?;
    if matches!(mailing.state, State::Cancelled { .. } | State::Failed { .. } | State::Planning) {
        let status = status(&mailing, &store::counts(tx, id)?);
        let detail = format!("Nothing can be sent again, because the status of the send is {status}.");
        return Err(Failure::because(Code::WrongState, detail).with(json!({ "status": status })));
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
    let (Delivery::Unknown { at, .. } | Delivery::Handoff { at, .. }) = recipient.delivery else { return Ok(false) };
    let Some(mailing) = store::by_id(tx, id)? else { return Ok(false) };
    if recipients::advance(tx, &mailing, number, &recipient, Event::Evidence { what })?.is_err() {
        return Ok(false);
    }
    // The recipient writer makes the same updates when the mail server replies. A reply that arrives after this evidence has no effect, so
    // nothing is counted twice.
    quota::count(tx, mailing.account, SentCount::Sent, 1, tx.now())?;
    if let Some((project, contact, sent)) = recipient_writer::sent_activity(tx, &mailing, (number, &recipient), at)? {
        activity::note(tx, project, &[(contact, sent)])?;
    }
    if webhook_events::is_wanted(tx, &mailing, WebhookEvent::EmailDelivered)? {
        webhook_events::delivered(tx, &mailing, number, &recipient)?;
    }
    Ok(true)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::contact_records::activity::Action;
    use crate::features::sending::UnknownReason;
    use crate::testing::TestApp;
    use crate::vocab::ids::ContactId;

    // Regression test: if a message's delivery was known only from evidence, the account's totals did not include it, and the contact's
    // timeline and data did not list it.
    #[test]
    fn a_delivery_known_from_evidence_is_counted_and_listed_like_one_known_from_a_reply() {
        let app = TestApp::new();
        let contact = app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data()["id"].clone();
        let contact = ContactId::parse(contact.as_str().expect("the ID is a string")).expect("the ID is valid").number();
        let body = json!({
            "recipientType": "email", "recipientEmail": "ada@example.com", "from": "a@example.com", "subject": "Hello",
            "template": "<p>Hello</p>",
        });
        let send = app.post_in("/v1/sending", body).data()["sendId"].clone();
        let id = MailingId::parse(send.as_str().expect("the ID is a string")).expect("the ID is valid");
        let prove = move |tx: &mut WriteTx<'_>| -> StoreResult<bool> {
            for event in [Event::Claim { epoch: 1 }, Event::Lost { why: UnknownReason::Crash }] {
                let mailing = store::by_id(tx, id)?.expect("the row exists");
                let recipient = store::recipient(tx, id, 0)?.expect("the row exists");
                recipients::advance(tx, &mailing, 0, &recipient, event)?.expect("the event applies to the state");
            }
            evidence(tx, id, 0, "a click")
        };
        let is_new = app.data().store.write_blocking(prove).expect("the store can be written").expect("the store can be read");
        assert!(is_new);
        assert_eq!(app.get("/v1/metrics/sending").data()["monthly"]["sent"], 1);
        let activities = activity::of(&app.read(), app.project, contact, 10).expect("the store can be read");
        let activities: Vec<_> = activities.iter().map(|activity| (activity.action, activity.mailing)).collect();
        assert_eq!(activities, [(Action::Sent, id)]);
    }

    // Regression test: the error contained the stored state, such as `finished`, which is not a status in the API.
    #[test]
    fn a_refused_change_names_the_status_in_the_api() {
        let app = TestApp::new();
        let body = json!({
            "recipientType": "email", "recipientEmail": "ada@example.com", "from": "a@example.com", "subject": "Hello",
            "template": "<p>Hello</p>",
        });
        let send = app.post_in("/v1/sending", body).data()["sendId"].clone();
        let id = MailingId::parse(send.as_str().expect("the ID is a string")).expect("the ID is valid");
        let end = move |tx: &mut WriteTx<'_>| -> StoreResult<()> {
            let mut mailing = store::by_id(tx, id)?.expect("the row exists");
            mailing.state = State::Finished { at: tx.now() };
            recipients::save(tx, &mailing)
        };
        app.data().store.write_blocking(end).expect("the store can be written").expect("the store can be read");
        let refused = app.post(&format!("/v1/sending/batches/{id}/cancel"), json!({}));
        assert_eq!((refused.refusal().0, &refused.body["data"]["status"]), (409, &json!("completed")), "{refused:?}");
    }
}
