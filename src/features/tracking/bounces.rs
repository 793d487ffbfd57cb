//! Applies the effects of bounces and complaints. The rules are in the tables in `model.rs`. Each report is applied in one transaction.
//!
//! A report that arrives by mail is trusted because it contains the message's token, which only that message contains; `inbound` ignores
//! reports without a token. The recipient's engagement stores the first bounce and the first complaint. Later bounces and complaints are
//! not counted, except that a hard bounce replaces a bounce of another class.

use serde_json::{Value, json};

use super::model::{Bounce, BounceAction, bounce_action};
use super::recipient::MessageRecipient;
use super::store::{self, SoftBounces};
use crate::base::clock::Timestamp;
use crate::base::day;
use crate::base::email::EmailAddress;
use crate::engine::api::Engine;
use crate::engine::store::{Read, Result, WriteTx};
use crate::features::contact_records::Contact;
use crate::features::contact_records::activity::{self, Action};
use crate::features::contacts::{Source, subscription};
use crate::features::engagement::{self, Measure};
use crate::features::sending::quota::{self, SentCount};
use crate::features::sending::{self, Delivery, webhook_events};
use crate::features::suppressions::{self, Digester, Reason, Source as SaidBy};
use crate::vocab::ids::{MailingId, ProjectId};
use crate::vocab::webhook_events::WebhookEvent;

/// How many of a contact's newest activities are checked for a delivery between two bounces.
const ACTIVITIES_CHECKED: usize = 50;
/// The maximum length of a stored server response in characters; longer responses are truncated.
const DETAIL_CHARACTERS_MAX: usize = 500;

/// Reads and writes the suppression list, whose keys are hashes of addresses.
#[derive(Clone)]
pub struct SuppressionList(pub Digester);

impl SuppressionList {
    pub fn new(engine: &Engine) -> Self {
        Self(Digester::new(&engine.seal))
    }

    /// Adds the recipient's address to the suppression list. Has no effect if the address was erased.
    pub fn add(
        &self,
        tx: &mut WriteTx<'_>,
        recipient: &MessageRecipient,
        why: (Reason, SaidBy),
        note: Option<String>,
    ) -> Result<()> {
        let Some(email) = recipient.email().and_then(EmailAddress::stored) else { return Ok(()) };
        suppressions::add(tx, &self.0, recipient.mailing.account, &email.normalized(), why, note).map(drop)
    }

    /// Returns whether the recipient's address is on the suppression list.
    pub fn has(&self, tx: &impl Read, recipient: &MessageRecipient) -> Result<bool> {
        let Some(email) = recipient.email().and_then(EmailAddress::stored) else { return Ok(false) };
        Ok(suppressions::reason(tx, &self.0, recipient.mailing.account, &email.normalized())?.is_some())
    }
}

/// Handles a message that was refused or that bounced later. Returns whether the bounce is new. If the recipient's data was erased,
/// `detail` is not stored, because it often contains the address.
pub fn bounced(
    tx: &mut WriteTx<'_>,
    list: &SuppressionList,
    recipient: &MessageRecipient,
    (bounce, source): (Bounce, SaidBy),
    detail: &str,
) -> Result<bool> {
    let (id, number, now) = (recipient.mailing.id, recipient.number, tx.now());
    let mut engagement = engagement::of(tx, id, number)?;
    let replaced_at = match &engagement.bounce {
        None if engagement.bounced_at.is_none() => None,
        // A service may first report a temporary problem, and later that the address does not exist.
        Some(known) if !known.hard && bounce == Bounce::Hard => engagement.bounced_at,
        _ => return Ok(false),
    };
    engagement.bounced_at = Some(replaced_at.unwrap_or(now));
    let characters_kept = recipient.email().map_or(0, |_| DETAIL_CHARACTERS_MAX);
    let detail: String = detail.chars().take(characters_kept).collect();
    engagement.bounce =
        Some(engagement::Bounce { hard: bounce == Bounce::Hard, class: bounce.word().into(), detail: detail.clone() });
    engagement::save(tx, id, number, &engagement);
    match (replaced_at, bounce) {
        // Do not count the bounce: the message already counts as failed, and the statistics add failed messages to the bounces.
        _ if matches!(recipient.recipient.delivery, Delivery::Failed { .. }) => {}
        (Some(at), _) => become_hard(tx, recipient, at)?,
        (None, Bounce::Hard) => count(tx, recipient, Measure::HardBounces)?,
        (None, _) => count(tx, recipient, Measure::SoftBounces)?,
    }
    emit(tx, recipient, WebhookEvent::EmailBounced, json!({ "bounceType": bounce.word(), "reason": detail }))?;
    let many = match bounce {
        Bounce::Soft => consecutive_soft_bounces(tx, recipient)?,
        Bounce::Hard | Bounce::Policy | Bounce::Content => 1,
    };
    if bounce_action(bounce, many) == BounceAction::Bounced {
        if let Some(((_, project), contact)) = recipient.contact() {
            subscription::bounce(tx, project, contact)?;
        }
        list.add(tx, recipient, (Reason::BounceHard, source), Some(detail))?;
    }
    Ok(true)
}

/// Moves a bounce that was counted at `at` from the soft bounces to the hard bounces, so that the message is still counted once.
fn become_hard(tx: &mut WriteTx<'_>, recipient: &MessageRecipient, at: Timestamp) -> Result<()> {
    let mailing = &recipient.mailing;
    for (measure, many) in [(Measure::SoftBounces, -1), (Measure::HardBounces, 1)] {
        engagement::add(tx, mailing.id, measure, many)?;
        engagement::add_on(tx, (mailing.for_stats(), recipient.sent_email()), day::of(at), (measure, many))?;
    }
    Ok(())
}

/// Returns the number of consecutive soft bounces, including the current bounce. For addresses without a contact, deliveries are not
/// recorded, so the number is always 1.
fn consecutive_soft_bounces(tx: &mut WriteTx<'_>, recipient: &MessageRecipient) -> Result<u8> {
    let Some(((_, project), contact)) = recipient.contact() else { return Ok(1) };
    let place = (project, contact.id.number());
    let known = store::soft_bounces(tx, place)?;
    let many = match known {
        Some(row) if !delivered_since(tx, project, contact, row.last_at, recipient.mailing.id)? => row.many.saturating_add(1),
        _ => 1,
    };
    let row = SoftBounces { many, last_at: tx.now() };
    store::save_soft_bounces(tx, place, row);
    Ok(many)
}

/// Returns whether the contact received mail after `at`: the contact opened or clicked a message, or a mailing other than `but` sent the
/// contact a message that did not bounce.
fn delivered_since(tx: &impl Read, project: ProjectId, contact: &Contact, at: Timestamp, but: MailingId) -> Result<bool> {
    for activity in activity::of(tx, project, contact.id.number(), ACTIVITIES_CHECKED)? {
        if activity.at <= at {
            break;
        }
        // A message that was opened has arrived, even if a bounce was reported for it.
        if activity.action != Action::Sent || (activity.mailing != but && !was_returned(tx, activity.mailing, contact)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn was_returned(tx: &impl Read, mailing: MailingId, contact: &Contact) -> Result<bool> {
    let Some(mailing) = sending::by_id(tx, mailing)? else { return Ok(false) };
    let row = sending::row_of(tx, &mailing, contact.id.number(), &contact.email)?;
    let engagement = row.map(|(number, _)| engagement::of(tx, mailing.id, number)).transpose()?;
    Ok(engagement.is_some_and(|engagement| engagement.bounced_at.is_some()))
}

/// Deletes a contact's record of consecutive soft bounces.
pub fn forget(tx: &mut WriteTx<'_>, project: ProjectId, number: u32) {
    store::forget_soft_bounces(tx, (project, number));
}

/// Handles a spam complaint. Returns whether the complaint is new.
pub fn complained(
    tx: &mut WriteTx<'_>,
    list: &SuppressionList,
    recipient: &MessageRecipient,
    (kind, source): (&str, SaidBy),
) -> Result<bool> {
    let (id, number) = (recipient.mailing.id, recipient.number);
    let mut engagement = engagement::of(tx, id, number)?;
    if engagement.complained_at.is_some() {
        return Ok(false);
    }
    engagement.complained_at = Some(tx.now());
    engagement.complaint = Some(kind.chars().filter(|character| !character.is_control()).take(40).collect());
    engagement::save(tx, id, number, &engagement);
    count(tx, recipient, Measure::Complaints)?;
    emit(tx, recipient, WebhookEvent::EmailComplained, json!({ "complaintType": engagement.complaint }))?;
    if let Some((place, contact)) = recipient.contact() {
        subscription::unsubscribe(tx, place, contact, Source::Complaint)?;
    }
    list.add(tx, recipient, (Reason::Complaint, source), None)?;
    Ok(true)
}

fn emit(tx: &mut WriteTx<'_>, recipient: &MessageRecipient, kind: WebhookEvent, more: Value) -> Result<()> {
    let now = tx.now();
    webhook_events::emit(tx, kind, &recipient.subject(), now, more)
}

/// Adds one to a measure in the statistics of the mailing and of the day. Complaints, and bounces after delivery, are also counted in the
/// account's totals of sent mail.
pub fn count(tx: &mut WriteTx<'_>, recipient: &MessageRecipient, measure: Measure) -> Result<()> {
    let mailing = &recipient.mailing;
    engagement::add(tx, mailing.id, measure, 1)?;
    engagement::add_day(tx, (mailing.for_stats(), recipient.sent_email()), measure, 1)?;
    let tally = match measure {
        Measure::Complaints => SentCount::Complained,
        Measure::HardBounces | Measure::SoftBounces => SentCount::Returned,
        _ => return Ok(()),
    };
    quota::count(tx, mailing.account, tally, 1, tx.now())
}
