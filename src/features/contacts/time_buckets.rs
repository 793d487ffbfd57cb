//! Buckets of time by which sets of contacts are kept: all time, days and hours, of UTC.
//!
//! Whoever did something is in the set of each bucket that contains the moment. A period is then answered from whole days and hours;
//! only contacts of the two hours at its ends must be looked at one by one. It does not know what was done.

use roaring::RoaringBitmap;

use super::filter::Period;
use crate::base::clock::Timestamp;
use crate::engine::store::Result;

/// The bucket of all time.
pub const EVER: u32 = 0;
/// Added to the number of a day since 1970.
pub const DAY: u32 = 1 << 30;
/// Added to the number of an hour since 1970.
pub const HOUR: u32 = 2 << 30;
pub const HOURS_PER_DAY: u32 = 24;
const HOUR_MS: i64 = 60 * 60 * 1000;
/// Hours are counted up to here; it is the year 124,000.
const HOUR_LAST: u32 = DAY - 1;

/// The buckets that contain a moment.
pub fn of(at: Timestamp) -> [u32; 3] {
    [EVER, DAY | day(at), HOUR | hour(at)]
}

/// The day since 1970 that contains a moment.
pub fn day(at: Timestamp) -> u32 {
    hour(at) / HOURS_PER_DAY
}

/// The hour since 1970 that contains a moment. Nothing happened before.
fn hour(at: Timestamp) -> u32 {
    (at.0.max(0) / HOUR_MS).min(i64::from(HOUR_LAST)) as u32
}

/// The first hour that begins at a moment or later.
fn hours_up(at: Timestamp) -> u32 {
    ((at.0.max(0).saturating_add(HOUR_MS - 1)) / HOUR_MS).min(i64::from(HOUR_LAST)) as u32
}

/// Who did it in a period: `between` tells everybody in the buckets from a first one until before an end, `has` whether one contact
/// did it in the period, by its rows.
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
    // The hours at the ends that are not whole; both ends may be in one.
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
