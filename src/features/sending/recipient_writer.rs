//! Writes recipient rows: many updates per transaction. Each update reads the data that it depends on in the same transaction.
//!
//! One task writes the updates of all connections of an environment. Updates that arrive during a commit share the next commit. A
//! connection waits until its claim is on disk, but usually does not wait for other updates. The writer is independent of how messages are
//! rendered and sent.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use super::inbox::{self, InboxMessage};
use super::model::{Counter, Delivery, Event, Mailing, Plan, Recipient, Schedule, Skip, State, WaitReason};
use super::quota::{self, QuotaLeft, SentCount};
use super::{eligibility, merge_data, recipients, store, webhook_events};
use crate::base::clock::Timestamp;
use crate::engine::access::keys::SendingLimits;
use crate::engine::store::{Error, Read, Result, Store, WriteTx};
use crate::features::contact_records::activity::{self, Action, Activity};
use crate::features::engagement;
use crate::features::sending::store::send_queue;
use crate::features::suppressions::Digester;
use crate::features::topics::{self, Topic};
use crate::vocab::ids::{AccountId, MailingId, ProjectId};
use crate::vocab::limits;
use crate::vocab::webhook_events::WebhookEvent;

/// What the writer needs to apply updates: the epoch, the retry schedule, the digester for suppressed addresses, and the plan limits of
/// accounts.
pub struct Rules {
    /// The epoch of this process. The result of a handoff from an earlier epoch is unknown.
    pub epoch: u64,
    pub schedule: Schedule,
    pub digester: Digester,
    pub limits: Box<dyn Fn(AccountId) -> SendingLimits + Send + Sync>,
}

/// An update of a recipient row, with a channel for its result if a task is waiting for the result.
pub struct PendingUpdate {
    pub mailing: MailingId,
    pub number: u32,
    pub update: RowUpdate,
    pub answer: Option<oneshot::Sender<UpdateResult>>,
}

#[derive(Debug)]
pub enum RowUpdate {
    /// A claim: the message has been sent except for the final dot, which may be sent only if the claim succeeds.
    Claim,
    /// An event of the delivery, such as the mail server's reply.
    Event(Event),
    /// The built-in inbox stores the message. This update is both the claim and the reply.
    StoreInInbox(Box<InboxMessage>),
    /// The mailing cannot be sent until this time, for example because its transport is down.
    TransportDown { until: Timestamp },
    /// A request to check whether the mailing is finished. If `cursor` is given and the mailing's cursor is still the first number, the
    /// cursor also moves to the second number.
    CheckFinished { cursor: Option<(u32, u32)> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateResult {
    /// The update is on disk.
    Done,
    /// The message must not be sent now: the recipient is skipped, or the row is missing or its state does not allow a claim.
    Refused,
    /// The mailing must not be sent now: it is being planned, it is paused, it has ended, or the quota is used up.
    Stopped,
    /// It is uncertain whether the update was written, because the write failed.
    Lost,
}

/// Queues updates for the task that writes them.
#[derive(Clone)]
pub struct RecipientWriter {
    updates: mpsc::Sender<PendingUpdate>,
}

impl RecipientWriter {
    /// Creates a writer, and the receiver from which [`run`] takes the updates.
    pub fn new(room: usize) -> (Self, mpsc::Receiver<PendingUpdate>) {
        let (updates, waiting) = mpsc::channel(room);
        (Self { updates }, waiting)
    }

    /// Submits an update, waits until it is on disk, and returns its result.
    pub async fn submit_and_wait(&self, mailing: MailingId, number: u32, update: RowUpdate) -> UpdateResult {
        let (answer, answered) = oneshot::channel();
        if self.updates.send(PendingUpdate { mailing, number, update, answer: Some(answer) }).await.is_err() {
            return UpdateResult::Lost;
        }
        answered.await.unwrap_or(UpdateResult::Lost)
    }

    /// Submits an update without waiting for the disk.
    pub async fn submit(&self, mailing: MailingId, number: u32, update: RowUpdate) {
        // If the writer has ended, the store has failed. After the next start, recovery resolves the row's state from the data on disk.
        let _ = self.updates.send(PendingUpdate { mailing, number, update, answer: None }).await;
    }
}

/// Writes updates until all senders are dropped or the store fails.
pub async fn run(store: Arc<Store>, rules: Arc<Rules>, mut pending: mpsc::Receiver<PendingUpdate>) {
    let mut batch = Vec::new();
    while pending.recv_many(&mut batch, limits::RECIPIENT_UPDATES_PER_COMMIT).await > 0 {
        wait_for_claims(&mut pending, &mut batch).await;
        let (mut updates, mut waiting) = (Vec::with_capacity(batch.len()), Vec::with_capacity(batch.len()));
        for PendingUpdate { mailing, number, update, answer } in batch.drain(..) {
            updates.push(RecipientUpdate { mailing, number, update });
            waiting.push(answer);
        }
        let updates = Arc::new(updates);
        let answers = match write_when_free(&store, &rules, updates.clone(), 0..updates.len()).await {
            Ok(Ok(answers)) => answers,
            Ok(Err(Error::Damaged { .. })) | Err(Error::Panicked) => write_apart(&store, &rules, &updates).await,
            Err(error @ (Error::Io(_) | Error::Closed)) => {
                // The store accepts no more writes, and the process ends. Dropping the receiver makes every `submit_and_wait`, pending or
                // new, return `Lost`.
                tracing::error!(%error, pending = waiting.len(), "failed to write recipient rows; sending stops");
                return;
            }
            Ok(Err(error)) | Err(error) => {
                tracing::error!(%error, pending = waiting.len(), "failed to write recipient rows");
                vec![UpdateResult::Lost; waiting.len()]
            }
        };
        for (answer, waiting) in answers.into_iter().zip(waiting) {
            if let Some(waiting) = waiting {
                let _ = waiting.send(answer);
            }
        }
    }
}

/// Waits briefly for a claim, so that one commit writes both the claim and the updates that no task is waiting for. A connection then waits
/// for one commit per message instead of two. At most one update per connection is delayed, because the connection's next claim ends the
/// wait.
async fn wait_for_claims(pending: &mut mpsc::Receiver<PendingUpdate>, batch: &mut Vec<PendingUpdate>) {
    let deadline = Instant::now() + limits::RECIPIENT_WRITER_WAIT;
    let mut seen = 0;
    while batch.len() < limits::RECIPIENT_UPDATES_PER_COMMIT && batch[seen..].iter().all(|pending| pending.answer.is_none()) {
        seen = batch.len();
        let room = limits::RECIPIENT_UPDATES_PER_COMMIT - seen;
        match timeout_at(deadline, pending.recv_many(batch, room)).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
    }
}

/// Writes each update in its own transaction. Called if the transaction that contained all updates failed because of a damaged row or a
/// panic, so that all updates that did not cause the failure are still written.
async fn write_apart(store: &Store, rules: &Arc<Rules>, updates: &Arc<Vec<RecipientUpdate>>) -> Vec<UpdateResult> {
    let mut answers = Vec::with_capacity(updates.len());
    for (place, update) in updates.iter().enumerate() {
        match write_when_free(store, rules, updates.clone(), place..place + 1).await {
            Ok(Ok(answer)) => answers.extend(answer),
            Ok(Err(error)) | Err(error) => {
                tracing::error!(%error, mailing = %update.mailing, number = update.number, "failed to write a recipient row");
                answers.push(UpdateResult::Lost);
            }
        }
    }
    answers
}

/// Writes the updates in `span`, and retries while the store is busy.
async fn write_when_free(
    store: &Store,
    rules: &Arc<Rules>,
    updates: Arc<Vec<RecipientUpdate>>,
    span: Range<usize>,
) -> Result<Result<Vec<UpdateResult>>> {
    loop {
        let (rules, updates, span) = (rules.clone(), updates.clone(), span.clone());
        match store.write_essential(move |tx| write(tx, &rules, &updates[span])).await {
            // The updates were not written. Retry until the load decreases or the store fails.
            Err(Error::Busy) => tokio::time::sleep(limits::RECIPIENT_WRITER_BUSY_PAUSE).await,
            written => return written,
        }
    }
}

/// An update without its response channel.
#[derive(Debug)]
pub struct RecipientUpdate {
    pub mailing: MailingId,
    pub number: u32,
    pub update: RowUpdate,
}

/// Writes updates in order. Returns the result of each update.
pub fn write(tx: &mut WriteTx<'_>, rules: &Rules, updates: &[RecipientUpdate]) -> Result<Vec<UpdateResult>> {
    let mut batch = WriteBatch { rules, open: HashMap::new(), activities: Vec::new() };
    let mut answers = Vec::with_capacity(updates.len());
    for update in updates {
        answers.push(batch.enter(tx, update)?);
    }
    batch.close(tx)?;
    Ok(answers)
}

/// The mailings that one transaction writes.
struct WriteBatch<'r> {
    rules: &'r Rules,
    open: HashMap<MailingId, Option<OpenMailing>>,
    /// The activity of contacts to whom a message was sent.
    activities: Vec<(ProjectId, u32, Activity)>,
}

struct OpenMailing {
    mailing: Mailing,
    topic: Option<Topic>,
    /// Whether a webhook is subscribed to delivery events.
    reports_delivery: bool,
    changed: bool,
    /// The earliest retry time that this transaction writes.
    next_at: Option<Timestamp>,
}

impl WriteBatch<'_> {
    fn enter(&mut self, tx: &mut WriteTx<'_>, update: &RecipientUpdate) -> Result<UpdateResult> {
        let RecipientUpdate { mailing: id, number, update } = update;
        if !self.open.contains_key(id) {
            let opened = OpenMailing::open(tx, *id)?;
            self.open.insert(*id, opened);
        }
        let Some(opened) = self.open.get_mut(id).expect("the mailing was just opened") else { return Ok(UpdateResult::Refused) };
        if let RowUpdate::CheckFinished { cursor } = update {
            if let Some((from, to)) = cursor
                && store::cursor(tx, *id)? == *from
            {
                store::set_cursor(tx, *id, *to);
            }
            return Ok(UpdateResult::Done);
        }
        if let RowUpdate::TransportDown { until } = update {
            if opened.mailing.state.may_send() {
                let now = tx.now();
                opened.set_state(State::Waiting { reason: WaitReason::Transport, until: *until }, now);
            }
            return Ok(UpdateResult::Done);
        }
        let Some(recipient) = store::recipient(tx, *id, *number)? else { return Ok(UpdateResult::Refused) };
        match update {
            RowUpdate::Claim => opened
                .claim(tx, self.rules, *number, &recipient)
                .map(|claimed| claimed.map_or_else(|no| no, |_| UpdateResult::Done)),
            RowUpdate::Event(event) => {
                let done = opened.mark(tx, self.rules, *number, &recipient, event.clone())?;
                if done {
                    self.activities.extend(sent_activity(tx, &opened.mailing, (*number, &recipient), tx.now())?);
                }
                Ok(UpdateResult::Done)
            }
            RowUpdate::StoreInInbox(message) => {
                let claimed = match opened.claim(tx, self.rules, *number, &recipient)? {
                    Ok(delivery) => Recipient { delivery, ..recipient.clone() },
                    Err(answer) => return Ok(answer),
                };
                let event = inbox::take(tx, &opened.mailing, *number, message, self.rules.schedule, &claimed)?;
                let done = opened.mark(tx, self.rules, *number, &claimed, event)?;
                if done {
                    self.activities.extend(sent_activity(tx, &opened.mailing, (*number, &recipient), tx.now())?);
                }
                Ok(UpdateResult::Done)
            }
            RowUpdate::TransportDown { .. } | RowUpdate::CheckFinished { .. } => Ok(UpdateResult::Done),
        }
    }

    fn close(self, tx: &mut WriteTx<'_>) -> Result<()> {
        for opened in self.open.into_values().flatten() {
            opened.close(tx)?;
        }
        let mut by_project: HashMap<_, Vec<(u32, Activity)>> = HashMap::new();
        for (project, number, activity) in self.activities {
            by_project.entry(project).or_default().push((number, activity));
        }
        for (project, activities) in by_project {
            activity::note(tx, project, &activities)?;
        }
        Ok(())
    }
}

impl OpenMailing {
    fn open(tx: &WriteTx<'_>, id: MailingId) -> Result<Option<Self>> {
        let Some(mailing) = store::by_id(tx, id)? else { return Ok(None) };
        let topic = match (mailing.topic, mailing.project) {
            // A deleted topic no longer restricts the recipients.
            (Some(topic), Some(project)) => topics::look_up(tx, project, topic)?,
            _ => None,
        };
        let reports_delivery = webhook_events::is_wanted(tx, &mailing, WebhookEvent::EmailDelivered)?;
        Ok(Some(Self { mailing, topic, reports_delivery, changed: false, next_at: None }))
    }

    /// Changes the row to the handoff state if the final dot may be sent. Otherwise, returns why the claim failed.
    fn claim(
        &mut self,
        tx: &mut WriteTx<'_>,
        rules: &Rules,
        number: u32,
        recipient: &Recipient,
    ) -> Result<std::result::Result<Delivery, UpdateResult>> {
        if !self.mailing.state.may_send() {
            return Ok(Err(UpdateResult::Stopped));
        }
        let profile = merge_data::load(tx, &self.mailing, number, recipient)?;
        let skip = match &profile {
            Some(profile) => eligibility::skip_reason(tx, &rules.digester, &self.mailing, self.topic.as_ref(), profile)?,
            None => Some(Skip::Erased),
        };
        if let Some(why) = skip {
            // If the row is no longer queued or deferred, the skip is refused and changes nothing.
            let _ = recipients::advance(tx, &self.mailing, number, recipient, Event::Skip { why })?;
            return Ok(Err(UpdateResult::Refused));
        }
        let account = self.mailing.account;
        let now = tx.now();
        if let QuotaLeft::UsedUp { until } = quota::left(tx, account, (rules.limits)(account), now)? {
            self.set_state(State::Waiting { reason: WaitReason::Quota, until }, now);
            return Ok(Err(UpdateResult::Stopped));
        }
        match recipients::advance(tx, &self.mailing, number, recipient, Event::Claim { epoch: rules.epoch })? {
            Ok(delivery) => {
                quota::count(tx, account, SentCount::Taken, 1, now)?;
                if matches!(recipient.delivery, Delivery::Deferred { .. }) {
                    // Recovery finds handoffs only through the queues, but a mailing that was only waiting for retries is in no queue.
                    send_queue::enqueue(tx, &self.mailing);
                }
                if matches!(self.mailing.state, State::Waiting { reason: WaitReason::Quota | WaitReason::Transport, .. }) {
                    self.set_state(State::Sending, now);
                }
                Ok(Ok(delivery))
            }
            Err(_) => Ok(Err(UpdateResult::Refused)),
        }
    }

    /// Applies an event to a recipient. Returns whether the message was accepted.
    fn mark(&mut self, tx: &mut WriteTx<'_>, rules: &Rules, number: u32, recipient: &Recipient, event: Event) -> Result<bool> {
        // A reply often contains the recipient's address, so the reply is not stored for an erased recipient.
        let is_erased = merge_data::is_erased(tx, &self.mailing, number, recipient)?;
        let event = within_bounds(event, rules.schedule, if is_erased { 0 } else { limits::REPLY_CHARACTERS_KEPT });
        let taken_at = match recipient.delivery {
            Delivery::Handoff { at, .. } => Some(at),
            _ => None,
        };
        let account = self.mailing.account;
        let Ok(next) = recipients::advance(tx, &self.mailing, number, recipient, event)? else { return Ok(false) };
        match &next {
            Delivery::Sent { .. } => {
                quota::count(tx, account, SentCount::Sent, 1, tx.now())?;
                if self.reports_delivery {
                    webhook_events::delivered(tx, &self.mailing, number, recipient)?;
                }
            }
            Delivery::Failed { reply, .. } => {
                let now = tx.now();
                quota::count(tx, account, SentCount::Refused, 1, now)?;
                if !is_erased {
                    let event = engagement::DeliveryEvent::Refused { reply: reply.clone() };
                    engagement::schedule_event(tx, now, self.mailing.id, number, &event);
                }
            }
            Delivery::Deferred { next_at, .. } => self.retries_at(*next_at),
            Delivery::Queued | Delivery::Handoff { .. } | Delivery::Unknown { .. } | Delivery::Skipped { .. } => {}
        }
        if let (Some(at), Delivery::Deferred { .. } | Delivery::Failed { .. }) = (taken_at, &next) {
            quota::count(tx, account, SentCount::Taken, -1, at)?;
        }
        if let (Delivery::Unknown { .. }, super::model::Policy::Resend) = (&next, self.mailing.unknown) {
            let doubtful = Recipient { delivery: next, ..recipient.clone() };
            // After too many attempts, the resend is refused, and the delivery stays unknown.
            let again = Event::AutoResend { schedule: rules.schedule };
            if let Ok(Delivery::Deferred { next_at, .. }) = recipients::advance(tx, &self.mailing, number, &doubtful, again)? {
                self.retries_at(next_at);
            }
            return Ok(false);
        }
        Ok(matches!(next, Delivery::Sent { .. }))
    }

    fn retries_at(&mut self, at: Timestamp) {
        self.next_at = Some(self.next_at.map_or(at, |known| known.min(at)));
    }

    fn set_state(&mut self, state: State, now: Timestamp) {
        if self.mailing.state != state {
            let from = self.mailing.word();
            self.mailing.state = state;
            tracing::debug!(mailing = %self.mailing.id, from, to = self.mailing.word(), "mailing");
            self.mailing.updated_at = now;
            self.changed = true;
        }
    }

    /// Finishes the mailing if no recipients remain, or lets it wait if all remaining recipients are deferred. Stores the mailing if it
    /// changed.
    fn close(mut self, tx: &mut WriteTx<'_>) -> Result<()> {
        let id = self.mailing.id;
        let mut rests = false;
        if self.mailing.plan == Plan::Done && self.mailing.state.may_send() {
            let many = |counter| store::counted(tx, id, counter);
            let under_way = many(Counter::QUEUED)? + many(Counter::HANDOFF)?;
            let deferred = many(Counter::DEFERRED)?;
            let now = tx.now();
            if under_way == 0 {
                let state = match (deferred, &self.mailing.state, self.next_at) {
                    (0, _, _) => State::Finished { at: now },
                    (_, State::Waiting { reason: WaitReason::Deferred, until: known }, Some(next)) if *known > now => {
                        State::Waiting { reason: WaitReason::Deferred, until: next.min(*known) }
                    }
                    (_, _, Some(until)) => State::Waiting { reason: WaitReason::Deferred, until },
                    (_, State::Waiting { reason: WaitReason::Deferred, until }, None) => {
                        State::Waiting { reason: WaitReason::Deferred, until: *until }
                    }
                    (_, _, None) => State::Waiting { reason: WaitReason::Deferred, until: now },
                };
                self.set_state(state, now);
                rests = true;
            }
        }
        if self.changed {
            recipients::save(tx, &self.mailing)?;
        }
        if rests { send_queue::dequeue(tx, id) } else { Ok(()) }
    }
}

/// Returns the activity that records that a message was sent to a contact at the time `at`, even if the request contained only the
/// contact's address. Returns `None` if the recipient is not a contact, for example because the contact was deleted while the message was
/// in flight.
pub fn sent_activity(
    tx: &impl Read,
    mailing: &Mailing,
    (number, recipient): (u32, &Recipient),
    at: Timestamp,
) -> Result<Option<(ProjectId, u32, Activity)>> {
    let Some(project) = mailing.project else { return Ok(None) };
    let contact = merge_data::load(tx, mailing, number, recipient)?.and_then(|profile| profile.contact);
    let activity = Activity { action: Action::Sent, mailing: mailing.id, campaign: mailing.kind.campaign(), at };
    Ok(contact.map(|contact| (project, contact.id.number(), activity)))
}

/// Shortens a server's untrusted reply to the length that is stored, replaces control characters with spaces, and sets the retry schedule.
fn within_bounds(event: Event, schedule: Schedule, characters_kept: usize) -> Event {
    let cut = |reply: String| -> String {
        let line = reply.chars().map(|c| if c.is_control() { ' ' } else { c });
        line.take(characters_kept).collect()
    };
    match event {
        Event::Accepted { reply } => Event::Accepted { reply: cut(reply) },
        Event::Refused { reply } => Event::Refused { reply: cut(reply) },
        Event::Deferred { reply, .. } => Event::Deferred { reply: cut(reply), schedule },
        Event::Postponed { reply, until, .. } => Event::Postponed { reply: cut(reply), until, schedule },
        other => other,
    }
}

/// Marks handoffs of earlier epochs as unknown, because no process can record the replies to them.
pub fn recover(tx: &mut WriteTx<'_>, id: MailingId, numbers: &[(u32, Recipient)], rules: &Rules) -> Result<()> {
    let Some(mut opened) = OpenMailing::open(tx, id)? else { return Ok(()) };
    for (number, recipient) in numbers {
        opened.mark(tx, rules, *number, recipient, Event::Recovered { epoch: rules.epoch })?;
    }
    opened.close(tx)
}
