//! A store: ordered tables in one file, one writer, group commit.
//!
//! The contract: an acknowledged write is durable; a write without an acknowledgment is stored completely or not at all; readers see one
//! unchanging commit and do not wait for the writer. The meaning of rows is defined by features, which declare [`Table`]s and use [`Read`]
//! and [`WriteTx`]; only this folder uses the database engine.

pub mod backup;
pub mod bitmap;
pub mod blobs;
pub mod cluster;
pub mod codec;
pub mod commit_log;
mod cow_file;
pub mod damage;
pub mod feed;
pub mod identity;
pub mod key;
pub mod memo;
mod migrations;
pub mod partial_decode;
mod port;
pub mod rebuild;
mod redb_port;
mod row_check;
pub mod seal;
pub mod sorted_run;
pub mod space;
pub mod time_buckets;
mod tx;
mod writer;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod kill_test;
#[cfg(test)]
mod power_cut;
#[cfg(test)]
pub mod testing;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::{Notify, mpsc, watch};

pub use codec::{Record, Value};
pub use port::{Bytes, Order, Span};
pub use row_check::RowCheck;
pub use tx::{Read, ReadTx, Table, WriteTx};

use crate::base::clock::Clock;
use crate::base::random::Random;
use crate::vocab::limits;
use crate::vocab::tables::{self, DatabaseKind, TABLES, TableId};
use cluster::ReplicatedPort;
use cluster::replica::Replica;
use cluster::turn::SharedTurn;
use commit_log::{Logged, StoreName};
use port::Port;
use redb_port::RedbPort;
use space::Space;
use writer::{Job, ResultReceiver, Writer};

/// The maximum number of writes that may wait for the writer. Additional writes are rejected as [`Error::Busy`], so that writes cannot fill
/// the memory while a disk hangs.
const QUEUE_MAX: usize = 4096;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The disk, the file or a thread failed. Contains the message.
    Io(String),
    /// The file does not contain the bytes that were written to it, or a row cannot be decoded as the type of its table.
    Damaged { file: PathBuf, found: String },
    /// Another process has this file open.
    InUse(PathBuf),
    /// The file was written by a newer program.
    Newer { file: PathBuf, found: u32, known: u32 },
    /// Too many writes are waiting.
    Busy,
    /// There is too little disk space for writes that are not essential.
    NoSpace,
    /// The store was closed, or closed itself after a failure.
    Closed,
    /// The command panicked; its changes were dropped.
    Panicked,
    /// This node does not lead the cluster. The command changed nothing.
    NotLeader,
    /// The cluster cannot continue on this node. Contains the reason.
    Cluster(String),
    /// The cluster's database has lost commits that this node has. Contains the reason.
    CommitsLost(String),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(cause) => f.write_str(cause),
            Error::Damaged { file, found } => write!(
                f,
                "{} is damaged: {found}. Stop the service, run `mailmill check-data`, and restore the newest backup: {}",
                file.display(),
                damage::RESTORE
            ),
            Error::InUse(path) => write!(
                f,
                "another mailmill process has {} open; stop that process first, or choose another folder with --data",
                path.display()
            ),
            Error::Newer { file, found, known } => write!(
                f,
                "{} was written by a newer version of Mailmill (data version {found}; this program supports up to {known}); use \
                 that version",
                file.display()
            ),
            Error::Busy => f.write_str("too many writes are waiting; try again in a few seconds"),
            Error::NoSpace => f.write_str("the disk is almost full, so only essential writes are accepted; free up space"),
            Error::Closed => f.write_str(
                "the data file is closed, because the service is stopping or a write failed; if the service does not stop, restart it",
            ),
            Error::Panicked => f.write_str("the change failed unexpectedly and was not saved; search the log for the cause"),
            Error::NotLeader => f.write_str("this node does not lead the cluster and accepts no writes; try again in a second"),
            Error::Cluster(reason) | Error::CommitsLost(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Error {}

/// Returns a runtime that the writer's thread uses to measure time.
fn timer() -> Result<tokio::runtime::Runtime> {
    let timer = tokio::runtime::Builder::new_current_thread().enable_time().build();
    timer.map_err(|error| {
        Error::Io(format!("the timer for a data file cannot be started: {error}; check the limit on open files"))
    })
}

/// Starts the writer's thread of the store at `path`.
fn spawn(path: &Path, work: impl FnOnce() + Send + 'static) -> Result<std::thread::JoinHandle<()>> {
    let name = path.file_stem().map_or_else(|| "store".into(), |stem| stem.to_string_lossy().into_owned());
    let thread = std::thread::Builder::new().name(format!("write-{name}")).spawn(work);
    thread.map_err(|error| {
        Error::Io(format!("the writer thread for {} cannot be started: {error}; check the limit on threads", path.display()))
    })
}

pub struct Options {
    /// The kind of store, which determines its tables.
    pub database_kind: DatabaseKind,
    /// The size of the page cache in bytes.
    pub cache_bytes: usize,
}

/// The file of a store, opened for inspection before the store uses it. The inspection changes no rows.
pub struct StoreFile {
    path: PathBuf,
    space: Arc<Space>,
    port: RedbPort,
}

impl StoreFile {
    /// Opens an existing file; `space` monitors the free space of its disk. If the file has at most
    /// [`limits::CHECKED_AT_START_BYTES_MAX`] bytes, its pages are compared with their checksums first.
    pub fn open(space: Arc<Space>, path: &Path, cache_bytes: usize) -> Result<Self> {
        let length = std::fs::metadata(path).map_err(|error| damage::io_failed(path, &error))?.len();
        if length <= limits::CHECKED_AT_START_BYTES_MAX {
            drop(RedbPort::open_verified(path, cache_bytes)?);
        }
        let port = RedbPort::open_existing(space.clone(), path, cache_bytes)?;
        Ok(Self { path: path.to_path_buf(), space, port })
    }

    /// Opens an existing file of any size, after comparing every page with its checksum. The file is never written to, so it may be on a
    /// read-only medium.
    pub fn open_verified(path: &Path, cache_bytes: usize) -> Result<Self> {
        Ok(Self { path: path.to_path_buf(), space: Space::unlimited(), port: RedbPort::open_verified(path, cache_bytes)? })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the kind of store that has the tables of this file; `None` for a file without tables.
    pub fn database_kind(&self) -> Result<Option<DatabaseKind>> {
        let here = self.port.table_names()?;
        let holds = |table: TableId| here.iter().any(|name| name == table.info().name);
        Ok(match (holds(tables::ACCOUNTS), holds(tables::CONTACTS)) {
            (true, false) => Some(DatabaseKind::Control),
            (false, true) => Some(DatabaseKind::Environment),
            _ => None,
        })
    }

    pub fn table_names(&self) -> Result<Vec<String>> {
        self.port.table_names()
    }

    /// Returns a read transaction on the file. A file that was written by an older program may lack some tables.
    pub fn read(&self) -> Result<ReadTx> {
        Ok(ReadTx { snapshot: self.port.snapshot()?, feed_position: 0, memo: Arc::default() })
    }
}

/// An open store, which threads share in an [`Arc`]. [`Store::close`] closes the store.
pub struct Store {
    file: PathBuf,
    database_kind: DatabaseKind,
    space: Arc<Space>,
    port: Arc<dyn Port>,
    published: Arc<ArcSwap<ReadTx>>,
    jobs: mpsc::Sender<Box<dyn Job>>,
    changed: Arc<Vec<Notify>>,
    failed: watch::Receiver<Option<Error>>,
    thread: std::sync::Mutex<Option<std::thread::JoinHandle<()>>>,
    /// The store's name, and the turn of this process's stores; `None` if the store is not part of a cluster.
    turn: Option<(StoreName, Arc<SharedTurn>)>,
}

impl Store {
    /// Opens the file at `path`, or creates it, and migrates its rows to this program's version. Free disk space is not monitored.
    pub fn open(path: &Path, options: &Options, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Result<Self> {
        Self::open_and(Space::unlimited(), path, options, (clock, random), None, |_| Ok(()))
    }

    /// Opens a store on a disk whose free space is monitored: below the threshold, only essential writes are accepted. Runs `first`
    /// durably before any other command. If the store is logged, its log receives every commit from `first` on. May be called on a
    /// thread of the runtime.
    pub fn open_and(
        space: Arc<Space>,
        path: &Path,
        options: &Options,
        (clock, random): (Arc<dyn Clock>, Arc<dyn Random>),
        logged: Option<Logged>,
        first: impl FnOnce(&mut WriteTx<'_>) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let port = Arc::new(RedbPort::open(space.clone(), path, options.database_kind, options.cache_bytes)?);
        let store = Self::start(path, options.database_kind, port, (clock, random), logged, first)?;
        Ok(Self { space, ..store })
    }

    /// Opens the store in a file that was inspected, and runs `first` durably before any other command.
    pub fn of(
        file: StoreFile,
        database_kind: DatabaseKind,
        (clock, random): (Arc<dyn Clock>, Arc<dyn Random>),
        logged: Option<Logged>,
        first: impl FnOnce(&mut WriteTx<'_>) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let StoreFile { path, space, port } = file;
        let port = Arc::new(port.with_tables(database_kind)?);
        let store = Self::start(&path, database_kind, port, (clock, random), logged, first)?;
        Ok(Self { space, ..store })
    }

    fn start(
        path: &Path,
        database_kind: DatabaseKind,
        port: Arc<dyn Port>,
        (clock, random): (Arc<dyn Clock>, Arc<dyn Random>),
        logged: Option<Logged>,
        first: impl FnOnce(&mut WriteTx<'_>) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let published = Arc::new(ArcSwap::from_pointee(feed::newest(port.snapshot()?, database_kind)?));
        let changed: Arc<Vec<Notify>> = Arc::new(TABLES.iter().map(|_| Notify::new()).collect());
        let (jobs, waiting) = mpsc::channel(QUEUE_MAX);
        let (failing, failed) = watch::channel(None);
        let mut writer = Writer::new(port.clone(), published.clone(), changed.clone(), clock, random);
        if let Some(logged) = logged {
            writer.log_to(logged)?;
        }
        migrations::run(&mut writer, path, database_kind, migrations::STEPS)?;
        migrations::step(&mut writer, first)?;
        let timer = timer()?;
        let thread = spawn(path, move || writer.run(waiting, &failing, &timer))?;
        Ok(Self {
            file: path.to_path_buf(),
            database_kind,
            space: Space::unlimited(),
            port,
            published,
            jobs,
            changed,
            failed,
            thread: std::sync::Mutex::new(Some(thread)),
            turn: None,
        })
    }

    /// Opens a store of a cluster whose local file `port` has open. The store follows the log, and accepts commands while this process
    /// leads.
    pub fn replicated(space: Arc<Space>, path: &Path, port: ReplicatedPort, random: Arc<dyn Random>) -> Result<Self> {
        let (name, turn, clock, port) = (port.store(), port.turn().clone(), port.clock(), Arc::new(port));
        let database_kind = name.database_kind();
        let published = Arc::new(ArcSwap::from_pointee(feed::newest(port.snapshot()?, database_kind)?));
        turn.reach(name, port.position());
        let changed: Arc<Vec<Notify>> = Arc::new(TABLES.iter().map(|_| Notify::new()).collect());
        let (jobs, waiting) = mpsc::channel(QUEUE_MAX);
        let (failing, failed) = watch::channel(None);
        let writer = Writer::new(port.clone(), published.clone(), changed.clone(), clock, random);
        let file = path.to_path_buf();
        let migrate = Box::new(move |writer: &mut Writer| migrations::run(writer, &file, database_kind, migrations::STEPS));
        let replica = Replica { writer, port: port.clone(), waiting, timer: timer()?, migrate };
        let thread = spawn(path, move || replica.run(&failing))?;
        let (file, thread) = (path.to_path_buf(), std::sync::Mutex::new(Some(thread)));
        let turn = Some((name, turn));
        Ok(Self { file, database_kind, space, port, published, jobs, changed, failed, thread, turn })
    }

    /// Returns whether the store is part of a cluster and accepts no commands now, because this process does not lead.
    pub fn follows(&self) -> bool {
        self.turn.as_ref().is_some_and(|(name, turn)| !turn.accepts(*name))
    }

    pub fn is_replicated(&self) -> bool {
        self.turn.is_some()
    }

    /// Returns a read transaction on the newest commit.
    pub fn read(&self) -> ReadTx {
        ReadTx::clone(&self.published.load())
    }

    /// Returns the newest feed position that readers can see.
    pub fn feed_position(&self) -> u64 {
        self.published.load().feed_position()
    }

    /// Runs `command` in the writer and waits until its changes are durable. If the command returns an `Err`, its changes are dropped.
    /// Writes are rejected while the disk is almost full.
    pub async fn write<T, E, F>(&self, command: F) -> Result<Result<T, E>>
    where
        T: Send + 'static,
        E: Send + 'static,
        F: FnOnce(&mut WriteTx<'_>) -> Result<T, E> + Send + 'static,
    {
        self.check_space()?;
        self.write_essential(command).await
    }

    /// Like [`Store::write`], for threads that may block.
    pub fn write_blocking<T, E, F>(&self, command: F) -> Result<Result<T, E>>
    where
        T: Send + 'static,
        E: Send + 'static,
        F: FnOnce(&mut WriteTx<'_>) -> Result<T, E> + Send + 'static,
    {
        self.check_space()?;
        self.queue(command)?.blocking_recv().unwrap_or(Err(Error::Closed))
    }

    /// Like [`Store::write`], for small, essential writes that must succeed even on an almost full disk: an unsubscribe, a mail server's
    /// reply to a message in flight, a sign-in that lets a user see what is wrong.
    pub async fn write_essential<T, E, F>(&self, command: F) -> Result<Result<T, E>>
    where
        T: Send + 'static,
        E: Send + 'static,
        F: FnOnce(&mut WriteTx<'_>) -> Result<T, E> + Send + 'static,
    {
        self.queue(command)?.await.unwrap_or(Err(Error::Closed))
    }

    fn check_space(&self) -> Result<()> {
        if self.space.is_low() { Err(Error::NoSpace) } else { Ok(()) }
    }

    pub fn space(&self) -> &Arc<Space> {
        &self.space
    }

    fn queue<T, E, F>(&self, command: F) -> Result<ResultReceiver<T, E>>
    where
        T: Send + 'static,
        E: Send + 'static,
        F: FnOnce(&mut WriteTx<'_>) -> Result<T, E> + Send + 'static,
    {
        if self.follows() {
            return Err(Error::NotLeader);
        }
        let (job, answer) = writer::job(command);
        match self.jobs.try_send(job) {
            Ok(()) => Ok(answer),
            Err(mpsc::error::TrySendError::Full(_)) => Err(Error::Busy),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(self.failed.borrow().clone().unwrap_or(Error::Closed)),
        }
    }

    /// Returns a [`Notify`] that wakes waiters after a commit that changed `table`. Several notifications can be merged into one and
    /// contain no data, so read the store after each one.
    ///
    /// Create the `notified()` future *before* reading, so that it also catches a commit during the read.
    pub fn changed(&self, table: TableId) -> &Notify {
        &self.changed[table.0 as usize]
    }

    /// Returns a watch of the store's failure: `None`, or the error after which the store accepts no more writes.
    pub fn failure(&self) -> watch::Receiver<Option<Error>> {
        self.failed.clone()
    }

    /// Returns a description of the damage that was found in the store's file since it was opened, if any.
    pub fn damage(&self) -> Option<String> {
        self.published.load().damage().found().map(str::to_owned)
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    pub fn database_kind(&self) -> DatabaseKind {
        self.database_kind
    }

    /// Finishes the waiting writes, then closes the store's file.
    pub fn close(self) {
        let Self { jobs, thread, port, published, .. } = self;
        drop(jobs);
        if let Some(thread) = thread.into_inner().expect("no holder of this lock panics") {
            // Ignore the result: the writer catches panics of commands, and a panic of the writer itself is a bug that is already in the
            // log.
            let _ = thread.join();
        }
        drop((port, published));
    }
}
