//! The names of the objects in a backup target. Numbers have a fixed width, so that names sort by number.
//!
//! | Object | Content |
//! |---|---|
//! | `epochs/EPOCH/start.json` | which server writes in this epoch, and which log the epoch continues; not encrypted |
//! | `epochs/EPOCH/heartbeat` | the time up to which the log is complete; replaced by each heartbeat |
//! | `epochs/EPOCH/end` | exists if the server has stopped; not encrypted |
//! | `log/EPOCH/NUMBER-FROM-TO` | a part of the log; FROM and TO are the first and the last time of its records |
//! | `snapshots/EPOCH/NUMBER-CONSISTENT-AT/part-…`, `…/manifest` | a snapshot at AT, which needs the log parts NUMBER to CONSISTENT |

use crate::base::clock::Timestamp;

/// The number of an epoch: each session of a server that writes to the target creates one.
pub type Epoch = u64;
/// The number of a log part. Epochs that continue a log also continue its numbering.
pub type PartNumber = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartName {
    pub epoch: Epoch,
    pub number: PartNumber,
    /// The earliest time of a record in the part.
    pub from: Timestamp,
    /// The latest time of a record in the part.
    pub to: Timestamp,
}

impl PartName {
    pub fn object(&self) -> String {
        format!("log/{:010}/{:010}-{:012x}-{:012x}", self.epoch, self.number, self.from.0.max(0), self.to.0.max(0))
    }

    pub fn parse(object: &str) -> Option<Self> {
        let (epoch, name) = object.strip_prefix("log/")?.split_once('/')?;
        let mut words = name.split('-');
        let (number, from, to) = (words.next()?.parse().ok()?, time(words.next()?)?, time(words.next()?)?);
        words.next().is_none().then_some(Self { epoch: epoch.parse().ok()?, number, from, to })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SnapshotName {
    pub epoch: Epoch,
    /// The first part of the log that may have records after the snapshot.
    pub log_from: PartNumber,
    /// The last part of the log that a restore must apply to make the three stores consistent with each other; less than `log_from` if
    /// there is none.
    pub consistent_at: PartNumber,
    pub at: Timestamp,
}

impl SnapshotName {
    fn folder(&self) -> String {
        let Self { epoch, log_from, consistent_at, at } = self;
        format!("snapshots/{epoch:010}/{log_from:010}-{consistent_at:010}-{:012x}", at.0.max(0))
    }

    pub fn manifest(&self) -> String {
        format!("{}/manifest", self.folder())
    }

    pub fn part(&self, index: u64) -> String {
        format!("{}/part-{index:08}", self.folder())
    }

    /// Returns the snapshot that an object belongs to, and whether the object is the snapshot's manifest.
    pub fn parse(object: &str) -> Option<(Self, bool)> {
        let (epoch, name) = object.strip_prefix("snapshots/")?.split_once('/')?;
        let (name, file) = name.split_once('/')?;
        let mut words = name.split('-');
        let (log_from, consistent_at) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let at = time(words.next()?)?;
        words.next().is_none().then_some((Self { epoch: epoch.parse().ok()?, log_from, consistent_at, at }, file == "manifest"))
    }
}

/// The folder in the target that contains the objects of all epochs.
pub const EPOCHS: &str = "epochs";
pub const LOG: &str = "log";
pub const SNAPSHOTS: &str = "snapshots";

pub fn log_of(epoch: Epoch) -> String {
    format!("{LOG}/{epoch:010}")
}

pub fn start(epoch: Epoch) -> String {
    format!("{EPOCHS}/{epoch:010}/start.json")
}

pub fn heartbeat(epoch: Epoch) -> String {
    format!("{EPOCHS}/{epoch:010}/heartbeat")
}

pub fn end(epoch: Epoch) -> String {
    format!("{EPOCHS}/{epoch:010}/end")
}

/// Returns the epoch that an object in [`EPOCHS`] belongs to.
pub fn epoch_of(object: &str) -> Option<Epoch> {
    object.strip_prefix("epochs/")?.split_once('/')?.0.parse().ok()
}

fn time(word: &str) -> Option<Timestamp> {
    i64::from_str_radix(word, 16).ok().filter(|ms| *ms >= 0).map(Timestamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_were_written_and_sort_by_number() {
        let part = |number| PartName { epoch: 3, number, from: Timestamp(1_000), to: Timestamp(1_767_225_600_000) };
        assert_eq!(PartName::parse(&part(9).object()), Some(part(9)));
        assert!(part(9).object() < part(10).object());
        let snapshot = SnapshotName { epoch: 3, log_from: 7, consistent_at: 8, at: Timestamp(5) };
        assert_eq!(SnapshotName::parse(&snapshot.manifest()), Some((snapshot, true)));
        assert_eq!(SnapshotName::parse(&snapshot.part(1)), Some((snapshot, false)));
        assert_eq!(epoch_of(&start(12)), Some(12));
        for other in ["log/1/2-3", "log/x/0000000001-0-0", "notes.txt", "snapshots/1/2-3-4", "epochs/start.json"] {
            assert!(
                PartName::parse(other).is_none() && SnapshotName::parse(other).is_none() && epoch_of(other).is_none(),
                "{other}"
            );
        }
        // If the clock is set to a time before 1970, the names contain 0, because they cannot contain negative times.
        assert!(
            PartName::parse(&PartName { from: Timestamp(-7), ..part(1) }.object()).is_some_and(|name| name.from == Timestamp(0))
        );
    }
}
