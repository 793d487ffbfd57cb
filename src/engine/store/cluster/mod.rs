//! A cluster: several nodes share the commit log of each store, in a database that speaks the PostgreSQL protocol.
//!
//! ```text
//!          leader                                          followers
//! commands → group → replicated_port ──append──▶  log  ──read──▶ replicated_port → snapshot → reads
//!                      └ after the append: local file, readers, answers        └ feed → search index
//! ```
//!
//! The database provides the consensus: it orders appends, decides who leads, and measures the time of a lease. At most one node leads, and
//! it leads all three stores: requests and workers write to several stores, so a node that leads only one of them could complete no request
//! without another node. The lease nevertheless has a row per log, because an append checks the row of its own log.
//!
//! Invariants:
//!
//! 1. An append checks the epoch of the lease in its own statement and locks the row of the lease, so an append of an earlier leader is
//!    either before the next leader's lease or not in the log. The primary key rules out a fork, and the check of the preceding position
//!    rules out a gap.
//! 2. A commit is acknowledged and visible only after its append. Local files are derived data, and missing files are rebuilt at startup.
//! 3. A node that does not know the outcome of an append reads the log until it does, and publishes nothing until then.
//! 4. Every record names its predecessor by a random ID. A node stops if the database has lost a record that the node has, for example
//!    because the database was restored, and reports the loss in the database, so that no other node leads until the operator has accepted
//!    the loss. Before a node takes the lease, it checks that the database has all commits and leases that this
//!    node has seen, so that it never continues without them.
//!
//! Appends, reads and leases are single statements without advisory locks, sessions or notifications, so that they also run through
//! connection poolers and on other databases with this protocol. Followers poll; a notification would only save the few milliseconds
//! between two polls.

mod database;
mod lease;
mod member;
mod prepare;
pub(super) mod replica;
mod replicated_port;
mod schema;
mod shared_log;
mod snapshots;
#[cfg(test)]
pub mod tests;
pub(super) mod turn;

pub use database::{Database, Link};
pub use lease::{Holder, accept_loss, clock_offset_ms, read as read_lease};
pub use member::{Member, Options, Role};
pub use prepare::{export, has_commits, import, mark, prepare, unmark};
pub use replicated_port::{ReplicatedPort, Shared};
pub use schema::{Schema, check_secret, create as create_tables, read as read_schema};
pub use snapshots::{LogStatus, status as log_status, tend as tend_snapshots};

use std::fmt;

use lease::Epoch;

use super::commit_log::StoreName;
use crate::engine::store;

/// Why a node of the cluster cannot proceed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A setting of the cluster is invalid.
    Settings(String),
    /// The database cannot be reached, or refuses a statement.
    Database(String),
    /// The database has no cluster, or its initialization was interrupted.
    NotInitialized,
    /// The database already contains a cluster, which belongs to the installation with this name.
    Initialized { installation: String },
    /// A newer program has changed the tables, or has written a record that this program cannot read.
    Newer,
    /// A table lacks a column that this program needs, because an older program created the table.
    OlderTables,
    /// A data file belongs to a different installation than the cluster.
    Foreign { file: String },
    /// A data file was written on a single machine without a cluster, and the cluster might not have the file's data.
    Single { file: String },
    /// The log ends before this node's newest commit, so the database has lost commits.
    Lost { store: StoreName, own: u64, newest: u64 },
    /// The lease has an earlier epoch than one that this node has seen, or the same epoch with a different holder, so the database has
    /// lost changes.
    Older { epoch: Epoch, seen: Epoch },
    /// The log's record at this position differs from the one that this node has, or does not follow this node's previous record.
    Diverged { store: StoreName, position: u64 },
    /// The log no longer has the record after this node's newest one, so the node must read a snapshot.
    Behind { store: StoreName },
    /// Another node replaced the snapshot of this store while this node read or wrote it.
    SnapshotReplaced { store: StoreName },
    /// A record or a snapshot in the database cannot be read.
    Damaged(String),
    /// A local file cannot be read or written.
    Local(String),
    /// The node is shutting down.
    Stopping,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(reason) => f.write_str(reason),
            Self::Database(cause) => write!(
                f,
                "the database of the cluster (setting cluster.database) cannot be used: {cause}. Check the database, its \
                 address, the network, and the user's permissions"
            ),
            Self::NotInitialized => f.write_str(
                "the database has no cluster yet; run `mailmill cluster init` on the first node or, for an existing installation, \
                 `mailmill cluster import`",
            ),
            Self::Initialized { installation } => write!(
                f,
                "the database already contains the cluster of installation {installation}; start the service to join the cluster, \
                 or set cluster.database to another database"
            ),
            Self::Newer => f.write_str("a newer version of Mailmill is writing to this cluster; use that version on this node too"),
            Self::OlderTables => {
                f.write_str("the cluster's tables are from an older version; start a node with this version to upgrade them")
            }
            Self::Foreign { file } => write!(
                f,
                "{file} is from a different installation than the cluster, or contains a different store; choose an empty data \
                 folder for this node with --data"
            ),
            Self::Single { file } => write!(
                f,
                "{file} is from a single machine and may contain data that the cluster lacks; choose an empty data folder for \
                 this node with --data, or import this folder into an empty database with `mailmill cluster import`"
            ),
            Self::Lost { store, own, newest } => write!(
                f,
                "the database has lost commits: the log of the {} store ends at {newest}, but this node has commits up to {own}. The \
                 database was probably restored, or a standby without the last commits was promoted. Restore the database that has these \
                 commits. To accept the loss, stop all nodes, keep a copy of this data folder, delete everything except master.key from the \
                 data folders of the nodes that show this message, run `mailmill cluster accept-loss`, and start the nodes",
                store.word()
            ),
            Self::Older { epoch, seen } => write!(
                f,
                "the database has lost changes: its lease has epoch {epoch}, but this node has seen a different lease with epoch {seen}. \
                 The database was probably restored, or a standby without the last changes was promoted. Restore the database that has \
                 these changes, and restart this node; at startup, the node checks whether commits are missing"
            ),
            Self::Diverged { store, position } => write!(
                f,
                "commit {position} of the {} store differs between this node and the log of the cluster. The database was \
                 probably replaced or restored. Restore the database that has the commits of this node; or, to accept the state \
                 of the log, stop all nodes, keep a copy of this data folder, delete everything in it except master.key, run `mailmill cluster \
                 accept-loss`, and start the nodes",
                store.word()
            ),
            Self::Behind { store } => write!(
                f,
                "the log of the {} store no longer has the next commits for this node; restart the node to rebuild the store from a snapshot",
                store.word()
            ),
            Self::SnapshotReplaced { store } => {
                write!(f, "another node replaced the snapshot of the {} store in the meantime; try again", store.word())
            }
            Self::Damaged(what) => {
                write!(f, "the database of the cluster is damaged: {what}. Restore the database from a backup")
            }
            Self::Local(cause) => f.write_str(cause),
            Self::Stopping => f.write_str("this node is stopping"),
        }
    }
}

impl std::error::Error for Error {}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        Self::Local(error.to_string())
    }
}

impl From<Error> for store::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Stopping => Self::Closed,
            error @ (Error::Lost { .. } | Error::Diverged { .. }) => Self::CommitsLost(error.to_string()),
            error => Self::Cluster(error.to_string()),
        }
    }
}

impl Error {
    /// Returns whether the same request can succeed later without action by the operator.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Database(_) | Self::SnapshotReplaced { .. })
    }
}
