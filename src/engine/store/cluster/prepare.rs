//! Creates local files from the cluster's database for a new node or an export, and imports local files into the database.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::database::{Database, Link};
use super::replicated_port::{ReplicatedPort, Shared};
use super::schema::{self, Schema};
use super::shared_log::{self, SharedLog, unpack};
use super::{Error, Result, snapshots};
use crate::engine::store::commit_log::{Links, StoreName, links, position};
use crate::engine::store::identity::{self, Identity};
use crate::engine::store::migrations;
use crate::engine::store::port::{Overlay, Port};
use crate::engine::store::rebuild::Rebuild;
use crate::engine::store::redb_port::RedbPort;
use crate::engine::store::space::Space;
use crate::engine::store::tx::ReadTx;
use crate::engine::store::{self, StoreFile};

/// The maximum number of attempts to prepare a file: while a file is rebuilt from a snapshot, a newer snapshot can truncate the log.
const REBUILDS_MAX: usize = 3;

/// Opens the local file of a store and applies the records of the log. A file that is missing or too far behind is built from the
/// newest snapshot first. No other process may use the file. Blocks the thread.
pub fn prepare(
    shared: &Shared,
    schema: &Schema,
    store: StoreName,
    file: &Path,
    space: &Arc<Space>,
    cache_bytes: usize,
) -> Result<ReplicatedPort> {
    for _ in 0..REBUILDS_MAX {
        if !file.exists() {
            rebuild(&shared.database, &shared.runtime, store, file)?;
        }
        let local = RedbPort::open_existing(space.clone(), file, cache_bytes)?.with_tables(store.database_kind())?;
        let tx = ReadTx { snapshot: local.snapshot()?, feed_position: 0, memo: Arc::default() };
        let (own, is_single) = (identity::identity(&tx)?, links(&tx)?.is_none());
        if migrations::is_newer(&tx)? {
            return Err(Error::Newer);
        }
        drop(tx);
        if own.is_none_or(|own| own.installation.name() != schema.installation || own.store != store.word()) {
            return Err(Error::Foreign { file: file.display().to_string() });
        }
        // Reject a restored or exported folder: it has the same identity as the cluster, so its data would be replaced if it were behind
        // the log.
        if is_single {
            return Err(Error::Single { file: file.display().to_string() });
        }
        let port = ReplicatedPort::new(store, local, shared)?;
        match port.check().and_then(|()| catch_up(&port)) {
            Ok(()) => return Ok(port),
            Err(Error::Behind { .. }) => {
                tracing::warn!(store = store.word(), "this node is too far behind the log; rebuilding its data from a snapshot");
                drop(port);
                fs::remove_file(file).map_err(|error| {
                    Error::Local(format!("{} cannot be removed: {error}; check the permissions of its folder", file.display()))
                })?;
            }
            Err(error) => return Err(error),
        }
    }
    Err(Error::Behind { store })
}

/// Applies all records that the log has now, and makes the file durable.
fn catch_up(port: &ReplicatedPort) -> Result<()> {
    while port.follow()?.is_some_and(|applied| applied.more) {}
    Ok(port.settle()?)
}

/// Builds the file of a store from the newest snapshot.
fn rebuild(database: &Arc<Database>, runtime: &tokio::runtime::Handle, store: StoreName, file: &Path) -> Result<()> {
    let aside = file.with_extension("rebuild");
    let local = |error: std::io::Error| {
        Error::Local(format!(
            "{} cannot be written: {error}; check that its folder is writable and that the disk has free space",
            aside.display()
        ))
    };
    if aside.exists() {
        fs::remove_file(&aside).map_err(local)?;
    }
    let mut rebuilt = Rebuild::create(store, &aside, 0)?;
    let mut link = Link::new(database.clone());
    let position = runtime.block_on(snapshots::read(&mut link, store, |rows| Ok(rebuilt.fill(rows)?)))?;
    rebuilt.join_cluster()?;
    let rows = rebuilt.finish()?;
    fs::rename(&aside, file).map_err(local)?;
    tracing::info!(store = store.word(), position, rows, "rebuilt a data file from the snapshot of the cluster");
    Ok(())
}

/// Writes the state of the cluster at one point in time into one new file per store: the newest snapshot and the commits after it. Returns
/// the total number of rows.
pub async fn export(database: &Arc<Database>, file_of: impl Fn(StoreName) -> PathBuf) -> Result<u64> {
    let mut link = Link::new(database.clone());
    let mut files = Vec::new();
    for store in StoreName::ALL {
        let mut file = Rebuild::create(store, &file_of(store), 0)?;
        let position = snapshots::read(&mut link, store, |rows| Ok(file.fill(rows)?)).await?;
        file.continue_from(position);
        files.push(file);
    }
    // One statement reads the ends of all logs, so the export of a store contains no commit without the earlier commits of other stores.
    let ends = shared_log::ends(&mut link).await?;
    let mut rows = 0;
    for ((store, mut file), end) in StoreName::ALL.into_iter().zip(files).zip(ends) {
        let mut log = SharedLog::new(store, database.clone());
        while file.position() < end {
            let bodies = log.after(file.position()).await?;
            // A newer snapshot may have truncated the log in the meantime.
            if bodies.first().is_none_or(|(next, _)| *next != file.position() + 1) {
                return Err(Error::SnapshotReplaced { store });
            }
            for (found, body) in bodies.into_iter().filter(|(found, _)| *found <= end) {
                file.apply(unpack(store, found, &body)?)?;
            }
        }
        file.leave_cluster();
        rows += file.finish()?;
    }
    Ok(rows)
}

/// Returns whether the log has every commit of a node's file. Also returns true if the file is so far behind that the log no longer has the
/// file's newest commit.
pub async fn has_commits(database: &Arc<Database>, store: StoreName, tx: &ReadTx) -> Result<bool> {
    let Some(Links { own, .. }) = links(tx)? else { return Ok(false) };
    let position = position(tx)?;
    match SharedLog::new(store, database.clone()).check(position, own).await {
        Ok(()) | Err(Error::Behind { .. }) => Ok(true),
        Err(Error::Lost { .. } | Error::Diverged { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Marks the file of a store as part of a cluster, so that it cannot be opened outside the cluster. Also removes the row that counts how
/// many times the folder was opened, because nodes of a cluster do not count this.
pub fn mark(file: &Path, store: StoreName) -> Result<()> {
    let port = RedbPort::open_existing(Space::unlimited(), file, 1 << 20)?.with_tables(store.database_kind())?;
    let mut batch = Overlay::new();
    Links::default().set(&mut batch);
    identity::forget_boots(&mut batch);
    Ok(port.commit(&batch)?)
}

/// Removes the cluster mark from a store's file, if the file has one, so that a single machine can use the file.
pub fn unmark(file: &Path) -> store::Result<()> {
    let port = RedbPort::open_existing(Space::unlimited(), file, 1 << 20)?;
    let tx = ReadTx { snapshot: port.snapshot()?, feed_position: 0, memo: Arc::default() };
    if links(&tx)?.is_none() {
        return Ok(());
    }
    let mut batch = Overlay::new();
    Links::remove(&mut batch);
    port.commit(&batch)
}

/// Imports the installation in these files as the cluster's first state. The files are in the order of [`StoreName::ALL`]. Returns the
/// position of each store's newest commit.
pub async fn import(database: &Arc<Database>, files: &[StoreFile; 3]) -> Result<[u64; 3]> {
    let mut link = Link::new(database.clone());
    schema::create(&mut link).await?;
    match schema::read(&mut link).await {
        Ok(Schema { installation, .. }) => return Err(Error::Initialized { installation }),
        Err(Error::NotInitialized) => {}
        Err(error) => return Err(error),
    }
    // An import that was interrupted leaves snapshots, but no records.
    link.define("DELETE FROM mailmill_snapshot").await?;
    let mut positions = [0; 3];
    let mut schema = None;
    for ((store, file), position) in StoreName::ALL.into_iter().zip(files).zip(&mut positions) {
        let tx = file.read()?;
        let identity = identity::identity(&tx)?.filter(|identity| identity.store == store.word());
        let Identity { installation, key_check, .. } = identity
            .ok_or_else(|| Error::Local(format!("{} does not contain the {} store", file.path().display(), store.word())))?;
        schema = Some(Schema {
            installation: installation.name().to_owned(),
            key_check: key_check.text().to_owned(),
            secret_check: String::new(),
            losses_accepted: 0,
        });
        *position = snapshots::take(&mut link, store, tx).await?;
    }
    let schema = schema.expect("there are three stores");
    schema::complete(&mut link, &schema).await?;
    Ok(positions)
}
