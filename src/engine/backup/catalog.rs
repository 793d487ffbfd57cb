//! The content of a target: its epochs, parts and snapshots, and which of them a restore to a given time needs.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt, TryStreamExt, stream};

use super::epochs::{self, Start};
use super::names::{self, Epoch, PartName, SnapshotName};
use super::target::Target;
use super::{Error, Result};
use crate::base::clock::Timestamp;
use crate::vocab::limits;

/// The content of a target, read from the names of its objects and the starts of its epochs.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    pub epochs: BTreeMap<Epoch, Start>,
    /// The parts of all logs, sorted.
    pub parts: BTreeSet<PartName>,
    /// The complete snapshots, sorted.
    pub snapshots: BTreeSet<SnapshotName>,
}

/// The snapshot and the log parts that a restore reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub snapshot: SnapshotName,
    /// The parts of the log after the snapshot, in order.
    pub parts: Vec<PartName>,
    /// Records after this time are not applied; `None` to apply all records.
    pub until: Option<Timestamp>,
    /// The epoch that wrote the restored state.
    pub epoch: Epoch,
    /// Whether the backup has every commit up to the requested time; false if the log after the restored state was thinned or interrupted.
    pub is_exact: bool,
}

impl Catalog {
    pub async fn load(target: &Target) -> Result<Self> {
        let found = target.list(names::EPOCHS).await?;
        let numbers: BTreeSet<Epoch> =
            found.iter().filter(|name| name.ends_with("/start.json")).filter_map(|name| names::epoch_of(name)).collect();
        let epochs = starts(target, numbers).await?;
        let parts = target.list(names::LOG).await?.iter().filter_map(|name| PartName::parse(name)).collect();
        Ok(Self { epochs, parts, snapshots: snapshots(target).await? })
    }

    /// Returns the parts of the log that epoch `epoch` belongs to, up to this epoch, in order. Parts that a server wrote after the
    /// start of the next epoch are left out.
    pub fn log(&self, epoch: Epoch) -> Vec<PartName> {
        let Some(since) = self.epochs.get(&epoch).map(|start| start.log_since) else { return Vec::new() };
        let mut parts = Vec::new();
        for own in since..=epoch {
            // If the next epoch continues the same log, this epoch's parts belong to the log only if they precede the next epoch's first
            // part.
            let next = self.epochs.get(&(own + 1)).filter(|next| next.log_since == since).map(|next| next.first_part);
            let of_epoch = self.parts.iter().filter(|part| part.epoch == own);
            parts.extend(of_epoch.filter(|part| next.is_none_or(|first| part.number < first)).copied());
        }
        parts
    }

    /// Returns the plan that restores the newest state, or the state at a given time: all commits up to the last commit at or before that
    /// time. Positions order the log, so a clock that was temporarily wrong does not change the order.
    pub fn plan(&self, at: Option<Timestamp>) -> Result<Plan> {
        let logs = self.epochs.iter().map(|(epoch, start)| (start.log_since, *epoch));
        // Maps each log to its newest epoch.
        let logs: BTreeMap<Epoch, Epoch> = logs.collect();
        // The newest log that has the state is restored, so damage to an older log does not matter.
        for newest in logs.into_values().rev() {
            if let Some(plan) = self.plan_in(newest, at)? {
                return Ok(plan);
            }
        }
        let nothing = || match (at, self.oldest()) {
            (Some(at), Some(oldest)) => {
                format!(
                    "the backup contains no state as of {at}; choose a later time (the oldest snapshot was taken at {oldest})"
                )
            }
            _ => {
                "the backup target has no complete snapshot; check the URL, and whether the first backup was completed".to_owned()
            }
        };
        Err(Error::Nothing(nothing()))
    }

    /// Returns the earliest time that can be restored; `None` if there is no snapshot.
    pub fn oldest(&self) -> Option<Timestamp> {
        self.snapshots.first().map(|snapshot| snapshot.at)
    }

    /// Plans a restore from the log whose newest epoch is `epoch`; `None` if the log has no snapshot for a state at or before `at`.
    fn plan_in(&self, epoch: Epoch, at: Option<Timestamp>) -> Result<Option<Plan>> {
        let Some(since) = self.epochs.get(&epoch).map(|start| start.log_since) else { return Ok(None) };
        let log = self.log(epoch);
        let is_early = |time: Timestamp| at.is_none_or(|at| time <= at);
        let last = log.iter().rfind(|part| is_early(part.from));
        let end = last.map_or(0, |part| part.number);
        // `whole` is the last part whose records are all restored. The next part may contain records later than `at`.
        let whole = last.map_or(0, |part| if is_early(part.to) { part.number } else { part.number - 1 });
        let is_usable = |snapshot: &&SnapshotName| {
            let is_consistent = snapshot.consistent_at < snapshot.log_from || snapshot.consistent_at <= whole;
            // If the clock was wrong while the snapshot was taken, the snapshot's time can be later than `at`. Its position in the log
            // still shows whether the snapshot is early enough.
            is_consistent && (is_early(snapshot.at) || end >= snapshot.log_from)
        };
        let mut own = self.snapshots.iter().filter(|snapshot| (since..=epoch).contains(&snapshot.epoch));
        let Some(snapshot) = own.rfind(is_usable).copied() else { return Ok(None) };
        let mut parts: Vec<PartName> = log.into_iter().filter(|part| (snapshot.log_from..=end).contains(&part.number)).collect();
        let gap = (snapshot.log_from..).zip(&parts).find(|(number, part)| part.number != *number);
        if let Some((number, after)) = gap.map(|(number, part)| (number, *part)) {
            // Thinning deletes the log before a snapshot. For a time at which that snapshot was being taken, only an earlier state can be
            // restored.
            let starts = |later: &SnapshotName| (since..=epoch).contains(&later.epoch) && later.log_from == after.number;
            if number <= snapshot.consistent_at || !self.snapshots.iter().any(starts) {
                let found = format!("part {number} of the log is missing before it");
                return Err(Error::Damaged { object: after.object(), found });
            }
            parts.retain(|part| part.number < number);
        }
        let epoch_of_state = parts.last().map_or(snapshot.epoch, |part| part.epoch);
        let next = parts.last().map_or(snapshot.log_from, |part| part.number + 1);
        let later_parts = self.log(epoch).into_iter().map(|part| part.number).filter(|number| *number >= next);
        let later_snapshots =
            self.snapshots.iter().filter(|later| (since..=epoch).contains(&later.epoch) && later.log_from > next);
        let later = later_parts.chain(later_snapshots.map(|later| later.log_from)).min();
        let known_until = parts.last().map_or(snapshot.at, |part| part.to);
        let is_exact = match later {
            Some(later) => later == next,
            // Commits between the end of this log and the start of the next log might be missing from both logs.
            None => self.epochs.range(epoch + 1..).next().is_none() || at.is_some_and(|at| at <= known_until),
        };
        Ok(Some(Plan { snapshot, parts, until: at, epoch: epoch_of_state, is_exact }))
    }
}

/// Reads the starts of these epochs. Leaves out epochs that thinning has deleted since they were listed.
pub(super) async fn starts(target: &Target, epochs: BTreeSet<Epoch>) -> Result<BTreeMap<Epoch, Start>> {
    let starts = epochs.into_iter().map(|epoch| async move { Ok::<_, Error>((epoch, epochs::find_start(target, epoch).await?)) });
    let found: Vec<_> = stream::iter(starts).buffered(limits::BACKUP_PARTS_AHEAD).try_collect().await?;
    Ok(found.into_iter().filter_map(|(epoch, start)| Some((epoch, start?))).collect())
}

/// Returns the complete snapshots in a target, sorted.
async fn snapshots(target: &Target) -> Result<BTreeSet<SnapshotName>> {
    let names = target.list(names::SNAPSHOTS).await?;
    let complete = names.iter().filter_map(|name| SnapshotName::parse(name)).filter(|(_, is_manifest)| *is_manifest);
    Ok(complete.map(|(name, _)| name).collect())
}

/// Returns the time of the newest snapshot, if it belongs to the epoch `since` or to a later one.
pub async fn last_snapshot(target: &Target, since: Epoch) -> Result<Option<Timestamp>> {
    Ok(snapshots(target).await?.last().filter(|snapshot| snapshot.epoch >= since).map(|snapshot| snapshot.at))
}

#[cfg(test)]
mod tests {
    use super::super::retention;
    use super::*;
    use crate::base::random::SeededRandom;
    use crate::engine::store::identity::Installation;
    use crate::engine::store::seal::Seal;

    fn start(log_since: Epoch, first_part: u64) -> Start {
        Start {
            format: 1,
            program: "mailmill".into(),
            installation: Installation::new(&SeededRandom::new(1)),
            key_check: Seal::from_key(&[7; 32]).check_value(),
            holder: "a".into(),
            run: "c".into(),
            host: "b".into(),
            log_since,
            first_part,
            heartbeat_seconds: 15,
        }
    }

    fn part(epoch: Epoch, number: u64, from: i64, to: i64) -> PartName {
        PartName { epoch, number, from: Timestamp(from), to: Timestamp(to) }
    }

    fn snapshot(epoch: Epoch, log_from: u64, consistent_at: u64, at: i64) -> SnapshotName {
        SnapshotName { epoch, log_from, consistent_at, at: Timestamp(at) }
    }

    /// Two epochs of one log, then a new log. A part of epoch 1 was written after epoch 2 had started.
    fn sample() -> Catalog {
        Catalog {
            epochs: [(1, start(1, 1)), (2, start(1, 3)), (3, start(3, 5))].into(),
            parts: [
                part(1, 1, 100, 150),
                part(1, 2, 160, 200),
                part(1, 3, 210, 220),
                part(2, 3, 300, 350),
                part(2, 4, 360, 400),
                part(3, 5, 600, 650),
            ]
            .into(),
            snapshots: [snapshot(1, 1, 0, 90), snapshot(2, 4, 4, 355), snapshot(3, 5, 4, 590)].into(),
        }
    }

    fn plan(catalog: &Catalog, at: i64) -> (SnapshotName, Vec<(Epoch, u64)>) {
        let plan = catalog.plan(Some(Timestamp(at))).expect("the state can be restored");
        (plan.snapshot, plan.parts.iter().map(|part| (part.epoch, part.number)).collect())
    }

    #[test]
    fn a_time_selects_the_newest_snapshot_before_it_and_the_log_up_to_it() {
        let catalog = sample();
        let first = snapshot(1, 1, 0, 90);
        assert_eq!(plan(&catalog, 95), (first, vec![]));
        assert_eq!(plan(&catalog, 170), (first, vec![(1, 1), (1, 2)]));
        assert_eq!(plan(&catalog, 320), (first, vec![(1, 1), (1, 2), (2, 3)]), "a part after the next epoch is left out");
        assert_eq!(plan(&catalog, 370).0, first, "within part 4, the stores of the second snapshot do not fit together");
        assert_eq!(plan(&catalog, 400), (snapshot(2, 4, 4, 355), vec![(2, 4)]));
        assert_eq!(plan(&catalog, 595), (snapshot(3, 5, 4, 590), vec![]), "a new log starts with its snapshot");
        assert_eq!(plan(&catalog, 9_999), (snapshot(3, 5, 4, 590), vec![(3, 5)]));
        assert!(catalog.plan(None).is_ok_and(|plan| plan.epoch == 3 && plan.parts.len() == 1));
        let early = catalog.plan(Some(Timestamp(80))).expect_err("there is no state").to_string();
        assert!(early.contains("was taken at 1970-01-01T00:00:00.090Z"), "{early}");
    }

    #[test]
    fn a_missing_part_is_an_error_and_never_an_older_state() {
        let mut catalog = sample();
        catalog.parts.remove(&part(1, 2, 160, 200));
        assert!(matches!(catalog.plan(Some(Timestamp(320))), Err(Error::Damaged { .. })));
        assert_eq!(plan(&catalog, 400).0, snapshot(2, 4, 4, 355), "the part is not needed after the next snapshot");
    }

    #[test]
    fn a_missing_part_of_an_older_log_does_not_prevent_the_restore_of_a_newer_one() {
        let mut catalog = sample();
        catalog.parts.remove(&part(2, 4, 360, 400));
        catalog.parts.insert(part(2, 5, 410, 450));
        assert!(matches!(catalog.plan(Some(Timestamp(500))), Err(Error::Damaged { .. })));
        assert_eq!(plan(&catalog, 9_999), (snapshot(3, 5, 4, 590), vec![(3, 5)]));
    }

    /// A process can end while it thins the backup, and a restore can run at the same time.
    #[test]
    fn every_moment_can_be_restored_after_each_step_of_thinning() {
        let parts = |epoch: Epoch| {
            (1..=9).map(move |number| {
                let at = (100 * epoch + 10 * number) as i64;
                part(epoch, number, at, at)
            })
        };
        let log_from = snapshot(2, 5, 6, 245);
        let mut catalog = Catalog {
            epochs: [(1, start(1, 1)), (2, start(2, 1))].into(),
            parts: parts(1).chain(parts(2)).collect(),
            snapshots: [snapshot(1, 3, 2, 125), snapshot(2, 1, 0, 205), log_from].into(),
        };
        let thinned = retention::thinned_parts(&catalog, &catalog.snapshots, &log_from);
        assert_eq!(thinned.len(), 9 + 4, "parts 5 and 6 of the first log are not those that the last snapshot needs");
        for part in thinned {
            catalog.parts.remove(&part);
            for moment in (130..=190).chain(210..=240).chain(260..=290) {
                assert!(catalog.plan(Some(Timestamp(moment))).is_ok(), "{moment} after {part:?} was deleted");
            }
        }
    }

    #[test]
    fn a_new_log_without_a_snapshot_leaves_the_log_before_it() {
        let mut catalog = sample();
        catalog.snapshots.remove(&snapshot(3, 5, 4, 590));
        assert_eq!(catalog.plan(None).expect("the state can be restored").epoch, 2);
    }

    #[test]
    fn a_state_whose_log_was_thinned_is_restored_from_its_snapshot_and_marked() {
        let mut catalog = sample();
        catalog.parts = [part(2, 4, 360, 400), part(3, 5, 600, 650)].into();
        let plan = |at| catalog.plan(Some(Timestamp(at))).expect("the state can be restored");
        assert!(!plan(200).is_exact && plan(200).snapshot == snapshot(1, 1, 0, 90) && plan(200).parts.is_empty());
        assert!(plan(400).is_exact && plan(640).is_exact);
    }

    #[test]
    fn a_state_after_the_end_of_an_interrupted_log_is_marked() {
        let mut catalog = sample();
        let is_exact = |catalog: &Catalog, at| catalog.plan(at).expect("the state can be restored").is_exact;
        assert!(is_exact(&catalog, Some(Timestamp(400))) && !is_exact(&catalog, Some(Timestamp(500))));
        assert!(is_exact(&catalog, Some(Timestamp(9_999))) && is_exact(&catalog, None));
        catalog.snapshots.remove(&snapshot(3, 5, 4, 590));
        assert!(!is_exact(&catalog, None), "the newest log has no snapshot");
    }

    /// Part 4 was written while the second snapshot was taken. The log before that part was thinned.
    #[test]
    fn a_moment_while_the_oldest_snapshot_with_a_log_was_taken_is_restored_from_the_one_before_and_marked() {
        let mut catalog = sample();
        let thinned = [part(2, 3, 300, 350), part(1, 2, 160, 200), part(1, 1, 100, 150)];
        for (left, thinned) in [vec![(1, 1), (1, 2)], vec![(1, 1)], vec![]].into_iter().zip(thinned) {
            catalog.parts.remove(&thinned);
            assert_eq!(plan(&catalog, 370), (snapshot(1, 1, 0, 90), left));
            assert!(catalog.plan(Some(Timestamp(370))).is_ok_and(|plan| !plan.is_exact));
        }
        assert_eq!(plan(&catalog, 400), (snapshot(2, 4, 4, 355), vec![(2, 4)]));
    }

    /// The clock was an hour ahead while the snapshot and part 2 were written.
    #[test]
    fn a_clock_that_was_wrong_changes_nothing_in_the_order() {
        let catalog = Catalog {
            epochs: [(1, start(1, 1))].into(),
            parts: [part(1, 1, 100, 150), part(1, 2, 3_600_160, 3_600_200), part(1, 3, 210, 220)].into(),
            snapshots: [snapshot(1, 1, 0, 3_600_090)].into(),
        };
        assert_eq!(plan(&catalog, 215).1, [(1, 1), (1, 2), (1, 3)]);
        assert_eq!(plan(&catalog, 150).1, [(1, 1)]);
    }
}
