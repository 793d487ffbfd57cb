//! The tables of mailings and all access to them.
//!
//! Invariant: a recipient's row changes only through [`advance`], which keeps the counts and the retry table in sync with it.

use std::ops::ControlFlow;

use roaring::RoaringBitmap;

use super::engagement::{self, Measure};
use super::model::{Content, ContentId, Counter, Counts, DIRECT, Delivery, Event, Mailing, Recipient, Refusal, Translation};
use super::retention::SweepPosition;
use super::{quota, send_queue};
use crate::base::clock::Timestamp;
use crate::base::secret::sha256;
use crate::engine::store::bitmap::{self, Block, Delta};
use crate::engine::store::key::{Key, after_prefix};
use crate::engine::store::{Error, Order, Read, Result, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, EmailId, MailingId};
use crate::vocab::{limits, tables};

const MAILINGS: Table<MailingId, Mailing> = Table::new(tables::MAILINGS);
const TEXTS: Table<(ContentId, u8), Vec<u8>> = Table::new(tables::MAILING_TEXTS);
const LINKS: Table<(ContentId, u16), Vec<u8>> = Table::new(tables::MAILING_LINKS);
const COUNTS: Table<(MailingId, u8), i64> = Table::new(tables::MAILING_COUNTS);
const RECIPIENTS: Table<(MailingId, u32), Recipient> = Table::new(tables::RECIPIENTS);
const AUDIENCES: Table<(MailingId, u16), Block> = Table::new(tables::MAILING_AUDIENCES);
const META: Table<String, Vec<u8>> = Table::new(tables::META);

/// In [`COUNTS`]: not a count but the first number that may not be settled yet.
const CURSOR: u8 = 255;
/// In [`COUNTS`]: not a count but when the mailing continues automatically.
const TURN: u8 = 254;
/// In [`META`]: how many dispatchers have started on this file.
const EPOCH: &str = "sending-epoch";
/// In [`META`]: the position of the sweep over all mailings.
const SWEPT: &str = "sending-swept";

/// The parts of a content in [`TEXTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Subject = 0,
    Preheader = 1,
    Html = 2,
    Text = 3,
    /// The fields that every recipient must have, as a template of only these.
    Needs = 4,
    /// The number of mailings that use it.
    Uses = 255,
}

/// Returns the account's mailing with this id.
pub fn find(tx: &impl Read, account: AccountId, id: MailingId) -> Result<Option<Mailing>> {
    Ok(by_id(tx, id)?.filter(|mailing| mailing.account == account))
}

/// Returns the mailing with this id, of any account.
pub fn by_id(tx: &impl Read, id: MailingId) -> Result<Option<Mailing>> {
    tx.get(MAILINGS, &id)
}

/// Stores a mailing, and puts it into the queue for its state.
pub fn save(tx: &mut WriteTx<'_>, mailing: &Mailing) -> Result<()> {
    tx.put(MAILINGS, &mailing.id, mailing);
    send_queue::requeue(tx, mailing)
}

/// Returns the key of a content: mailings of one account with the same texts share it.
pub fn content_id(account: AccountId, content: &Content) -> ContentId {
    let mut bytes = account.0.to_vec();
    let parts = [Some(&content.subject), content.preheader.as_ref(), Some(&content.html), content.text.as_ref()];
    for part in parts {
        // Lengths separate the texts, so that different texts cannot give the same bytes.
        bytes.extend_from_slice(&part.map_or(u64::MAX, |text| text.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.map_or(&[][..], |text| text.as_bytes()));
    }
    *sha256(&bytes).first_chunk().expect("a SHA-256 sum has 32 bytes")
}

/// Stores a content for one more mailing; returns true if it was not stored before.
pub fn keep_content(tx: &mut WriteTx<'_>, id: ContentId, content: &Content) -> Result<bool> {
    let uses = uses(tx, id)?;
    tx.put(TEXTS, &(id, Part::Uses as u8), &(uses + 1).to_le_bytes().to_vec());
    if uses > 0 {
        return Ok(false);
    }
    let texts = [
        (Part::Subject, Some(&content.subject)),
        (Part::Preheader, content.preheader.as_ref()),
        (Part::Html, Some(&content.html)),
        (Part::Text, content.text.as_ref()),
    ];
    for (part, text) in texts {
        if let Some(text) = text {
            tx.put_bytes(TEXTS.id, (id, part as u8).to_bytes(), text.clone().into_bytes());
        }
    }
    Ok(true)
}

/// Releases a content; it is deleted with the last mailing that uses it.
pub fn drop_content(tx: &mut WriteTx<'_>, id: ContentId) -> Result<()> {
    match uses(tx, id)? {
        0 | 1 => {
            tx.delete_span(TEXTS, &TEXTS.under(&(id,)), usize::from(u8::MAX) + 1)?;
            tx.delete_span(LINKS, &LINKS.under(&(id,)), limits::MAILING_LINKS_MAX)?;
        }
        uses => tx.put(TEXTS, &(id, Part::Uses as u8), &(uses - 1).to_le_bytes().to_vec()),
    }
    Ok(())
}

/// Deletes a direct send with its recipients, who are few.
pub fn forget(tx: &mut WriteTx<'_>, mailing: &Mailing) -> Result<()> {
    let id = mailing.id;
    send_queue::dequeue(tx, id)?;
    tx.delete_span(RECIPIENTS, &RECIPIENTS.under(&(id,)), limits::DIRECT_RECIPIENTS_MAX)?;
    tx.delete_span(COUNTS, &COUNTS.under(&(id,)), usize::from(u8::MAX) + 1)?;
    tx.delete(MAILINGS, &id);
    Ok(())
}

/// Returns the position of the sweep over all mailings.
pub fn sweep_position(tx: &impl Read) -> Result<Option<SweepPosition>> {
    let Some(bytes) = tx.get(META, &SWEPT.to_owned())? else { return Ok(None) };
    let mut bytes = bytes.as_slice();
    let position = Timestamp::read(&mut bytes).map(|began_at| SweepPosition { after: MailingId::read(&mut bytes), began_at });
    Ok(position)
}

/// Stores the position of the sweep.
pub fn set_sweep_position(tx: &mut WriteTx<'_>, position: SweepPosition) {
    let mut bytes = position.began_at.to_bytes();
    bytes.extend(position.after.map(|after| after.to_bytes()).unwrap_or_default());
    tx.put(META, &SWEPT.to_owned(), &bytes);
}

/// Returns how many mailings use a content.
pub(super) fn uses(tx: &impl Read, id: ContentId) -> Result<u64> {
    let row = tx.get(TEXTS, &(id, Part::Uses as u8))?;
    Ok(row.and_then(|bytes| Some(u64::from_le_bytes(bytes.try_into().ok()?))).unwrap_or(0))
}

/// Returns the texts of one of a mailing's translations.
pub fn content(tx: &impl Read, mailing: &Mailing, translation: &Translation) -> Result<Content> {
    let text = |part: Part| -> Result<Option<String>> {
        let bytes = tx.get(TEXTS, &(translation.content, part as u8))?;
        Ok(bytes.map(|bytes| String::from_utf8(bytes).expect("only `keep_content` writes these bytes, from text")))
    };
    let missing = || Error::Corrupt(tables::MAILING_TEXTS.info().name);
    Ok(Content {
        language: translation.language.clone(),
        email: translation.email,
        conversation: mailing.conversation,
        subject: text(Part::Subject)?.ok_or_else(missing)?,
        preheader: text(Part::Preheader)?,
        html: text(Part::Html)?.ok_or_else(missing)?,
        text: text(Part::Text)?,
    })
}

/// Stores which fields a content requires of every recipient.
pub fn keep_needs(tx: &mut WriteTx<'_>, id: ContentId, needs: &str) {
    tx.put(TEXTS, &(id, Part::Needs as u8), &needs.as_bytes().to_vec());
}

/// Returns the fields that a content requires of every recipient, as a template of only these.
pub fn needs(tx: &impl Read, id: ContentId) -> Result<String> {
    let bytes = tx.get(TEXTS, &(id, Part::Needs as u8))?.unwrap_or_default();
    Ok(String::from_utf8(bytes).expect("only `keep_needs` writes these bytes, from text"))
}

/// Stores the targets of a content's links, in order.
pub fn keep_links(tx: &mut WriteTx<'_>, id: ContentId, links: &[String]) {
    for (number, link) in links.iter().enumerate() {
        let number = u16::try_from(number).expect("a content has fewer links than limits allow");
        tx.put(LINKS, &(id, number), &link.clone().into_bytes());
    }
}

/// Returns the target of a translation's link: a URL that may contain merge fields.
pub fn link(tx: &impl Read, translation: &Translation, number: u16) -> Result<Option<String>> {
    let bytes = tx.get(LINKS, &(translation.content, number))?;
    Ok(bytes.map(|bytes| String::from_utf8(bytes).expect("only `keep_links` writes these bytes, from text")))
}

/// Adds a recipient that has no row yet. The caller updates the counts.
pub fn add(tx: &mut WriteTx<'_>, id: MailingId, number: u32, recipient: &Recipient) {
    if let Delivery::Deferred { next_at, .. } = recipient.delivery {
        send_queue::note_retry(tx, id, next_at, number);
    }
    tx.put(RECIPIENTS, &(id, number), recipient);
}

/// Returns a recipient of a mailing.
pub fn recipient(tx: &impl Read, id: MailingId, number: u32) -> Result<Option<Recipient>> {
    tx.get(RECIPIENTS, &(id, number))
}

/// Removes all personal data from a recipient's row. The delivery state stays, without the server's reply.
pub fn erase(tx: &mut WriteTx<'_>, id: MailingId, number: u32) -> Result<()> {
    let Some(mut recipient) = recipient(tx, id, number)? else { return Ok(()) };
    if let Some(address) = &mut recipient.address {
        (address.email, address.name) = (String::new(), None);
    }
    match &mut recipient.delivery {
        Delivery::Sent { reply, .. } | Delivery::Deferred { reply, .. } | Delivery::Failed { reply, .. } => reply.clear(),
        Delivery::Queued | Delivery::Handoff { .. } | Delivery::Unknown { .. } | Delivery::Skipped { .. } => {}
    }
    tx.put(RECIPIENTS, &(id, number), &recipient);
    Ok(())
}

/// Marks a recipient's message as accepted, for tests.
#[cfg(test)]
pub fn deliver(tx: &mut WriteTx<'_>, id: MailingId, number: u32) -> Result<()> {
    let mailing = by_id(tx, id)?.expect("there");
    for event in [Event::Claim { epoch: 1 }, Event::Accepted { reply: "250 ok".into() }] {
        let recipient = recipient(tx, id, number)?.expect("there");
        advance(tx, &mailing, number, &recipient, event)?.expect("the row is queued");
    }
    Ok(())
}

/// Returns up to `limit` mailings of all accounts after `after`, in order of creation.
pub fn mailings_after(tx: &impl Read, after: Option<MailingId>, limit: usize) -> Result<Vec<Mailing>> {
    let mut span = Span::default();
    if let Some(after) = after {
        span.from = after_prefix(&after.to_bytes()).unwrap_or_default();
    }
    Ok(tx.list(MAILINGS, &span, Order::Forward, limit)?.into_iter().map(|(_, mailing)| mailing).collect())
}

/// Visits the recipients of a mailing from number `from`, in numeric order, until `visitor` breaks.
pub fn visit_recipients(
    tx: &impl Read,
    id: MailingId,
    from: u32,
    visitor: impl FnMut(u32, Recipient) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut visitor = visitor;
    tx.visit(RECIPIENTS, &from_number(id, from), Order::Forward, |(_, number), recipient| visitor(number, recipient))
}

/// The same for scans with few matches: decodes only rows whose counter is `wanted`.
pub fn visit_counted(
    tx: &impl Read,
    id: MailingId,
    from: u32,
    wanted: impl Fn(Counter) -> bool,
    mut visitor: impl FnMut(u32, Option<Recipient>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let corrupt = || Error::Corrupt(tables::RECIPIENTS.info().name);
    tx.visit_bytes(RECIPIENTS.id, &from_number(id, from), Order::Forward, &mut |mut key, bytes| {
        let (_, number): (MailingId, u32) = Key::read(&mut key).ok_or_else(corrupt)?;
        // A contact's row: the version, no address, the state.
        let plain = match bytes {
            [_, 0, state @ ..] => state.first().copied(),
            _ => None,
        };
        let maybe = plain.is_none_or(|state| Counter::of_state(state).is_none_or(&wanted));
        if !maybe {
            return visitor(number, None);
        }
        let recipient: Recipient = crate::engine::store::Value::decode(bytes).ok_or_else(corrupt)?;
        visitor(number, wanted(recipient.delivery.counter()).then_some(recipient))
    })
}

fn from_number(id: MailingId, from: u32) -> Span {
    let mut span = RECIPIENTS.under(&(id,));
    span.from = (id, from).to_bytes();
    span
}

/// Applies an event to a recipient: its row, the counts and the retries.
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
            count_day(tx, (mailing, email), counter, many)?;
        }
    }
    tracing::debug!(mailing = %id, number, from = recipient.delivery.word(), to = next.word(), reason = reason(&next), "delivery");
    let changed = Recipient { address: recipient.address.clone(), delivery: next, translation: recipient.translation };
    tx.put(RECIPIENTS, &(id, number), &changed);
    Ok(Ok(changed.delivery))
}

/// Returns the reason for the log: the codes of a reply without its text, which often repeats the address.
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

/// Adds to a count.
pub fn count(tx: &mut WriteTx<'_>, mailing: &Mailing, counter: Counter, many: i64) -> Result<()> {
    if counter == Counter::QUEUED && mailing.kind.lane() == DIRECT {
        quota::add_waiting(tx, mailing.account, many)?;
    }
    tx.add(COUNTS, &(mailing.id, counter.0), many).map(drop)
}

/// Adds to the day's statistics, if the count is one of them.
fn count_day(tx: &mut WriteTx<'_>, of: (&Mailing, Option<EmailId>), counter: Counter, many: i64) -> Result<()> {
    match counter {
        Counter::SENT => engagement::add_day(tx, of, Measure::Sent, many),
        Counter::FAILED => engagement::add_day(tx, of, Measure::Failed, many),
        _ => Ok(()),
    }
}

/// Returns how many recipients are in each state.
pub fn counts(tx: &impl Read, id: MailingId) -> Result<Counts> {
    let mut counts = Counts::default();
    tx.visit(COUNTS, &COUNTS.under(&(id,)), Order::Forward, |(_, counter), many| {
        if counter < TURN {
            counts.note(Counter(counter), many.max(0) as u64);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(counts)
}

/// Returns one count.
pub fn counted(tx: &impl Read, id: MailingId, counter: Counter) -> Result<u64> {
    Ok(tx.get(COUNTS, &(id, counter.0))?.unwrap_or(0).max(0) as u64)
}

/// Returns the cursor: no recipient below this number is queued, or in a handoff that came straight from the queue.
pub fn cursor(tx: &impl Read, id: MailingId) -> Result<u32> {
    Ok(tx.get(COUNTS, &(id, CURSOR))?.map_or(0, |number| u32::try_from(number).unwrap_or(0)))
}

/// Moves the cursor.
pub fn set_cursor(tx: &mut WriteTx<'_>, id: MailingId, number: u32) {
    tx.put(COUNTS, &(id, CURSOR), &i64::from(number));
}

/// Returns when the mailing continues automatically, as stored in the table of turns.
pub(super) fn turn(tx: &impl Read, id: MailingId) -> Result<Option<Timestamp>> {
    Ok(tx.get(COUNTS, &(id, TURN))?.map(Timestamp))
}

/// Stores when the mailing continues automatically.
pub(super) fn set_turn(tx: &mut WriteTx<'_>, id: MailingId, at: Option<Timestamp>) {
    match at {
        Some(at) => tx.put(COUNTS, &(id, TURN), &at.0),
        None => tx.delete(COUNTS, &(id, TURN)),
    }
}

/// Stores the members of a mailing.
pub fn keep_audience(tx: &mut WriteTx<'_>, id: MailingId, members: RoaringBitmap) -> Result<()> {
    bitmap::apply(tx, AUDIENCES, |block| (id, block), &Delta { add: members, remove: RoaringBitmap::new() })
}

/// Returns the members of a mailing.
pub fn audience(tx: &impl Read, id: MailingId) -> Result<RoaringBitmap> {
    bitmap::load(tx, AUDIENCES, &(id,))
}

/// Deletes the members: all recipients have a row.
pub fn drop_audience(tx: &mut WriteTx<'_>, id: MailingId) -> Result<()> {
    tx.delete_span(AUDIENCES, &AUDIENCES.under(&(id,)), usize::from(u16::MAX) + 1).map(drop)
}

/// Starts the next epoch, which orphans handoffs of all earlier ones.
pub fn next_epoch(tx: &mut WriteTx<'_>) -> Result<u64> {
    let known = tx.get(META, &EPOCH.to_owned())?;
    let epoch = known.and_then(|bytes| Some(u64::from_le_bytes(bytes.try_into().ok()?))).unwrap_or(0) + 1;
    tx.put(META, &EPOCH.to_owned(), &epoch.to_le_bytes().to_vec());
    Ok(epoch)
}
