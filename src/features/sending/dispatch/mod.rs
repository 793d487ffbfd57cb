//! The dispatcher of one environment: reads due recipients from the store, renders and sends their messages, and records the replies.
//!
//! Direct sends come first. Campaigns and batches then take turns, one recipient at a time. A mail transport claims a recipient in the
//! store when it has sent the message except for the final dot. If sending fails before that, the message was certainly not accepted. Rows
//! that a previous process claimed are recorded as unknown before sending resumes.

mod scheduler;
mod sender;
#[cfg(test)]
mod tests;
mod token_bucket;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::model::{Counter, Event, Recipient, Schedule};
use super::recipient_writer::{self, RecipientWriter, RowUpdate, Rules};
use super::store;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::{Result as StoreResult, Store};
use crate::engine::tasks::{Shutdown, Stage, Tasks};
use crate::features::sending::store::send_queue;
use crate::features::suppressions::Digester;
use crate::vocab::environment::Environment;
use crate::vocab::ids::MailingId;
use crate::vocab::limits;
use crate::vocab::tables;

use scheduler::Scheduler;
use sender::{MessageSender, SendOutcome};

/// Builds the recipient writer's rules from the settings.
fn rules(engine: &Arc<Engine>, epoch: u64) -> Rules {
    let mail = &engine.settings.mail;
    let holders = engine.clone();
    Rules {
        epoch,
        schedule: Schedule {
            first_pause_ms: i64::try_from(mail.retry_minutes.get()).unwrap_or(i64::MAX).saturating_mul(60_000),
            give_up_ms: i64::try_from(mail.give_up_hours.get()).unwrap_or(i64::MAX).saturating_mul(3_600_000),
        },
        digester: Digester::new(&engine.seal),
        limits: Box::new(move |account| {
            holders.keys.account_limits(account).map(|holder| holder.plan.load().sending).unwrap_or_default()
        }),
    }
}

pub async fn run(tasks: Tasks, engine: Arc<Engine>, environment: Environment) -> Result<(), Failure> {
    let shutdown = tasks.shutdown();
    let store = engine.data(environment).store.clone();
    let epoch = store.write_essential(store::next_epoch).await??;
    let rules = Arc::new(rules(&engine, epoch));
    recover(&store, &rules).await?;
    let (writer, entries) = RecipientWriter::new(limits::RECIPIENT_UPDATES_QUEUED_MAX);
    let writing = recipient_writer::run(store.clone(), rules.clone(), entries);
    let sender = Arc::new(MessageSender::new(engine, environment, writer.clone(), rules)?);
    let maintenance = sender.clone();
    let sending = dispatch(&tasks, store, sender, writer, shutdown);
    // The writer ends when no task can submit updates anymore.
    let sending = async { tokio::join!(sending, writing).0 };
    let maintenance = async move {
        maintenance.maintain().await;
        // Drop this reference, because the writer ends only when every `MessageSender` that can submit updates has been dropped.
        drop(maintenance);
        std::future::pending::<()>().await;
    };
    tokio::select! {
        sent = sending => sent,
        () = maintenance => Ok(()),
    }
}

/// Marks as unknown the deliveries that earlier processes left in the handoff state.
async fn recover(store: &Arc<Store>, rules: &Arc<Rules>) -> Result<(), Failure> {
    for lane in send_queue::LANES {
        let mut from = None;
        loop {
            let ids = send_queue::queued(&store.read(), lane, from, limits::MAILINGS_SCANNED_MAX)?;
            let more = ids.len() == limits::MAILINGS_SCANNED_MAX;
            for id in &ids {
                recover_mailing(store, rules, *id).await?;
            }
            // The next page starts with the last mailing of this page, although that mailing needs no further work.
            match ids.last() {
                Some(last) if more && Some(*last) != from => from = Some(*last),
                _ => break,
            }
        }
    }
    Ok(())
}

async fn recover_mailing(store: &Arc<Store>, rules: &Arc<Rules>, id: MailingId) -> Result<(), Failure> {
    loop {
        let reader = store.clone();
        let found = tokio::task::spawn_blocking(move || in_handoff(&reader, id));
        let found = found.await.map_err(Failure::internal)??;
        if found.is_empty() {
            return Ok(());
        }
        tracing::info!(mailing = %id, recipients = found.len(), "an earlier process ended during these handoffs; their outcome is unknown");
        let rules = rules.clone();
        store.write_essential(move |tx| recipient_writer::recover(tx, id, &found, &rules)).await??;
    }
}

/// Returns up to [`limits::RECIPIENT_UPDATES_PER_COMMIT`] of a mailing's recipients in the handoff state. The search starts at the
/// mailing's cursor, because most of these recipients come after it.
pub(super) fn in_handoff(store: &Store, id: MailingId) -> StoreResult<Vec<(u32, Recipient)>> {
    let tx = store.read();
    let wanted = store::counted(&tx, id, Counter::HANDOFF)?.min(limits::RECIPIENT_UPDATES_PER_COMMIT as u64);
    let mut found: HashMap<u32, Recipient> = HashMap::new();
    for from in [store::cursor(&tx, id)?, 0] {
        if found.len() as u64 >= wanted {
            break;
        }
        store::visit_counted(
            &tx,
            id,
            from,
            |counter| counter == Counter::HANDOFF,
            |number, recipient| {
                found.extend(recipient.map(|recipient| (number, recipient)));
                let all = found.len() as u64 >= wanted;
                Ok(if all { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            },
        )?;
    }
    Ok(found.into_iter().collect())
}

/// The report that a delivery task sends when the task ends.
struct SendReport {
    mailing: MailingId,
    number: u32,
    outcome: SendOutcome,
}

/// Starts deliveries until the service drains, then waits for deliveries in flight.
async fn dispatch(
    tasks: &Tasks,
    store: Arc<Store>,
    sender: Arc<MessageSender>,
    writer: RecipientWriter,
    mut shutdown: Shutdown,
) -> Result<(), Failure> {
    let deliveries = tasks.group("deliveries");
    let (report, mut reports) = mpsc::channel::<SendReport>(limits::RECIPIENT_UPDATES_QUEUED_MAX);
    let mut scheduler = Scheduler::new(store.clone(), sender.slots());
    let (mut poll_now, mut turns) = (true, true);
    let listen = |table| Box::pin(store.changed(table).notified());
    let mut is_held = sender.hold().is_some();
    let (mut mailings_changed, mut turns_changed) = (listen(tables::MAILING_QUEUE), listen(tables::MAILING_TURNS));
    loop {
        // Subscribe again before polling and before the previous subscription ends, so that no signal is missed.
        let listening = (listen(tables::MAILING_QUEUE), listen(tables::MAILING_TURNS));
        turns |= turns_changed.now_or_never().is_some();
        poll_now |= turns | mailings_changed.now_or_never().is_some();
        (mailings_changed, turns_changed) = listening;
        if poll_now && let Err(failure) = scheduler.poll(&sender, turns).await {
            let cause = failure.cause.as_deref().unwrap_or(failure.code.info().message);
            tracing::error!(cause, "failed to poll the send queue");
        }
        turns = false;
        record(&mut scheduler, &sender, &writer).await;
        while let Some(job) = scheduler.next(Instant::now(), sender.now()) {
            let (sender, report) = (sender.clone(), report.clone());
            deliveries.spawn(async move {
                let (mailing, number) = (job.context.mailing.id, job.number);
                // Catch panics, so that the task always sends a report: the scheduler waits for it.
                let outcome = AssertUnwindSafe(sender.deliver(job)).catch_unwind().await.unwrap_or(SendOutcome::NotSent);
                // Sending the report cannot fail, because the dispatcher outlives its deliveries.
                let _ = report.send(SendReport { mailing, number, outcome }).await;
            });
        }
        let pause = scheduler.pause(Instant::now());
        tokio::select! {
            biased;
            () = shutdown.draining() => break,
            Some(first) = reports.recv() => {
                poll_now = scheduler.finish(first, Instant::now());
                while let Ok(next) = reports.try_recv() {
                    poll_now |= scheduler.finish(next, Instant::now());
                }
            }
            () = &mut mailings_changed => {
                mailings_changed = listen(tables::MAILING_QUEUE);
                poll_now = true;
            }
            () = &mut turns_changed => {
                turns_changed = listen(tables::MAILING_TURNS);
                turns = true;
            }
            () = sender.released(), if is_held => (is_held, poll_now, turns) = (false, true, true),
            () = tokio::time::sleep(pause) => poll_now = true,
        }
    }
    drain(&sender, &mut scheduler, &mut reports, shutdown).await;
    for (mailing, cursor) in scheduler.cursors() {
        writer.submit(mailing, 0, RowUpdate::CheckFinished { cursor: Some(cursor) }).await;
    }
    Ok(())
}

/// Submits what the scheduler found: idle mailings, blocked mailings, and retries with a wrong time.
async fn record(scheduler: &mut Scheduler, sender: &MessageSender, writer: &RecipientWriter) {
    for (mailing, cursor) in scheduler.idle() {
        writer.submit(mailing, 0, RowUpdate::CheckFinished { cursor }).await;
    }
    for (mailing, until) in scheduler.blocked() {
        writer.submit(mailing, 0, RowUpdate::TransportDown { until }).await;
    }
    for (mailing, number) in scheduler.misdated() {
        writer.submit(mailing, number, RowUpdate::Event(Event::Misdated { schedule: sender.schedule() })).await;
    }
}

/// Waits for deliveries in flight, but no longer than the grace period in the settings.
async fn drain(
    sender: &MessageSender,
    scheduler: &mut Scheduler,
    reports: &mut mpsc::Receiver<SendReport>,
    mut shutdown: Shutdown,
) {
    let closing = sender.close();
    tokio::pin!(closing);
    let mut closed = false;
    while scheduler.in_flight() > 0 {
        tokio::select! {
            biased;
            Some(report) = reports.recv() => drop(scheduler.finish(report, Instant::now())),
            () = &mut closing, if !closed => closed = true,
            () = shutdown.cut(), if shutdown.stage() < Stage::Cut => {}
            () = tokio::time::sleep(Duration::from_secs(1)), if shutdown.stage() == Stage::Cut => break,
        }
    }
    if !closed {
        closing.await;
    }
}
