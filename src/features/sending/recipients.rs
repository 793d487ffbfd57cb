//! Changes to mailings and their recipients, including all data that depends on them: queues, retries, counts, daily statistics and quotas.
//!
//! Invariant: a recipient's delivery state changes only through [`advance`], which also updates the counts and the retry table.

use super::model::{Counter, DIRECT, Delivery, Event, Mailing, Recipient, Refusal};
use super::{quota, store};
use crate::engine::store::{Result, WriteTx};
use crate::features::engagement::{self, Measure, StatsMailing};
use crate::features::sending::store::send_queue;
use crate::vocab::ids::{EmailId, MailingId};

/// Stores a mailing, and adds it to the queue for its state.
pub fn save(tx: &mut WriteTx<'_>, mailing: &Mailing) -> Result<()> {
    store::put(tx, mailing);
    send_queue::requeue(tx, mailing)
}

/// Adds a recipient who has no row yet. The caller updates the counts.
pub fn add(tx: &mut WriteTx<'_>, id: MailingId, number: u32, recipient: &Recipient) {
    if let Delivery::Deferred { next_at, .. } = recipient.delivery {
        send_queue::note_retry(tx, id, next_at, number);
    }
    store::put_recipient(tx, id, number, recipient);
}

/// Marks a recipient's message as accepted, for tests.
#[cfg(test)]
pub fn deliver(tx: &mut WriteTx<'_>, id: MailingId, number: u32) -> Result<()> {
    let mailing = store::by_id(tx, id)?.expect("the row exists");
    for event in [Event::Claim { epoch: 1 }, Event::Accepted { reply: "250 ok".into() }] {
        let recipient = store::recipient(tx, id, number)?.expect("the row exists");
        advance(tx, &mailing, number, &recipient, event)?.expect("the row is queued");
    }
    Ok(())
}

/// Deletes a direct send and its recipients in one step, because a direct send has few recipients.
pub fn forget(tx: &mut WriteTx<'_>, mailing: &Mailing) -> Result<()> {
    let id = mailing.id;
    send_queue::dequeue(tx, id)?;
    store::remove_direct(tx, id)
}

/// Applies an event to a recipient: updates the row, the counts and the retries.
pub fn advance(
    tx: &mut WriteTx<'_>,
    mailing: &Mailing,
    number: u32,
    recipient: &Recipient,
    event: Event,
) -> Result<Result<Delivery, Refusal>> {
    let id = mailing.id;
    let next = match recipient.delivery.after(event, tx.now()) {
        Ok(next) => next,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if let Delivery::Deferred { next_at, .. } = recipient.delivery {
        send_queue::drop_retry(tx, mailing, next_at, number)?;
    }
    if let Delivery::Deferred { next_at, .. } = next {
        send_queue::put_retry(tx, mailing, next_at, number)?;
    }
    let (before, after) = (recipient.delivery.counter(), next.counter());
    if before != after {
        let email = mailing.translation_for(recipient).email;
        for (counter, many) in [(before, -1), (after, 1)] {
            count(tx, mailing, counter, many)?;
            count_day(tx, (mailing.for_stats(), email), counter, many)?;
        }
    }
    tracing::debug!(mailing = %id, number, from = recipient.delivery.word(), to = next.word(), reason = reason(&next), "delivery");
    let changed = Recipient { address: recipient.address.clone(), delivery: next, translation: recipient.translation };
    store::put_recipient(tx, id, number, &changed);
    Ok(Ok(changed.delivery))
}

/// Returns the reason to log: the codes of a reply without its text, which often contains the recipient's address.
pub fn reason(delivery: &Delivery) -> &str {
    match delivery {
        Delivery::Sent { reply, .. } | Delivery::Deferred { reply, .. } | Delivery::Failed { reply, .. } => {
            let codes = reply.find(|character: char| !matches!(character, '0'..='9' | '.' | ' ' | '-')).unwrap_or(reply.len());
            reply[..codes].trim_end()
        }
        Delivery::Unknown { why, .. } => why.word(),
        Delivery::Skipped { why } => why.word(),
        Delivery::Queued | Delivery::Handoff { .. } => "",
    }
}

/// Adds `many` to a mailing's count of recipients in a state. For queued recipients of a direct send, also updates the account's count of
/// queued emails.
pub fn count(tx: &mut WriteTx<'_>, mailing: &Mailing, counter: Counter, many: i64) -> Result<()> {
    if counter == Counter::QUEUED && mailing.kind.lane() == DIRECT {
        quota::add_waiting(tx, mailing.account, many)?;
    }
    store::add_count(tx, mailing.id, counter, many)
}

/// Adds `many` to the day's count of sent or failed messages. Other counters have no daily statistics.
fn count_day(tx: &mut WriteTx<'_>, of: (StatsMailing, Option<EmailId>), counter: Counter, many: i64) -> Result<()> {
    match counter {
        Counter::SENT => engagement::add_day(tx, of, Measure::Sent, many),
        Counter::FAILED => engagement::add_day(tx, of, Measure::Failed, many),
        _ => Ok(()),
    }
}
