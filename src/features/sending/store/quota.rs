//! The email quota of an account: how many emails were sent per day and month, how many more the plan allows, and how many emails of direct
//! sends are queued.
//!
//! Days and months are in UTC. The transaction of a handoff deducts an email from the quota. If the message was certainly not accepted, the
//! email is added to the quota again.

use jiff::tz::TimeZone;

use crate::base::clock::Timestamp;
use crate::base::{day, month};
use crate::engine::access::keys::SendingLimits;
use crate::engine::store::{Read, Result, RowCheck, Table, WriteTx};
use crate::vocab::ids::AccountId;
use crate::vocab::tables;

const QUOTAS: Table<(AccountId, u32), i64> = Table::new(tables::QUOTAS);

/// The check that decodes every row of this table.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(QUOTAS)];

/// Specifies which emails a count includes. Each account has every count per day and per month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentCount {
    /// Emails that were handed over or are in flight. Quotas limit the number of these emails.
    Taken = 0,
    /// Emails that the next mail server accepted.
    Sent = 1,
    /// Emails that the next mail server rejected, or that were deferred for too long.
    Refused = 2,
    Complained = 3,
    /// Emails that the next mail server accepted, but that bounced later.
    Returned = 4,
}

/// The key in [`QUOTAS`], in place of a period, for the number of queued emails from direct sends.
const WAITING: u32 = u32::MAX;
const MONTHS: u32 = 1 << 24;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// A day or a month for which emails are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period(u32);

impl Period {
    pub fn day(at: Timestamp) -> Self {
        Self(day::of(at))
    }

    /// Returns the day with this number, counted from 1970.
    pub fn of_day(day: u32) -> Self {
        Self(day)
    }

    pub fn month(at: Timestamp) -> Self {
        Self(MONTHS + month::of(at))
    }

    /// Returns the month `back` months before the month that contains this time.
    pub fn month_before(at: Timestamp, back: u32) -> Self {
        Self(Self::month(at).0.saturating_sub(back).max(MONTHS))
    }

    /// Formats the month, for example as `2026-01`.
    pub fn month_text(self) -> String {
        month::text(self.0.saturating_sub(MONTHS))
    }
}

fn civil(at: Timestamp) -> (i16, i8) {
    let moment = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default().to_zoned(TimeZone::UTC);
    (moment.year(), moment.month())
}

/// Returns when the day that contains this time ends.
pub fn next_day(at: Timestamp) -> Timestamp {
    Timestamp((at.0.div_euclid(DAY_MS) + 1) * DAY_MS)
}

/// Returns when the month that contains this time ends.
pub fn next_month(at: Timestamp) -> Timestamp {
    let (year, month) = civil(at);
    let (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    let first = jiff::civil::date(year, month, 1).to_zoned(TimeZone::UTC);
    first.map_or(next_day(at), |first| Timestamp(first.timestamp().as_millisecond()))
}

fn key(account: AccountId, tally: SentCount, period: Period) -> (AccountId, u32) {
    (account, (tally as u32) << 28 | period.0)
}

pub fn counted(tx: &impl Read, account: AccountId, tally: SentCount, period: Period) -> Result<u64> {
    Ok(tx.get(QUOTAS, &key(account, tally, period))?.unwrap_or(0).max(0) as u64)
}

/// Adds to an account's counts for the day and month of `at`. For [`SentCount::Taken`], `at` is the time of the handoff. If the handoff
/// fails after midnight, the email is therefore subtracted from the day on which it was counted.
pub fn count(tx: &mut WriteTx<'_>, account: AccountId, tally: SentCount, many: i64, at: Timestamp) -> Result<()> {
    for period in [Period::day(at), Period::month(at)] {
        tx.add(QUOTAS, &key(account, tally, period), many)?;
    }
    Ok(())
}

/// The remainder of an account's daily and monthly quotas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaLeft {
    /// The number of emails that may still be sent under the tighter quota, and the time when this quota resets.
    Left(u64, Timestamp),
    /// No more emails may be sent until this time.
    UsedUp { until: Timestamp },
}

pub fn left(tx: &impl Read, account: AccountId, limits: SendingLimits, now: Timestamp) -> Result<QuotaLeft> {
    let left = |limit: Option<u64>, period| -> Result<u64> {
        let Some(limit) = limit else { return Ok(u64::MAX) };
        Ok(limit.saturating_sub(counted(tx, account, SentCount::Taken, period)?))
    };
    let month = left(limits.monthly, Period::month(now))?;
    if month == 0 {
        return Ok(QuotaLeft::UsedUp { until: next_month(now) });
    }
    let day = left(limits.daily, Period::day(now))?;
    if day == 0 {
        return Ok(QuotaLeft::UsedUp { until: next_day(now) });
    }
    Ok(if month < day { QuotaLeft::Left(month, next_month(now)) } else { QuotaLeft::Left(day, next_day(now)) })
}

/// Returns the number of queued emails from an account's direct sends.
pub fn waiting(tx: &impl Read, account: AccountId) -> Result<u64> {
    Ok(tx.get(QUOTAS, &(account, WAITING))?.unwrap_or(0).max(0) as u64)
}

pub fn add_waiting(tx: &mut WriteTx<'_>, account: AccountId, many: i64) -> Result<()> {
    tx.add(QUOTAS, &(account, WAITING), many).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::START;

    #[test]
    fn days_and_months_end_at_midnight_utc() {
        let december = Timestamp(START.0 - 1);
        assert_eq!((next_day(december), next_month(december)), (START, START));
        assert_eq!(next_day(START), START.plus_ms(DAY_MS));
        assert_eq!(next_month(START), START.plus_ms(31 * DAY_MS));
        assert_ne!(Period::day(december), Period::day(START));
        assert_eq!(
            (Period::month(december).month_text(), Period::month(START).month_text()),
            ("2025-12".into(), "2026-01".into())
        );
        assert_eq!(Period::month_before(START, 13).month_text(), "2024-12");
    }
}
