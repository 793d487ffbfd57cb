//! Opening everything that a data folder holds, and closing it again.

use std::sync::Arc;

use tokio::sync::watch;

use super::folder::Folder;
use crate::base::clock::{Clock, SystemClock};
use crate::base::random::{Random, SystemRandom};
use crate::engine::access::links::Links;
use crate::engine::api::engine::Parts;
use crate::engine::api::{Engine, World};
use crate::engine::render::pixels::{self, Pixels, Workers, chromium};
use crate::engine::search::{self, Index};
use crate::engine::store::seal::Seal;
use crate::engine::store::{self, Options, Store};
use crate::features::accounts;
use crate::operations::OPERATIONS;
use crate::surfaces::cli::Problem;
use crate::vocab::environment::Environment;
use crate::vocab::settings::{Rendering, RenderingEngine, Settings};
use crate::vocab::tables::Realm;

/// Accounts and keys are few and are held in memory anyway.
const CONTROL_CACHE_BYTES: usize = 8 * 1024 * 1024;
const MIB: usize = 1024 * 1024;
/// The file that this process runs, also after an upgrade has put another one into its place.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// An engine on an open folder.
pub struct Opened {
    pub engine: Arc<Engine>,
    pub folder: Folder,
    stores: [Arc<Store>; 3],
}

impl Opened {
    /// Open the folder's stores and indexes, put the engine together and fill its ring of keys.
    pub fn open(folder: Folder, settings: Settings) -> Result<Self, Problem> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let random: Arc<dyn Random> = Arc::new(SystemRandom::default());
        let seal = Seal::from_file(&folder.master_key(), random.as_ref()).map_err(Problem::failed)?;
        let links = Links::new(seal.derive("mailmill signed links v1"));
        let opener = Opener { folder: &folder, settings: &settings, clock: &clock, random: &random };
        let control = opener.store(&folder.control(), Realm::Control, CONTROL_CACHE_BYTES)?;
        let test = opener.world(Environment::Test)?;
        let live = opener.world(Environment::Live)?;
        let stores = [control.clone(), test.store.clone(), live.store.clone()];
        let pixels = opener.pixels();
        let settings = Arc::new(settings);
        let parts = Parts { settings, clock, random, control, test, live, seal, links, pixels, operations: OPERATIONS };
        let engine = Arc::new(Engine::new(parts));
        accounts::fill_ring(&engine).map_err(Problem::failed)?;
        Ok(Self { engine, folder, stores })
    }

    /// What tells of a store that cannot write any more.
    pub fn failures(&self) -> Vec<watch::Receiver<Option<store::Error>>> {
        self.stores.iter().map(|store| store.failure()).collect()
    }

    /// Finish the writes that wait and let go of the files.
    pub fn close(self) {
        let Self { engine, folder, stores } = self;
        drop(engine);
        for store in stores {
            match Arc::try_unwrap(store) {
                Ok(store) => store.close(),
                // Everything answered is durable without this.
                Err(store) => tracing::warn!(file = %store.file().display(), "still in use at the end, closed with the process"),
            }
        }
        drop(folder);
    }
}

struct Opener<'a> {
    folder: &'a Folder,
    settings: &'a Settings,
    clock: &'a Arc<dyn Clock>,
    random: &'a Arc<dyn Random>,
}

impl Opener<'_> {
    fn store(&self, file: &std::path::Path, realm: Realm, cache_bytes: usize) -> Result<Arc<Store>, Problem> {
        let options = Options { realm, cache_bytes };
        Store::open(file, &options, self.clock.clone(), self.random.clone()).map(Arc::new).map_err(Problem::failed)
    }

    fn pixels(&self) -> Pixels {
        let Rendering { engine, fonts, chromium, require_confinement } = self.settings.rendering.clone();
        let program = Some(OWN_PROGRAM.into());
        let workers = Workers::new(pixels::Options { program, fonts: fonts.clone(), unconfined: !require_confinement });
        match engine {
            RenderingEngine::Embedded => Pixels::embedded(workers),
            RenderingEngine::Chromium => {
                let options = chromium::Options { program: chromium, folder: self.folder.chromium(), fonts };
                Pixels::with_chromium(options, workers)
            }
        }
    }

    fn world(&self, environment: Environment) -> Result<Arc<World>, Problem> {
        let data = &self.settings.data;
        let store = self.store(&self.folder.world(environment), Realm::World, data.cache_mib.count() * MIB)?;
        let options = search::Options { writer_bytes: data.search_writer_mib.count() * MIB };
        let index = Index::open(&self.folder.search(environment), options).map_err(Problem::failed)?;
        Ok(Arc::new(World {
            environment,
            store,
            search: Arc::new(index),
            index_turn: Default::default(),
            visits: Default::default(),
        }))
    }
}
