//! The engagement tables and all access to them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::model::{DeliveryEvent, Engagement, Measure, StatsMailing, StatsScope};
use crate::base::clock::Timestamp;
use crate::base::day;
use crate::engine::store::key::Key;
use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::vocab::ids::{EmailId, MailingId};
use crate::vocab::{limits, tables};

const ENGAGEMENTS: Table<(MailingId, u32), Engagement> = Table::new(tables::ENGAGEMENTS);
const COUNTS: Table<(MailingId, u8), i64> = Table::new(tables::ENGAGEMENT_COUNTS);
const EMAIL_DAYS: Table<(EmailId, u32, u8), i64> = Table::new(tables::EMAIL_DAYS);
const DAYS: Table<(u8, [u8; 12], u32, u8), i64> = Table::new(tables::ACTIVITY_DAYS);
const CLICKS: Table<ClickedLink, i64> = Table::new(tables::CLICKED_LINKS);
const EMAIL_MAILINGS: Table<(EmailId, MailingId), ()> = Table::new(tables::EMAIL_MAILINGS);
/// The measure number of counts by country in [`EMAIL_DAYS`]. The keys of these counts contain the country instead of the day.
const COUNTRY: u8 = 255;
const DELIVERY_EVENTS: Table<EventKey, DeliveryEvent> = Table::new(tables::SIMULATIONS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[
    RowCheck::of(ENGAGEMENTS),
    RowCheck::of(COUNTS),
    RowCheck::of(EMAIL_DAYS),
    RowCheck::of(DAYS),
    RowCheck::of(CLICKS),
    RowCheck::of(EMAIL_MAILINGS),
    RowCheck::of(DELIVERY_EVENTS),
];

/// The key of a delivery event: when the event is due, the mailing, and the number of the recipient.
pub type EventKey = (Timestamp, MailingId, u32);

/// A link in a mailing: the mailing, the index of the translation, and the number of the link in that translation.
pub type ClickedLink = (MailingId, u8, u16);

/// Returns what a recipient did with a message, or an empty value if no activity was recorded.
pub fn of(tx: &impl Read, mailing: MailingId, number: u32) -> Result<Engagement> {
    Ok(tx.get(ENGAGEMENTS, &(mailing, number))?.unwrap_or_default())
}

pub fn save(tx: &mut WriteTx<'_>, mailing: MailingId, number: u32, engagement: &Engagement) {
    tx.put(ENGAGEMENTS, &(mailing, number), engagement);
}

pub fn forget(tx: &mut WriteTx<'_>, mailing: MailingId, number: u32) {
    tx.delete(ENGAGEMENTS, &(mailing, number));
}

/// Deletes the recipients' activity, the totals and the index entries of a direct send. One call is enough, because a direct send has few
/// recipients.
pub fn forget_mailing(tx: &mut WriteTx<'_>, mailing: MailingId, emails: impl IntoIterator<Item = EmailId>) -> Result<()> {
    tx.delete_span(ENGAGEMENTS, &ENGAGEMENTS.under(&(mailing,)), limits::DIRECT_RECIPIENTS_MAX)?;
    tx.delete_span(COUNTS, &COUNTS.under(&(mailing,)), Measure::ALL.len())?;
    for email in emails {
        tx.delete(EMAIL_MAILINGS, &(email, mailing));
    }
    Ok(())
}

/// Calls `visitor` for each recipient with recorded activity in a mailing, starting at the recipient number `from`, until `visitor` breaks.
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

/// Adds `many` to the total of a measure in a mailing.
pub fn add(tx: &mut WriteTx<'_>, mailing: MailingId, measure: Measure, many: i64) -> Result<()> {
    tx.add(COUNTS, &(mailing, measure as u8), many).map(drop)
}

pub fn count(tx: &impl Read, mailing: MailingId, measure: Measure) -> Result<u64> {
    Ok(tx.get(COUNTS, &(mailing, measure as u8))?.unwrap_or(0).max(0) as u64)
}

/// Adds `many` to today's counts of the email, the account and the mailing.
pub fn add_day(tx: &mut WriteTx<'_>, of: (StatsMailing, Option<EmailId>), measure: Measure, many: i64) -> Result<()> {
    let today = day::of(tx.now());
    add_on(tx, of, today, (measure, many))
}

/// Adds `many` to the counts of the email, the account and the mailing on the given day.
pub fn add_on(
    tx: &mut WriteTx<'_>,
    (mailing, email): (StatsMailing, Option<EmailId>),
    day: u32,
    (measure, many): (Measure, i64),
) -> Result<()> {
    if let Some(email) = email {
        tx.add(EMAIL_DAYS, &(email, day, measure as u8), many)?;
    }
    for scope in mailing.scopes(day) {
        // Skip sent and failed messages in account scopes, because the account's quota already counts them.
        if matches!(scope, StatsScope::Account(_)) && matches!(measure, Measure::Sent | Measure::Failed) {
            continue;
        }
        let (kind, id) = scope.key();
        tx.add(DAYS, &(kind, id, day, measure as u8), many)?;
    }
    Ok(())
}

/// Returns the counts of an account or a mailing from day `first` to day `last`, excluding days without counts.
pub fn counts_by_day(tx: &impl Read, scope: StatsScope, first: u32, last: u32) -> Result<BTreeMap<u32, BTreeMap<Measure, i64>>> {
    let (kind, id) = scope.key();
    let span = Span { from: (kind, id, first).to_bytes(), to: Some((kind, id, last + 1).to_bytes()) };
    let mut counts: BTreeMap<u32, BTreeMap<Measure, i64>> = BTreeMap::new();
    tx.visit(DAYS, &span, Order::Forward, |(_, _, day, measure), many| {
        if let Some(measure) = Measure::ALL.get(usize::from(measure)) {
            counts.entry(day).or_default().insert(*measure, many);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(counts)
}

pub fn add_clicks(tx: &mut WriteTx<'_>, clicked: ClickedLink, many: i64) -> Result<()> {
    tx.add(CLICKS, &clicked, many).map(drop)
}

/// Returns the number of clicks on each link of a mailing, by translation and link number. The content of a translation has at most
/// [`limits::MAILING_LINKS_MAX`] links.
pub fn clicks(tx: &impl Read, mailing: MailingId) -> Result<Vec<((u8, u16), u64)>> {
    let mut found = Vec::new();
    tx.visit(CLICKS, &CLICKS.under(&(mailing,)), Order::Forward, |(_, translation, link), many| {
        found.extend(u64::try_from(many).ok().filter(|many| *many > 0).map(|many| ((translation, link), many)));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Adds `many` to the number of recipients who opened an email in the country with this code (two uppercase letters). Ignores codes of
/// any other length.
pub fn add_country(tx: &mut WriteTx<'_>, email: EmailId, country: &str, many: i64) -> Result<()> {
    match country.as_bytes() {
        [first, second] => tx.add(EMAIL_DAYS, &(email, u32::from(*first) << 8 | u32::from(*second), COUNTRY), many).map(drop),
        _ => Ok(()),
    }
}

/// The statistics of all mailings of one email.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmailDays {
    /// The counts by day (the number of days since 1970) and by measure.
    pub days: BTreeMap<u32, BTreeMap<Measure, i64>>,
    /// The number of recipients who opened the email, by country.
    pub countries: BTreeMap<String, i64>,
}

/// Returns the statistics of all mailings of one email, by day and by country.
pub fn days(tx: &impl Read, email: EmailId) -> Result<EmailDays> {
    let mut found = EmailDays::default();
    tx.visit(EMAIL_DAYS, &EMAIL_DAYS.under(&(email,)), Order::Forward, |(_, day, measure), many| {
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

/// Records that a mailing sends the email, so that [`mailings`] finds the mailing.
pub fn note_mailing(tx: &mut WriteTx<'_>, email: EmailId, mailing: MailingId) {
    tx.put(EMAIL_MAILINGS, &(email, mailing), &());
}

/// Returns up to `limit` mailings of an email that precede the mailing `before`, newest first.
pub fn mailings(tx: &impl Read, email: EmailId, before: Option<MailingId>, limit: usize) -> Result<Vec<MailingId>> {
    let mut span = EMAIL_MAILINGS.under(&(email,));
    if let Some(before) = before {
        span.to = Some((email, before).to_bytes());
    }
    Ok(tx.list(EMAIL_MAILINGS, &span, Order::Backward, limit)?.into_iter().map(|((_, mailing), ())| mailing).collect())
}

pub fn schedule_event(tx: &mut WriteTx<'_>, at: Timestamp, mailing: MailingId, number: u32, event: &DeliveryEvent) {
    tx.put(DELIVERY_EVENTS, &(at, mailing, number), event);
}

/// Returns up to `limit` delivery events due by `now`, earliest first.
pub fn due_events(tx: &impl Read, now: Timestamp, limit: usize) -> Result<Vec<(EventKey, DeliveryEvent)>> {
    let span = Span { from: Vec::new(), to: Some(now.plus_ms(1).to_bytes()) };
    tx.list(DELIVERY_EVENTS, &span, Order::Forward, limit)
}

pub fn remove_event(tx: &mut WriteTx<'_>, key: &EventKey) {
    tx.delete(DELIVERY_EVENTS, key);
}
