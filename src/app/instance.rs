//! Detects whether a data folder is the one that was opened last, or a copy of it.
//!
//! There are two signs of a copy. First, the file `instance.json` records its own creation time (or its inode, if the file system records
//! no creation time) and the machine: copying creates a different file, but moving a folder or attaching its volume to another container
//! does not. Second, each store and `instance.json` count the starts, so an older copy of a store is recognized by its different count. A
//! copy of the whole disk on a machine with the same ID cannot be distinguished from the original.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};

use super::folder::{Folder, write_whole};
use crate::base::secret::sha256;
use crate::engine::hold::Cause;
use crate::engine::store::identity::Installation;

/// The file with the ID that systemd creates for each installation of an operating system; absent in most containers.
const MACHINE_ID: &str = "/etc/machine-id";

/// The content of `instance.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Instance {
    /// The folder was opened `boots` times; `place` is where it was opened last.
    Opened { boots: u64, place: FolderLocation },
    /// `mailmill restore` filled the folder, and the folder has not been opened since.
    Restored { made_at: String, resume: bool },
    /// `mailmill cluster export` filled the folder, and the folder has not been opened since.
    Exported { made_at: String },
}

/// The properties of a folder's location that differ in a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FolderLocation {
    /// The creation time of `instance.json` in nanoseconds, if the file system records it.
    born: Option<String>,
    inode: u64,
    /// A digest of the machine's ID, because the ID itself must stay on the machine.
    machine: Option<String>,
}

impl FolderLocation {
    /// Reads the location from the file at `path`, which must exist, and from this machine's ID.
    fn of(path: &Path, installation: &Installation) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        let born = found.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        let machine = fs::read_to_string(MACHINE_ID).ok().map(|id| id.trim().to_owned()).filter(|id| !id.is_empty());
        Ok(Self {
            born: born.map(|born| born.as_nanos().to_string()),
            inode: found.ino(),
            machine: machine.map(|id| HEXLOWER.encode(&sha256(format!("{} {id}", installation.name()).as_bytes())[..8])),
        })
    }

    /// Describes how the location `here` differs from this location; returns `None` if there is no difference.
    fn differs(&self, here: &Self) -> Option<&'static str> {
        let differ = |was: &Option<String>, is: &Option<String>| was.is_some() && is.is_some() && was != is;
        let other_file = match (&self.born, &here.born) {
            (Some(was), Some(is)) => was != is,
            _ => self.inode != here.inode,
        };
        if other_file {
            return Some("the folder's files are copies of the files that were opened before");
        }
        differ(&self.machine, &here.machine).then_some("the folder was last opened on a different machine")
    }
}

/// The number of starts that each store has counted, in the order of counting: control, test, live.
pub type Boots = [u64; 3];

/// What the comparison of the folder with `instance.json` means for sending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The folder is the same as at the last start.
    Same,
    /// Sending must be put on hold, for this reason.
    Hold(Cause),
    /// The folder was restored, and the operator decided to resume sending.
    Resume,
}

/// Compares the folder with its record in `instance.json`.
pub fn check(folder: &Folder, installation: &Installation, boots: Boots) -> Finding {
    let file = folder.instance();
    let copied = |sign: &str| Finding::Hold(Cause::Copied { sign: sign.to_owned() });
    let Ok(text) = fs::read(&file) else { return copied("the folder has no instance.json") };
    let Ok(instance) = serde_json::from_slice(&text) else { return copied("the folder's instance.json cannot be read") };
    let (counted, place) = match instance {
        Instance::Restored { resume: true, .. } => return Finding::Resume,
        Instance::Restored { made_at, resume: false } => return Finding::Hold(Cause::Restored { made_at }),
        Instance::Exported { made_at } => return Finding::Hold(Cause::Exported { made_at }),
        Instance::Opened { boots, place } => (boots, place),
    };
    let Ok(here) = FolderLocation::of(&file, installation) else {
        return copied("the metadata of the folder's instance.json cannot be read");
    };
    match place.differs(&here) {
        Some(sign) => copied(sign),
        None => skewed(boots, counted).map_or(Finding::Same, |store| {
            copied(&format!("{store} is from another time than the other files: its start count differs"))
        }),
    }
}

/// Returns why sending must be put on hold, if the folder was restored or exported and has not been opened since. Returns `None` if the
/// operator decided to resume sending.
pub fn restored(folder: &Folder) -> Option<Cause> {
    match serde_json::from_slice(&fs::read(folder.instance()).ok()?).ok()? {
        Instance::Restored { made_at, resume: false } => Some(Cause::Restored { made_at }),
        Instance::Exported { made_at } => Some(Cause::Exported { made_at }),
        Instance::Restored { resume: true, .. } | Instance::Opened { .. } => None,
    }
}

/// Returns the number of starts that `instance.json` records.
pub fn counted(folder: &Folder) -> Option<u64> {
    match serde_json::from_slice(&fs::read(folder.instance()).ok()?).ok()? {
        Instance::Opened { boots, .. } => Some(boots),
        Instance::Restored { .. } | Instance::Exported { .. } => None,
    }
}

/// Returns the name of the first file whose count of starts does not match the other files. The files count a start one after the other, so
/// their counts can differ by one after a crash.
fn skewed([control, test, live]: Boots, instance: u64) -> Option<&'static str> {
    let counts = [("control.redb", control), ("test.redb", test), ("live.redb", live), ("instance.json", instance)];
    let fits = |pair: &[(&str, u64)]| pair[0].1 >= pair[1].1;
    let broken = counts.windows(2).find(|pair| !fits(pair));
    if let Some(pair) = broken {
        return Some(pair[0].0);
    }
    counts.iter().find(|(_, count)| control - count > 1).map(|(name, _)| *name)
}

/// Records that the folder was opened `boots` times, most recently at its current location.
pub fn note(folder: &Folder, installation: &Installation, boots: u64) -> io::Result<()> {
    write_whole(&folder.instance(), |aside| {
        // Renaming a file changes neither its creation time nor its inode.
        let place = FolderLocation::of(aside, installation)?;
        Ok(serde_json::to_string(&Instance::Opened { boots, place }).expect("the record can be written as JSON"))
    })
}

/// Records that the folder was filled from a backup.
pub fn note_restored(folder: &Folder, made_at: &str, resume: bool) -> io::Result<()> {
    write(folder, &Instance::Restored { made_at: made_at.to_owned(), resume })
}

/// Records that the folder was filled from a cluster.
pub fn note_exported(folder: &Folder, made_at: &str) -> io::Result<()> {
    write(folder, &Instance::Exported { made_at: made_at.to_owned() })
}

fn write(folder: &Folder, instance: &Instance) -> io::Result<()> {
    write_whole(&folder.instance(), |_| Ok(serde_json::to_string(instance).expect("the record can be written as JSON")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SeededRandom;

    fn opened(boots: Boots, instance: u64) -> (tempfile::TempDir, Folder, Installation, Finding) {
        let outer = tempfile::tempdir().expect("a temporary folder can be created");
        let folder = Folder::open(&outer.path().join("data")).expect("the data folder can be opened");
        let installation = Installation::new(&SeededRandom::new(7));
        note(&folder, &installation, instance).expect("the record can be written");
        let found = check(&folder, &installation, boots);
        (outer, folder, installation, found)
    }

    #[test]
    fn a_crash_between_the_counts_of_one_start_is_not_a_copy() {
        for (boots, instance) in [([3, 3, 3], 3), ([4, 3, 3], 3), ([4, 4, 3], 3), ([4, 4, 4], 3)] {
            assert_eq!(opened(boots, instance).3, Finding::Same, "{boots:?} {instance}");
        }
    }

    #[test]
    fn a_store_from_another_time_is_named() {
        for (boots, instance, store) in [
            ([2, 3, 3], 3, "control.redb"),
            ([3, 2, 3], 3, "test.redb"),
            ([3, 3, 2], 3, "live.redb"),
            ([3, 3, 0], 3, "live.redb"),
            ([9, 3, 3], 3, "test.redb"),
            ([5, 5, 5], 3, "instance.json"),
        ] {
            let (.., found) = opened(boots, instance);
            let Finding::Hold(Cause::Copied { sign }) = found else { panic!("{boots:?} {instance}: {found:?}") };
            assert!(sign.starts_with(store), "{boots:?} {instance}: {sign}");
        }
    }

    #[test]
    fn a_moved_folder_is_not_a_copy_but_a_copied_folder_is() {
        let (outer, folder, whose, _) = opened([3, 3, 3], 3);
        let (moved, copied) = (outer.path().join("moved"), outer.path().join("copied"));
        let text = fs::read(folder.instance()).expect("instance.json exists");
        drop(folder);
        fs::rename(outer.path().join("data"), &moved).expect("the folder can be renamed");
        assert_eq!(check(&Folder::open(&moved).expect("the data folder can be opened"), &whose, [3, 3, 3]), Finding::Same);
        let copy = Folder::open(&copied).expect("the folder can be created");
        assert!(matches!(check(&copy, &whose, [3, 3, 3]), Finding::Hold(_)), "a copy without instance.json is detected");
        fs::write(copy.instance(), text).expect("the file can be written");
        assert!(matches!(check(&copy, &whose, [3, 3, 3]), Finding::Hold(_)), "a copy with instance.json is detected");
    }

    #[test]
    fn a_different_machine_is_detected_as_a_copy_but_a_machine_without_an_id_is_not() {
        let place =
            |machine: Option<&str>| FolderLocation { born: Some("7".into()), inode: 7, machine: machine.map(str::to_owned) };
        assert!(place(Some("a")).differs(&place(Some("b"))).is_some());
        for (was, is) in [(Some("a"), Some("a")), (Some("a"), None), (None, Some("b"))] {
            assert_eq!(place(was).differs(&place(is)), None);
        }
        // A different inode is not a sign of a copy if the creation times are known.
        assert_eq!(FolderLocation { inode: 8, ..place(None) }.differs(&place(None)), None);
        let unborn = |inode| FolderLocation { born: None, inode, machine: None };
        assert!(unborn(7).differs(&unborn(8)).is_some() && unborn(7).differs(&unborn(7)).is_none());
    }

    #[test]
    fn a_restored_folder_is_held_unless_resume_was_given() {
        let (_outer, folder, whose, _) = opened([0, 0, 0], 0);
        for (resume, expected) in
            [(false, Finding::Hold(Cause::Restored { made_at: "yesterday".into() })), (true, Finding::Resume)]
        {
            note_restored(&folder, "yesterday", resume).expect("the record can be written");
            assert_eq!(check(&folder, &whose, [0, 0, 0]), expected);
        }
    }

    #[test]
    fn an_exported_folder_is_held_with_its_own_reason() {
        let (_outer, folder, whose, _) = opened([0, 0, 0], 0);
        note_exported(&folder, "yesterday").expect("the record can be written");
        let cause = Cause::Exported { made_at: "yesterday".into() };
        assert_eq!(cause.to_string(), "this data was exported from a cluster at yesterday");
        assert_eq!((restored(&folder), counted(&folder)), (Some(cause.clone()), None));
        assert_eq!(check(&folder, &whose, [0, 0, 0]), Finding::Hold(cause));
    }
}
