//! The engine of a store in a cluster: a local file to which the records of the shared log are applied. The leader appends the records, and
//! followers read them.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::runtime::Handle;

use super::database::Database;
use super::lease::Epoch;
use super::shared_log::{Appended, SharedLog, pack, unpack};
use super::turn::SharedTurn;
use super::{Error, Result};
use crate::base::clock::{Clock, Monotonic, Timestamp};
use crate::base::random::Random;
use crate::engine::store;
use crate::engine::store::commit_log::{self, CommitLog, Links, Record, StoreName};
use crate::engine::store::migrations;
use crate::engine::store::port::{Overlay, Port, Snapshot};
use crate::engine::store::redb_port::RedbPort;
use crate::engine::store::tx::ReadTx;
use crate::vocab::limits;

/// The state that all stores of a process share.
#[derive(Clone)]
pub struct Shared {
    pub database: Arc<Database>,
    pub turn: Arc<SharedTurn>,
    /// The runtime of the database connections. The threads of the stores block on it.
    pub runtime: Handle,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    /// Receives the commits of this process while it leads, for the continuous backup.
    pub backup: Arc<OnceLock<Arc<dyn CommitLog>>>,
}

struct State {
    /// The position of the newest record in the file; `id` is this record's ID.
    position: u64,
    id: [u8; 16],
    /// The epoch with which commits can be appended; `None` while this process does not lead.
    epoch: Option<Epoch>,
    /// When the file was last made durable.
    durable_at: Monotonic,
}

/// Records that were applied together.
pub struct Applied {
    pub batch: Overlay,
    /// The time of the newest record.
    pub at: Timestamp,
    /// Whether the log might have more records.
    pub more: bool,
}

pub struct ReplicatedPort {
    store: StoreName,
    local: RedbPort,
    shared: Shared,
    log: Mutex<SharedLog>,
    state: Mutex<State>,
}

impl ReplicatedPort {
    /// Creates the engine on a local file that belongs to the cluster.
    pub fn new(store: StoreName, local: RedbPort, shared: &Shared) -> store::Result<Self> {
        let tx = ReadTx { snapshot: local.snapshot()?, feed_position: 0, memo: Arc::default() };
        let (position, links) = (commit_log::position(&tx)?, commit_log::links(&tx)?.unwrap_or_default());
        let durable_at = shared.clock.monotonic();
        Ok(Self {
            store,
            local,
            shared: shared.clone(),
            log: Mutex::new(SharedLog::new(store, shared.database.clone())),
            state: Mutex::new(State { position, id: links.own, epoch: None, durable_at }),
        })
    }

    pub fn store(&self) -> StoreName {
        self.store
    }

    /// Returns the position of the newest record in the file.
    pub fn position(&self) -> u64 {
        self.end().0
    }

    pub fn clock(&self) -> Arc<dyn Clock> {
        self.shared.clock.clone()
    }

    pub fn turn(&self) -> &Arc<SharedTurn> {
        &self.shared.turn
    }

    /// Allows appends in `epoch`, or forbids appends if `epoch` is `None`.
    pub fn lead(&self, epoch: Option<Epoch>) {
        locked(&self.state).epoch = epoch;
    }

    /// Checks that the log continues the local file. Call this after every start and before appending in a new epoch, because the
    /// database may have been replaced.
    pub fn check(&self) -> Result<()> {
        let mut log = locked(&self.log);
        let (position, id) = self.end();
        self.shared.runtime.block_on(log.check(position, id))
    }

    fn end(&self) -> (u64, [u8; 16]) {
        let state = locked(&self.state);
        (state.position, state.id)
    }

    /// Applies the next records of the log, up to a limit. Returns `None` if there are none.
    pub fn follow(&self) -> Result<Option<Applied>> {
        let mut log = locked(&self.log);
        let (store, started) = (self.store, self.shared.turn.now());
        let (mut position, mut id) = self.end();
        let bodies = self.shared.runtime.block_on(log.after(position))?;
        let more = bodies.len() == limits::CLUSTER_RECORDS_PER_READ;
        let (mut merged, mut at) = (Overlay::new(), Timestamp(0));
        for (found, body) in &bodies {
            if *found != position + 1 {
                return Err(Error::Behind { store });
            }
            let record = unpack(store, *found, body)?;
            if migrations::migrates_too_far(&record.batch) {
                return Err(Error::Newer);
            }
            if let Some(links) = Links::of(&record.batch) {
                if links.before != id {
                    return Err(Error::Diverged { store, position: *found });
                }
                id = links.own;
            }
            (position, at) = (*found, record.at);
            merged.merge(Arc::unwrap_or_clone(record.batch));
        }
        if !bodies.is_empty() {
            self.apply(&merged, position, id)?;
        }
        if !more {
            self.shared.turn.complete(store, started);
        }
        Ok((!bodies.is_empty()).then_some(Applied { batch: merged, at, more }))
    }

    /// Applies changes that the log already contains. The file is derived data, so it is made durable only from time to time.
    fn apply(&self, batch: &Overlay, position: u64, id: [u8; 16]) -> store::Result<()> {
        let mut state = locked(&self.state);
        let now = self.shared.turn.now();
        let durable = now.ms_since(state.durable_at) >= limits::CLUSTER_FLUSH_MS;
        self.local.apply(batch, durable)?;
        if durable {
            state.durable_at = now;
        }
        (state.position, state.id) = (position, id);
        Ok(())
    }
}

/// Locks a mutex even if a thread panicked while holding it. The data in the mutex is consistent anyway, because a thread replaces it only
/// after its work has succeeded.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Port for ReplicatedPort {
    fn snapshot(&self) -> store::Result<Arc<dyn Snapshot>> {
        self.local.snapshot()
    }

    fn stamp(&self, batch: &mut Overlay) {
        let (position, before) = self.end();
        commit_log::set_position(batch, position + 1);
        Links { own: self.shared.random.bytes(), before }.set(batch);
    }

    /// Appends the commit to the log, and then applies it to the file.
    fn commit(&self, batch: &Overlay) -> store::Result<()> {
        let Some(epoch) = locked(&self.state).epoch else { return Err(store::Error::NotLeader) };
        let (before, id) = self.end();
        let (store, position, at) = (self.store, before + 1, self.shared.clock.now());
        let mut encoded = Vec::new();
        let mut log = locked(&self.log);
        commit_log::encode_changes((store, position, at), batch, &mut encoded);
        let body = pack(&encoded)?;
        let turn = &self.shared.turn;
        match self.shared.runtime.block_on(log.append(position, epoch, &body, || turn.is_stopping()))? {
            Appended::Done => {
                if let Some(backup) = self.shared.backup.get() {
                    backup.append(Record { store, position, at, batch: Arc::new(batch.clone()) });
                }
                self.apply(batch, position, Links::of(batch).map_or(id, |links| links.own))
            }
            Appended::Fenced => Err(store::Error::NotLeader),
        }
    }

    fn settle(&self) -> store::Result<()> {
        self.local.settle()?;
        locked(&self.state).durable_at = self.shared.turn.now();
        Ok(())
    }
}
