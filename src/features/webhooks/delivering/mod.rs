//! The dispatcher of one environment: takes what is due from the store, has it sent, and has what became of it written down.
//!
//! The store is the queue: in memory there is only what is under way. An attempt is written down before it is made, many in one commit,
//! and its end after it, many in one commit; so a crash costs an attempt at most and can never cause one too many.

pub mod attempt;
mod lanes;
pub mod record;

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::mpsc;

use self::attempt::Turn;
use self::lanes::Lanes;
use self::record::{Begun, Ended, Rules};
use super::model::{End, Verdict};
use super::store::{self, Due, Place};
use crate::base::clock::Timestamp;
use crate::engine::api::{Engine, Failure};
use crate::engine::jobs::{Group, Shutdown, Stage, Tasks};
use crate::engine::store::{Error, Store};
use crate::vocab::environment::Environment;
use crate::vocab::ids::DeliveryId;
use crate::vocab::limits;
use crate::vocab::tables;

/// It looks at least this often: for what a failed look has left.
const LOOK: Duration = Duration::from_secs(5);
/// After a write that found no room, or a look that failed.
const BREATH: Duration = Duration::from_millis(50);

/// Start the dispatchers of both environments.
pub fn start(tasks: &Tasks, engine: &Arc<Engine>) {
    for environment in Environment::ALL {
        let (owner, engine, shutdown) = (tasks.clone(), engine.clone(), tasks.shutdown());
        tasks.spawn(format!("webhooks {environment}"), async move {
            let store = engine.world(environment).store.clone();
            let settings = &engine.settings.webhooks;
            let (all, each) = (settings.connections.count(), settings.connections_per_endpoint.count());
            let rules = Arc::new(Rules::new(settings, engine.started_at));
            let (ended, endings) = mpsc::channel(all);
            let (report, reports) = mpsc::channel(all);
            let writing = write_down(store.clone(), rules.clone(), endings, report);
            let lanes = Lanes::new(all, each);
            let flying = HashSet::new();
            let attempts = owner.group("attempts at webhooks");
            let desk = Desk { engine: engine.clone(), store, rules, lanes, flying, attempts, ended, after: None, next: None };
            let sending = desk.run(reports, shutdown);
            // The writer ends when nothing is under way any more, and then everything is written down.
            tokio::join!(sending, writing);
        });
    }
}

/// Where the dispatcher works.
struct Desk {
    engine: Arc<Engine>,
    store: Arc<Store>,
    rules: Arc<Rules>,
    lanes: Lanes,
    flying: HashSet<DeliveryId>,
    attempts: Group,
    ended: mpsc::Sender<Report>,
    /// Where the last look stopped, if it did not see all endpoints.
    after: Option<Place>,
    /// When the next of what the looks since the first endpoint saw is to be looked at.
    next: Option<Timestamp>,
}

/// An attempt has ended so. Whoever makes it tells the writer; the writer, once that is on disk, tells the dispatcher.
struct Report {
    ended: Ended,
    took: Duration,
    /// Whose turn it was, if two secrets signed.
    turn: Option<Turn>,
}

impl Desk {
    /// Send until the service drains; then wait for what is under way.
    async fn run(mut self, mut reports: mpsc::Receiver<Report>, mut shutdown: Shutdown) {
        while let Err(failure) = self.recover().await {
            warn(&failure, "what an earlier process left could not be looked at");
            if shutdown.stage() > Stage::Running {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
        let store = self.store.clone();
        let mut heard = Box::pin(store.changed(tables::WEBHOOK_DUE).notified());
        loop {
            // We listen anew before we look, and before the former listening ends: no signal falls between two.
            let listening = Box::pin(store.changed(tables::WEBHOOK_DUE).notified());
            let _ = heard.now_or_never();
            heard = listening;
            let is_held = self.engine.hold.is_on();
            let pause = match is_held {
                true => LOOK,
                false => self.look().await.unwrap_or_else(|failure| {
                    warn(&failure, "what is to be delivered could not be looked at");
                    BREATH
                }),
            };
            let engine = self.engine.clone();
            tokio::select! {
                biased;
                () = shutdown.draining() => break,
                Some(first) = reports.recv() => {
                    self.settle(first);
                    while let Ok(next) = reports.try_recv() {
                        self.settle(next);
                    }
                }
                () = &mut heard => heard = Box::pin(store.changed(tables::WEBHOOK_DUE).notified()),
                () = engine.hold.released(), if is_held => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
        // Every attempt has an end of its own, seconds from now at most.
        while self.lanes.flying() > 0 {
            tokio::select! {
                biased;
                Some(report) = reports.recv() => self.settle(report),
                () = shutdown.cut() => break,
            }
        }
    }

    /// Attempts that an earlier process began count as made.
    async fn recover(&mut self) -> Result<(), Failure> {
        let mut after = None;
        loop {
            let tx = self.store.read();
            let lanes = store::lanes(&tx, after, limits::WEBHOOK_LANES_LOOKED_AT)?;
            let Some((last, _)) = lanes.last() else { return Ok(()) };
            after = Some(*last);
            let now = self.engine.clock.now();
            // An attempt under way is due again when it cannot be under way any more.
            let span = (Timestamp(0), now.plus_ms(limits::WEBHOOK_ATTEMPT_LOST_MS));
            for (place, _) in lanes {
                let rows = store::due(&tx, place, span, limits::WEBHOOK_PENDING_MAX as usize)?;
                let rows: Vec<_> = rows.into_iter().map(|(_, webhook, _, delivery)| (webhook, delivery)).collect();
                for rows in rows.chunks(limits::WEBHOOK_ENDS_PER_COMMIT) {
                    let (rows, rules) = (rows.to_vec(), self.rules.clone());
                    self.store.write(move |tx| record::lost(tx, &rows, &rules)).await??;
                }
            }
        }
    }

    /// Begin what is due and has room; says after how long to look again.
    async fn look(&mut self) -> Result<Duration, Failure> {
        let now = self.engine.clock.now();
        let wanted = self.wanted(now)?;
        let mut taken: Vec<Due> = self.lanes.take(wanted).into_iter().map(|(_, due)| due).collect();
        let more = taken.len() > limits::WEBHOOK_BEGINS_PER_COMMIT;
        for due in taken.drain(limits::WEBHOOK_BEGINS_PER_COMMIT.min(taken.len())..) {
            self.lanes.give_back((due.0, due.1));
        }
        if !taken.is_empty() {
            let (rows, rules) = (taken.clone(), self.rules.clone());
            let begun = match self.store.write(move |tx| record::begin(tx, &rows, &rules)).await {
                Ok(Ok(begun)) => begun,
                Ok(Err(error)) | Err(error) => {
                    taken.iter().for_each(|due| self.lanes.give_back((due.0, due.1)));
                    return Err(error.into());
                }
            };
            let ids: HashSet<DeliveryId> = begun.iter().map(|begun| begun.delivery.id).collect();
            for due in taken.iter().filter(|due| !ids.contains(&due.3)) {
                self.lanes.give_back((due.0, due.1));
            }
            begun.into_iter().for_each(|begun| self.send(begun));
        }
        if more || self.after.is_some() {
            return Ok(Duration::ZERO);
        }
        let wait = self.next.map_or(LOOK, |next| Duration::from_millis(u64::try_from(next.ms_since(now)).unwrap_or(0)));
        Ok(wait.clamp(Duration::from_millis(1), LOOK))
    }

    /// What is due at endpoints that have room and are not left alone; notes when the next of the others is to be looked at.
    fn wanted(&mut self, now: Timestamp) -> Result<Vec<(Place, Vec<Due>)>, Failure> {
        let tx = self.store.read();
        if self.after.is_none() {
            self.next = None;
        }
        let lanes = store::lanes(&tx, self.after, limits::WEBHOOK_LANES_LOOKED_AT)?;
        self.after = lanes.last().map(|(place, _)| *place).filter(|_| lanes.len() == limits::WEBHOOK_LANES_LOOKED_AT);
        let mut wanted = Vec::new();
        for (place, first) in lanes {
            let room = self.lanes.room(place);
            // Who has no room is looked at when an attempt of theirs ends.
            if room == 0 {
                continue;
            }
            let standing = store::standing(&tx, place)?;
            let from = standing.health.pause_at(now).map_or(first, |until| until.max(first));
            if from > now {
                self.next = Some(self.next.map_or(from, |next| next.min(from)));
                continue;
            }
            let mut rows = store::due(&tx, place, (Timestamp(0), now), room)?;
            // What we have under way ourselves stands in the future, unless writing its end takes very long.
            rows.retain(|(_, _, _, delivery)| !self.flying.contains(delivery));
            if !rows.is_empty() {
                wanted.push((place, rows));
            }
        }
        Ok(wanted)
    }

    /// Make an attempt that is written down.
    fn send(&mut self, begun: Begun) {
        self.flying.insert(begun.delivery.id);
        let (engine, ended) = (self.engine.clone(), self.ended.clone());
        let place = (begun.delivery.account, begun.delivery.webhook);
        let former = begun.webhook.former_secret(engine.clock.now());
        let turn = former.map(|_| self.lanes.turn(place, begun.number));
        self.attempts.spawn(async move {
            let making = attempt::make(&engine, &begun, turn.unwrap_or(Turn::Newest));
            let made = AssertUnwindSafe(making).catch_unwind().await;
            let (end, verdict) = made.unwrap_or_else(|_| {
                let error = Some("Something failed here; the log says what.".to_owned());
                (
                    End { at: engine.clock.now(), duration_ms: 0, status_code: None, response: String::new(), error },
                    Verdict::Failure,
                )
            });
            let took = Duration::from_millis(u64::from(end.duration_ms));
            // The writer outlives every attempt.
            let _ = ended.send(Report { ended: Ended { place, delivery: begun.delivery.id, end, verdict }, took, turn }).await;
        });
    }

    fn settle(&mut self, report: Report) {
        let Report { ended, took, turn } = report;
        self.flying.remove(&ended.delivery);
        let well = ended.verdict == Verdict::Success;
        self.lanes.learn(ended.place, turn, well);
        self.lanes.ended(ended.place, well, took);
    }
}

/// Write down how attempts ended, many in one commit, and tell the dispatcher.
async fn write_down(store: Arc<Store>, rules: Arc<Rules>, mut endings: mpsc::Receiver<Report>, report: mpsc::Sender<Report>) {
    let mut batch = Vec::new();
    while endings.recv_many(&mut batch, limits::WEBHOOK_ENDS_PER_COMMIT).await > 0 {
        let ended: Arc<Vec<Ended>> = Arc::new(batch.iter().map(|report: &Report| report.ended.clone()).collect());
        loop {
            let (ended, rules) = (ended.clone(), rules.clone());
            match store.write(move |tx| record::settle(tx, &ended, &rules)).await.and_then(|settled| settled) {
                Ok(()) => break,
                // The attempts are made; only the disk can decide that this is not known.
                Err(Error::Busy) => tokio::time::sleep(BREATH).await,
                Err(error) => {
                    tracing::error!(%error, "ends of attempts could not be written down");
                    break;
                }
            }
        }
        for written in batch.drain(..) {
            // The dispatcher may have left already, cut in the middle.
            let _ = report.send(written).await;
        }
    }
}

fn warn(failure: &Failure, what: &str) {
    let cause = failure.cause.as_deref().unwrap_or(failure.code.info().message);
    tracing::warn!(cause, "{what}");
}
