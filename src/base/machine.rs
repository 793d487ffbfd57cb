//! The machine: its file descriptors, disk space and name.

use std::io;
use std::path::Path;

use rustix::fs::statvfs;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The kernel's list of this process's file descriptors.
const DESCRIPTORS: &str = "/proc/self/fd";
/// The limit to assume if the system sets no limit, or a limit that is too large to matter: the kernel's usual maximum for a process.
const DESCRIPTORS_ASSUMED_MAX: u64 = 1_048_576;

/// The limits on open descriptors, before and after [`raise_descriptor_limit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptors {
    pub before: u64,
    pub now: u64,
}

/// Raises the soft limit on open descriptors to the hard limit, but at most to [`DESCRIPTORS_ASSUMED_MAX`]. If this fails, `now` equals
/// `before`.
pub fn raise_descriptor_limit() -> Descriptors {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let count = |limit: Option<u64>| limit.map_or(DESCRIPTORS_ASSUMED_MAX, |limit| limit.min(DESCRIPTORS_ASSUMED_MAX));
    let (before, wanted) = (count(current), count(maximum));
    if wanted > before && setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }).is_err() {
        return Descriptors { before, now: before };
    }
    Descriptors { before, now: wanted.max(before) }
}

/// Returns the current limit on open descriptors.
pub fn descriptor_limit() -> u64 {
    getrlimit(Resource::Nofile).current.map_or(DESCRIPTORS_ASSUMED_MAX, |limit| limit.min(DESCRIPTORS_ASSUMED_MAX))
}

/// Returns the number of open descriptors; `None` if the kernel does not list them, or if no descriptor is left to open that list.
pub fn open_descriptors() -> Option<u64> {
    let entries = std::fs::read_dir(DESCRIPTORS).ok()?;
    // Reading the list itself uses one descriptor.
    u64::try_from(entries.count()).ok().map(|count| count.saturating_sub(1))
}

/// Returns whether this process can open another descriptor.
pub fn has_free_descriptor() -> bool {
    std::fs::File::open("/dev/null").is_ok()
}

/// Returns whether an operation failed because this process or this machine has no free descriptors.
pub fn is_lack_of_descriptors(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// Returns how many bytes an unprivileged process can still write to the file system that contains `path`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let space = statvfs(path)?;
    Ok(space.f_bavail.saturating_mul(space.f_frsize))
}

/// Returns the name of this machine, for messages; empty if the system does not report it.
pub fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().chars().filter(|character| character.is_ascii_graphic()).take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_to_the_hard_limit_and_open_descriptors_are_counted() {
        let raised = raise_descriptor_limit();
        let hard = getrlimit(Resource::Nofile).maximum.map_or(DESCRIPTORS_ASSUMED_MAX, |hard| hard.min(DESCRIPTORS_ASSUMED_MAX));
        assert_eq!((raised.now, descriptor_limit()), (hard, hard));
        let before = open_descriptors().expect("the kernel lists the open files");
        let _held: Vec<_> = (0..50).map(|_| std::fs::File::open("/dev/null").expect("/dev/null can be opened")).collect();
        // Other tests in this process open and close files at the same time, so the comparison allows a difference.
        assert!(open_descriptors().expect("the kernel lists the open files") + 40 > before + 50);
    }

    #[test]
    fn free_space_is_that_of_the_path_s_file_system() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        assert!(free_bytes(folder.path()).expect("the folder exists") > 0);
        assert!(free_bytes(&folder.path().join("missing")).is_err());
    }
}
