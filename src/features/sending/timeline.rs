//! The daily statistics of an account or a campaign, for charts: one entry per UTC day, computed from the daily counts, the revenue and the
//! quota counts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::model::Mailing;
use super::quota::{self, Period, SentCount};
use crate::base::amount::Amount;
use crate::base::currency::Currency;
use crate::base::day;
use crate::engine::store::{Read, Result};
use crate::features::engagement::{self, Measure, StatsScope};
use crate::features::revenue::{self, Revenue, RevenueView};
use crate::vocab::ids::AccountId;
use crate::vocab::limits;

type MeasureTotals = BTreeMap<Measure, i64>;
type RevenueByCurrency = BTreeMap<Currency, Revenue>;

/// The statistics of one day, in UTC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineDay {
    /// The date in UTC, for example 2026-01-31.
    #[schemars(extend("format" = "date"))]
    pub date: String,
    /// Messages that the next mail server accepted.
    pub sent: u64,
    /// Messages that were rejected permanently or deferred for too long.
    pub failed: u64,
    /// Messages that were rejected permanently, deferred for too long, or returned as bounces later.
    pub bounced: u64,
    pub complained: u64,
    /// Recipients who opened their message for the first time on this day, excluding detected bots.
    pub opened: u64,
    /// Recipients who clicked a link in their message for the first time on this day, excluding detected bots.
    pub clicked: u64,
    pub unsubscribed: u64,
    /// The orders of the day and their revenue, minus later refunds; one row per currency.
    pub revenue: Vec<RevenueView>,
}

/// Returns an account's statistics for every day from `first` to `last`, including days without activity. Days are counted from 1970.
pub fn of_account(tx: &impl Read, account: AccountId, first: u32, last: u32) -> Result<Vec<TimelineDay>> {
    let scope = StatsScope::Account(account);
    let mut counts = engagement::counts_by_day(tx, scope, first, last)?;
    let revenue = revenue::totals_by_day(tx, scope, first, last)?;
    let mut days = Vec::new();
    for day in first..=last {
        let period = Period::of_day(day);
        let many = |tally| quota::counted(tx, account, tally, period);
        let totals = timeline_day(day, &counts.remove(&day).unwrap_or_default(), revenue.get(&day));
        let failed = many(SentCount::Refused)?;
        let bounced = failed + many(SentCount::Returned)?;
        days.push(TimelineDay {
            sent: many(SentCount::Sent)?,
            failed,
            bounced,
            complained: many(SentCount::Complained)?,
            ..totals
        });
    }
    Ok(days)
}

/// Returns the daily statistics of a campaign's mailing, from the day of its creation to the last day with activity, for at most
/// [`limits::CAMPAIGN_DAYS`] days.
pub fn of_campaign(tx: &impl Read, mailing: &Mailing) -> Result<Vec<TimelineDay>> {
    let first = day::of(mailing.created_at);
    let (scope, end) = (StatsScope::Mailing(mailing.id), first + limits::CAMPAIGN_DAYS - 1);
    let counts = engagement::counts_by_day(tx, scope, first, end)?;
    let revenue = revenue::totals_by_day(tx, scope, first, end)?;
    let last = counts.keys().chain(revenue.keys()).copied().max().unwrap_or(first);
    let nothing = BTreeMap::new();
    Ok((first..=last).map(|day| timeline_day(day, counts.get(&day).unwrap_or(&nothing), revenue.get(&day))).collect())
}

fn timeline_day(day: u32, sums: &MeasureTotals, revenue: Option<&RevenueByCurrency>) -> TimelineDay {
    let many = |measure| sums.get(&measure).copied().unwrap_or(0).max(0) as u64;
    TimelineDay {
        date: day::date(day),
        sent: many(Measure::Sent),
        failed: many(Measure::Failed),
        bounced: many(Measure::Failed) + many(Measure::HardBounces) + many(Measure::SoftBounces),
        complained: many(Measure::Complaints),
        opened: many(Measure::UniqueOpens),
        clicked: many(Measure::UniqueClicks),
        unsubscribed: many(Measure::Unsubscribes),
        revenue: revenue.into_iter().flatten().map(RevenueView::of).collect(),
    }
}

impl TimelineDay {
    /// Returns an example for the documentation.
    pub fn sample() -> Self {
        let revenue = Revenue { conversions: 3, amount: Amount::parse("214.7").expect("the value is a number") };
        Self {
            date: "2026-01-31".into(),
            sent: 315,
            failed: 2,
            bounced: 3,
            complained: 0,
            opened: 141,
            clicked: 38,
            unsubscribed: 2,
            revenue: vec![RevenueView::of((&Currency::USD, &revenue))],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejections_and_later_bounces_are_added() {
        let later = [(Measure::HardBounces, 2), (Measure::SoftBounces, 1)];
        let sums: MeasureTotals =
            [(Measure::Sent, 8), (Measure::Failed, 2), (Measure::UniqueOpens, -1)].into_iter().chain(later).collect();
        let day = timeline_day(20_454, &sums, None);
        assert_eq!((day.sent, day.failed, day.bounced, day.opened), (8, 2, 5, 0));
    }
}
