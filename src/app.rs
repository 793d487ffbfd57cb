//! Composition: a data folder becomes an engine, an engine becomes a running service, and both come to a good end.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::runtime::Handle;

use crate::base::clock::{Clock, SystemClock};
use crate::base::random::{Random, SystemRandom};
use crate::engine::access::links::Links;
use crate::engine::api::call::Api;
use crate::engine::api::engine::Parts;
use crate::engine::api::{Engine, World};
use crate::engine::jobs::{Stage, Tasks, signals, workers};
use crate::engine::search::{self, Index, SearchError};
use crate::engine::store::{self, Store, seal::Seal};
use crate::features::accounts;
use crate::operations::OPERATIONS;
use crate::surfaces::http::{self, Bound, ProxyTrust, StartError, TlsSource};
use crate::vocab::environment::Environment;
use crate::vocab::settings::Settings;
use crate::vocab::tables::Realm;
use crate::workers::WORKERS;

/// The administration socket inside the data folder.
pub const ADMIN_SOCKET: &str = "admin.sock";
const LOCK_FILE: &str = "mailmill.lock";
const MASTER_KEY: &str = "master.key";
const MIB: u64 = 1024 * 1024;
/// How long workers and writers may take to finish when everything else has.
const LAST_GRACE: Duration = Duration::from_secs(10);

/// Why the service cannot start, or had to stop.
#[derive(Debug)]
pub enum AppError {
    /// The folder, or a file in it, cannot be used; the text says what to do.
    Folder(String),
    Store(store::Error),
    Search(SearchError),
    Start(StartError),
    /// A data file failed while the service ran.
    Failed(store::Error),
}

impl std::fmt::Display for AppError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AppError::Folder(what) => f.write_str(what),
            AppError::Store(error) => write!(f, "{error}"),
            AppError::Search(error) => write!(f, "{error}"),
            AppError::Start(error) => write!(f, "{error}"),
            AppError::Failed(error) => write!(f, "stopped, because nothing more can be made durable: {error}"),
        }
    }
}

impl std::error::Error for AppError {}

impl From<store::Error> for AppError {
    fn from(error: store::Error) -> Self {
        Self::Store(error)
    }
}

impl From<SearchError> for AppError {
    fn from(error: SearchError) -> Self {
        Self::Search(error)
    }
}

impl From<StartError> for AppError {
    fn from(error: StartError) -> Self {
        Self::Start(error)
    }
}

/// A data folder that this process alone has open.
pub struct Folder {
    path: PathBuf,
    /// Locked as long as this lives.
    _lock: File,
}

impl Folder {
    /// Take the folder, or make it. Nobody but the owner may read it, and no other process may have it.
    pub fn take(path: &Path) -> Result<Self, AppError> {
        let folder = |what: String| AppError::Folder(what);
        // Files of the engines underneath are made with the process's mask.
        // SAFETY: `umask` only sets a number of this process and cannot fail.
        unsafe { libc::umask(0o077) };
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|error| folder(format!("{}: the folder cannot be made: {error}", path.display())))?;
        let mode = fs::metadata(path).map_err(|error| folder(format!("{}: {error}", path.display())))?.mode();
        if mode & 0o077 != 0 {
            let shown = path.display();
            return Err(folder(format!(
                "{shown} can be read by others, and it holds keys and addresses; run: chmod 700 {shown}"
            )));
        }
        let lock = lock(&path.join(LOCK_FILE)).map_err(folder)?;
        Ok(Self { path: path.to_path_buf(), _lock: lock })
    }

    /// Whether another process has the folder open now.
    pub fn is_taken(path: &Path) -> bool {
        File::open(path.join(LOCK_FILE)).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn lock(path: &Path) -> Result<File, String> {
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(|error| format!("{}: {error}", path.display()))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut owner = String::new();
            let _ = file.read_to_string(&mut owner);
            let folder = path.parent().unwrap_or(path).display();
            let owner = owner.trim();
            return Err(format!(
                "{folder} is in use by another mailmill (process {owner}); stop it first, or choose another folder with --data"
            ));
        }
        Err(TryLockError::Error(error)) => return Err(format!("{}: {error}", path.display())),
    }
    let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    written.map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(file)
}

/// An engine on a data folder, not yet reachable by anybody.
pub struct Mill {
    pub engine: Arc<Engine>,
    folder: Folder,
}

impl Mill {
    /// Open everything in `folder`, or make it.
    pub fn open(folder: Folder, settings: Settings) -> Result<Self, AppError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let random: Arc<dyn Random> = Arc::new(SystemRandom::default());
        let path = folder.path().to_path_buf();
        let master = path.join(MASTER_KEY);
        let seal = Seal::from_file(&master, random.as_ref())
            .map_err(|error| AppError::Folder(format!("{}: {error}", master.display())))?;
        let open = |name: &str, realm: Realm| {
            let cache_bytes = settings.data.cache_mib.count() * MIB as usize;
            let options = store::Options { realm, cache_bytes };
            Store::open(&path.join(format!("{name}.redb")), &options, clock.clone(), random.clone()).map(Arc::new)
        };
        let world = |environment: Environment| -> Result<Arc<World>, AppError> {
            let store = open(environment.word(), Realm::World)?;
            let writer_bytes = settings.data.search_writer_mib.count() * MIB as usize;
            let index = path.join("search").join(environment.word());
            let options = search::Options { writer_bytes, ..search::Options::default() };
            let search = Arc::new(Index::open(&index, options)?);
            Ok(Arc::new(World { environment, store, search, index_turn: std::sync::Mutex::default() }))
        };
        let control = open("control", Realm::Control)?;
        let (test, live) = (world(Environment::Test)?, world(Environment::Live)?);
        let links = Links::new(seal.derive("mailmill signed links v1"));
        let settings = Arc::new(settings);
        let parts = Parts { settings, clock, random, control, test, live, seal, links, operations: OPERATIONS };
        let engine = Arc::new(Engine::new(parts));
        accounts::fill_ring(&engine)?;
        Ok(Self { engine, folder })
    }

    /// The folder it works in.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Bind the addresses of the settings and serve until a signal, or until a data file fails. `ready` is called once, when
    /// requests are accepted.
    pub async fn serve(self, ready: impl AsyncFnOnce(&Arc<Engine>, &Bound)) -> Result<(), AppError> {
        let Self { engine, folder } = self;
        let tasks = Tasks::new(Handle::current());
        signals::listen(&tasks).map_err(|error| AppError::Folder(format!("signals cannot be listened to: {error}")))?;
        let api = Arc::new(Api(engine.clone()));
        let options = options(&engine.settings, folder.path());
        let running = http::serve(options, api, engine.clock.clone(), engine.random.clone(), &tasks).await?;
        workers::start(WORKERS, &engine, &tasks);
        engine.set_base_url(base_url(&engine.settings, running.addresses()));
        ready(&engine, running.addresses()).await;

        let mut shutdown = tasks.shutdown();
        let failure = tokio::select! {
            () = shutdown.draining() => None,
            error = any_failure(&engine) => Some(error),
        };
        tasks.raise(Stage::Draining);
        let grace = if failure.is_some() { Duration::ZERO } else { engine.settings.server.drain_seconds.seconds() };
        let drained = running.drain(grace).await;
        let joined = tasks.join(LAST_GRACE).await;
        if let Err(error) = accounts::flush_usage(&engine).await {
            tracing::warn!(cause = error.cause, "the last counts of key usage were not written");
        }
        tracing::info!(finished = drained.finished, cut = drained.cut, workers = joined.finished, "stopped");
        match failure {
            Some(error) => Err(AppError::Failed(error)),
            None => Ok(()),
        }
    }
}

/// Waits until one of the stores can write no more.
async fn any_failure(engine: &Engine) -> store::Error {
    let [test, live] = engine.worlds();
    let [mut control, mut test, mut live] = [&engine.control, &test.store, &live.store].map(|store| store.failure());
    let failed = |error: &Option<store::Error>| error.is_some();
    let first = tokio::select! {
        error = control.wait_for(failed) => error,
        error = test.wait_for(failed) => error,
        error = live.wait_for(failed) => error,
    };
    match first {
        Ok(error) => error.clone().unwrap_or(store::Error::Closed),
        Err(_) => store::Error::Closed,
    }
}

fn options(settings: &Settings, folder: &Path) -> http::Options {
    let server = &settings.server;
    let tls = match (&settings.tls.certificate, &settings.tls.key) {
        (Some(certificate), Some(key)) => TlsSource::Files { certificate: certificate.clone(), key: key.clone() },
        _ => TlsSource::SelfMade { folder: folder.join("tls"), names: settings.tls.names.clone() },
    };
    let limits = http::Limits {
        header_time: server.header_read_seconds.seconds(),
        header_bytes: server.headers_bytes_max.count(),
        body_time: server.body_seconds.seconds(),
        body_rate_min: server.body_min_bytes_per_second.get(),
        idle_time: server.idle_seconds.seconds(),
        handshake_time: server.tls_handshake_seconds.seconds(),
        reply_time: server.request_seconds.seconds(),
        connections: server.connections_max.count(),
        connections_per_address: server.connections_per_address_max.count(),
        h2_streams: server.http2_streams_max.get() as u32,
        ..http::Limits::default()
    };
    http::Options {
        http: server.http,
        https: server.https,
        socket: Some(folder.join(ADMIN_SOCKET)),
        tls,
        proxy: ProxyTrust { behind_proxy: server.behind_proxy, networks: server.trusted_proxies.clone() },
        limits,
    }
}

/// Where links in answers lead: the setting, or else an address that was bound.
fn base_url(settings: &Settings, bound: &Bound) -> String {
    match (&settings.server.public_url, bound.https, bound.http) {
        (Some(url), _, _) => url.clone(),
        (None, Some(address), _) => format!("https://{}", reachable(address)),
        (None, None, Some(address)) => format!("http://{address}"),
        (None, None, None) => String::new(),
    }
}

/// "Every address" is no address to connect to: this machine's own name for itself stands in.
fn reachable(address: SocketAddr) -> String {
    if address.ip().is_unspecified() { format!("localhost:{}", address.port()) } else { address.to_string() }
}

/// What `--ready-file` holds.
#[derive(Serialize)]
struct Ready<'a> {
    http: Option<SocketAddr>,
    https: Option<SocketAddr>,
    socket: Option<&'a Path>,
    pid: u32,
}

/// Write the bound addresses and the process id to `file`, all at once.
pub fn write_ready_file(file: &Path, bound: &Bound) -> io::Result<()> {
    let ready = Ready { http: bound.http, https: bound.https, socket: bound.socket.as_deref(), pid: std::process::id() };
    let aside = file.with_extension("part");
    fs::write(&aside, serde_json::to_vec(&ready)?)?;
    fs::rename(&aside, file)
}
