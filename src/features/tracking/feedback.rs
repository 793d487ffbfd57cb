//! Applies the events that mail services report about messages, with the same effects as reports that arrive by mail.
//!
//! Each kind of event has an effect only once per message: the recipient's engagement stores the bounce, complaint and unsubscribe. The
//! only exception is a hard bounce after a bounce of another class. A repeated or late event therefore never reverses a later decision,
//! such as a removed suppression or a resubscription.

use super::bounces::{self, SuppressionList};
use super::recipient::MessageRecipient;
use super::unsubscribe::{self, Scope};
use crate::engine::mail::feedback::EventKind;
use crate::engine::store::{Result, WriteTx};
use crate::features::contacts::Source;
use crate::features::engagement;
use crate::features::sending;
use crate::features::suppressions::Source as SaidBy;
use crate::vocab::ids::{AccountId, MailingId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// The event had an effect.
    New,
    /// The event has no effect, or was already known.
    Known,
    /// The message is no longer stored, or belongs to another account.
    NoMessage,
}

/// Records an event about a mailing's message. `only` is the account to which the mailing must belong; `None` allows all accounts.
pub fn record_feedback(
    tx: &mut WriteTx<'_>,
    list: &SuppressionList,
    (mailing, number): (MailingId, u32),
    only: Option<AccountId>,
    event: &EventKind,
) -> Result<Recorded> {
    let Some(recipient) = MessageRecipient::find(tx, mailing, number)? else { return Ok(Recorded::NoMessage) };
    if only.is_some_and(|account| account != recipient.mailing.account) {
        return Ok(Recorded::NoMessage);
    }
    // An event about the message shows that the mail service received the message.
    let is_evidence = sending::evidence(tx, mailing, number, "an event of the mail service")?;
    let is_new = match event {
        EventKind::Bounced { class, detail } => {
            bounces::bounced(tx, list, &recipient, ((*class).into(), SaidBy::MailService), detail)?
        }
        EventKind::Complained { kind } => bounces::complained(tx, list, &recipient, (kind, SaidBy::MailService))?,
        EventKind::Unsubscribed => unsubscribed(tx, list, &recipient)?,
        EventKind::Delivered | EventKind::Other => is_evidence,
    };
    Ok(if is_new { Recorded::New } else { Recorded::Known })
}

/// Unsubscribes the recipient from all mail, because the mail service no longer sends mail to the address.
fn unsubscribed(tx: &mut WriteTx<'_>, list: &SuppressionList, recipient: &MessageRecipient) -> Result<bool> {
    if engagement::of(tx, recipient.mailing.id, recipient.number)?.unsubscribed_at.is_some() {
        return Ok(false);
    }
    unsubscribe::leave(tx, list, recipient, Scope::Everything, Source::MailService)?;
    // Record the event even if the recipient was already unsubscribed, so that a repeated event has no effect after a
    // resubscription.
    unsubscribe::note(tx, recipient)?;
    Ok(true)
}
