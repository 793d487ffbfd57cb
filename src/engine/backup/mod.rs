//! Continuous backup: writes the commit log of all stores, and regular snapshots, to an object store or a folder.
//!
//! ```text
//! store/writer ── capture ── spool ────────── shipping ──────────────── target
//!   a commit is     one queue   files in the    a part every few          object store,
//!   durable         for all     data folder,    seconds, compressed,      or a folder
//!                   stores      bounded         sealed, and read back
//! ```
//!
//! The [`capture`] receives the records of all stores' commits in one queue. A commit is in the queue before its caller gets the response,
//! so every prefix of the queue is a consistent state of all three stores. Records are collected into parts; a part is a file in the data
//! folder (the [`spool`]) until the target has it. Commits never wait for the network. If the target is unreachable for so long that the
//! spool reaches its limit, the spool is dropped, and the next [`snapshot`] starts a new log. A long outage of the target therefore makes a
//! new snapshot necessary, but does not fill the disk.
//!
//! One server at a time owns a target. Each of its sessions is an *epoch*, which only one server can create ([`epochs`]). A log continues
//! in the next epoch only if it is proven that no commit is missing; otherwise the epoch starts with a snapshot. Until the backup is
//! thinned, its logs therefore have no gaps. The order of epochs and parts does not depend on clocks. In a cluster, the leader owns the
//! target; each new leader starts a new log.
//!
//! Objects are sealed, that is, encrypted with a key that is derived from the master key, and bound to their place in the target. The start
//! of an epoch is not sealed, because a restore must be able to tell which key it needs. The end of an epoch is not sealed either.

pub mod capture;
pub mod catalog;
mod epochs;
mod names;
mod part;
pub mod restored_copy;
pub mod restoring;
mod retention;
pub mod shipping;
pub mod snapshot;
mod spool;
mod status;
mod target;
#[cfg(test)]
mod tests;

pub use epochs::Start;
pub use part::Positions;
pub use shipping::ContinuousBackup;
pub use status::BackupStatus;
pub use target::{SealedTarget, Target};

use std::fmt;

use crate::engine::store;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The target's URL or a related setting is invalid. Contains the URL, the reason and the remedy.
    Settings(String),
    /// The target cannot be reached, or refuses a request. The cause contains the remedy.
    Target { object: String, cause: String },
    /// The target folder cannot be created.
    Folder { folder: String, cause: String },
    /// A folder in the target has too many objects to list.
    TooManyObjects { folder: String, objects_max: usize },
    /// An object that is needed is missing, or differs from what was written.
    Damaged { object: String, found: String },
    /// The target contains the backup of a different installation.
    Foreign { installation: String },
    /// The backup was made with a different master key.
    WrongKey,
    /// The master key file is missing or was replaced. Contains the error message of the key check.
    KeyLost(String),
    /// Another server writes to this target.
    InUse { host: String },
    /// Another server has taken over this target.
    TakenOver { host: String },
    /// The log cannot continue; a snapshot must start a new log. Contains the reason.
    Interrupted(String),
    /// Nothing was restored: the target has no usable backup, or the download was interrupted. Contains the reason.
    Nothing(String),
    /// A data file or a spool file cannot be read or written.
    Local(String),
    /// A newer program wrote the backup.
    Newer,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(reason) => write!(f, "the backup target cannot be used: {reason}"),
            Self::Target { object, cause } => {
                write!(f, "the backup target failed to process a request for {object}: {cause}")
            }
            Self::Folder { folder, cause } => write!(
                f,
                "the folder {folder} in the setting backup.url cannot be created: {cause}. Create the folder, and make it writable by the \
                 service. If the folder is on a separate disk, check that the disk is mounted"
            ),
            Self::TooManyObjects { folder, objects_max } => write!(
                f,
                "the folder {folder} in the backup target has more than {objects_max} objects. To restore, first move the oldest objects \
                 of this folder out of the target; to back up again, set backup.url to a new prefix that contains no objects, or to \
                 an empty folder"
            ),
            Self::Damaged { object, found } => {
                write!(
                    f,
                    "{object} in the backup target is missing or damaged: {found}. To restore, try an earlier time; to back up again, \
                     set backup.url to a new prefix that contains no objects, or to an empty folder"
                )
            }
            Self::Foreign { installation } => write!(
                f,
                "the backup target belongs to the installation {installation}; for this installation, set backup.url to a new prefix that \
                 contains no objects, or to an empty folder"
            ),
            Self::WrongKey => f.write_str(
                "the backup was made with a different master key. To restore, use the key from the time of the backup; to back up again, \
                 set backup.url to a new prefix that contains no objects, or to an empty folder",
            ),
            Self::KeyLost(cause) => write!(
                f,
                "{cause}. A backup cannot be restored without the key, so backups are paused. Restore master.key from your copy"
            ),
            Self::InUse { host } => write!(
                f,
                "the server {host} is writing to this backup target; stop that server, or set backup.url to another prefix for this server"
            ),
            Self::TakenOver { host } => write!(
                f,
                "the server {host} has taken over this backup target; stop that server, or set backup.url to another prefix here (in a cluster, \
                 on all nodes); then restart"
            ),
            Self::Interrupted(reason) => write!(f, "the backup was interrupted ({reason}); a new snapshot starts automatically"),
            Self::Nothing(reason) => f.write_str(reason),
            Self::Local(cause) => f.write_str(cause),
            Self::Newer => f.write_str("a newer version of Mailmill made this backup; use that version or a later one"),
        }
    }
}

impl std::error::Error for Error {}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        Self::Local(error.to_string())
    }
}
