//! The tables of mailings, and all access to them. Changes that affect several tables are in `recipients.rs`.

pub mod inbox;
pub mod quota;
pub mod send_queue;

use std::ops::ControlFlow;

use roaring::RoaringBitmap;

use crate::base::clock::Timestamp;
use crate::base::secret::sha256;
use crate::engine::store::bitmap::{self, Block, Delta};
use crate::engine::store::key::{Key, after_prefix};
use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::features::sending::model::{Content, ContentId, Counter, Counts, Delivery, Mailing, Recipient, Translation};
use crate::vocab::ids::{AccountId, MailingId};
use crate::vocab::{limits, tables};

const MAILINGS: Table<MailingId, Mailing> = Table::new(tables::MAILINGS);
const TEXTS: Table<(ContentId, u8), Vec<u8>> = Table::new(tables::MAILING_TEXTS);
const LINKS: Table<(ContentId, u16), Vec<u8>> = Table::new(tables::MAILING_LINKS);
const COUNTS: Table<(MailingId, u8), i64> = Table::new(tables::MAILING_COUNTS);
const RECIPIENTS: Table<(MailingId, u32), Recipient> = Table::new(tables::RECIPIENTS);
const AUDIENCES: Table<(MailingId, u16), Block> = Table::new(tables::MAILING_AUDIENCES);
const META: Table<String, Vec<u8>> = Table::new(tables::META);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[
    RowCheck::of(MAILINGS),
    RowCheck::of(TEXTS),
    RowCheck::of(LINKS),
    RowCheck::of(COUNTS),
    RowCheck::of(RECIPIENTS),
    RowCheck::of(AUDIENCES),
];

/// The key in [`COUNTS`], in place of a counter, for the cursor: the lowest recipient number that may still be queued.
const CURSOR: u8 = 255;
/// The key in [`COUNTS`], in place of a counter, for the time at which the mailing continues automatically.
const TURN: u8 = 254;
/// The key in [`META`] for the number of dispatchers that have started on this store.
const EPOCH: &str = "sending-epoch";
/// The key in [`META`] for the position of the sweep over all mailings.
const SWEPT: &str = "sending-swept";

/// The parts of the content, as stored in [`TEXTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Subject = 0,
    Preheader = 1,
    Html = 2,
    Text = 3,
    /// The fields that every recipient must have, as a template that contains only these fields.
    Needs = 4,
    /// The number of mailings that use the content.
    Uses = 255,
}

/// Returns the mailing with this ID if it belongs to the account.
pub fn find(tx: &impl Read, account: AccountId, id: MailingId) -> Result<Option<Mailing>> {
    Ok(by_id(tx, id)?.filter(|mailing| mailing.account == account))
}

/// Returns the mailing with this ID, regardless of its account.
pub fn by_id(tx: &impl Read, id: MailingId) -> Result<Option<Mailing>> {
    tx.get(MAILINGS, &id)
}

/// Writes a mailing's row, without updating other tables.
pub(super) fn put(tx: &mut WriteTx<'_>, mailing: &Mailing) {
    tx.put(MAILINGS, &mailing.id, mailing);
}

/// Writes a recipient's row, without updating other tables.
pub(super) fn put_recipient(tx: &mut WriteTx<'_>, id: MailingId, number: u32, recipient: &Recipient) {
    tx.put(RECIPIENTS, &(id, number), recipient);
}

/// Adds to a count, without updating other tables.
pub(super) fn add_count(tx: &mut WriteTx<'_>, id: MailingId, counter: Counter, many: i64) -> Result<()> {
    tx.add(COUNTS, &(id, counter.0), many).map(drop)
}

/// Deletes the rows of a direct send, which has at most `limits::DIRECT_RECIPIENTS_MAX` recipients.
pub(super) fn remove_direct(tx: &mut WriteTx<'_>, id: MailingId) -> Result<()> {
    tx.delete_span(RECIPIENTS, &RECIPIENTS.under(&(id,)), limits::DIRECT_RECIPIENTS_MAX)?;
    tx.delete_span(COUNTS, &COUNTS.under(&(id,)), usize::from(u8::MAX) + 1)?;
    tx.delete(MAILINGS, &id);
    Ok(())
}

/// Returns the key of the content. Mailings of one account with identical content share the key.
pub fn content_id(account: AccountId, content: &Content) -> ContentId {
    let mut bytes = account.0.to_vec();
    let parts = [Some(&content.subject), content.preheader.as_ref(), Some(&content.html), content.text.as_ref()];
    for part in parts {
        // Hash the length of each part too, so that different content cannot produce the same bytes.
        bytes.extend_from_slice(&part.map_or(u64::MAX, |text| text.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.map_or(&[][..], |text| text.as_bytes()));
    }
    *sha256(&bytes).first_chunk().expect("a SHA-256 sum has 32 bytes")
}

/// Records that one more mailing uses this content, and stores the content if it is new. Returns true if it is new.
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

/// Records that a mailing no longer uses this content, and deletes the content if no other mailing uses it.
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

/// The position of the retention sweep over all mailings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepPosition {
    /// The last mailing that the sweep checked.
    pub after: Option<MailingId>,
    /// When the current pass over all mailings started.
    pub began_at: Timestamp,
}

pub fn sweep_position(tx: &impl Read) -> Result<Option<SweepPosition>> {
    let Some(bytes) = tx.get(META, &SWEPT.to_owned())? else { return Ok(None) };
    let mut bytes = bytes.as_slice();
    let position = Timestamp::read(&mut bytes).map(|began_at| SweepPosition { after: MailingId::read(&mut bytes), began_at });
    Ok(position)
}

pub fn set_sweep_position(tx: &mut WriteTx<'_>, position: SweepPosition) {
    let mut bytes = position.began_at.to_bytes();
    bytes.extend(position.after.map(|after| after.to_bytes()).unwrap_or_default());
    tx.put(META, &SWEPT.to_owned(), &bytes);
}

pub(super) fn uses(tx: &impl Read, id: ContentId) -> Result<u64> {
    let row = tx.get(TEXTS, &(id, Part::Uses as u8))?;
    Ok(row.and_then(|bytes| Some(u64::from_le_bytes(bytes.try_into().ok()?))).unwrap_or(0))
}

pub fn content(tx: &impl Read, mailing: &Mailing, translation: &Translation) -> Result<Content> {
    let text = |part: Part| -> Result<Option<String>> {
        let bytes = tx.get(TEXTS, &(translation.content, part as u8))?;
        Ok(bytes.map(|bytes| String::from_utf8(bytes).expect("`keep_content` writes only UTF-8")))
    };
    let missing = || tx.corrupt(tables::MAILING_TEXTS);
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

/// Stores which fields the content requires of every recipient.
pub fn keep_needs(tx: &mut WriteTx<'_>, id: ContentId, needs: &str) {
    tx.put(TEXTS, &(id, Part::Needs as u8), &needs.as_bytes().to_vec());
}

/// Returns the fields that the content requires of every recipient, as a template that contains only these fields.
pub fn needs(tx: &impl Read, id: ContentId) -> Result<String> {
    let bytes = tx.get(TEXTS, &(id, Part::Needs as u8))?.unwrap_or_default();
    Ok(String::from_utf8(bytes).expect("`keep_needs` writes only UTF-8"))
}

/// Stores the targets of the links in the content, in order.
pub fn keep_links(tx: &mut WriteTx<'_>, id: ContentId, links: &[String]) {
    for (number, link) in links.iter().enumerate() {
        let number = u16::try_from(number).expect("the limits allow only few links");
        tx.put(LINKS, &(id, number), &link.clone().into_bytes());
    }
}

/// Returns the target of a link in a translation: a URL that may contain merge fields.
pub fn link(tx: &impl Read, translation: &Translation, number: u16) -> Result<Option<String>> {
    let bytes = tx.get(LINKS, &(translation.content, number))?;
    Ok(bytes.map(|bytes| String::from_utf8(bytes).expect("`keep_links` writes only UTF-8")))
}

pub fn recipient(tx: &impl Read, id: MailingId, number: u32) -> Result<Option<Recipient>> {
    tx.get(RECIPIENTS, &(id, number))
}

/// Removes all personal data from a recipient's row. Keeps the delivery state, without the server's reply.
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

/// Returns up to `limit` mailings of all accounts that were created after the mailing `after`, in order of creation. Skips damaged rows.
pub fn mailings_after(tx: &impl Read, after: Option<MailingId>, limit: usize) -> Result<Vec<Mailing>> {
    let mut span = Span::default();
    if let Some(after) = after {
        span.from = after_prefix(&after.to_bytes()).unwrap_or_default();
    }
    Ok(tx.list_readable(MAILINGS, &span, Order::Forward, limit)?.into_iter().map(|(_, mailing)| mailing).collect())
}

/// Visits the recipients of a mailing in numeric order, starting at number `from`, until `visitor` returns `Break`.
pub fn visit_recipients(
    tx: &impl Read,
    id: MailingId,
    from: u32,
    visitor: impl FnMut(u32, Recipient) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut visitor = visitor;
    tx.visit(RECIPIENTS, &from_number(id, from), Order::Forward, |(_, number), recipient| visitor(number, recipient))
}

/// Like [`visit_recipients`], but faster for scans with few matches: most rows whose counter `wanted` rejects are not decoded. For every
/// rejected row, `visitor` receives `None`.
pub fn visit_counted(
    tx: &impl Read,
    id: MailingId,
    from: u32,
    wanted: impl Fn(Counter) -> bool,
    mut visitor: impl FnMut(u32, Option<Recipient>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let corrupt = || tx.corrupt(tables::RECIPIENTS);
    tx.visit_bytes(RECIPIENTS.id, &from_number(id, from), Order::Forward, &mut |mut key, bytes| {
        let (_, number): (MailingId, u32) = Key::read(&mut key).ok_or_else(corrupt)?;
        // The row of a recipient without an address starts with the version, a zero byte for the missing address, and the state.
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

/// Returns the number of recipients in each state.
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

pub fn counted(tx: &impl Read, id: MailingId, counter: Counter) -> Result<u64> {
    Ok(tx.get(COUNTS, &(id, counter.0))?.unwrap_or(0).max(0) as u64)
}

/// Returns a mailing's cursor. No recipient with a lower number is queued, or in a handoff that came directly from the queued state.
pub fn cursor(tx: &impl Read, id: MailingId) -> Result<u32> {
    Ok(tx.get(COUNTS, &(id, CURSOR))?.map_or(0, |number| u32::try_from(number).unwrap_or(0)))
}

pub fn set_cursor(tx: &mut WriteTx<'_>, id: MailingId, number: u32) {
    tx.put(COUNTS, &(id, CURSOR), &i64::from(number));
}

/// Returns when the mailing continues automatically: the time of its row in the table of turns.
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

pub fn keep_audience(tx: &mut WriteTx<'_>, id: MailingId, members: RoaringBitmap) -> Result<()> {
    bitmap::apply(tx, AUDIENCES, |block| (id, block), &Delta { add: members, remove: RoaringBitmap::new() })
}

pub fn audience(tx: &impl Read, id: MailingId) -> Result<RoaringBitmap> {
    bitmap::load(tx, AUDIENCES, &(id,))
}

/// Deletes a mailing's stored audience, which is no longer needed once all recipients have a row, or once the mailing is canceled or has
/// failed.
pub fn drop_audience(tx: &mut WriteTx<'_>, id: MailingId) -> Result<()> {
    tx.delete_span(AUDIENCES, &AUDIENCES.under(&(id,)), usize::from(u16::MAX) + 1).map(drop)
}

/// Starts the next epoch and returns its number. No process is left that could record the replies to handoffs of earlier epochs.
pub fn next_epoch(tx: &mut WriteTx<'_>) -> Result<u64> {
    let known = tx.get(META, &EPOCH.to_owned())?;
    let epoch = known.and_then(|bytes| Some(u64::from_le_bytes(bytes.try_into().ok()?))).unwrap_or(0) + 1;
    tx.put(META, &EPOCH.to_owned(), &epoch.to_le_bytes().to_vec());
    Ok(epoch)
}
