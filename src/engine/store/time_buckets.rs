//! Time buckets for sets of contacts: all time, days and hours, in UTC.
//!
//! A contact is in the set of each bucket that contains the time of the contact's action. A query for a period therefore uses whole days
//! and hours; only the contacts in the hours at the start and the end of the period must be checked individually. This file does not depend
//! on the kind of action.

use roaring::RoaringBitmap;

use super::Result;
use crate::base::clock::Timestamp;
use crate::base::period::Period;

/// The bucket for all time.
pub const EVER: u32 = 0;
/// The bucket of a day is this number plus the number of the day, counted from 1970.
pub const DAY: u32 = 1 << 30;
/// The bucket of an hour is this number plus the number of the hour, counted from 1970.
pub const HOUR: u32 = 2 << 30;
pub const HOURS_PER_DAY: u32 = 24;
const HOUR_MS: i64 = 60 * 60 * 1000;
/// The last hour that has a bucket, in the year 124,000.
const HOUR_LAST: u32 = DAY - 1;

/// Returns the buckets that contain this time.
pub fn of(at: Timestamp) -> [u32; 3] {
    [EVER, DAY | day(at), HOUR | hour(at)]
}

/// Returns the number of the day, counted from 1970, that contains this time.
pub fn day(at: Timestamp) -> u32 {
    hour(at) / HOURS_PER_DAY
}

/// Returns the number of the hour, counted from 1970, that contains this time. Times before 1970 are in hour 0, because no action is that
/// old.
fn hour(at: Timestamp) -> u32 {
    (at.0.max(0) / HOUR_MS).min(i64::from(HOUR_LAST)) as u32
}

/// Returns the number of the first hour that starts at or after this time.
fn hours_up(at: Timestamp) -> u32 {
    ((at.0.max(0).saturating_add(HOUR_MS - 1)) / HOUR_MS).min(i64::from(HOUR_LAST)) as u32
}

/// Returns the contacts with an action in a period. `between` returns the contacts in the buckets from a first bucket up to an exclusive
/// end; `has` returns whether the rows of one contact contain an action in the period.
pub fn who(
    period: Period,
    between: impl Fn(u32, u32) -> Result<RoaringBitmap>,
    has: impl Fn(u32) -> Result<bool>,
) -> Result<RoaringBitmap> {
    if period == Period::ALWAYS {
        return between(EVER, EVER + 1);
    }
    let (first, last) = (hours_up(period.from), hour(period.to));
    let mut who = RoaringBitmap::new();
    let (first_day, last_day) = (first.div_ceil(HOURS_PER_DAY), last / HOURS_PER_DAY);
    if first_day < last_day {
        who |= between(DAY | first_day, DAY | last_day)?;
        who |= between(HOUR | first, HOUR | (first_day * HOURS_PER_DAY))?;
        who |= between(HOUR | (last_day * HOURS_PER_DAY), HOUR | last)?;
    } else if first < last {
        who |= between(HOUR | first, HOUR | last)?;
    }
    // Check the contacts in the incomplete hours at the start and the end of the period, which can be the same hour.
    let mut ends = vec![hour(period.from), last];
    ends.dedup();
    for end in ends {
        if first <= end && end < last {
            continue;
        }
        for number in between(HOUR | end, HOUR | (end + 1))? - &who {
            if has(number)? {
                who.insert(number);
            }
        }
    }
    Ok(who)
}
