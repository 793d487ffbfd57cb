//! How many emails an account has sent in a day and a month, how many its plan allows, and how many direct sends wait.
//!
//! Days and months are those of UTC. Emails are taken from the quota in the transaction of their handoff, and given back when they
//! certainly were not accepted.

use jiff::tz::TimeZone;

use crate::base::clock::Timestamp;
use crate::engine::access::keys::SendingLimits;
use crate::engine::store::{Read, Result, Table, WriteTx};
use crate::vocab::ids::AccountId;
use crate::vocab::tables;

const QUOTAS: Table<(AccountId, u32), i64> = Table::new(tables::QUOTAS);

/// What is counted per day and month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tally {
    /// Handed over, or just being so: what quotas are about.
    Taken = 0,
    /// Accepted by the next server.
    Sent = 1,
    /// Refused by it at once.
    Refused = 2,
    Complained = 3,
    /// Accepted by it, and sent back later.
    Returned = 4,
}

/// In [`QUOTAS`] in place of a period: direct sends that wait for their turn.
const WAITING: u32 = u32::MAX;
const MONTHS: u32 = 1 << 24;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// A day or a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period(u32);

impl Period {
    /// The day of a moment.
    pub fn day(at: Timestamp) -> Self {
        Self(u32::try_from(at.0.div_euclid(DAY_MS)).unwrap_or(0))
    }

    /// A day, counted from 1970.
    pub fn of_day(day: u32) -> Self {
        Self(day)
    }

    /// The month of a moment.
    pub fn month(at: Timestamp) -> Self {
        let (year, month) = civil(at);
        Self::of_month(year, month)
    }

    /// The month `back` months before that of a moment.
    pub fn month_before(at: Timestamp, back: u32) -> Self {
        Self(Self::month(at).0.saturating_sub(back).max(MONTHS))
    }

    fn of_month(year: i16, month: i8) -> Self {
        let months = (i32::from(year) - 1970) * 12 + i32::from(month) - 1;
        Self(MONTHS + u32::try_from(months).unwrap_or(0))
    }

    /// The month as it is written: `2026-01`.
    pub fn month_text(self) -> String {
        let months = self.0.saturating_sub(MONTHS);
        format!("{:04}-{:02}", 1970 + months / 12, months % 12 + 1)
    }
}

fn civil(at: Timestamp) -> (i16, i8) {
    let moment = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default().to_zoned(TimeZone::UTC);
    (moment.year(), moment.month())
}

/// When the day of a moment is over.
pub fn next_day(at: Timestamp) -> Timestamp {
    Timestamp((at.0.div_euclid(DAY_MS) + 1) * DAY_MS)
}

/// When the month of a moment is over.
pub fn next_month(at: Timestamp) -> Timestamp {
    let (year, month) = civil(at);
    let (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    let first = jiff::civil::date(year, month, 1).to_zoned(TimeZone::UTC);
    first.map_or(next_day(at), |first| Timestamp(first.timestamp().as_millisecond()))
}

fn key(account: AccountId, tally: Tally, period: Period) -> (AccountId, u32) {
    (account, (tally as u32) << 28 | period.0)
}

/// How many of an account were counted in a period.
pub fn counted(tx: &impl Read, account: AccountId, tally: Tally, period: Period) -> Result<u64> {
    Ok(tx.get(QUOTAS, &key(account, tally, period))?.unwrap_or(0).max(0) as u64)
}

/// Count in the day and in the month.
pub fn count(tx: &mut WriteTx<'_>, account: AccountId, tally: Tally, many: i64) -> Result<()> {
    let now = tx.now();
    for period in [Period::day(now), Period::month(now)] {
        tx.add(QUOTAS, &key(account, tally, period), many)?;
    }
    Ok(())
}

/// What is left of an account's plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// So many more emails.
    Left(u64),
    /// None until then.
    UsedUp { until: Timestamp },
}

/// What is left of an account's plan now.
pub fn room(tx: &impl Read, account: AccountId, limits: SendingLimits, now: Timestamp) -> Result<Room> {
    let left = |limit: Option<u64>, period| -> Result<u64> {
        let Some(limit) = limit else { return Ok(u64::MAX) };
        Ok(limit.saturating_sub(counted(tx, account, Tally::Taken, period)?))
    };
    let month = left(limits.monthly, Period::month(now))?;
    if month == 0 {
        return Ok(Room::UsedUp { until: next_month(now) });
    }
    let day = left(limits.daily, Period::day(now))?;
    if day == 0 {
        return Ok(Room::UsedUp { until: next_day(now) });
    }
    Ok(Room::Left(month.min(day)))
}

/// How many direct sends of an account wait for their turn.
pub fn waiting(tx: &impl Read, account: AccountId) -> Result<u64> {
    Ok(tx.get(QUOTAS, &(account, WAITING))?.unwrap_or(0).max(0) as u64)
}

/// Direct sends begin to wait, or do not wait any more.
pub fn wait(tx: &mut WriteTx<'_>, account: AccountId, many: i64) -> Result<()> {
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
