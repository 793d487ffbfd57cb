//! Runs the `mailmill cluster` commands, which create a cluster, show its state, and move an installation from a data folder into a cluster
//! and back.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tokio::runtime::Runtime;

use super::folder::{Folder, FolderError};
use super::installation::STORES;
use super::node::{Node, checked_key};
use super::open::{self, OpenFolder};
use super::{instance, print, runtime};
use crate::base::clock::{Clock, SystemClock};
use crate::engine::store::StoreFile;
use crate::engine::store::cluster::{self, Database, Link};
use crate::engine::store::commit_log::StoreName;
use crate::engine::store::seal::Seal;
use crate::engine::store::space::Space;
use crate::features::accounts;
use crate::surfaces::cli::{ClusterCommand, Problem};
use crate::vocab::environment::Environment;
use crate::vocab::settings::Settings;

/// The size of the page cache, in bytes, for a store file that is read once.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// Runs a `mailmill cluster` command. Commands that a running service must carry out are in `administration`.
pub fn run(data: &Path, settings: Settings, command: &ClusterCommand) -> Result<(), Problem> {
    let Some(url) = settings.cluster.database.clone() else {
        return Err(Problem::misused("the setting cluster.database is missing; set it to the URL of the cluster's database"));
    };
    let runtime = runtime()?;
    let authorities = settings.cluster.database_authorities.clone();
    let database = Database::new(url.expose(), authorities.as_deref(), runtime.handle().clone()).map_err(Problem::failed)?;
    match command {
        ClusterCommand::Init => init(data, settings, &database, &runtime),
        ClusterCommand::Import => {
            let folder = Folder::open_existing(data).map_err(Problem::failed)?;
            import(folder, settings, &database, &runtime)
        }
        ClusterCommand::Export { to } => export(data, &settings, to, &database, &runtime),
        ClusterCommand::Join => join(data, settings),
        ClusterCommand::Status => status(&database, &runtime),
        ClusterCommand::AcceptLoss => accept_loss(&database, &runtime),
        ClusterCommand::Leave => leave(data, settings, &database, &runtime),
        ClusterCommand::Drain { .. } => unreachable!("the running service drains"),
    }
}

/// Creates an installation in the empty data folder, and a cluster from that installation.
fn init(data: &Path, settings: Settings, database: &Arc<Database>, runtime: &Runtime) -> Result<(), Problem> {
    let folder = Folder::open(data).map_err(Problem::failed)?;
    if !folder.names().map_err(Problem::failed)?.is_empty() {
        return Err(Problem::failed(format_args!(
            "{} is not empty: choose an empty folder with --data or, if it contains an installation, make the installation a cluster \
             with `mailmill cluster import`",
            folder.path().display()
        )));
    }
    // Before creating the installation, refuse a database that already has a cluster, or in which the database user cannot create tables.
    let checked = runtime.block_on(async {
        let mut link = Link::new(database.clone());
        match cluster::read_schema(&mut link).await {
            Ok(schema) => Err(cluster::Error::Initialized { installation: schema.installation }),
            Err(cluster::Error::NotInitialized) => cluster::create_tables(&mut link).await,
            Err(error) => Err(error),
        }
    });
    checked.map_err(Problem::failed)?;
    let key = folder.master_key();
    let welcome = {
        let welcome = runtime.block_on(async {
            let opened = OpenFolder::open(folder, alone(&settings), Arc::new(SystemClock))?;
            let welcome = accounts::welcome(&opened.engine).await;
            opened.close();
            Ok::<_, Problem>(welcome)
        });
        welcome?.map_err(|failure| Problem::failed(failure.cause.unwrap_or_else(|| failure.code.info().message.to_owned())))?
    };
    let base = settings.server.public_url.clone().unwrap_or_default();
    let folder = Folder::open_existing(data).map_err(Problem::failed)?;
    // The setup link and the test key will not be shown again, so they are printed even if the import fails.
    let imported = import(folder, settings, database, runtime);
    print(&format!(
        "\nCopy {} to the other nodes (mode 600); no database and no backup contains it.\n\n  Create the owner in a browser within 24 hours, \
         once a node runs (the link works once):\n    {base}{}\n\n  Test API key with all permissions (it won't be shown again):\n    {}\n",
        key.display(),
        welcome.setup_path,
        welcome.test_key.expose()
    ));
    imported.map_err(|problem| {
        problem.reworded(|said| {
            format!("{said}. The data folder has a complete installation: fix the problem, and run `mailmill cluster import`")
        })
    })
}

/// Creates a cluster from the installation in the folder.
fn import(folder: Folder, settings: Settings, database: &Arc<Database>, runtime: &Runtime) -> Result<(), Problem> {
    // Opening the installation checks that it is complete, and recovers from a crash.
    let data = folder.path().to_path_buf();
    runtime.block_on(async { OpenFolder::open(folder, alone(&settings), Arc::new(SystemClock)).map(OpenFolder::close) })?;
    let folder = Folder::open_existing(&data).map_err(Problem::failed)?;
    let files = files(&folder)?;
    runtime.block_on(cluster::import(database, &files)).map_err(Problem::failed)?;
    drop(files);
    for store in StoreName::ALL {
        cluster::mark(&folder.store(store.word()), store).map_err(Problem::failed)?;
    }
    print(&format!("The installation in {} is now a cluster. Start this node with `mailmill serve`.\n", folder.path().display()));
    Ok(())
}

/// Returns the settings without the cluster's database, so that the folder is opened as a single machine's folder, and without a backup,
/// because only a leader takes backups.
fn alone(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    settings.cluster.database = None;
    settings.backup.url = None;
    settings
}

fn files(folder: &Folder) -> Result<[StoreFile; 3], Problem> {
    let open =
        |store: StoreName| StoreFile::open(Space::unlimited(), &folder.store(store.word()), CACHE_BYTES).map_err(Problem::failed);
    let [control, test, live] = StoreName::ALL;
    Ok([open(control)?, open(test)?, open(live)?])
}

/// Writes the cluster's data into a new folder for a single machine. Sending is on hold in that folder, as after a restore, because the
/// cluster may still be sending.
fn export(data: &Path, settings: &Settings, to: &Path, database: &Arc<Database>, runtime: &Runtime) -> Result<(), Problem> {
    let schema = runtime.block_on(cluster::read_schema(&mut Link::new(database.clone()))).map_err(Problem::failed)?;
    // Use this node's master key or, if it has none, the copy at `cluster.master_key`. Do not lock the node's folder, because the node may
    // be running.
    let own = data.join("master.key");
    let key = checked_key(&settings.cluster.master_key.clone().filter(|_| !own.exists()).unwrap_or(own), &schema)?;
    // The errors of [`Folder`] name the option `--data`, but this folder comes from `--to`.
    let folder = Folder::open(to).map_err(|error| Problem::failed(error.to_string().replace("--data", "--to")))?;
    if !folder.names().map_err(Problem::failed)?.is_empty() {
        return Err(Problem::failed(format_args!("{} is not empty: choose an empty folder with --to", to.display())));
    }
    let exported = cluster::export(database, |store| folder.store(store.word()));
    match fill(&folder, &key, || runtime.block_on(exported).map_err(Problem::failed)) {
        Ok(rows) => {
            print(&format!(
                "Wrote {rows} rows to {}. Start the single machine with `mailmill serve --data '{}'` and settings without cluster.database. \
                 Sending is on hold there until you resume it: stop all nodes of the cluster first.\n",
                to.display(),
                to.display()
            ));
            Ok(())
        }
        Err(problem) => {
            folder.abandon();
            Err(problem)
        }
    }
}

/// Fills a new folder with the files that `write` creates, and returns the number of rows. The key is written last: the service does not
/// start without it, so an interrupted export is never mistaken for a complete one.
fn fill(folder: &Folder, key: &Seal, write: impl FnOnce() -> Result<u64, Problem>) -> Result<u64, Problem> {
    let rows = write()?;
    instance::note_exported(folder, &SystemClock.now().to_string()).map_err(|error| {
        Problem::failed(format_args!(
            "{} cannot be written: {error}; check that its folder is writable and that the disk has free space",
            folder.instance().display()
        ))
    })?;
    key.copy_to(&folder.master_key()).map_err(Problem::failed)?;
    Ok(rows)
}

/// Fills this node's data folder from the cluster's database, so that the first start is fast.
fn join(data: &Path, settings: Settings) -> Result<(), Problem> {
    let folder = Folder::open(data).map_err(Problem::failed)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let node = Node::join(&folder, &settings, || open::space(&folder, &settings), &clock)?.expect("the settings name a cluster");
    let name = node.member.node().to_owned();
    node.member.stop();
    print(&format!("The data of {name} is in {}. Start the node with `mailmill serve`.\n", folder.path().display()));
    Ok(())
}

fn status(database: &Arc<Database>, runtime: &Runtime) -> Result<(), Problem> {
    let text = runtime.block_on(async {
        let mut link = Link::new(database.clone());
        let schema = cluster::read_schema(&mut link).await?;
        let holder = cluster::read_lease(&mut link).await?;
        let mut text = format!("installation  {}\n", schema.installation);
        text.push_str(&match holder.remaining_ms {
            left if left > 0 => {
                format!(
                    "leader        {} at {}, epoch {}, lease expires in {left} ms\n",
                    holder.node, holder.address, holder.epoch
                )
            }
            _ => format!("leader        none; last epoch {}\n", holder.epoch),
        });
        if !holder.loss.is_empty() {
            text.push_str(&format!(
                "lost commits  reported by {}; restore the database that has them, or follow the message in the log of this node\n",
                holder.loss
            ));
        }
        for store in StoreName::ALL {
            let log = cluster::log_status(&mut link, store).await?;
            let snapshots: Vec<String> = log.snapshots.iter().map(u64::to_string).collect();
            text.push_str(&format!(
                "{:<12}  commit {}, {} commits ({} KiB) in the log, snapshots at {}\n",
                store.word(),
                log.newest,
                log.records,
                log.bytes / 1024,
                snapshots.join(" and ")
            ));
        }
        Ok::<_, cluster::Error>(text)
    });
    print(&text.map_err(Problem::failed)?);
    Ok(())
}

/// Lets the cluster continue without the commits that its database has lost.
fn accept_loss(database: &Arc<Database>, runtime: &Runtime) -> Result<(), Problem> {
    let accepted = runtime.block_on(cluster::accept_loss(&mut Link::new(database.clone()))).map_err(Problem::failed)?;
    print(match accepted {
        true => {
            "The loss is accepted. Start the nodes with `mailmill serve`; the cluster then continues without the lost commits.\n"
        }
        false => {
            "No loss of commits is reported in the database, so nothing was changed. If a node does not start, follow its message.\n"
        }
    });
    Ok(())
}

/// Deletes this node's copy of the data. The cluster keeps all data, and the node keeps its master key.
fn leave(data: &Path, settings: Settings, database: &Arc<Database>, runtime: &Runtime) -> Result<(), Problem> {
    let folder = Folder::open_existing(data).map_err(Problem::failed)?;
    let mut link = Link::new(database.clone());
    let holder = runtime.block_on(cluster::read_lease(&mut link)).map_err(Problem::failed)?;
    if holder.remaining_ms > 0 && holder.node == settings.cluster.node {
        return Err(Problem::failed(
            "this node still holds the lease of the cluster; wait until the lease expires (setting cluster.lease_seconds), and run the \
             command again",
        ));
    }
    let stores = STORES.map(|(name, _)| folder.store(name));
    let indexes = Environment::ALL.map(|environment| folder.search(environment));
    if !stores.iter().chain(&indexes).any(|path| path.exists()) {
        return Err(Problem::failed(FolderError::Missing(folder.path().to_path_buf())));
    }
    for store in StoreName::ALL {
        let path = folder.store(store.word());
        // An earlier run of the command may have deleted some of the files.
        if !path.exists() {
            continue;
        }
        let file = StoreFile::open(Space::unlimited(), &path, CACHE_BYTES).map_err(Problem::failed)?;
        let tx = file.read().map_err(Problem::failed)?;
        if !runtime.block_on(cluster::has_commits(database, store, &tx)).map_err(Problem::failed)? {
            return Err(Problem::failed(format_args!(
                "{} has data that the cluster does not have, so nothing was deleted; check --data and the setting \
                 cluster.database",
                file.path().display()
            )));
        }
    }
    let remove = |path: &Path| match fs::metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    };
    for path in stores.iter().chain(&indexes) {
        remove(path).map_err(|error| {
            Problem::failed(format_args!(
                "{} cannot be deleted: {error}; check its permissions and those of its folder, and run the command again",
                path.display()
            ))
        })?;
    }
    print(&format!(
        "Deleted this node's copy of the data in {}. The cluster still has all data. {} was kept; delete it if you no longer need it.\n",
        folder.path().display(),
        folder.master_key().display()
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SeededRandom;

    #[test]
    fn an_export_has_a_key_only_when_its_files_are_complete() {
        let outer = tempfile::tempdir().expect("a temporary folder");
        let folder = Folder::open(&outer.path().join("data")).expect("the data folder can be opened");
        let write = || {
            assert!(!folder.master_key().exists() && instance::restored(&folder).is_none(), "a crash leaves no usable folder");
            Ok(7)
        };
        assert!(matches!(fill(&folder, &Seal::new(&SeededRandom::new(1)), write), Ok(7)));
        assert!(folder.master_key().exists() && instance::restored(&folder).is_some());
    }
}
