//! The tables of the built-in inbox, and all access to them.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::key::{Key, after_prefix};
use crate::engine::store::{Order, Read, Record, Result, RowCheck, Span, Table, WriteTx};
use crate::features::sending::message::RenderedMessage;
use crate::features::sending::model::Mailing;
use crate::vocab::ids::{AccountId, MailingId, MessageId, ProjectId};
use crate::vocab::{limits, tables};

const HEADS: Table<(AccountId, MessageId), InboxRow> = Table::new(tables::INBOX);
const BODIES: Table<(MessageId, u32), Vec<u8>> = Table::new(tables::INBOX_BODIES);
/// The number of an account's messages, and their size in bytes.
const TOTALS: Table<(AccountId, u8), i64> = Table::new(tables::INBOX_TOTALS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(HEADS), RowCheck::of(BODIES), RowCheck::of(TOTALS)];

const MESSAGES: u8 = 0;
const BYTES: u8 = 1;

/// A message as it appears in the built-in inbox's list of messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxRow {
    pub id: MessageId,
    pub project: Option<ProjectId>,
    pub mailing: MailingId,
    pub number: u32,
    /// The envelope sender of the message.
    pub sender: String,
    pub from: String,
    pub from_name: Option<String>,
    pub to: String,
    pub subject: String,
    pub bytes: u64,
    pub received_at: Timestamp,
}

impl Record for InboxRow {}

/// Stores a message. If the account then exceeds the limit on the number or the total size of its messages, deletes its oldest messages.
pub fn put(tx: &mut WriteTx<'_>, mailing: &Mailing, number: u32, id: MessageId, message: &RenderedMessage) -> Result<()> {
    let account = mailing.account;
    let bytes = message.bytes.len() as u64;
    let head = InboxRow {
        id,
        project: mailing.project,
        mailing: mailing.id,
        number,
        sender: message.sender.clone(),
        from: mailing.from.address.clone(),
        from_name: mailing.from.name.clone(),
        to: message.recipient.as_str().to_owned(),
        subject: message.subject.clone(),
        bytes,
        received_at: tx.now(),
    };
    tx.put(HEADS, &(account, id), &head);
    for (number, chunk) in message.bytes.chunks(limits::INBOX_CHUNK_BYTES).enumerate() {
        let number = u32::try_from(number).expect("a message has few chunks");
        tx.put_bytes(BODIES.id, (id, number).to_bytes(), chunk.to_vec());
    }
    let mut messages = tx.add(TOTALS, &(account, MESSAGES), 1)?;
    let mut total = tx.add(TOTALS, &(account, BYTES), signed(bytes))?;
    while messages > 1 && (messages > limits::INBOX_MESSAGES_MAX || total > limits::INBOX_BYTES_MAX) {
        let oldest = tx.list(HEADS, &HEADS.under(&(account,)), Order::Forward, 1)?;
        let Some((_, head)) = oldest.into_iter().next() else { break };
        remove(tx, account, &head)?;
        messages -= 1;
        total -= signed(head.bytes);
    }
    Ok(())
}

/// Deletes a limited number of messages that arrived before `until`, oldest first within each account. Returns true if there may be more.
/// Skips damaged rows.
pub fn sweep(tx: &mut WriteTx<'_>, until: Timestamp) -> Result<bool> {
    let mut span = Span::default();
    let mut removed = 0;
    loop {
        let Some(((account, _), _)) = tx.list_readable(HEADS, &span, Order::Forward, 1)?.pop() else { return Ok(false) };
        let oldest = tx.list_readable(HEADS, &HEADS.under(&(account,)), Order::Forward, limits::INBOX_MESSAGES_SWEPT)?;
        for (_, head) in oldest.iter().take_while(|(_, head)| head.received_at < until) {
            remove(tx, account, head)?;
            removed += 1;
        }
        if removed >= limits::INBOX_MESSAGES_SWEPT {
            return Ok(true);
        }
        span.from = after_prefix(&account.to_bytes()).unwrap_or_default();
    }
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).expect("the size of a message fits into an i64")
}

fn remove(tx: &mut WriteTx<'_>, account: AccountId, head: &InboxRow) -> Result<()> {
    tx.delete(HEADS, &(account, head.id));
    tx.delete_span(BODIES, &BODIES.under(&(head.id,)), usize::MAX)?;
    tx.add(TOTALS, &(account, MESSAGES), -1)?;
    tx.add(TOTALS, &(account, BYTES), -signed(head.bytes)).map(drop)
}

/// Returns the message with this ID if it belongs to the account.
pub fn head(tx: &impl Read, account: AccountId, id: MessageId) -> Result<Option<InboxRow>> {
    tx.get(HEADS, &(account, id))
}

/// Visits every message of an account, newest first, until `visitor` returns `Break`. Skips damaged rows. An account has at most
/// [`limits::INBOX_MESSAGES_MAX`] messages.
pub fn all(tx: &impl Read, account: AccountId, mut visitor: impl FnMut(InboxRow) -> ControlFlow<()>) -> Result<()> {
    tx.visit_readable(HEADS, &HEADS.under(&(account,)), Order::Backward, |_, head| Ok(visitor(head)))
}

/// Returns the complete message as it would have been sent.
pub fn body(tx: &impl Read, id: MessageId) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    tx.visit_bytes(BODIES.id, &BODIES.under(&(id,)), Order::Forward, &mut |_, chunk| {
        bytes.extend_from_slice(chunk);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(bytes)
}

/// Deletes a message. Returns false if there is no such message.
pub fn delete(tx: &mut WriteTx<'_>, account: AccountId, id: MessageId) -> Result<bool> {
    let Some(head) = head(tx, account, id)? else { return Ok(false) };
    remove(tx, account, &head)?;
    Ok(true)
}
