//! Ships the log and snapshots to the target while the service runs.
//!
//! A session starts an epoch and then does two things at the same time: it ships the parts of the log every few seconds, and it takes a
//! snapshot and thins the backup at the configured times. An error ends the session, and the next session starts after a pause. So
//! recovery from an error uses the same code as the start of the service.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::capture::Capture;
use super::catalog;
use super::epochs::{self, Candidate, Heartbeat, Start};
use super::names::{Epoch, PartName};
use super::snapshot::{self, Stores};
use super::spool::{State, Waiting};
use super::status::{BackupStatus, SnapshotStatus};
use super::target::{self, SealedTarget, Target};
use super::{Error, Result, part, retention};
use crate::base::clock::{Clock, Monotonic};
use crate::base::random::Random;
use crate::engine::fetch::Fetch;
use crate::engine::store::identity::Installation;
use crate::engine::store::seal::{KeyError, Seal};
use crate::engine::tasks::Shutdown;
use crate::vocab::limits;
use crate::vocab::settings;

/// The time allowed for shipping the last commits when the service stops. Commits that are not shipped in time stay in the spool, and the
/// next start ships them.
const FINISH_TIME: Duration = Duration::from_secs(10);
const MS_PER_HOUR: i64 = 3_600_000;
/// The content of an object that is written only to check the target, and the start of its name.
const PROBE: &str = "probe";

/// The settings, the services and the facts about the installation that a [`ContinuousBackup`] needs.
pub struct Parts {
    pub url: String,
    pub settings: settings::Backup,
    pub capture: Arc<Capture>,
    pub fetch: Arc<Fetch>,
    pub seal: Arc<Seal>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub installation: Installation,
    /// The number of times that a server has started with this data folder.
    pub boots: u64,
    /// The name of the machine, for messages on other machines.
    pub host: String,
    /// Whether the process is a node of a cluster, which backs up only while it leads.
    pub is_in_cluster: bool,
}

impl Parts {
    /// Records this start in the spool. If the previous start is not recorded there, the stores were open without the log and commits may
    /// be missing, so the spool is discarded.
    fn count_start(&self) {
        let mut spool = self.capture.spool();
        let Some(state) = spool.state().cloned() else { return };
        if state.boots != self.boots && state.boots + 1 != self.boots {
            return spool.discard("this data folder was used without the continuous backup".to_owned());
        }
        if let Err(error) = spool.save(State { boots: self.boots, ..state }) {
            spool.discard(error.to_string());
        }
    }
}

pub struct ContinuousBackup {
    parts: Parts,
    status: Mutex<BackupStatus>,
    epoch: Mutex<Option<Epoch>>,
    snapshot_wanted: Notify,
    drill_wanted: AtomicBool,
    /// Whether the log of the current epoch has a snapshot. Without a snapshot, the log cannot be restored.
    has_snapshot: AtomicBool,
}

impl ContinuousBackup {
    pub fn new(parts: Parts) -> Self {
        parts.count_start();
        let complete_until = parts.capture.spool().state().and_then(|state| state.complete_until);
        let status = BackupStatus { complete_until, ..BackupStatus::default() };
        Self {
            parts,
            status: Mutex::new(status),
            epoch: Mutex::new(None),
            snapshot_wanted: Notify::new(),
            drill_wanted: AtomicBool::new(false),
            has_snapshot: AtomicBool::new(false),
        }
    }

    /// Returns the URL or the path of the target.
    pub fn url(&self) -> &str {
        &self.parts.url
    }

    /// Opens the target, with the key of this installation.
    pub fn target(&self) -> Result<SealedTarget> {
        let Parts { url, settings, fetch, seal, random, .. } = &self.parts;
        Target::prepare(url)?;
        Ok(SealedTarget::new(Target::open(url, settings, fetch)?, seal, random.clone()))
    }

    pub fn status(&self) -> BackupStatus {
        let waiting_bytes = self.parts.capture.spool().bytes();
        BackupStatus { waiting_bytes, ..self.state().clone() }
    }

    /// Requests a snapshot now instead of at the next configured time.
    pub fn want_snapshot(&self) {
        self.snapshot_wanted.notify_one();
    }

    /// Requests a restore drill now instead of at the next configured time.
    pub fn want_drill(&self) {
        self.drill_wanted.store(true, Ordering::Relaxed);
    }

    /// Returns whether a drill was requested, and clears the request.
    pub fn takes_drill_request(&self) -> bool {
        self.drill_wanted.swap(false, Ordering::Relaxed)
    }

    /// Checks that the target belongs to this installation and its key, and that objects can be written, read, listed and deleted.
    pub async fn probe(&self) -> Result<()> {
        let sealed = self.target()?;
        if let Some((_, start)) = epochs::newest(&sealed.target).await? {
            if start.installation != self.parts.installation {
                return Err(Error::Foreign { installation: start.installation.name().to_owned() });
            }
            if start.key_check != *sealed.key_check() {
                return Err(Error::WrongKey);
            }
        }
        let object = format!("{PROBE}-{}", name(sealed.random()));
        sealed.create_verified(&object, PROBE.as_bytes().to_vec()).await?;
        sealed.target.delete(&object).await
    }

    fn state(&self) -> MutexGuard<'_, BackupStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn epoch(&self) -> MutexGuard<'_, Option<Epoch>> {
        self.epoch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn interval(&self) -> Duration {
        self.parts.settings.interval_seconds.seconds()
    }

    fn heartbeat_period(&self) -> Duration {
        (self.interval() * 3).min(Duration::from_secs(limits::BACKUP_HEARTBEAT_SECONDS))
    }

    /// Ships the log and the snapshots until the service drains. A node of a cluster runs this each time it becomes the leader, and then
    /// starts a new log, because other nodes may have led in the meantime.
    pub async fn run(&self, stores: &Stores, mut shutdown: Shutdown) {
        if self.parts.is_in_cluster {
            self.parts.capture.forget_all("this node has just taken the lead of the cluster");
            *self.state() = BackupStatus::default();
        }
        self.state().running_since = Some(self.parts.clock.monotonic());
        let mut pause = limits::BACKUP_RETRY_MIN;
        let mut takeovers = 0;
        loop {
            let began = self.parts.clock.monotonic();
            let ended = tokio::select! {
                biased;
                () = shutdown.draining() => return,
                ended = self.session(stores) => ended,
            };
            let Err(error) = ended;
            tracing::warn!(%error, "the continuous backup was interrupted");
            // In a cluster, a former leader may have started an epoch before it noticed that it no longer led. If that happens again and
            // again while this node leads, another cluster of this installation uses the target.
            takeovers += u32::from(matches!(error, Error::TakenOver { .. }));
            let is_final = takeovers > if self.parts.is_in_cluster { limits::BACKUP_TAKEOVERS_PER_LEAD } else { 0 };
            *self.epoch() = None;
            self.state().error = Some(error);
            if is_final {
                // Do not take the target back: the other server would then do the same, and neither would stop.
                return shutdown.draining().await;
            }
            if self.parts.clock.monotonic().ms_since(began) > limits::BACKUP_RETRY_MAX.as_millis() as i64 {
                pause = limits::BACKUP_RETRY_MIN;
            }
            tokio::select! {
                () = shutdown.draining() => return,
                () = tokio::time::sleep(pause) => {}
            }
            pause = (pause * 2).min(limits::BACKUP_RETRY_MAX);
        }
    }

    /// Checks that the installation still has its master key, because a backup cannot be restored without it.
    fn check_key(&self) -> Result<()> {
        match self.parts.seal.check_file() {
            Err(error @ (KeyError::Missing(_) | KeyError::Length(..) | KeyError::Wrong(_))) => {
                Err(Error::KeyLost(error.to_string()))
            }
            // A key that other users can access, or that cannot be read at the moment, is not lost.
            Ok(()) | Err(KeyError::Open(_) | KeyError::Io(..)) => Ok(()),
        }
    }

    /// Starts an epoch and ships until an error occurs.
    async fn session(&self, stores: &Stores) -> Result<std::convert::Infallible> {
        self.check_key()?;
        let sealed = self.target()?;
        let (epoch, start) = self.begin(&sealed).await?;
        *self.epoch() = Some(epoch);
        let shipping = self.ship(&sealed, epoch);
        let snapshots = self.take_snapshots(&sealed, epoch, &start, stores);
        tokio::select! {
            ended = shipping => ended,
            ended = snapshots => ended,
        }
    }

    /// Starts an epoch that continues the log in the spool, or a new log if commits may be missing. If an interrupted log has parts
    /// that were not shipped yet, the epoch continues that log only to ship them: the session ends afterward, and the next session
    /// starts a new log.
    async fn begin(&self, sealed: &SealedTarget) -> Result<(Epoch, Start)> {
        let Parts { url, capture, installation, boots, host, random, .. } = &self.parts;
        let (state, has_log, waiting) = {
            let spool = capture.spool();
            let state = spool.state().cloned();
            let epoch = state.as_ref().map_or(0, |state| state.epoch);
            let waiting: Vec<PartName> = spool.waiting().map(|part| part.header.name(epoch)).collect();
            (state, spool.interruption().is_none() || !waiting.is_empty(), waiting)
        };
        let fits =
            |state: &State| state.url == *url && state.installation == *installation && state.key_check == *sealed.key_check();
        let known = state.as_ref().filter(|state| state.installation == *installation);
        let holder = match self.parts.is_in_cluster {
            // All nodes of a cluster use the same name, so a new leader does not wait for the former one. The lease of the cluster already
            // decides which node writes.
            true => format!("cluster {}", installation.name()),
            false => known.map_or_else(|| name(random.as_ref()), |state| state.holder.clone()),
        };
        let candidate = Candidate {
            installation,
            host,
            state: state.as_ref().filter(|state| has_log && fits(state)),
            waiting: &waiting,
            holder: &holder,
            heartbeat_seconds: self.heartbeat_period().as_secs().max(1),
        };
        let (epoch, start) = epochs::begin(sealed, &candidate).await?;
        if self.parts.is_in_cluster {
            // Until this node's first snapshot, the backup is complete only up to the last heartbeat of the previous leader.
            let previous = epochs::heartbeat(sealed, epoch - 1).await.ok().flatten();
            let mut status = self.state();
            status.complete_until = status.complete_until.or(previous.map(|heartbeat| heartbeat.complete_until));
        }
        let next = State {
            url: url.clone(),
            installation: installation.clone(),
            key_check: sealed.key_check().clone(),
            boots: *boots,
            holder: holder.clone(),
            epoch,
            shipped: start.first_part - 1,
            positions: candidate.state.map(|state| state.positions).unwrap_or_default(),
            complete_until: state.as_ref().and_then(|state| state.complete_until),
        };
        if start.log_since == epoch {
            self.has_snapshot.store(false, Ordering::Relaxed);
            capture.restart(next)?;
        } else {
            capture.spool().save(next)?;
        }
        tracing::info!(epoch, log_since = start.log_since, target = url, "the continuous backup is running");
        Ok((epoch, start))
    }

    /// Ships the log every few seconds until an error occurs.
    async fn ship(&self, sealed: &SealedTarget, epoch: Epoch) -> Result<std::convert::Infallible> {
        let mut beaten: Option<Monotonic> = None;
        loop {
            let is_due =
                beaten.is_none_or(|at| self.parts.clock.monotonic().ms_since(at) >= self.heartbeat_period().as_millis() as i64);
            self.ship_once(sealed, epoch, is_due).await?;
            if is_due {
                beaten = Some(self.parts.clock.monotonic());
            }
            tokio::time::sleep(self.interval()).await;
        }
    }

    /// Ships all commits so far, and a heartbeat if one is due.
    async fn ship_once(&self, sealed: &SealedTarget, epoch: Epoch, beats: bool) -> Result<()> {
        self.check_key()?;
        let Parts { capture, clock, .. } = &self.parts;
        // The parts that accumulated during an outage are shipped before the next part is completed. Otherwise an outage would leave
        // thousands of small parts.
        self.ship_waiting(sealed, epoch).await?;
        let (now, monotonic) = (clock.now(), clock.monotonic());
        let next = capture.cut().0;
        let shipped = self.ship_waiting(sealed, epoch).await?;
        if let Some(reason) = capture.spool().interruption() {
            return Err(Error::Interrupted(reason.to_owned()));
        }
        if beats {
            epochs::beat(sealed, epoch, &Heartbeat { complete_until: now, last_part: next - 1 }).await?;
        }
        if (beats || shipped) && self.has_snapshot.load(Ordering::Relaxed) {
            self.state().complete(now, monotonic);
            let mut spool = capture.spool();
            if let Some(state) = spool.state().cloned() {
                spool.save(State { complete_until: Some(now), ..state })?;
            }
        }
        Ok(())
    }

    /// Ships the complete parts, oldest first; returns whether there were any.
    async fn ship_waiting(&self, sealed: &SealedTarget, epoch: Epoch) -> Result<bool> {
        let mut any = false;
        loop {
            let Some(Waiting { header, file, .. }) = self.parts.capture.spool().oldest().cloned() else { return Ok(any) };
            let read = tokio::fs::read(&file).await;
            let content = read.map_err(|error| {
                Error::Local(format!(
                    "the backup file {}, which is waiting to be uploaded, cannot be read: {error}; check the disk and the file's \
                     permissions",
                    file.display()
                ))
            })?;
            let object = header.name(epoch).object();
            if part::unpack(&object, &content).is_err() {
                let reason = format!("the backup file {} was damaged on the disk before it was uploaded", file.display());
                self.parts.capture.discard(&reason);
                return Err(Error::Interrupted(reason));
            }
            let bytes = match sealed.create_verified(&object, content.clone()).await? {
                Some(bytes) => bytes,
                // An earlier attempt wrote the object, but its response was lost.
                None if sealed.require(&object).await? == content => 0,
                None => return Err(target::written_by_another(&object)),
            };
            self.parts.capture.spool().shipped(header.number)?;
            any = true;
            let mut state = self.state();
            state.part_bytes += bytes;
            state.changed_bytes += header.changed_bytes;
        }
    }

    /// Takes snapshots when they are due or requested, until an error occurs.
    async fn take_snapshots(
        &self,
        sealed: &SealedTarget,
        epoch: Epoch,
        start: &Start,
        stores: &Stores,
    ) -> Result<std::convert::Infallible> {
        let Parts { capture, clock, settings, .. } = &self.parts;
        let mut last = match start.log_since == epoch {
            true => None,
            false => catalog::last_snapshot(&sealed.target, start.log_since).await?,
        };
        self.has_snapshot.store(last.is_some(), Ordering::Relaxed);
        loop {
            let period_ms = settings.snapshot_hours.get() as i64 * MS_PER_HOUR;
            // If the last snapshot is dated in the future, the clock has been set back since then. The next snapshot is then due
            // immediately.
            let wait = last.map(|at| period_ms - clock.now().ms_since(at)).filter(|wait| (1..=period_ms).contains(wait));
            let pause = Duration::from_millis(wait.unwrap_or(0) as u64);
            let thins_again = self.state().thinning_error.is_some();
            tokio::select! {
                () = self.snapshot_wanted.notified() => {}
                () = tokio::time::sleep(pause) => {}
                () = tokio::time::sleep(limits::BACKUP_THINNING_RETRY), if thins_again => {
                    self.thin(sealed).await;
                    continue;
                }
            }
            let taken = match snapshot::take(sealed, epoch, capture, stores, clock.as_ref()).await {
                // Take no more snapshots in this session, which ends when the parts of the interrupted log are shipped.
                Err(Error::Interrupted(_)) => return std::future::pending().await,
                taken => taken?,
            };
            let SnapshotStatus { at, rows, bytes } = taken;
            tracing::info!(rows, bytes, "the continuous backup has a new snapshot");
            self.state().last_snapshot = Some(SnapshotStatus { at, rows, bytes });
            last = Some(at);
            self.has_snapshot.store(true, Ordering::Relaxed);
            self.thin(sealed).await;
        }
    }

    /// Thins the backup. A failure does not end the session, because it does not prevent the target from having every commit.
    async fn thin(&self, sealed: &SealedTarget) {
        let thinned = retention::thin(&sealed.target, &self.parts.settings).await;
        match &thinned {
            Ok(deleted) => tracing::debug!(deleted, "the continuous backup was thinned"),
            Err(error) => tracing::warn!(%error, "old objects of the continuous backup could not be deleted"),
        }
        self.state().thinning_error = thinned.err();
    }

    /// Leaves the backup to the next leader of the cluster: [`ContinuousBackup::finish`] then ships nothing. Called when this node has lost
    /// leadership, because another node may already have made commits that this node must not report as backed up.
    pub fn abandon(&self) {
        *self.epoch() = None;
    }

    /// Ships all commits so far and records that this server has stopped. Called when the service has drained, or when the node has given
    /// up leadership of its cluster.
    pub async fn finish(&self) {
        let Some(epoch) = self.epoch().take() else { return };
        let work = async {
            let sealed = self.target()?;
            self.ship_once(&sealed, epoch, true).await?;
            epochs::end(&sealed.target, epoch).await
        };
        match tokio::time::timeout(FINISH_TIME, work).await {
            Ok(Ok(())) => tracing::info!(epoch, "the continuous backup is complete"),
            Ok(Err(Error::TakenOver { .. })) if self.parts.is_in_cluster => {
                tracing::info!(epoch, "the next leader continues the backup");
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "the last commits were not backed up; the backup continues at the next start")
            }
            Err(_) => tracing::warn!("the last commits were not backed up in time; the backup continues at the next start"),
        }
    }
}

/// Returns a random name for a data folder or a probe.
fn name(random: &dyn Random) -> String {
    data_encoding::HEXLOWER.encode(&random.bytes::<16>())
}
