//! Opens and closes the stores and indexes in a data folder.

use std::sync::Arc;

use tokio::sync::watch;

use super::folder::Folder;
use super::installation::{self, MIB, OpenStores, Opener};
use super::node::{Node, OpenNode};
use crate::base::clock::Clock;
use crate::base::machine;
use crate::base::random::{Random, SystemRandom};
use crate::engine::access::links::Links;
use crate::engine::api::engine::Parts;
use crate::engine::api::openapi;
use crate::engine::api::{Engine, EnvironmentData};
use crate::engine::backup::capture::Capture;
use crate::engine::backup::shipping::{self, ContinuousBackup};
use crate::engine::clients::devices::{self, Device};
use crate::engine::clients::findings::Checker;
use crate::engine::clients::report::Shares;
use crate::engine::fetch::Fetch;
use crate::engine::hold::{self, Hold, OnHold};
use crate::engine::render::pixels::{self, Pixels, Workers, chromium};
use crate::engine::search::{self, Index};
use crate::engine::store::cluster::Member;
use crate::engine::store::commit_log::CommitLog;
use crate::engine::store::identity;
use crate::engine::store::seal::Seal;
use crate::engine::store::space::Space;
use crate::engine::store::{self, Store};
use crate::features::accounts;
use crate::operations::OPERATIONS;
use crate::surfaces::cli::Problem;
use crate::surfaces::http::Nodes;
use crate::vocab::environment::Environment;
use crate::vocab::settings::{ClientShare, Rendering, RenderingEngine, Settings};

/// An open data folder and the engine that uses it.
pub struct OpenFolder {
    pub engine: Arc<Engine>,
    pub folder: Folder,
    stores: [Arc<Store>; 3],
    /// Receives the stores' commits, if there is a continuous backup.
    capture: Option<Arc<Capture>>,
}

impl OpenFolder {
    /// Opens the folder's stores and indexes, builds the engine and loads the caches of API keys, users and sessions.
    ///
    /// Opening may need to write to the disk. If the disk is full, opening uses the disk space reserve and then waits for free space.
    pub fn open(folder: Folder, settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, Problem> {
        if settings.cluster.database.is_some() {
            return Err(Problem::failed(
                "the setting cluster.database is set, so this command works only while the node's service is running: \
                 start the service with `mailmill serve`",
            ));
        }
        let random: Arc<dyn Random> = Arc::new(SystemRandom::default());
        installation::prepare(&folder, random.as_ref())?;
        let space = space(&folder, &settings);
        Self::open_on(folder, settings, (clock, random), space)
    }

    /// Opens the stores of a cluster node. Also returns the node's listener for other nodes.
    pub fn open_node(folder: Folder, settings: Settings, clock: Arc<dyn Clock>, node: Node) -> Result<(Self, Nodes), Problem> {
        let random: Arc<dyn Random> = Arc::new(SystemRandom::default());
        let space = Space::unlimited();
        let opener = Opener { folder: &folder, settings: &settings, space: &space, clock: &clock, random: &random, log: None };
        let capture = capture(&folder, &settings)?;
        if let Some(capture) = &capture {
            // Setting the backup cannot fail, because the member is new and has no backup yet.
            let _ = node.member.shared().backup.set(capture.clone());
        }
        let OpenNode { member, seal, nodes, stores } = node.open(&folder, &random)?;
        let hold = hold::read(&stores[0].read()).map_err(Problem::failed)?;
        let backup = capture.clone().map(|capture| opener.backup(capture, &seal, &stores[0])).transpose()?.flatten();
        let engine = opener.engine(seal, hold, &stores, backup, Some(member))?;
        Ok((Self { engine, folder, stores, capture }, nodes))
    }

    fn open_on(
        folder: Folder,
        settings: Settings,
        (clock, random): (Arc<dyn Clock>, Arc<dyn Random>),
        space: Arc<Space>,
    ) -> Result<Self, Problem> {
        let capture = capture(&folder, &settings)?;
        let log = capture.clone().map(|capture| capture as Arc<dyn CommitLog>);
        let opener = Opener { folder: &folder, settings: &settings, space: &space, clock: &clock, random: &random, log };
        let OpenStores { seal, stores, hold, is_same } = opener.take()?;
        if let Some(capture) = capture.as_ref().filter(|_| !is_same) {
            capture.forget("this data folder is new, was restored, or is a copy");
        }
        let backup = capture.clone().map(|capture| opener.backup(capture, &seal, &stores[0])).transpose()?.flatten();
        let engine = opener.engine(seal, hold, &stores, backup, None)?;
        Ok(Self { engine, folder, stores, capture })
    }

    /// Returns, for each store, the signal that reports when the store can no longer write.
    pub fn failures(&self) -> Vec<watch::Receiver<Option<store::Error>>> {
        self.stores.iter().map(|store| store.failure()).collect()
    }

    /// Finishes the pending writes and closes the files.
    pub fn close(self) {
        let Self { engine, folder, stores, capture } = self;
        let member = engine.cluster.clone();
        if let Some(member) = &member {
            member.stop();
        }
        drop(engine);
        for store in stores {
            match Arc::try_unwrap(store) {
                Ok(store) => store.close(),
                // Every acknowledged write is already durable, so a store that is still in use can be left open. In a cluster, this is
                // normal: tasks of the node hold the stores until the process ends.
                Err(store) if member.is_some() => {
                    tracing::debug!(file = %store.file().display(), "a store is still in use at shutdown; it closes with the process");
                }
                Err(store) => {
                    tracing::warn!(file = %store.file().display(), "a store is still in use at shutdown; it closes with the process");
                }
            }
        }
        if let Some(capture) = capture {
            capture.close();
        }
        if let Some(member) = member {
            member.close();
        }
        drop(folder);
    }
}

/// Returns the receiver of the stores' commits; `None` if there is no continuous backup.
fn capture(folder: &Folder, settings: &Settings) -> Result<Option<Arc<Capture>>, Problem> {
    let bytes_max = settings.backup.spool_mib.get().saturating_mul(MIB as u64);
    let started = settings.backup.url.is_some().then(|| Capture::start(&folder.spool(), bytes_max).map_err(Problem::failed));
    started.transpose()
}

/// Returns the space monitor of the data folder's disk, with the limits from the settings.
pub(super) fn space(folder: &Folder, settings: &Settings) -> Arc<Space> {
    let mib = |number: u64| number.saturating_mul(MIB as u64);
    Space::open(folder.path(), mib(settings.data.free_mib_min.get()), mib(settings.data.reserve_mib.get()))
}

impl Opener<'_> {
    /// Builds the engine on open stores, and loads its caches.
    fn engine(
        &self,
        seal: Seal,
        hold: Option<OnHold>,
        stores: &[Arc<Store>; 3],
        backup: Option<Arc<ContinuousBackup>>,
        cluster: Option<Arc<Member>>,
    ) -> Result<Arc<Engine>, Problem> {
        let links = Links::new(seal.derive("mailmill signed links v1"));
        let [control, test, live] = stores.clone();
        let (test, live) = (self.data(Environment::Test, test)?, self.data(Environment::Live, live)?);
        let (settings, clock, random) = (Arc::new(self.settings.clone()), self.clock.clone(), self.random.clone());
        let (hold, pixels) = (Hold::new(hold), self.pixels()?);
        let openapi = || openapi::document(OPERATIONS, None).to_string().into();
        let parts = Parts { settings, clock, random, control, test, live, seal, hold, backup, cluster, links, pixels, openapi };
        let engine = Arc::new(Engine::new(parts));
        accounts::load_caches(&engine).map_err(Problem::failed)?;
        Ok(engine)
    }

    /// Prepares the continuous backup of the open stores.
    fn backup(&self, capture: Arc<Capture>, seal: &Seal, control: &Store) -> Result<Option<Arc<ContinuousBackup>>, Problem> {
        let Some(url) = self.settings.backup.url.clone() else { return Ok(None) };
        let tx = control.read();
        let Some(identity) = identity::identity(&tx).map_err(Problem::failed)? else { return Ok(None) };
        Ok(Some(Arc::new(ContinuousBackup::new(shipping::Parts {
            url,
            settings: self.settings.backup.clone(),
            capture,
            fetch: Arc::new(Fetch::new(self.settings)),
            seal: Arc::new(seal.duplicate()),
            clock: self.clock.clone(),
            random: self.random.clone(),
            installation: identity.installation,
            boots: identity::boots(&tx).map_err(Problem::failed)?,
            host: machine::host_name(),
            is_in_cluster: self.settings.cluster.database.is_some(),
        }))))
    }

    fn pixels(&self) -> Result<Pixels, Problem> {
        let Rendering { engine, fonts, chromium, require_confinement } = self.settings.rendering.clone();
        let program = Some(self.folder.worker_program.clone());
        let tables = support_tables(self.settings)?;
        let shares = shares(self.settings, tables.as_ref().map(|(_, checker)| checker))?;
        let clients = tables.map(|(file, _)| Arc::new(file));
        let unconfined = !require_confinement;
        let options = pixels::Options { program, fonts: fonts.clone(), unconfined, clients, shares, feature: None };
        let workers = Workers::new(options);
        Ok(match engine {
            RenderingEngine::Embedded => Pixels::embedded(workers),
            RenderingEngine::Chromium => {
                let options = chromium::Options { program: chromium, folder: self.folder.chromium(), fonts, unconfined };
                Pixels::with_chromium(options, workers)
            }
        })
    }

    fn data(&self, environment: Environment, store: Arc<Store>) -> Result<Arc<EnvironmentData>, Problem> {
        let options = search::Options { writer_bytes: self.settings.data.search_writer_mib.count() * MIB };
        let index = Index::open(&self.folder.search(environment), options).map_err(Problem::failed)?;
        Ok(Arc::new(EnvironmentData {
            environment,
            store,
            search: Arc::new(index),
            index_turn: Default::default(),
            visits: Default::default(),
        }))
    }
}

/// Reads the file of newer support tables, if the settings name one. Returns the file's bytes and a checker that uses the tables.
pub(super) fn support_tables(settings: &Settings) -> Result<Option<(Vec<u8>, Checker)>, Problem> {
    let Some(path) = &settings.validation.clients else { return Ok(None) };
    let unusable = |reason: String| Problem::failed(format!("{} (setting validation.clients): {reason}", path.display()));
    let file = std::fs::read(path)
        .map_err(|error| unusable(format!("the file cannot be read: {error}; check the path and the file's permissions")))?;
    let checker = Checker::parse(&file).map_err(|error| unusable(error.to_string()))?;
    let is_missing = |device: &&Device| !device.is_text && checker.profile(&device.profile).is_none();
    if let Some(device) = devices::all().iter().find(is_missing) {
        return Err(unusable(format!(
            "the file lacks the email client {}, which previews need; use a newer file, or clear the setting",
            device.profile
        )));
    }
    Ok(Some((file, checker)))
}

/// Returns each email client's share of opens from the settings, by the client's key. `newer` contains the newer support tables, if there
/// are any.
pub(super) fn shares(settings: &Settings, newer: Option<&Checker>) -> Result<Shares, Problem> {
    let share = |one: &ClientShare| {
        let checker = newer.unwrap_or_else(|| Checker::embedded());
        let client = &one.client;
        match checker.profile(client) {
            Some(profile) => Ok((profile.key.clone(), one.share)),
            None => {
                let keys: Vec<&str> = checker.profiles.iter().map(|profile| profile.key.as_str()).collect();
                let known = keys.join(", ");
                Err(Problem::failed(format!(
                    "{client} (setting validation.shares) is not the ID of a supported email client; use one of: {known}"
                )))
            }
        }
    };
    settings.validation.shares.iter().map(share).collect()
}
