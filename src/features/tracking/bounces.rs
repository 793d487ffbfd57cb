//! What bounces and complaints lead to. The rules are the tables of `model.rs`; this applies them, in one transaction each.
//!
//! Only who holds a message knows its token, so what comes without one never gets here. A recipient's row remembers what was said, so
//! that a report that comes twice counts once.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::model::{Bounce, Verdict, verdict};
use super::person::Person;
use crate::base::clock::Timestamp;
use crate::base::email::EmailAddress;
use crate::engine::api::Engine;
use crate::engine::store::{Read, Record, Result, Table, WriteTx};
use crate::features::contacts::activity;
use crate::features::contacts::condition::Action;
use crate::features::contacts::{Contact, Source, standing};
use crate::features::sending::engagement::Measure;
use crate::features::sending::notices;
use crate::features::sending::quota::{self, Tally};
use crate::features::sending::{self, Delivery, engagement};
use crate::features::suppressions::{self, Digester, Reason, Source as SaidBy};
use crate::vocab::ids::{MailingId, ProjectId};
use crate::vocab::tables;
use crate::vocab::webhook_events::WebhookEvent;

const IN_A_ROW: Table<(ProjectId, u32), InARow> = Table::new(tables::SOFT_BOUNCES);
/// Deeds looked at for a delivery between two bounces.
const DEEDS_LOOKED_AT: usize = 50;
/// What a server said, cut.
const DETAIL_CHARACTERS_MAX: usize = 500;

/// The suppression list, to write on it.
#[derive(Clone)]
pub struct List(pub Digester);

impl List {
    /// That of this installation.
    pub fn new(engine: &Engine) -> Self {
        Self(Digester::new(&engine.seal))
    }

    /// Put somebody's address on it; nothing, if the address was erased.
    pub fn add(&self, tx: &mut WriteTx<'_>, person: &Person, why: (Reason, SaidBy), note: Option<String>) -> Result<()> {
        let Some(email) = person.email().and_then(EmailAddress::stored) else { return Ok(()) };
        suppressions::add(tx, &self.0, person.mailing.account, &email.normalised(), why, note).map(drop)
    }

    /// Whether somebody's address is on it.
    pub fn has(&self, tx: &impl Read, person: &Person) -> Result<bool> {
        let Some(email) = person.email().and_then(EmailAddress::stored) else { return Ok(false) };
        Ok(suppressions::reason(tx, &self.0, person.mailing.account, &email.normalised())?.is_some())
    }
}

/// Soft bounces of a contact without a delivery in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct InARow {
    many: u8,
    last_at: Timestamp,
}

impl Record for InARow {}

/// A message was not delivered, or came back. Says whether that is news.
pub fn bounced(
    tx: &mut WriteTx<'_>,
    list: &List,
    person: &Person,
    (bounce, source): (Bounce, SaidBy),
    detail: &str,
) -> Result<bool> {
    let (id, number, now) = (person.mailing.id, person.number, tx.now());
    let mut engagement = engagement::of(tx, id, number)?;
    if engagement.bounced_at.is_some() {
        return Ok(false);
    }
    engagement.bounced_at = Some(now);
    let detail: String = detail.chars().take(DETAIL_CHARACTERS_MAX).collect();
    engagement.bounce =
        Some(engagement::Bounce { hard: bounce == Bounce::Hard, class: bounce.word().into(), detail: detail.clone() });
    engagement::save(tx, id, number, &engagement);
    let measure = if bounce == Bounce::Hard { Measure::HardBounces } else { Measure::SoftBounces };
    count(tx, person, measure)?;
    tell(tx, person, WebhookEvent::EmailBounced, json!({ "bounceType": bounce.word(), "reason": detail }))?;
    let many = match bounce {
        Bounce::Soft => soft_in_a_row(tx, person)?,
        Bounce::Hard | Bounce::Policy | Bounce::Content => 1,
    };
    if verdict(bounce, many) == Verdict::Bounced {
        if let Some(((_, project), contact)) = person.contact() {
            standing::bounce(tx, project, contact)?;
        }
        list.add(tx, person, (Reason::BounceHard, source), Some(detail))?;
    }
    Ok(true)
}

/// How many soft bounces in a row this is. Of addresses that are nobody's contact no deliveries are known, so they never have more
/// than one.
fn soft_in_a_row(tx: &mut WriteTx<'_>, person: &Person) -> Result<u8> {
    let Some(((_, project), contact)) = person.contact() else { return Ok(1) };
    let place = (project, contact.id.number());
    let known = tx.get(IN_A_ROW, &place)?;
    let many = match known {
        Some(row) if !delivered_since(tx, project, contact, row.last_at, person.mailing.id)? => row.many.saturating_add(1),
        _ => 1,
    };
    tx.put(IN_A_ROW, &place, &InARow { many, last_at: tx.now() });
    Ok(many)
}

/// Whether a message other than this one went out to the contact since `at` and did not come back.
fn delivered_since(tx: &impl Read, project: ProjectId, contact: &Contact, at: Timestamp, but: MailingId) -> Result<bool> {
    for deed in activity::of(tx, project, contact.id.number(), DEEDS_LOOKED_AT)? {
        if deed.at <= at {
            break;
        }
        // What is opened has arrived, whatever else was said of it.
        if deed.action != Action::Sent || (deed.mailing != but && !came_back(tx, deed.mailing, contact)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn came_back(tx: &impl Read, mailing: MailingId, contact: &Contact) -> Result<bool> {
    let Some(mailing) = sending::by_id(tx, mailing)? else { return Ok(false) };
    let row = sending::row_of(tx, &mailing, contact.id.number(), &contact.email)?;
    let engagement = row.map(|(number, _)| engagement::of(tx, mailing.id, number)).transpose()?;
    Ok(engagement.is_some_and(|engagement| engagement.bounced_at.is_some()))
}

/// Forget the soft bounces of a contact that is gone.
pub fn forget(tx: &mut WriteTx<'_>, project: ProjectId, number: u32) {
    tx.delete(IN_A_ROW, &(project, number));
}

/// The recipient called the message spam. Says whether that is news.
pub fn complained(tx: &mut WriteTx<'_>, list: &List, person: &Person, kind: &str) -> Result<bool> {
    let (id, number) = (person.mailing.id, person.number);
    let mut engagement = engagement::of(tx, id, number)?;
    if engagement.complained_at.is_some() {
        return Ok(false);
    }
    engagement.complained_at = Some(tx.now());
    engagement.complaint = Some(kind.chars().filter(|letter| !letter.is_control()).take(40).collect());
    engagement::save(tx, id, number, &engagement);
    count(tx, person, Measure::Complaints)?;
    tell(tx, person, WebhookEvent::EmailComplained, json!({ "complaintType": engagement.complaint }))?;
    if let Some((place, contact)) = person.contact() {
        standing::unsubscribe(tx, place, contact, Source::Complaint)?;
    }
    list.add(tx, person, (Reason::Complaint, SaidBy::Inbound), None)?;
    Ok(true)
}

/// Webhooks that want to know of it are told.
fn tell(tx: &mut WriteTx<'_>, person: &Person, kind: WebhookEvent, more: Value) -> Result<()> {
    let now = tx.now();
    notices::tell(tx, kind, &person.whom(), now, more)
}

/// One more of these: for the mailing, for the day, and for what the account sends.
pub fn count(tx: &mut WriteTx<'_>, person: &Person, measure: Measure) -> Result<()> {
    let mailing = &person.mailing;
    engagement::add(tx, mailing.id, measure, 1)?;
    engagement::add_day(tx, (mailing, person.sent_email()), measure, 1)?;
    let tally = match measure {
        Measure::Complaints => Tally::Complained,
        // Who refused it at once was counted as it happened.
        Measure::HardBounces | Measure::SoftBounces if !matches!(person.recipient.delivery, Delivery::Failed { .. }) => {
            Tally::Returned
        }
        _ => return Ok(()),
    };
    quota::count(tx, mailing.account, tally, 1)
}
