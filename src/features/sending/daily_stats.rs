//! Daily statistics of accounts and campaigns: one row per day and measure, whatever the volume.
//!
//! Charts read these rows, so no chart walks over recipients, contacts or events. The quota already counts what an account sends. This
//! module does not know how charts are drawn or what an open or click is.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Serialize;

use super::engagement::Measure;
use super::model::Mailing;
use super::orders::{Order, Revenue};
use super::quota::{self, Period, SentCount};
use super::store;
use crate::base::amount::Amount;
use crate::base::clock::Timestamp;
use crate::base::currency::Currency;
use crate::engine::store::key::Key;
use crate::engine::store::{Order as Direction, Read, Result, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, MailingId};
use crate::vocab::{limits, tables};

const ACTIVITY: Table<(u8, [u8; 12], u32, u8), i64> = Table::new(tables::ACTIVITY_DAYS);
const REVENUE: Table<(u8, [u8; 12], u32, [u8; 3]), Revenue> = Table::new(tables::TAKINGS_DAYS);
const CLICKS: Table<ClickedLink, i64> = Table::new(tables::CLICKED_LINKS);

/// A mailing, the index of its translation, and the number of the link there.
pub type ClickedLink = (MailingId, u8, u16);

/// The account or mailing that statistics belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StatsScope {
    Account(AccountId),
    Campaign(MailingId),
}

impl StatsScope {
    fn key(self) -> (u8, [u8; 12]) {
        match self {
            StatsScope::Account(id) => (0, id.0),
            StatsScope::Campaign(id) => (1, id.0),
        }
    }

    /// Returns the scopes a mailing counts toward: its account, and the mailing itself if it belongs to a campaign and is not too old.
    fn of(mailing: &Mailing, day: u32) -> impl Iterator<Item = Self> {
        let is_told = mailing.kind.campaign().is_some() && day < of(mailing.created_at) + limits::CAMPAIGN_DAYS;
        [Some(StatsScope::Account(mailing.account)), is_told.then_some(StatsScope::Campaign(mailing.id))].into_iter().flatten()
    }
}

/// Returns the UTC day of a moment, in days since 1970.
pub fn of(at: Timestamp) -> u32 {
    u32::try_from(at.0.div_euclid(limits::DAY_MS)).unwrap_or(0)
}

/// Formats a day: `2026-01-31`.
pub fn date(day: u32) -> String {
    let text = Timestamp(i64::from(day) * limits::DAY_MS).to_string();
    text.split('T').next().unwrap_or_default().to_owned()
}

/// Adds to the statistics of the day of this write.
pub(super) fn add(tx: &mut WriteTx<'_>, mailing: &Mailing, measure: Measure, many: i64) -> Result<()> {
    let day = of(tx.now());
    for scope in StatsScope::of(mailing, day) {
        // The quota already counts what an account sends.
        if matches!(scope, StatsScope::Account(_)) && matches!(measure, Measure::Sent | Measure::Failed) {
            continue;
        }
        let (kind, id) = scope.key();
        tx.add(ACTIVITY, &(kind, id, day, measure as u8), many)?;
    }
    Ok(())
}

/// Adds an order's revenue to the day it was paid, or subtracts it with a sign of -1.
pub(super) fn add_revenue(tx: &mut WriteTx<'_>, order: &Order, sign: i64) -> Result<()> {
    let Some(credit) = order.credit else { return Ok(()) };
    let Some(mailing) = store::by_id(tx, credit.mailing)? else { return Ok(()) };
    let day = of(credit.paid_at);
    for scope in StatsScope::of(&mailing, day) {
        let (kind, id) = scope.key();
        for (currency, revenue) in &order.counted {
            let key = (kind, id, day, currency.bytes());
            let mut total = tx.get(REVENUE, &key)?.unwrap_or_default();
            total.conversions += sign * revenue.conversions;
            total.amount = if sign < 0 { total.amount.minus(revenue.amount) } else { total.amount.plus(revenue.amount) };
            if total == Revenue::default() { tx.delete(REVENUE, &key) } else { tx.put(REVENUE, &key, &total) }
        }
    }
    Ok(())
}

/// Adds to a link's clicks.
pub fn add_clicks(tx: &mut WriteTx<'_>, clicked: ClickedLink, many: i64) -> Result<()> {
    tx.add(CLICKS, &clicked, many).map(drop)
}

/// Returns the clicks of a mailing's links, by translation and link number. A content has at most [`limits::MAILING_LINKS_MAX`] links.
pub fn clicks(tx: &impl Read, mailing: MailingId) -> Result<Vec<((u8, u16), u64)>> {
    let mut found = Vec::new();
    tx.visit(CLICKS, &CLICKS.under(&(mailing,)), Direction::Forward, |(_, translation, link), many| {
        found.extend(u64::try_from(many).ok().filter(|many| *many > 0).map(|many| ((translation, link), many)));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// The statistics of one day, in UTC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineDay {
    /// For example 2026-01-31.
    #[schemars(extend("format" = "date"))]
    pub date: String,
    /// Messages accepted by the next mail server.
    pub sent: u64,
    /// Messages rejected permanently and immediately.
    pub failed: u64,
    /// Messages rejected immediately or bounced later.
    pub bounced: u64,
    pub complained: u64,
    /// Recipients who opened a message for the first time; detected bots are left out.
    pub opened: u64,
    /// Recipients who clicked for the first time.
    pub clicked: u64,
    pub unsubscribed: u64,
    /// Orders of that day and their revenue, minus later refunds; one row per currency.
    pub takings: Vec<RevenueView>,
}

/// Orders in one currency.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Takings")]
pub struct RevenueView {
    pub currency: Currency,
    pub conversions: i64,
    pub revenue: Amount,
}

impl RevenueView {
    fn of((currency, revenue): (&Currency, &Revenue)) -> Self {
        Self { currency: *currency, conversions: revenue.conversions, revenue: revenue.amount }
    }
}

/// Returns every day of an account from `first` to `last`, including days without activity.
pub fn of_account(tx: &impl Read, account: AccountId, first: u32, last: u32) -> Result<Vec<TimelineDay>> {
    let (mut counts, revenue) = read(tx, StatsScope::Account(account), first, last)?;
    let mut days = Vec::new();
    for day in first..=last {
        let period = Period::of_day(day);
        let many = |tally| quota::counted(tx, account, tally, period);
        let told = told(day, &counts.remove(&day).unwrap_or_default(), revenue.get(&day));
        let failed = many(SentCount::Refused)?;
        let bounced = failed + many(SentCount::Returned)?;
        days.push(TimelineDay {
            sent: many(SentCount::Sent)?,
            failed,
            bounced,
            complained: many(SentCount::Complained)?,
            ..told
        });
    }
    Ok(days)
}

/// Returns the days of a campaign's mailing, from its start to the last day with activity.
pub fn of_campaign(tx: &impl Read, mailing: &Mailing) -> Result<Vec<TimelineDay>> {
    let first = of(mailing.created_at);
    let (counts, revenue) = read(tx, StatsScope::Campaign(mailing.id), first, first + limits::CAMPAIGN_DAYS - 1)?;
    let last = counts.keys().chain(revenue.keys()).copied().max().unwrap_or(first);
    let nothing = BTreeMap::new();
    Ok((first..=last).map(|day| told(day, counts.get(&day).unwrap_or(&nothing), revenue.get(&day))).collect())
}

type MeasureTotals = BTreeMap<Measure, i64>;
type RevenueByCurrency = BTreeMap<Currency, Revenue>;

fn read(
    tx: &impl Read,
    scope: StatsScope,
    first: u32,
    last: u32,
) -> Result<(BTreeMap<u32, MeasureTotals>, BTreeMap<u32, RevenueByCurrency>)> {
    let (kind, id) = scope.key();
    let span = Span { from: (kind, id, first).to_bytes(), to: Some((kind, id, last + 1).to_bytes()) };
    let mut counts: BTreeMap<u32, MeasureTotals> = BTreeMap::new();
    tx.visit(ACTIVITY, &span, Direction::Forward, |(_, _, day, measure), many| {
        if let Some(measure) = Measure::ALL.get(usize::from(measure)) {
            counts.entry(day).or_default().insert(*measure, many);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let mut revenue: BTreeMap<u32, RevenueByCurrency> = BTreeMap::new();
    tx.visit(REVENUE, &span, Direction::Forward, |(_, _, day, currency), total| {
        revenue.entry(day).or_default().extend(Currency::from_bytes(currency).map(|currency| (currency, total)));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok((counts, revenue))
}

fn told(day: u32, sums: &MeasureTotals, revenue: Option<&RevenueByCurrency>) -> TimelineDay {
    let many = |measure| sums.get(&measure).copied().unwrap_or(0).max(0) as u64;
    TimelineDay {
        date: date(day),
        sent: many(Measure::Sent),
        failed: many(Measure::Failed),
        // An immediate rejection counts as failed first, and also as a bounce once the reply is classified.
        bounced: (many(Measure::HardBounces) + many(Measure::SoftBounces)).max(many(Measure::Failed)),
        complained: many(Measure::Complaints),
        opened: many(Measure::UniqueOpens),
        clicked: many(Measure::UniqueClicks),
        unsubscribed: many(Measure::Unsubscribes),
        takings: revenue.into_iter().flatten().map(RevenueView::of).collect(),
    }
}

impl TimelineDay {
    /// An example for the API documents.
    pub fn sample() -> Self {
        let revenue = Revenue { conversions: 3, amount: Amount::parse("214.7").expect("a number") };
        Self {
            date: "2026-01-31".into(),
            sent: 315,
            failed: 2,
            bounced: 3,
            complained: 0,
            opened: 141,
            clicked: 38,
            unsubscribed: 2,
            takings: vec![RevenueView::of((&Currency::USD, &revenue))],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_utc_dates() {
        assert_eq!((date(20_454), of(Timestamp(20_454 * limits::DAY_MS))), ("2026-01-01".into(), 20_454));
        assert_eq!(of(Timestamp(20_455 * limits::DAY_MS - 1)), 20_454);
    }

    #[test]
    fn a_rejection_counts_as_one_bounce_from_either_source() {
        let sums =
            BTreeMap::from([(Measure::Sent, 8), (Measure::Failed, 2), (Measure::HardBounces, 2), (Measure::UniqueOpens, -1)]);
        let day = told(20_454, &sums, None);
        assert_eq!((day.sent, day.bounced, day.opened), (8, 2, 0));
    }
}
