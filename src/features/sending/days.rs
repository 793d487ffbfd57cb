//! What happened on each day, of an account and of a campaign: a row for each day and kind, however much happened.
//!
//! Charts are drawn from these rows, so that no chart ever walks over recipients, contacts or events. What an account sends is counted
//! by its quota already. It does not know how anything is drawn, nor what an open or a click is.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Serialize;

use super::engagement::Measure;
use super::model::Mailing;
use super::orders::{Order, Takings};
use super::quota::{self, Period, Tally};
use super::store;
use crate::base::amount::Amount;
use crate::base::clock::Timestamp;
use crate::base::currency::Currency;
use crate::engine::store::key::Key;
use crate::engine::store::{Order as Direction, Read, Result, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, MailingId};
use crate::vocab::{limits, tables};

const ACTIVITY: Table<(u8, [u8; 12], u32, u8), i64> = Table::new(tables::ACTIVITY_DAYS);
const TAKINGS: Table<(u8, [u8; 12], u32, [u8; 3]), Takings> = Table::new(tables::TAKINGS_DAYS);
const CLICKS: Table<ClickedLink, i64> = Table::new(tables::CLICKED_LINKS);

/// A mailing, the index of its translation, and the number of the link there.
pub type ClickedLink = (MailingId, u8, u16);

/// Whose days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Account(AccountId),
    Campaign(MailingId),
}

impl Whose {
    fn key(self) -> (u8, [u8; 12]) {
        match self {
            Whose::Account(id) => (0, id.0),
            Whose::Campaign(id) => (1, id.0),
        }
    }

    /// Whose day a mailing's is: its account's, and its own if it is a campaign's and not too old.
    fn of(mailing: &Mailing, day: u32) -> impl Iterator<Item = Self> {
        let is_told = mailing.kind.campaign().is_some() && day < of(mailing.created_at) + limits::CAMPAIGN_DAYS;
        [Some(Whose::Account(mailing.account)), is_told.then_some(Whose::Campaign(mailing.id))].into_iter().flatten()
    }
}

/// The day of a moment, in days since 1970 of UTC.
pub fn of(at: Timestamp) -> u32 {
    u32::try_from(at.0.div_euclid(limits::DAY_MS)).unwrap_or(0)
}

/// A day as it is written: `2026-01-31`.
pub fn date(day: u32) -> String {
    let text = Timestamp(i64::from(day) * limits::DAY_MS).to_string();
    text.split('T').next().unwrap_or_default().to_owned()
}

/// Add to what happened on the day of this write.
pub(super) fn add(tx: &mut WriteTx<'_>, mailing: &Mailing, measure: Measure, many: i64) -> Result<()> {
    let day = of(tx.now());
    for whose in Whose::of(mailing, day) {
        // The quota counts what an account sends.
        if matches!(whose, Whose::Account(_)) && matches!(measure, Measure::Sent | Measure::Failed) {
            continue;
        }
        let (kind, id) = whose.key();
        tx.add(ACTIVITY, &(kind, id, day, measure as u8), many)?;
    }
    Ok(())
}

/// Add what an order brought to its day, or with -1 take it away again. Its day is that on which it was paid.
pub(super) fn add_takings(tx: &mut WriteTx<'_>, order: &Order, sign: i64) -> Result<()> {
    let (Some(credit), Some(payment)) = (order.credit, Order::payment(&order.facts)) else { return Ok(()) };
    let Some(mailing) = store::by_id(tx, credit.mailing)? else { return Ok(()) };
    let day = of(payment.occurred_at);
    for whose in Whose::of(&mailing, day) {
        let (kind, id) = whose.key();
        for (currency, takings) in &order.counted {
            let key = (kind, id, day, currency.bytes());
            let mut total = tx.get(TAKINGS, &key)?.unwrap_or_default();
            total.conversions += sign * takings.conversions;
            total.amount = if sign < 0 { total.amount.minus(takings.amount) } else { total.amount.plus(takings.amount) };
            if total == Takings::default() { tx.delete(TAKINGS, &key) } else { tx.put(TAKINGS, &key, &total) }
        }
    }
    Ok(())
}

/// Add to the clicks of a link.
pub fn add_clicks(tx: &mut WriteTx<'_>, clicked: ClickedLink, many: i64) -> Result<()> {
    tx.add(CLICKS, &clicked, many).map(drop)
}

/// The clicks of a mailing's links, by translation and number. A content has at most [`limits::MAILING_LINKS_MAX`] of them.
pub fn clicks(tx: &impl Read, mailing: MailingId) -> Result<Vec<((u8, u16), u64)>> {
    let mut found = Vec::new();
    tx.visit(CLICKS, &CLICKS.under(&(mailing,)), Direction::Forward, |(_, translation, link), many| {
        found.extend(u64::try_from(many).ok().filter(|many| *many > 0).map(|many| ((translation, link), many)));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// What happened on one day. Days are those of UTC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TimelineDay")]
pub struct Day {
    /// Like 2026-01-31.
    #[schemars(extend("format" = "date"))]
    pub date: String,
    /// Messages that the next mail server has taken over.
    pub sent: u64,
    /// Refused for good at once.
    pub failed: u64,
    /// Those refused at once, and those sent back later.
    pub bounced: u64,
    pub complained: u64,
    /// Recipients who opened a message for the first time, as far as people can be told from machines.
    pub opened: u64,
    /// Recipients who clicked for the first time.
    pub clicked: u64,
    pub unsubscribed: u64,
    /// Orders of that day and what they brought, less what was paid back since; one row for each currency.
    pub takings: Vec<TakingsView>,
}

/// Orders of one currency.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Takings")]
pub struct TakingsView {
    pub currency: Currency,
    pub conversions: i64,
    pub revenue: Amount,
}

impl TakingsView {
    fn of((currency, takings): (&Currency, &Takings)) -> Self {
        Self { currency: *currency, conversions: takings.conversions, revenue: takings.amount }
    }
}

/// The days of an account from `first` to `last`, each of them, also those on which nothing happened.
pub fn of_account(tx: &impl Read, account: AccountId, first: u32, last: u32) -> Result<Vec<Day>> {
    let (mut counts, takings) = read(tx, Whose::Account(account), first, last)?;
    let mut days = Vec::new();
    for day in first..=last {
        let period = Period::of_day(day);
        let many = |tally| quota::counted(tx, account, tally, period);
        let told = told(day, &counts.remove(&day).unwrap_or_default(), takings.get(&day));
        let failed = many(Tally::Refused)?;
        let bounced = failed + many(Tally::Returned)?;
        days.push(Day { sent: many(Tally::Sent)?, failed, bounced, complained: many(Tally::Complained)?, ..told });
    }
    Ok(days)
}

/// The days of a campaign's mailing, from its start to the last on which something happened.
pub fn of_campaign(tx: &impl Read, mailing: &Mailing) -> Result<Vec<Day>> {
    let first = of(mailing.created_at);
    let (counts, takings) = read(tx, Whose::Campaign(mailing.id), first, first + limits::CAMPAIGN_DAYS - 1)?;
    let last = counts.keys().chain(takings.keys()).copied().max().unwrap_or(first);
    let nothing = BTreeMap::new();
    Ok((first..=last).map(|day| told(day, counts.get(&day).unwrap_or(&nothing), takings.get(&day))).collect())
}

type Sums = BTreeMap<Measure, i64>;
type Money = BTreeMap<Currency, Takings>;

fn read(tx: &impl Read, whose: Whose, first: u32, last: u32) -> Result<(BTreeMap<u32, Sums>, BTreeMap<u32, Money>)> {
    let (kind, id) = whose.key();
    let span = Span { from: (kind, id, first).to_bytes(), to: Some((kind, id, last + 1).to_bytes()) };
    let mut counts: BTreeMap<u32, Sums> = BTreeMap::new();
    tx.visit(ACTIVITY, &span, Direction::Forward, |(_, _, day, measure), many| {
        if let Some(measure) = Measure::ALL.get(usize::from(measure)) {
            counts.entry(day).or_default().insert(*measure, many);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let mut takings: BTreeMap<u32, Money> = BTreeMap::new();
    tx.visit(TAKINGS, &span, Direction::Forward, |(_, _, day, currency), total| {
        takings.entry(day).or_default().extend(Currency::from_bytes(currency).map(|currency| (currency, total)));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok((counts, takings))
}

fn told(day: u32, sums: &Sums, takings: Option<&Money>) -> Day {
    let many = |measure| sums.get(&measure).copied().unwrap_or(0).max(0) as u64;
    Day {
        date: date(day),
        sent: many(Measure::Sent),
        failed: many(Measure::Failed),
        // Whoever was refused at once is counted as failed first, and as a bounce as soon as the reply was read.
        bounced: (many(Measure::HardBounces) + many(Measure::SoftBounces)).max(many(Measure::Failed)),
        complained: many(Measure::Complaints),
        opened: many(Measure::UniqueOpens),
        clicked: many(Measure::UniqueClicks),
        unsubscribed: many(Measure::Unsubscribes),
        takings: takings.into_iter().flatten().map(TakingsView::of).collect(),
    }
}

impl Day {
    /// An example for the documents.
    pub fn sample() -> Self {
        let takings = Takings { conversions: 3, amount: Amount::parse("214.7").expect("a number") };
        Self {
            date: "2026-01-31".into(),
            sent: 315,
            failed: 2,
            bounced: 3,
            complained: 0,
            opened: 141,
            clicked: 38,
            unsubscribed: 2,
            takings: vec![TakingsView::of((&Currency::USD, &takings))],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates_of_utc() {
        assert_eq!((date(20_454), of(Timestamp(20_454 * limits::DAY_MS))), ("2026-01-01".into(), 20_454));
        assert_eq!(of(Timestamp(20_455 * limits::DAY_MS - 1)), 20_454);
    }

    #[test]
    fn a_refusal_is_one_bounce_whoever_counted_it_first() {
        let sums =
            BTreeMap::from([(Measure::Sent, 8), (Measure::Failed, 2), (Measure::HardBounces, 2), (Measure::UniqueOpens, -1)]);
        let day = told(20_454, &sums, None);
        assert_eq!((day.sent, day.bounced, day.opened), (8, 2, 0));
    }
}
