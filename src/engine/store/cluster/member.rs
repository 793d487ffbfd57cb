//! This process as a member of the cluster: it takes, renews and releases the lease.

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
use super::shared_log;
use super::turn::{SharedTurn, Turn};
use super::{Error, Result};
use crate::base::clock::{Clock, Monotonic};
use crate::base::random::Random;
use crate::engine::store;
use crate::engine::store::commit_log::StoreName;
use crate::vocab::limits;

/// The settings with which this process joins the cluster.
pub struct Options {
    pub database: String,
    /// The file with the certificates of the authorities that may sign the database's certificate; `None` for the authorities of the
    /// system.
    pub authorities: Option<PathBuf>,
    pub node: String,
    /// The address that other nodes use to reach this node.
    pub address: String,
    pub lease: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// This process does not lead. `leader` is the process that does, if it is known.
    Follower {
        leader: Option<Holder>,
    },
    Leader {
        epoch: Epoch,
    },
}

/// The newest lease that this process has seen.
#[derive(Clone, PartialEq, Eq)]
struct KnownLease {
    epoch: Epoch,
    process: String,
}

struct Held {
    epoch: Epoch,
    renewed_at: Monotonic,
}

pub struct Member {
    shared: Shared,
    candidate: Candidate,
    lease: Duration,
    role: watch::Sender<Role>,
    is_resigning: AtomicBool,
    /// Whether this process was asked to stop leading.
    drain: watch::Sender<bool>,
    /// Whether this process has stopped leading since that request.
    is_drained: watch::Sender<bool>,
    /// When the lease of the known leader ends unless it is renewed, in milliseconds on the monotonic clock.
    led_until: AtomicI64,
    /// The time before which this process does not take the lease, in milliseconds on the monotonic clock.
    stands_back_until: AtomicI64,
    /// The number of losses of commits that the operator had accepted when this process started.
    losses_accepted: i64,
    /// Whether a node had reported a loss of commits when this process last read the expired lease.
    has_seen_loss: AtomicBool,
    /// Whether the loss that this process has found is reported in the database.
    is_loss_reported: watch::Sender<bool>,
    wake: Notify,
    /// The runtime of the database connections and of the task that keeps the lease. It is separate from the runtime of requests,
    /// so that a busy service does not lose its lease.
    runtime: Mutex<Option<Runtime>>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Member {
    /// Connects to the cluster's database, without taking part in elections yet. Panics if it is called on a thread of a tokio runtime,
    /// because it blocks the thread.
    pub fn connect(options: Options, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Result<(Arc<Self>, Schema)> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).thread_name("cluster").enable_all().build();
        let runtime = runtime.map_err(|error| {
            Error::Local(format!("the cluster's threads cannot be started: {error}; check the limits on threads and open files"))
        })?;
        let database = Database::new(&options.database, options.authorities.as_deref(), runtime.handle().clone())?;
        let schema = runtime.block_on(schema::upgrade(&mut Link::new(database.clone())))?;
        let process = HEXLOWER.encode(&random.bytes::<16>());
        let turn = SharedTurn::new(clock.clone());
        let shared = Shared { database, turn, runtime: runtime.handle().clone(), clock, random, backup: Arc::default() };
        let member = Arc::new(Self {
            shared,
            candidate: Candidate { process, node: options.node, address: options.address },
            lease: options.lease,
            role: watch::Sender::new(Role::Follower { leader: None }),
            is_resigning: AtomicBool::new(false),
            drain: watch::Sender::new(false),
            is_drained: watch::Sender::new(false),
            led_until: AtomicI64::new(i64::MIN),
            stands_back_until: AtomicI64::new(i64::MIN),
            losses_accepted: schema.losses_accepted,
            has_seen_loss: AtomicBool::new(false),
            is_loss_reported: watch::Sender::new(false),
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

    /// Starts to take part in elections.
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
        self.shared.turn.leads()
    }

    /// Returns the epoch in which this process serves as the leader now, if it does.
    pub fn leading_epoch(&self) -> Option<Epoch> {
        self.shared.turn.leading_epoch()
    }

    /// Returns whether this process leads or knows another leader. While the database cannot be reached, the known leader still counts as
    /// the leader until its last known lease expires.
    pub fn has_leader(&self) -> bool {
        self.leads() || (self.leader().is_some() && self.shared.turn.now().0 < self.led_until.load(Ordering::SeqCst))
    }

    /// Returns the process that leads, if it is known and is not this process. While the database cannot be reached, this is the last known
    /// leader, which may still reach the database.
    pub fn leader(&self) -> Option<Holder> {
        match &*self.role.borrow() {
            Role::Follower { leader } => leader.clone(),
            Role::Leader { .. } => None,
        }
    }

    /// Marks this process as ready to serve as the leader in this epoch. Returns whether it still leads in this epoch.
    pub fn activate(&self, epoch: Epoch) -> bool {
        self.shared.turn.activate(epoch)
    }

    /// Stops serving as the leader, while the stores still accept the last writes.
    pub fn deactivate(&self) {
        self.shared.turn.deactivate();
    }

    /// Returns the maximum age of this process's data, in milliseconds; 0 if the process leads.
    pub fn lag_ms(&self) -> i64 {
        if self.leads() { 0 } else { self.shared.turn.lag_ms() }
    }

    /// Returns the positions of the newest visible commits, in the order of [`StoreName::ALL`].
    pub fn positions(&self) -> [u64; StoreName::ALL.len()] {
        self.shared.turn.positions()
    }

    /// Waits until the stores of this process have reached these positions.
    pub async fn reached(&self, positions: [u64; StoreName::ALL.len()]) {
        for (store, position) in StoreName::ALL.into_iter().zip(positions) {
            self.shared.turn.reached(store, position).await;
        }
    }

    /// Asks this process to stop leading, and waits until it has stopped. Afterward, the process does not take the lease until
    /// [`Member::rejoin`].
    pub async fn drain(&self) {
        self.stands_back_until.store(i64::MAX, Ordering::SeqCst);
        self.step_down().await;
    }

    /// Like [`Member::drain`], but the process can take the lease again after twice the lease's duration.
    pub async fn step_down(&self) {
        self.is_drained.send_replace(false);
        self.drain.send_replace(true);
        let _ = self.is_drained.subscribe().wait_for(|is_drained| *is_drained).await;
    }

    /// Lets the process take the lease again after [`Member::drain`].
    pub fn rejoin(&self) {
        self.stands_back_until.store(i64::MIN, Ordering::SeqCst);
    }

    /// Returns whether this process currently leaves the lease to other processes.
    pub fn stands_back(&self) -> bool {
        self.shared.turn.now().0 < self.stands_back_until.load(Ordering::SeqCst)
    }

    pub fn drain_requests(&self) -> watch::Receiver<bool> {
        self.drain.subscribe()
    }

    /// Reports that this process has stopped leading, which ends the wait in [`Member::drain`].
    pub fn drained(&self) {
        self.drain.send_replace(false);
        self.is_drained.send_replace(true);
    }

    /// Releases the lease, if this process has it. The process does not take the lease again for twice the lease's duration. If a store
    /// does not stop in time, the lease is not released, but expires.
    pub async fn resign(&self) {
        let mut role = self.role();
        let pause = self.shared.turn.now().plus_ms(self.lease.as_millis() as i64 * 2);
        self.stands_back_until.fetch_max(pause.0, Ordering::SeqCst);
        self.is_resigning.store(true, Ordering::SeqCst);
        self.wake.notify_one();
        let _ = role.wait_for(|role| matches!(role, Role::Follower { .. })).await;
        self.is_resigning.store(false, Ordering::SeqCst);
    }

    /// Ends this process's membership in the cluster. After this call, close the stores, and then call [`Member::close`].
    pub fn stop(&self) {
        self.shared.turn.stop();
        if let Some(task) = self.task.lock().unwrap_or_else(PoisonError::into_inner).take() {
            task.abort();
        }
    }

    /// Shuts down the runtime of the database connections without waiting for its threads.
    pub fn close(&self) {
        if let Some(runtime) = self.runtime.lock().unwrap_or_else(PoisonError::into_inner).take() {
            runtime.shutdown_background();
        }
    }

    async fn run(&self) {
        let mut link = Link::new(self.shared.database.clone());
        let (mut held, mut seen): (Option<Held>, Option<KnownLease>) = (None, None);
        let mut wrong_since = None;
        loop {
            if let Some(failure) = self.shared.turn.failure() {
                self.set_role(Role::Follower { leader: None });
                if matches!(failure, store::Error::CommitsLost(_)) {
                    self.report_loss(&mut link).await;
                }
                return;
            }
            match &mut held {
                Some(lease) => {
                    if !self.keep(&mut link, lease).await {
                        held = None;
                        self.lose();
                    }
                }
                None => held = self.watch(&mut link, &mut seen, &mut wrong_since).await,
            }
            let pause = if held.is_some() { limits::CLUSTER_LEASE_TICK } else { limits::CLUSTER_LEASE_POLL };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.wake.notified() => {}
                () = self.shared.turn.changed.notified() => {}
            }
        }
    }

    /// Reads the lease, and takes it if it has expired. Ends the membership if the database is older than this node's data. `wrong_since`
    /// is the time at which the lease was first seen with an implausibly late end.
    async fn watch(&self, link: &mut Link, seen: &mut Option<KnownLease>, wrong_since: &mut Option<Monotonic>) -> Option<Held> {
        let asked = self.shared.turn.now();
        let holder = match self.in_time(lease::read(link)).await {
            Ok(holder) => holder,
            Err(error) => {
                // The leader may still reach the database, so this node keeps the leader's address.
                tracing::debug!(%error, "the lease cannot be read");
                return None;
            }
        };
        let is_wrong = holder.remaining_ms > limits::CLUSTER_LEASE_MS_MAX;
        *wrong_since = is_wrong.then(|| wrong_since.unwrap_or(asked));
        // A running leader would have renewed the lease by now, so that the lease would end at a plausible time according to the database's
        // clock.
        let is_abandoned = wrong_since.is_some_and(|since| asked.ms_since(since) > self.lease.as_millis() as i64 * 2);
        let is_free = holder.remaining_ms <= 0 || is_abandoned;
        let now = KnownLease { epoch: holder.epoch, process: holder.process.clone() };
        // A new leader or an expired lease can mean that the database was replaced, so check that it has all commits and leases that this
        // node has seen.
        if is_free || seen.as_ref() != Some(&now) {
            if !self.is_current(self.in_time(self.verify(link, seen.as_ref(), &now)).await) {
                return None;
            }
            *seen = Some(now);
        }
        if !is_free {
            self.led_until.store(asked.plus_ms(holder.remaining_ms).0, Ordering::SeqCst);
            self.set_role(Role::Follower { leader: (holder.process != self.candidate.process).then_some(holder) });
            return None;
        }
        self.set_role(Role::Follower { leader: None });
        let is_lost = !holder.loss.is_empty();
        if self.has_seen_loss.swap(is_lost, Ordering::SeqCst) != is_lost && is_lost {
            tracing::error!(
                by = holder.loss,
                "the database has lost commits, so no node leads; restore the database that has them, or follow the message in the log of \
                 the reporting node"
            );
        }
        if is_lost || self.stands_back() {
            return None;
        }
        let started = self.shared.turn.now();
        let taken = self.in_time(lease::acquire(link, &self.candidate, self.lease, holder.epoch)).await;
        match taken {
            Ok(Some(epoch)) => {
                tracing::info!(epoch, node = self.candidate.node, "this node takes the lease");
                *seen = Some(KnownLease { epoch, process: self.candidate.process.clone() });
                self.shared.turn.extend(self.certain_until(started));
                self.shared.turn.set(Turn::Lead(epoch));
                Some(Held { epoch, renewed_at: started })
            }
            Ok(None) => None,
            // If the statement took effect after all, the lease expires unused: this process does not act as its holder, and
            // no other process has the same random name.
            Err(error) => {
                tracing::warn!(%error, "the lease cannot be taken");
                None
            }
        }
    }

    /// Checks that the database still has all commits that this node has, and the newest lease that this node has seen.
    async fn verify(&self, link: &mut Link, seen: Option<&KnownLease>, now: &KnownLease) -> Result<()> {
        // Read the positions of this node first: the log can grow in the meantime, but it never shrinks.
        let own = self.shared.turn.positions();
        let ends = shared_log::ends(link).await?;
        let lost = StoreName::ALL.into_iter().zip(own.into_iter().zip(ends)).find(|(_, (own, newest))| newest < own);
        if let Some((store, (own, newest))) = lost {
            return Err(Error::Lost { store, own, newest });
        }
        match seen {
            Some(seen) if now.epoch < seen.epoch || (now.epoch == seen.epoch && now.process != seen.process) => {
                Err(Error::Older { epoch: now.epoch, seen: seen.epoch })
            }
            _ => Ok(()),
        }
    }

    /// Records in the database that it has lost commits, so that no other node continues without them. Repeats the attempt until it
    /// succeeds or this process ends.
    async fn report_loss(&self, link: &mut Link) {
        let own = self.shared.turn.positions();
        while let Err(error) = self.in_time(lease::report_loss(link, &self.candidate.node, self.losses_accepted, own)).await {
            tracing::debug!(%error, "the loss of commits cannot be reported");
            tokio::time::sleep(limits::CLUSTER_RETRY_PAUSE).await;
        }
        self.is_loss_reported.send_replace(true);
    }

    /// Waits until the loss of commits that this process has found is reported in the database, or until a time limit.
    pub async fn loss_reported(&self) {
        let mut reported = self.is_loss_reported.subscribe();
        let _ = tokio::time::timeout(limits::CLUSTER_LOSS_WAIT, reported.wait_for(|is_reported| *is_reported)).await;
    }

    /// Returns whether the check succeeded. Ends the membership if the database has lost a commit or a lease that this node has seen.
    fn is_current(&self, verified: Result<()>) -> bool {
        let error = match verified {
            Ok(()) => return true,
            Err(error) => error,
        };
        if error.is_temporary() {
            tracing::debug!(%error, "the logs cannot be read");
            return false;
        }
        tracing::error!(%error, node = self.candidate.node, "this node can no longer be a member of the cluster");
        self.shared.turn.fail(error.into());
        false
    }

    /// Renews the lease when a third of its time has passed, or releases it if this process resigns or leaves the lease to other processes.
    /// Returns false if the process no longer has the lease.
    async fn keep(&self, link: &mut Link, held: &mut Held) -> bool {
        let turn = &self.shared.turn;
        if turn.turn() != Turn::Lead(held.epoch) {
            return false;
        }
        // If this process was asked to leave the lease to other processes while it was taking the lease, it releases the lease before it
        // leads.
        let is_unwanted = self.stands_back() && !matches!(*self.role.borrow(), Role::Leader { .. });
        if is_unwanted || self.is_resigning.load(Ordering::SeqCst) {
            turn.end();
            let ended = async {
                while !turn.all_accept(0) {
                    turn.changed.notified().await;
                }
            };
            // A store can wait for the outcome of an append or for disk space until the lease has expired. Meanwhile, this process must
            // detect the next leader.
            if tokio::time::timeout(self.lease, ended).await.is_err() {
                return false;
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
                    // An older state of the database can have the same lease, so the commits are also checked.
                    let now = KnownLease { epoch: held.epoch, process: process.clone() };
                    let verified = self.in_time(self.verify(link, None, &now)).await;
                    if !self.is_current(verified) && turn.failure().is_some() {
                        return false;
                    }
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
        self.shared.turn.end();
        // The request to resign must not end the next lease as well. Reset it here, because the caller of `resign` may have stopped
        // waiting, and would then not reset it.
        self.is_resigning.store(false, Ordering::SeqCst);
        self.set_role(Role::Follower { leader: None });
    }

    /// Waits for a statement for at most a third of the lease's duration, so that another attempt is possible before the lease
    /// expires.
    async fn in_time<T>(&self, statement: impl Future<Output = Result<T>>) -> Result<T> {
        let late = |_| Error::Database("the database did not respond in time".to_owned());
        tokio::time::timeout(self.lease / 3, statement).await.map_err(late)?
    }

    /// Returns the time until which the lease is certainly valid. `started` is the time when this process sent the request; the
    /// database measures the lease from a later time.
    fn certain_until(&self, started: Monotonic) -> Monotonic {
        started.plus_ms(self.lease.as_millis() as i64 - limits::CLUSTER_LEASE_MARGIN_MS)
    }

    fn set_role(&self, role: Role) {
        self.role.send_if_modified(|now| {
            // Ignore the remaining time of the lease, because it is different each time it is read.
            let same = match (&*now, &role) {
                (Role::Follower { leader: Some(a) }, Role::Follower { leader: Some(b) }) => {
                    (a.epoch, &a.process) == (b.epoch, &b.process)
                }
                (now, role) => now == role,
            };
            if !same {
                match (&*now, &role) {
                    (_, Role::Follower { leader: Some(Holder { node, address, epoch, .. }) }) => {
                        tracing::info!(leader = node, epoch, "another node leads the cluster");
                        if *node == self.candidate.node && *address != self.candidate.address {
                            tracing::warn!(
                                node,
                                address,
                                "the leader has the name of this node; give each node its own name (setting cluster.node)"
                            );
                        }
                    }
                    (Role::Follower { leader: Some(former) }, Role::Follower { leader: None }) => {
                        tracing::info!(former = former.node, "no node leads the cluster");
                    }
                    _ => {}
                }
                *now = role;
            }
            !same
        });
    }
}

impl Drop for Member {
    /// Shuts down the runtime without waiting for its threads, because waiting is not allowed on a thread of another runtime.
    fn drop(&mut self) {
        self.close();
    }
}
