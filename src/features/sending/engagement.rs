//! Recorded activity of recipients, and delivery events that are not processed yet.
//!
//! `tracking` writes these tables. They are here because campaigns, which come before it, read them. Who was sent to is in the recipient
//! rows.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::daily_stats;
use super::model::Mailing;
use crate::base::clock::Timestamp;
use crate::engine::store::key::Key;
use crate::engine::store::{Order, Read, Record, Result, Span, Table, WriteTx};
use crate::vocab::ids::{EmailId, MailingId};
use crate::vocab::{limits, tables};

const ENGAGEMENTS: Table<(MailingId, u32), Engagement> = Table::new(tables::ENGAGEMENTS);
const COUNTS: Table<(MailingId, u8), i64> = Table::new(tables::ENGAGEMENT_COUNTS);
const DAYS: Table<(EmailId, u32, u8), i64> = Table::new(tables::EMAIL_DAYS);
const EMAIL_MAILINGS: Table<(EmailId, MailingId), ()> = Table::new(tables::EMAIL_MAILINGS);
/// In [`DAYS`] in place of a measure: the row is for a country, not a day.
const COUNTRY: u8 = 255;
const DELIVERY_EVENTS: Table<EventKey, DeliveryEvent> = Table::new(tables::SIMULATIONS);

/// When something happened, and to which recipient of which mailing.
pub type EventKey = (Timestamp, MailingId, u32);

/// What one recipient did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engagement {
    /// By people; detected bots are left out.
    pub opens: u32,
    pub clicks: u32,
    /// By scanners and other bots.
    pub machine_opens: u32,
    pub machine_clicks: u32,
    /// By privacy proxies, which load images whether or not the recipient reads the email.
    pub proxy_opens: u32,
    pub first_opened_at: Option<Timestamp>,
    pub last_opened_at: Option<Timestamp>,
    pub first_clicked_at: Option<Timestamp>,
    pub last_clicked_at: Option<Timestamp>,
    pub unsubscribed_at: Option<Timestamp>,
    pub complained_at: Option<Timestamp>,
    /// The complaint type from the feedback report.
    pub complaint: Option<String>,
    pub bounced_at: Option<Timestamp>,
    pub bounce: Option<Bounce>,
    /// The only open is one implied by a click.
    pub open_is_implied: bool,
    /// Clicks right after delivery that were attributed to a person, and their links. Many at once come from a scanner.
    pub early_clicks: u32,
    pub early_links: Vec<u16>,
}

impl Record for Engagement {}

/// The class of a bounce and the server's reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounce {
    pub hard: bool,
    /// `hard`, `soft`, `policy` or `content`.
    pub class: String,
    pub detail: String,
}

/// A measure of engagement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    Opens = 0,
    UniqueOpens = 1,
    Clicks = 2,
    UniqueClicks = 3,
    MachineOpens = 4,
    MachineClicks = 5,
    ProxyOpens = 6,
    Unsubscribes = 7,
    Complaints = 8,
    HardBounces = 9,
    SoftBounces = 10,
    /// By day only: the recipient rows count who was sent to.
    Sent = 11,
    /// By day only, like [`Measure::Sent`]: rejected permanently by the next server.
    Failed = 12,
}

impl Measure {
    /// Every measure, in the order of declaration, which is the order on disk.
    pub(super) const ALL: [Self; 13] = [
        Self::Opens,
        Self::UniqueOpens,
        Self::Clicks,
        Self::UniqueClicks,
        Self::MachineOpens,
        Self::MachineClicks,
        Self::ProxyOpens,
        Self::Unsubscribes,
        Self::Complaints,
        Self::HardBounces,
        Self::SoftBounces,
        Self::Sent,
        Self::Failed,
    ];
}

/// A delivery event that is not processed yet: reported by a server, or simulated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeliveryEvent {
    /// A server rejected the message during delivery, with this reply.
    Refused {
        reply: String,
    },
    /// A simulated recipient's server bounces it.
    Bounce {
        hard: bool,
    },
    Complaint,
    Open,
    Click,
    Unsubscribe,
}

impl Record for DeliveryEvent {}

/// Returns what a recipient did; empty if nothing was recorded.
pub fn of(tx: &impl Read, mailing: MailingId, number: u32) -> Result<Engagement> {
    Ok(tx.get(ENGAGEMENTS, &(mailing, number))?.unwrap_or_default())
}

/// Stores what a recipient did.
pub fn save(tx: &mut WriteTx<'_>, mailing: MailingId, number: u32, engagement: &Engagement) {
    tx.put(ENGAGEMENTS, &(mailing, number), engagement);
}

/// Deletes what a recipient did.
pub fn forget(tx: &mut WriteTx<'_>, mailing: MailingId, number: u32) {
    tx.delete(ENGAGEMENTS, &(mailing, number));
}

/// Deletes everything recorded about a direct send, whose recipients are few. Daily counts stay.
pub(super) fn forget_mailing(tx: &mut WriteTx<'_>, mailing: &Mailing) -> Result<()> {
    tx.delete_span(ENGAGEMENTS, &ENGAGEMENTS.under(&(mailing.id,)), limits::DIRECT_RECIPIENTS_MAX)?;
    tx.delete_span(COUNTS, &COUNTS.under(&(mailing.id,)), Measure::ALL.len())?;
    for email in mailing.translations.iter().filter_map(|translation| translation.email) {
        tx.delete(EMAIL_MAILINGS, &(email, mailing.id));
    }
    Ok(())
}

/// Visits the recorded recipients of a mailing from number `from`, until `visitor` breaks.
pub fn visit(
    tx: &impl Read,
    mailing: MailingId,
    from: u32,
    mut visitor: impl FnMut(u32, Engagement) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut span = ENGAGEMENTS.under(&(mailing,));
    span.from = (mailing, from).to_bytes();
    tx.visit(ENGAGEMENTS, &span, Order::Forward, |(_, number), engagement| visitor(number, engagement))
}

/// Adds to a count.
pub fn add(tx: &mut WriteTx<'_>, mailing: MailingId, measure: Measure, many: i64) -> Result<()> {
    tx.add(COUNTS, &(mailing, measure as u8), many).map(drop)
}

/// Returns a count.
pub fn count(tx: &impl Read, mailing: MailingId, measure: Measure) -> Result<u64> {
    Ok(tx.get(COUNTS, &(mailing, measure as u8))?.unwrap_or(0).max(0) as u64)
}

/// Adds to the counts of the recipient's email, the account and the mailing, on the day of this write.
pub fn add_day(tx: &mut WriteTx<'_>, (mailing, email): (&Mailing, Option<EmailId>), measure: Measure, many: i64) -> Result<()> {
    if let Some(email) = email {
        tx.add(DAYS, &(email, daily_stats::of(tx.now()), measure as u8), many)?;
    }
    daily_stats::add(tx, mailing, measure, many)
}

/// Counts one more recipient of an email who opened it, by country (two uppercase letters).
pub fn add_country(tx: &mut WriteTx<'_>, email: EmailId, country: &str, many: i64) -> Result<()> {
    match country.as_bytes() {
        [first, second] => tx.add(DAYS, &(email, u32::from(*first) << 8 | u32::from(*second), COUNTRY), many).map(drop),
        _ => Ok(()),
    }
}

/// Statistics of all mailings of one email.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmailDays {
    /// By day since 1970, then by measure.
    pub days: BTreeMap<u32, BTreeMap<Measure, i64>>,
    /// Recipients who opened it, by country.
    pub countries: BTreeMap<String, i64>,
}

/// Returns the daily statistics of all mailings of one email.
pub fn days(tx: &impl Read, email: EmailId) -> Result<EmailDays> {
    let mut found = EmailDays::default();
    tx.visit(DAYS, &DAYS.under(&(email,)), Order::Forward, |(_, day, measure), many| {
        if measure == COUNTRY {
            let country: String = [day >> 8, day & 0xFF].iter().filter_map(|c| char::from_u32(*c)).collect();
            found.countries.insert(country, many);
        } else if let Some(measure) = Measure::ALL.get(usize::from(measure)) {
            found.days.entry(day).or_default().insert(*measure, many);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Records that a mailing sends this email.
pub(super) fn note_mailing(tx: &mut WriteTx<'_>, email: EmailId, mailing: MailingId) {
    tx.put(EMAIL_MAILINGS, &(email, mailing), &());
}

/// Returns up to `limit` mailings of an email, newest first, before `before`.
pub fn mailings(tx: &impl Read, email: EmailId, before: Option<MailingId>, limit: usize) -> Result<Vec<MailingId>> {
    let mut span = EMAIL_MAILINGS.under(&(email,));
    if let Some(before) = before {
        span.to = Some((email, before).to_bytes());
    }
    Ok(tx.list(EMAIL_MAILINGS, &span, Order::Backward, limit)?.into_iter().map(|((_, mailing), ())| mailing).collect())
}

/// Schedules an event to be processed at `at`.
pub fn schedule_event(tx: &mut WriteTx<'_>, at: Timestamp, mailing: MailingId, number: u32, event: &DeliveryEvent) {
    tx.put(DELIVERY_EVENTS, &(at, mailing, number), event);
}

/// Returns up to `limit` events due by `now`, earliest first.
pub fn due_events(tx: &impl Read, now: Timestamp, limit: usize) -> Result<Vec<(EventKey, DeliveryEvent)>> {
    let span = Span { from: Vec::new(), to: Some(now.plus_ms(1).to_bytes()) };
    tx.list(DELIVERY_EVENTS, &span, Order::Forward, limit)
}

/// Removes a processed event.
pub fn remove_event(tx: &mut WriteTx<'_>, key: &EventKey) {
    tx.delete(DELIVERY_EVENTS, key);
}
