//! Thins the backup: decides which snapshots and parts of the log are kept.
//!
//! The settings count days, weeks and months that *have* snapshots, not calendar days before now. If a clock is a year ahead for a day, the
//! snapshots of that day therefore count as one more day, and do not make the other snapshots old. The newest snapshot and the log after it
//! are always kept.

use std::collections::BTreeSet;

use super::Result;
use super::catalog::Catalog;
use super::names::{self, Epoch, PartName, SnapshotName};
use super::target::Target;
use crate::base::clock::Timestamp;
use crate::vocab::settings::Backup;

const MS_PER_DAY: i64 = 86_400_000;

/// A function that returns the number of the day, week or month that contains a time.
type Period = fn(Timestamp) -> i64;

/// For how many days the log is kept, and for how many days, weeks and months a snapshot is kept.
#[derive(Clone, Copy, Debug)]
pub struct RetentionPeriods {
    pub log_days: usize,
    pub daily: usize,
    pub weekly: usize,
    pub monthly: usize,
}

impl RetentionPeriods {
    pub fn of(settings: &Backup) -> Self {
        Self {
            log_days: settings.log_days.count(),
            daily: settings.daily.count(),
            weekly: settings.weekly.count(),
            monthly: settings.monthly.count(),
        }
    }
}

/// Deletes the snapshots, log parts and epochs that the settings do not keep; returns the number of deleted objects.
pub async fn thin(target: &Target, settings: &Backup) -> Result<usize> {
    let catalog = Catalog::load(target).await?;
    let kept = RetentionPeriods::of(settings);
    let snapshots = kept_snapshots(&catalog.snapshots, kept);
    let Some(log_from) = log_start(&catalog.snapshots, kept) else { return Ok(0) };
    let mut deleted = 0;
    // Manifests are deleted before parts: a snapshot without its manifest counts as incomplete, so an interrupted deletion leaves no
    // snapshot that seems complete but lacks parts.
    let names = target.list(names::SNAPSHOTS).await?;
    let newest = catalog.snapshots.last().copied();
    // Only this server writes to the target, so a snapshot that lacks its manifest and is older than the newest snapshot was interrupted.
    let gone = |object: &&String| {
        SnapshotName::parse(object)
            .is_some_and(|(name, _)| !snapshots.contains(&name) && newest.is_some_and(|newest| name < newest))
    };
    let (manifests, parts): (Vec<&String>, Vec<&String>) =
        names.iter().filter(gone).partition(|object| SnapshotName::parse(object).is_some_and(|(_, is_manifest)| is_manifest));
    for object in manifests.into_iter().chain(parts) {
        target.delete(object).await?;
        deleted += 1;
    }
    for part in thinned_parts(&catalog, &snapshots, &log_from) {
        target.delete(&part.object()).await?;
        deleted += 1;
    }
    // The start of an epoch is needed while the epoch's log has a snapshot or a part.
    let oldest = snapshots.iter().map(|snapshot| snapshot.epoch).chain([log_from.epoch]).min().unwrap_or(log_from.epoch);
    let oldest: Epoch = catalog.epochs.get(&oldest).map_or(oldest, |start| start.log_since);
    for object in target.list(names::EPOCHS).await? {
        if names::epoch_of(&object).is_some_and(|epoch| epoch < oldest) {
            target.delete(&object).await?;
            deleted += 1;
        }
    }
    Ok(deleted)
}

/// Returns the parts to delete: all parts that neither the snapshots in `kept` nor the log from `log_from` on need. The newest parts come
/// first, so that an interrupted deletion leaves no gap after a snapshot. A restore cannot cross a gap.
pub fn thinned_parts(catalog: &Catalog, kept: &BTreeSet<SnapshotName>, log_from: &SnapshotName) -> Vec<PartName> {
    // Parts belong to a snapshot only if they are in the same log, because each log numbers its own parts.
    let log = |epoch: Epoch| catalog.epochs.get(&epoch).map(|start| start.log_since);
    let needs = |snapshot: &SnapshotName, part: &PartName| {
        log(snapshot.epoch) == log(part.epoch) && (snapshot.log_from..=snapshot.consistent_at).contains(&part.number)
    };
    let is_needed = |part: &PartName| kept.iter().any(|snapshot| needs(snapshot, part));
    catalog.parts.iter().rev().filter(|part| is_before(part, log_from) && !is_needed(part)).copied().collect()
}

fn is_before(part: &PartName, snapshot: &SnapshotName) -> bool {
    (part.epoch, part.number) < (snapshot.epoch, snapshot.log_from)
}

/// Returns the snapshot from which the log is kept: the oldest snapshot from the newest `log_days` + 1 days that have snapshots. With the
/// additional day, a snapshot precedes every moment of the newest `log_days` days.
fn log_start(snapshots: &BTreeSet<SnapshotName>, kept: RetentionPeriods) -> Option<SnapshotName> {
    let mut days = BTreeSet::new();
    let mut start = None;
    for snapshot in snapshots.iter().rev() {
        days.insert(day(snapshot.at));
        if days.len() > kept.log_days + 1 {
            break;
        }
        start = Some(*snapshot);
    }
    start
}

/// Returns the snapshots that are kept: all snapshots since the start of the kept log, and the newest snapshot of each kept day, week
/// and month.
fn kept_snapshots(snapshots: &BTreeSet<SnapshotName>, kept: RetentionPeriods) -> BTreeSet<SnapshotName> {
    let Some(log_from) = log_start(snapshots, kept) else { return BTreeSet::new() };
    let mut all: BTreeSet<SnapshotName> = snapshots.iter().filter(|snapshot| **snapshot >= log_from).copied().collect();
    let periods: [(usize, Period); 3] = [(kept.daily, day), (kept.weekly, week), (kept.monthly, month)];
    for (count, period) in periods {
        let mut seen = BTreeSet::new();
        for snapshot in snapshots.iter().rev() {
            if seen.len() == count && !seen.contains(&period(snapshot.at)) {
                break;
            }
            if seen.insert(period(snapshot.at)) {
                all.insert(*snapshot);
            }
        }
    }
    all
}

fn day(at: Timestamp) -> i64 {
    at.0.div_euclid(MS_PER_DAY)
}

fn week(at: Timestamp) -> i64 {
    // 1970-01-01 was a Thursday, and weeks start on Monday.
    (day(at) + 3).div_euclid(7)
}

fn month(at: Timestamp) -> i64 {
    let date = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default().to_zoned(jiff::tz::TimeZone::UTC);
    i64::from(date.year()) * 12 + i64::from(date.month())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;
    const KEPT: RetentionPeriods = RetentionPeriods { log_days: 3, daily: 5, weekly: 4, monthly: 6 };

    fn snapshots(times: impl Iterator<Item = i64>) -> BTreeSet<SnapshotName> {
        (1..)
            .zip(times)
            .map(|(number, at)| SnapshotName { epoch: 1, log_from: number, consistent_at: number - 1, at: Timestamp(at) })
            .collect()
    }

    fn days(kept: &BTreeSet<SnapshotName>) -> Vec<i64> {
        kept.iter().map(|snapshot| day(snapshot.at)).collect()
    }

    #[test]
    fn days_weeks_and_months_are_kept_and_the_rest_is_thinned() {
        // 200 daily snapshots, starting on 2026-01-01.
        let first = day(Timestamp(1_767_225_600_000));
        let all = snapshots((0..200).map(|number| 1_767_225_600_000 + number * 24 * HOUR));
        let kept = kept_snapshots(&all, KEPT);
        let last = first + 199;
        let recent: Vec<i64> = days(&kept).into_iter().filter(|day| *day > last - 5).collect();
        assert_eq!(recent, (last - 4..=last).collect::<Vec<_>>(), "five days");
        let months: BTreeSet<i64> = kept.iter().map(|snapshot| month(snapshot.at)).collect();
        let weeks: BTreeSet<i64> = kept.iter().map(|snapshot| week(snapshot.at)).collect();
        assert_eq!(months.len(), 6);
        assert!(weeks.len() >= 4 && kept.len() <= 5 + 4 + 6, "{}", kept.len());
        assert_eq!(log_start(&all, KEPT).map(|start| day(start.at)), Some(last - 3), "three days, and the snapshot before them");
        // Thinning again changes nothing.
        assert_eq!(kept_snapshots(&kept, KEPT), kept);
    }

    #[test]
    fn several_snapshots_of_a_day_are_kept_as_long_as_their_log() {
        let all = snapshots((0..40).map(|number| number * 6 * HOUR));
        let kept = kept_snapshots(&all, KEPT);
        assert_eq!(days(&kept).iter().filter(|day| **day == 9).count(), 4);
        assert_eq!(days(&kept).iter().filter(|day| **day == 5).count(), 1, "only the newest one of an older day");
    }

    /// A clock that is a year ahead for a day must not make all other snapshots old.
    #[test]
    fn a_clock_that_is_ahead_does_not_thin_the_backup() {
        let year = 365 * 24 * HOUR;
        let times = (0..10)
            .map(|number| number * 24 * HOUR)
            .chain([year + 9 * 24 * HOUR])
            .chain((10..12).map(|number| number * 24 * HOUR));
        let kept = kept_snapshots(&snapshots(times), KEPT);
        assert!([8, 9, 10, 11].iter().all(|day| days(&kept).contains(day)), "{:?}", days(&kept));
    }

    #[test]
    fn the_newest_snapshot_and_its_log_are_always_kept() {
        let none = RetentionPeriods { log_days: 0, daily: 0, weekly: 0, monthly: 0 };
        let all = snapshots([HOUR, 30 * HOUR].into_iter());
        assert_eq!(days(&kept_snapshots(&all, none)), [1]);
        let part = |number| PartName { epoch: 1, number, from: Timestamp(0), to: Timestamp(0) };
        let start = log_start(&all, none).expect("there is a snapshot");
        assert!(is_before(&part(1), &start) && !is_before(&part(2), &start));
    }
}
