//! This process as a member of the cluster: it takes, keeps and gives up the lease.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use data_encoding::HEXLOWER;
use tokio::runtime::Runtime;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use super::database::{Database, Link};
use super::lease::{self, Candidate, Epoch, Holder};
use super::replicated_port::Shared;
use super::schema::{self, Schema};
use super::turn::{SharedTurn, Turn};
use super::{Error, Result};
use crate::base::clock::{Clock, Monotonic};
use crate::base::random::Random;
use crate::engine::store::commit_log::StoreName;
use crate::vocab::limits;

/// How this process takes part in the cluster.
pub struct Options {
    pub database: String,
    /// A file with the certificates of the authorities that the database's certificate is verified with.
    pub authorities: Option<PathBuf>,
    pub node: String,
    /// The address at which other nodes reach this one.
    pub address: String,
    pub lease: Duration,
}

/// The role of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Another process leads, or none.
    Follower {
        leader: Option<Holder>,
    },
    Leader {
        epoch: Epoch,
    },
}

/// A lease that this process has.
struct Held {
    epoch: Epoch,
    renewed_at: Monotonic,
}

/// This process as a member of the cluster.
pub struct Member {
    shared: Shared,
    candidate: Candidate,
    lease: Duration,
    role: watch::Sender<Role>,
    /// Whether the process is ready to serve as the leader: its caches are current.
    is_active: AtomicBool,
    is_resigning: AtomicBool,
    /// Whether the node was asked to give up its role, and whether it has.
    drain: watch::Sender<bool>,
    is_drained: watch::Sender<bool>,
    /// The time until which this process leaves the lease to others.
    stands_back_until: AtomicI64,
    wake: Notify,
    /// The runtime of the connections and of the lease, apart from that of requests: a busy service must not lose its lease.
    runtime: Mutex<Option<Runtime>>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Member {
    /// Connects to the cluster's database, without taking part in elections yet. Must not be called on a thread of a runtime.
    pub fn connect(options: Options, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Result<(Arc<Self>, Schema)> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).thread_name("cluster").enable_all().build();
        let runtime = runtime.map_err(|error| {
            Error::Local(format!("the threads of the cluster cannot be started: {error}; check the limit on threads"))
        })?;
        let database = Database::new(&options.database, options.authorities.as_deref(), runtime.handle().clone())?;
        let schema = runtime.block_on(schema::read(&mut Link::new(database.clone())))?;
        let process = HEXLOWER.encode(&random.bytes::<16>());
        let turn = SharedTurn::new(clock.clone());
        let shared = Shared { database, turn, runtime: runtime.handle().clone(), clock, random };
        let member = Arc::new(Self {
            shared,
            candidate: Candidate { process, node: options.node, address: options.address },
            lease: options.lease,
            role: watch::Sender::new(Role::Follower { leader: None }),
            is_active: AtomicBool::new(false),
            is_resigning: AtomicBool::new(false),
            drain: watch::Sender::new(false),
            is_drained: watch::Sender::new(false),
            stands_back_until: AtomicI64::new(i64::MIN),
            wake: Notify::new(),
            runtime: Mutex::new(Some(runtime)),
            task: Mutex::new(None),
        });
        Ok((member, schema))
    }

    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    pub fn node(&self) -> &str {
        &self.candidate.node
    }

    /// Takes part in elections from now on.
    pub fn start(self: &Arc<Self>) {
        let own = self.clone();
        let task = self.shared.runtime.spawn(async move { own.run().await });
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    pub fn role(&self) -> watch::Receiver<Role> {
        self.role.subscribe()
    }

    /// Returns whether this process serves as the leader now.
    pub fn leads(&self) -> bool {
        self.is_active.load(Ordering::SeqCst) && self.shared.turn.is_valid()
    }

    /// Returns the process that leads, if it is another one.
    pub fn leader(&self) -> Option<Holder> {
        match &*self.role.borrow() {
            Role::Follower { leader } => leader.clone(),
            Role::Leader { .. } => None,
        }
    }

    /// Lets the process serve as the leader in this epoch, if it still leads.
    pub fn activate(&self, epoch: Epoch) {
        if *self.role.borrow() == (Role::Leader { epoch }) {
            self.is_active.store(true, Ordering::SeqCst);
        }
    }

    /// Stops serving as the leader, while the stores still accept the last writes.
    pub fn deactivate(&self) {
        self.is_active.store(false, Ordering::SeqCst);
    }

    /// Returns how old the data of this process may be, in milliseconds.
    pub fn lag_ms(&self) -> i64 {
        if self.leads() { 0 } else { self.shared.turn.lag_ms() }
    }

    /// Returns the positions of the newest visible commits, in the order of [`StoreName::ALL`].
    pub fn positions(&self) -> [u64; StoreName::ALL.len()] {
        self.shared.turn.positions()
    }

    /// Waits until this process has these positions.
    pub async fn reached(&self, positions: [u64; StoreName::ALL.len()]) {
        for (store, position) in StoreName::ALL.into_iter().zip(positions) {
            self.shared.turn.reached(store, position).await;
        }
    }

    /// Asks the process to give up its role, and waits until it has. From then on, it does not lead until [`Member::rejoin`].
    pub async fn drain(&self) {
        self.stands_back_until.store(i64::MAX, Ordering::SeqCst);
        self.is_drained.send_replace(false);
        self.drain.send_replace(true);
        let _ = self.is_drained.subscribe().wait_for(|is_drained| *is_drained).await;
    }

    /// Lets the process take the lease again after [`Member::drain`].
    pub fn rejoin(&self) {
        self.stands_back_until.store(i64::MIN, Ordering::SeqCst);
    }

    /// Returns whether the process leaves the lease to others.
    pub fn stands_back(&self) -> bool {
        self.shared.turn.now().0 < self.stands_back_until.load(Ordering::SeqCst)
    }

    pub fn drain_requests(&self) -> watch::Receiver<bool> {
        self.drain.subscribe()
    }

    /// Reports that the process has given up its role.
    pub fn drained(&self) {
        self.drain.send_replace(false);
        self.is_drained.send_replace(true);
    }

    /// Gives up the lease, if this process has it, and leaves it to other processes for a while.
    pub async fn resign(&self) {
        let mut role = self.role();
        let pause = self.shared.turn.now().plus_ms(self.lease.as_millis() as i64 * 2);
        self.stands_back_until.fetch_max(pause.0, Ordering::SeqCst);
        self.is_resigning.store(true, Ordering::SeqCst);
        self.wake.notify_one();
        let _ = role.wait_for(|role| matches!(role, Role::Follower { .. })).await;
        self.is_resigning.store(false, Ordering::SeqCst);
    }

    /// Ends this process's part in the cluster. The stores must be closed after this call, and [`Member::close`] called then.
    pub fn stop(&self) {
        self.shared.turn.stop();
        self.deactivate();
        if let Some(task) = self.task.lock().unwrap_or_else(PoisonError::into_inner).take() {
            task.abort();
        }
    }

    /// Ends the threads of the connections.
    pub fn close(&self) {
        if let Some(runtime) = self.runtime.lock().unwrap_or_else(PoisonError::into_inner).take() {
            runtime.shutdown_background();
        }
    }

    async fn run(&self) {
        let mut link = Link::new(self.shared.database.clone());
        let mut held: Option<Held> = None;
        loop {
            match &mut held {
                Some(lease) => {
                    if !self.keep(&mut link, lease).await {
                        held = None;
                        self.lose();
                    }
                }
                None => held = self.watch(&mut link).await,
            }
            let pause = if held.is_some() { limits::CLUSTER_LEASE_TICK } else { limits::CLUSTER_LEASE_POLL };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.wake.notified() => {}
                () = self.shared.turn.changed.notified() => {}
            }
        }
    }

    /// Reads the lease, and takes it if it has expired.
    async fn watch(&self, link: &mut Link) -> Option<Held> {
        let holder = match self.in_time(lease::read(link)).await {
            Ok(holder) => holder,
            Err(error) => {
                // The leader may still reach the database, so its address stays known.
                tracing::debug!(%error, "the lease cannot be read");
                return None;
            }
        };
        if holder.remaining_ms > 0 {
            self.set_role(Role::Follower { leader: (holder.process != self.candidate.process).then_some(holder) });
            return None;
        }
        self.set_role(Role::Follower { leader: None });
        if self.stands_back() {
            return None;
        }
        let started = self.shared.turn.now();
        let taken = self.in_time(lease::acquire(link, &self.candidate, self.lease)).await;
        match taken {
            Ok(Some(epoch)) => {
                tracing::info!(epoch, node = self.candidate.node, "this node takes the lease");
                self.shared.turn.extend(self.certain_until(started));
                self.shared.turn.set(Turn::Lead(epoch));
                Some(Held { epoch, renewed_at: started })
            }
            Ok(None) => None,
            // If the statement took effect, the lease expires without being used, because only this process knows its random name.
            Err(error) => {
                tracing::warn!(%error, "the lease cannot be taken");
                None
            }
        }
    }

    /// Renews the lease when it is time; returns false if the lease is lost or given up.
    async fn keep(&self, link: &mut Link, held: &mut Held) -> bool {
        let turn = &self.shared.turn;
        if turn.turn() != Turn::Lead(held.epoch) {
            return false;
        }
        if self.is_resigning.load(Ordering::SeqCst) {
            self.deactivate();
            turn.end();
            while !turn.all_accept(0) {
                turn.changed.notified().await;
            }
            let released = self.in_time(lease::release(link, &self.candidate.process, held.epoch)).await;
            if let Err(error) = released {
                tracing::warn!(%error, "the lease could not be released; it expires by itself");
            }
            return false;
        }
        let started = turn.now();
        if started.ms_since(held.renewed_at) >= self.lease.as_millis() as i64 / 3 {
            let process = &self.candidate.process;
            match self.in_time(lease::renew(link, process, held.epoch, self.lease)).await {
                Ok(true) => {
                    held.renewed_at = started;
                    turn.extend(self.certain_until(started));
                }
                Ok(false) => return false,
                Err(error) => tracing::warn!(%error, "the lease could not be renewed"),
            }
        }
        if !turn.is_valid() {
            return false;
        }
        if turn.all_accept(held.epoch) {
            self.set_role(Role::Leader { epoch: held.epoch });
        }
        true
    }

    fn lose(&self) {
        tracing::warn!(node = self.candidate.node, "this node no longer leads");
        self.deactivate();
        self.shared.turn.end();
        self.set_role(Role::Follower { leader: None });
    }

    /// Waits for a statement, with a time limit that leaves time for another attempt before the lease expires.
    async fn in_time<T>(&self, statement: impl Future<Output = Result<T>>) -> Result<T> {
        let late = |_| Error::Database("it did not respond in time".to_owned());
        tokio::time::timeout(self.lease / 3, statement).await.map_err(late)?
    }

    /// Returns until when the lease is certainly valid that was requested at `started`: the database measured its time from later on.
    fn certain_until(&self, started: Monotonic) -> Monotonic {
        started.plus_ms(self.lease.as_millis() as i64 - limits::CLUSTER_LEASE_MARGIN_MS)
    }

    fn set_role(&self, role: Role) {
        self.role.send_if_modified(|now| {
            // The remaining time changes with every reading and is not part of the role.
            let same = match (&*now, &role) {
                (Role::Follower { leader: Some(a) }, Role::Follower { leader: Some(b) }) => {
                    (a.epoch, &a.process) == (b.epoch, &b.process)
                }
                (now, role) => now == role,
            };
            if !same {
                *now = role;
            }
            !same
        });
    }
}

impl Drop for Member {
    /// A runtime must not be dropped on a thread of another one, where it would wait for its threads.
    fn drop(&mut self) {
        self.close();
    }
}
