//! The dispatcher of one environment: reads due deliveries from the store, starts their attempts, and records the results.
//!
//! The store is the queue; only the attempts in flight are in memory. The start of an attempt is recorded before the attempt is made, and
//! its result afterward. One commit can record many attempts. A crash therefore wastes at most one attempt of a delivery and never causes
//! an additional one.

pub mod attempt;
pub mod attempt_log;
mod lanes;

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::mpsc;

use self::attempt::SigningSecret;
use self::attempt_log::{EndedAttempt, Rules, StartedAttempt};
use self::lanes::Lanes;
use super::model::{AttemptOutcome, End};
use super::store::{self, Due, WebhookKey};
use crate::base::clock::Timestamp;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::{Error, Store};
use crate::engine::tasks::{Group, Shutdown, Stage, Tasks};
use crate::vocab::environment::Environment;
use crate::vocab::ids::DeliveryId;
use crate::vocab::limits;
use crate::vocab::tables;

/// How often the store is polled even without a wake-up, in case a wake-up was missed.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// The pause before a write is repeated because the store was busy, or before a poll is repeated after a failure.
const RETRY_PAUSE: Duration = Duration::from_millis(50);

pub async fn run(tasks: Tasks, engine: Arc<Engine>, environment: Environment) -> Result<(), Failure> {
    let store = engine.data(environment).store.clone();
    let settings = &engine.settings.webhooks;
    let (all, each) = (settings.connections.count(), settings.connections_per_endpoint.count());
    let rules = Arc::new(Rules::new(settings, engine.started_at));
    let (ended, endings) = mpsc::channel(all);
    let (report, reports) = mpsc::channel(all);
    let writing = write_down(store.clone(), rules.clone(), endings, report);
    let lanes = Lanes::new(all, each);
    let in_flight = HashSet::new();
    let attempts = tasks.group("attempts at webhooks");
    let dispatcher = Dispatcher { engine, store, rules, lanes, in_flight, attempts, ended, after: None, next: None };
    let sending = dispatcher.run(reports, tasks.shutdown());
    // The writer ends after the last attempt in flight.
    tokio::join!(sending, writing);
    Ok(())
}

struct Dispatcher {
    engine: Arc<Engine>,
    store: Arc<Store>,
    rules: Arc<Rules>,
    lanes: Lanes,
    in_flight: HashSet<DeliveryId>,
    attempts: Group,
    ended: mpsc::Sender<AttemptReport>,
    /// The endpoint where the last poll stopped, if it did not reach all endpoints.
    after: Option<WebhookKey>,
    /// The earliest due time found since the last poll that started at the first endpoint.
    next: Option<Timestamp>,
}

/// A report that an attempt has ended. The task that made the attempt sends the report to the writer, which stores it and then sends it to
/// the dispatcher.
struct AttemptReport {
    ended: EndedAttempt,
    took: Duration,
    /// The secret used for the main signature, if two secrets were valid.
    secret: Option<SigningSecret>,
}

impl Dispatcher {
    /// Sends deliveries until the service drains, then waits for attempts in flight.
    async fn run(mut self, mut reports: mpsc::Receiver<AttemptReport>, mut shutdown: Shutdown) {
        while let Err(failure) = self.recover().await {
            warn(&failure, "failed to recover the attempts of an earlier process");
            if shutdown.stage() > Stage::Running {
                return;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        let store = self.store.clone();
        let mut due_changed = Box::pin(store.changed(tables::WEBHOOK_DUE).notified());
        loop {
            // Subscribe again before polling and before the previous subscription ends, so that no notification is missed in between.
            let listening = Box::pin(store.changed(tables::WEBHOOK_DUE).notified());
            let _ = due_changed.now_or_never();
            due_changed = listening;
            let is_held = self.engine.hold.is_on();
            let pause = match is_held {
                true => POLL_INTERVAL,
                false => self.poll().await.unwrap_or_else(|failure| {
                    warn(&failure, "failed to poll the webhook queue");
                    RETRY_PAUSE
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
                () = &mut due_changed => due_changed = Box::pin(store.changed(tables::WEBHOOK_DUE).notified()),
                () = engine.hold.released(), if is_held => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
        // This wait is short, because every attempt has a time limit.
        while self.lanes.in_flight() > 0 {
            tokio::select! {
                biased;
                Some(report) = reports.recv() => self.settle(report),
                () = shutdown.cut() => break,
            }
        }
    }

    /// Marks as failed the attempts that an earlier process left in flight.
    async fn recover(&mut self) -> Result<(), Failure> {
        let mut after = None;
        loop {
            let tx = self.store.read();
            let lanes = store::lanes(&tx, after, limits::WEBHOOK_LANES_PER_POLL)?;
            let Some((last, _)) = lanes.last() else { return Ok(()) };
            after = Some(*last);
            let now = self.engine.clock.now();
            // The row of an attempt in flight becomes due when the attempt is considered lost.
            let span = (Timestamp(0), now.plus_ms(limits::WEBHOOK_ATTEMPT_LOST_MS));
            for (key, _) in lanes {
                let rows = store::due(&tx, key, span, limits::WEBHOOK_PENDING_MAX as usize)?;
                let rows: Vec<_> = rows.into_iter().map(|(_, webhook, _, delivery)| (webhook, delivery)).collect();
                for rows in rows.chunks(limits::WEBHOOK_ENDS_PER_COMMIT) {
                    let (rows, rules) = (rows.to_vec(), self.rules.clone());
                    self.store.write_essential(move |tx| attempt_log::lost(tx, &rows, &rules)).await??;
                }
            }
        }
    }

    /// Starts the attempts that are due and within the limits. Returns the time until the next poll.
    async fn poll(&mut self) -> Result<Duration, Failure> {
        if self.store.space().is_low() {
            return Ok(limits::STORAGE_FULL_PAUSE);
        }
        let now = self.engine.clock.now();
        let ready = self.ready(now)?;
        let mut taken: Vec<Due> = self.lanes.take(ready).into_iter().map(|(_, due)| due).collect();
        let more = taken.len() > limits::WEBHOOK_BEGINS_PER_COMMIT;
        for due in taken.drain(limits::WEBHOOK_BEGINS_PER_COMMIT.min(taken.len())..) {
            self.lanes.give_back((due.0, due.1));
        }
        if !taken.is_empty() {
            let (rows, rules) = (taken.clone(), self.rules.clone());
            let started = match self.store.write(move |tx| attempt_log::begin(tx, &rows, &rules)).await {
                Ok(Ok(started)) => started,
                Ok(Err(error)) | Err(error) => {
                    taken.iter().for_each(|due| self.lanes.give_back((due.0, due.1)));
                    return Err(error.into());
                }
            };
            let ids: HashSet<DeliveryId> = started.iter().map(|started| started.delivery.id).collect();
            for due in taken.iter().filter(|due| !ids.contains(&due.3)) {
                self.lanes.give_back((due.0, due.1));
            }
            started.into_iter().for_each(|started| self.send(started));
        }
        if more || self.after.is_some() {
            return Ok(Duration::ZERO);
        }
        let wait = self.next.map_or(POLL_INTERVAL, |next| Duration::from_millis(u64::try_from(next.ms_since(now)).unwrap_or(0)));
        Ok(wait.clamp(Duration::from_millis(1), POLL_INTERVAL))
    }

    /// Returns due deliveries for endpoints that have capacity and are not paused. For the endpoints that are paused or have no due
    /// deliveries yet, records in `next` the earliest time at which one of them can be served.
    fn ready(&mut self, now: Timestamp) -> Result<Vec<(WebhookKey, Vec<Due>)>, Failure> {
        let tx = self.store.read();
        if self.after.is_none() {
            self.next = None;
        }
        let lanes = store::lanes(&tx, self.after, limits::WEBHOOK_LANES_PER_POLL)?;
        self.after = lanes.last().map(|(key, _)| *key).filter(|_| lanes.len() == limits::WEBHOOK_LANES_PER_POLL);
        let mut ready = Vec::new();
        for (key, first) in lanes {
            let room = self.lanes.room(key);
            // An endpoint without capacity is checked again when one of its attempts ends.
            if room == 0 {
                continue;
            }
            let state = store::state(&tx, key)?;
            let from = state.health.pause_at(now).map_or(first, |until| until.max(first));
            if from > now {
                self.next = Some(self.next.map_or(from, |next| next.min(from)));
                continue;
            }
            let mut rows = store::due(&tx, key, (Timestamp(0), now), room)?;
            // This process's attempts in flight are not due yet, unless recording their results takes a very long time.
            rows.retain(|(_, _, _, delivery)| !self.in_flight.contains(delivery));
            if !rows.is_empty() {
                ready.push((key, rows));
            }
        }
        Ok(ready)
    }

    /// Makes an attempt whose start has been recorded.
    fn send(&mut self, started: StartedAttempt) {
        self.in_flight.insert(started.delivery.id);
        let (engine, ended) = (self.engine.clone(), self.ended.clone());
        let key = (started.delivery.account, started.delivery.webhook);
        let previous = started.webhook.previous_secret(engine.clock.now());
        let secret = previous.map(|_| self.lanes.secret(key, started.number));
        self.attempts.spawn(async move {
            let making = attempt::make(&engine, &started, secret.unwrap_or(SigningSecret::Newest));
            let made = AssertUnwindSafe(making).catch_unwind().await;
            let (end, verdict) = made.unwrap_or_else(|_| {
                let error = Some("An internal error occurred; see the log.".to_owned());
                (
                    End { at: engine.clock.now(), duration_ms: 0, status_code: None, response: String::new(), error },
                    AttemptOutcome::Failure,
                )
            });
            let took = Duration::from_millis(u64::from(end.duration_ms));
            // Sending cannot fail, because the writer outlives every attempt.
            let _ = ended
                .send(AttemptReport { ended: EndedAttempt { key, delivery: started.delivery.id, end, verdict }, took, secret })
                .await;
        });
    }

    fn settle(&mut self, report: AttemptReport) {
        let AttemptReport { ended, took, secret } = report;
        self.in_flight.remove(&ended.delivery);
        // An attempt that was not sent provides no information about the endpoint or its secret.
        if ended.verdict == AttemptOutcome::NotSent {
            self.lanes.give_back(ended.key);
        } else {
            let well = ended.verdict == AttemptOutcome::Success;
            self.lanes.learn(ended.key, secret, well);
            self.lanes.ended(ended.key, well, took);
        }
    }
}

/// Records the results of attempts, many per commit, and notifies the dispatcher.
async fn write_down(
    store: Arc<Store>,
    rules: Arc<Rules>,
    mut endings: mpsc::Receiver<AttemptReport>,
    report: mpsc::Sender<AttemptReport>,
) {
    let mut batch = Vec::new();
    while endings.recv_many(&mut batch, limits::WEBHOOK_ENDS_PER_COMMIT).await > 0 {
        let ended: Arc<Vec<EndedAttempt>> = Arc::new(batch.iter().map(|report: &AttemptReport| report.ended.clone()).collect());
        loop {
            let (ended, rules) = (ended.clone(), rules.clone());
            match store.write_essential(move |tx| attempt_log::settle(tx, &ended, &rules)).await.and_then(|settled| settled) {
                Ok(()) => break,
                // The attempts have been made, so their results must not be lost while the store is busy.
                Err(Error::Busy) => tokio::time::sleep(RETRY_PAUSE).await,
                Err(error) => {
                    tracing::error!(%error, "failed to record the results of attempts");
                    break;
                }
            }
        }
        for written in batch.drain(..) {
            // Sending fails if the dispatcher has already been canceled.
            let _ = report.send(written).await;
        }
    }
}

fn warn(failure: &Failure, what: &str) {
    let cause = failure.cause.as_deref().unwrap_or(failure.code.info().message);
    tracing::warn!(cause, "{what}");
}
