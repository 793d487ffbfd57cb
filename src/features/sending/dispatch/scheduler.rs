//! The scheduler: tracks the active mailings, their next recipients, and the recipients in flight.
//!
//! Invariant: a recipient is in at most one delivery at a time, and is scheduled again only after that delivery has ended.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::SendReport;
use super::sender::{MessageSender, SendJob, SendOutcome};
use super::token_bucket::TokenBuckets;
use crate::base::clock::Timestamp;
use crate::engine::api::Failure;
use crate::engine::hold::HoldNumber;
use crate::engine::store::{ReadTx, Result as StoreResult, Store};
use crate::features::sending::message::MailingContext;
use crate::features::sending::model::{Counter, DIRECT, Delivery, GROUPS, Mailing, Plan, Recipient, State, WaitReason};
use crate::features::sending::store::{self, send_queue};
use crate::vocab::ids::{AccountId, MailingId};
use crate::vocab::limits;

/// Schedules the deliveries of the active mailings.
pub struct Scheduler {
    store: Arc<Store>,
    slots: usize,
    in_flight: usize,
    active: HashMap<MailingId, ActiveMailing>,
    /// The direct sends, with the next one first.
    direct: VecDeque<MailingId>,
    /// The campaigns and batches, with the next one first.
    groups: VecDeque<MailingId>,
    buckets: TokenBuckets,
    /// When the first throttled account or blocked mailing may continue.
    wake: Option<Instant>,
    /// The mailings that cannot be sent now, and the time until which each waits.
    blocked: Vec<(MailingId, Timestamp)>,
    /// When the next waiting mailing is due.
    next_due: Option<Timestamp>,
    /// The accounts at which the next poll of due mailings starts: one for direct sends, and one for campaigns and batches.
    due_from: [Option<AccountId>; 2],
    /// The mailing where the next poll of blocked mailings starts.
    blocked_from: Option<MailingId>,
    /// The recipients whose stored retry time is further in the future than any valid retry time.
    misdated: Vec<(MailingId, u32)>,
    /// The mailings that are waiting for the end of the hold with the number `hold_number`.
    on_hold: send_queue::Held,
    hold_number: Option<HoldNumber>,
    now: Timestamp,
}

/// A mailing that is being sent.
struct ActiveMailing {
    context: Arc<MailingContext>,
    per_second: Option<u64>,
    ready: VecDeque<(u32, Recipient)>,
    /// Whether retries are due.
    retries: bool,
    /// The number of the first row that has not been read yet.
    unread: Option<u32>,
    in_flight: BTreeSet<u32>,
    /// The stored cursor: all deliveries to recipients with lower numbers have ended.
    cursor: u32,
    /// The number of recipients whose delivery has started since the cursor last moved.
    since_cursor: u32,
    /// The time until which the mailing is blocked.
    blocked_until: Option<Instant>,
    /// The number of consecutive transport failures.
    failures: u32,
    /// Whether the mailing's deliveries have stopped. The next poll checks whether they may continue.
    stopped: bool,
}

impl Scheduler {
    pub fn new(store: Arc<Store>, slots: usize) -> Self {
        Self {
            store,
            slots,
            in_flight: 0,
            active: HashMap::new(),
            direct: VecDeque::new(),
            groups: VecDeque::new(),
            buckets: TokenBuckets::default(),
            wake: None,
            blocked: Vec::new(),
            next_due: None,
            due_from: [None; 2],
            blocked_from: None,
            misdated: Vec::new(),
            on_hold: send_queue::Held::new(),
            hold_number: None,
            now: Timestamp(0),
        }
    }

    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Polls the store for new mailings, for mailings that may continue and, if `turns` is set or a retry is due, for due retries. A
    /// mailing that cannot be read does not block other mailings; its error is returned at the end.
    pub async fn poll(&mut self, sender: &Arc<MessageSender>, turns: bool) -> Result<(), Failure> {
        let tx = self.store.read();
        self.now = sender.now();
        self.find_held(&tx, sender)?;
        // The queues below do not contain canceled mailings, so check the active mailings too.
        let known: Vec<MailingId> = self.active.keys().copied().collect();
        let mut failed = None;
        for id in known {
            note(&mut failed, self.admit(&tx, id, sender).await);
        }
        for lane in [DIRECT, GROUPS] {
            for id in send_queue::ready(&tx, lane, &self.on_hold, limits::MAILINGS_SCANNED_MAX)? {
                if !self.active.contains_key(&id) {
                    note(&mut failed, self.admit(&tx, id, sender).await);
                }
            }
        }
        // A mailing that is waiting for a quota may continue before its stored time, because the plan may have been upgraded, or because
        // the clock may have been wrong when the mailing stopped.
        let blocked = send_queue::queued(&tx, send_queue::BLOCKED, self.blocked_from, limits::BLOCKED_MAILINGS_SCANNED)?;
        self.blocked_from = blocked.get(limits::BLOCKED_MAILINGS_SCANNED - 1).copied();
        for id in blocked {
            if !self.active.contains_key(&id) {
                note(&mut failed, self.admit(&tx, id, sender).await);
            }
        }
        // Also poll if the next due time is further away than any retry can be: it may have been stored while the clock was wrong, and the
        // clock may have been corrected since.
        let horizon = self.now.plus_ms(sender.retry_ahead_ms_max());
        if turns || self.next_due.is_some_and(|at| at <= self.now || at > horizon) {
            self.admit_due(&tx, sender, &mut failed).await?;
        }
        failed.map_or(Ok(()), Err)
    }

    /// Admits the mailings that are due, and collects retries whose stored time is too far in the future. Stores the first error of a
    /// mailing in `failed`.
    async fn admit_due(&mut self, tx: &ReadTx, sender: &Arc<MessageSender>, failed: &mut Option<Failure>) -> Result<(), Failure> {
        self.next_due = None;
        for (lane, from) in [DIRECT, GROUPS].into_iter().zip(self.due_from) {
            let horizon = self.now.plus_ms(sender.retry_ahead_ms_max());
            let due = send_queue::due(tx, (lane, from), self.now, horizon, &self.on_hold, |id| self.active.contains_key(&id))?;
            for id in due.beyond {
                self.find_misdated(tx, id, horizon)?;
            }
            for id in due.mailings {
                if note(failed, self.admit(tx, id, sender).await)
                    && let Some(active) = self.active.get_mut(&id)
                {
                    active.retries = true;
                }
            }
            let again = (due.rest.is_some() || from.is_some()).then(|| self.now.plus_ms(limits::RETRIES_POLL_PAUSE_MS));
            self.next_due = [self.next_due, due.next_at, again].into_iter().flatten().min();
            self.due_from[usize::from(lane)] = due.rest;
        }
        Ok(())
    }

    /// If sending is on hold, finds the mailings that are waiting for the end of the hold. No mailings are added to this set during a hold.
    fn find_held(&mut self, tx: &ReadTx, sender: &MessageSender) -> StoreResult<()> {
        let hold = sender.hold();
        let number = hold.as_ref().map(|hold| hold.number);
        if number != self.hold_number {
            self.on_hold = hold.map(|hold| send_queue::held(tx, &hold)).transpose()?.unwrap_or_default();
            self.hold_number = number;
        }
        Ok(())
    }

    /// Finds retries of a mailing whose time can only have been stored while the clock was wrong.
    fn find_misdated(&mut self, tx: &ReadTx, id: MailingId, horizon: Timestamp) -> StoreResult<()> {
        for number in send_queue::retries_beyond(tx, id, horizon, limits::RETRIES_SCANNED_MAX)? {
            let waits = store::recipient(tx, id, number)?.map(|recipient| recipient.delivery);
            // Recipients without an attempt are excluded: they wait for a time set by the mailing, which may be far in the future.
            if matches!(waits, Some(Delivery::Deferred { attempts: 1.., .. })) {
                self.misdated.push((id, number));
            }
        }
        Ok(())
    }

    /// Removes and returns the retries whose time was stored while the clock was wrong.
    pub fn misdated(&mut self) -> Vec<(MailingId, u32)> {
        std::mem::take(&mut self.misdated)
    }

    /// Adds a mailing to the schedule if it may be sent. Returns whether it is scheduled.
    async fn admit(&mut self, tx: &ReadTx, id: MailingId, sender: &Arc<MessageSender>) -> Result<bool, Failure> {
        // Direct sends are short, so a direct send is read again only after one of its deliveries was stopped.
        let known = self.active.get(&id);
        if known.is_some_and(|active| active.context.mailing.kind.lane() == DIRECT && !active.stopped) {
            return Ok(true);
        }
        let Some(mailing) = store::by_id(tx, id)? else { return Ok(false) };
        let is_held = sender.hold().is_some_and(|hold| hold.holds(mailing.hold_number));
        if is_held || (!may_continue(&mailing, self.now) && !sender.has_room_again(tx, &mailing)?) {
            if let Some(active) = self.active.get_mut(&id) {
                active.stopped = true;
            }
            return Ok(false);
        }
        if let Some(active) = self.active.get_mut(&id) {
            active.stopped = false;
            active.per_second = sender.per_second(mailing.account);
            return Ok(true);
        }
        let cursor = store::cursor(tx, id)?;
        let lane = mailing.kind.lane();
        let per_second = sender.per_second(mailing.account);
        let context = match sender.context(tx, mailing).await {
            Ok(Some(context)) => context,
            outcome => {
                if let Err(failure) = outcome {
                    let text = failure.text();
                    let cause = failure.cause.unwrap_or(text);
                    tracing::error!(mailing = %id, cause, "a mailing could not be prepared and will be retried");
                }
                // Block only this mailing for now, so that other mailings continue.
                self.wake_at(Instant::now() + limits::TRANSPORT_REST);
                self.block(id, limits::TRANSPORT_REST);
                return Ok(false);
            }
        };
        let active = ActiveMailing {
            context,
            per_second,
            ready: VecDeque::new(),
            retries: false,
            unread: Some(cursor),
            in_flight: BTreeSet::new(),
            cursor,
            since_cursor: 0,
            blocked_until: None,
            failures: 0,
            stopped: false,
        };
        self.active.insert(id, active);
        if lane == DIRECT { &mut self.direct } else { &mut self.groups }.push_back(id);
        Ok(true)
    }

    fn wake_at(&mut self, at: Instant) {
        self.wake = Some(self.wake.map_or(at, |known| known.min(at)));
    }

    /// Returns the next recipient to deliver to, if a slot is free and a recipient is due.
    pub fn next(&mut self, now: Instant, time: Timestamp) -> Option<SendJob> {
        self.now = time;
        // If the disk is almost full, no new messages are started. Messages in progress are finished and recorded.
        if self.in_flight >= self.slots || self.store.space().is_low() {
            return None;
        }
        for lane in [DIRECT, GROUPS] {
            let turns = if lane == DIRECT { self.direct.len() } else { self.groups.len() };
            let mut throttled = HashSet::new();
            for _ in 0..turns {
                let queue = if lane == DIRECT { &mut self.direct } else { &mut self.groups };
                let Some(id) = queue.pop_front() else { break };
                if !self.active.contains_key(&id) {
                    continue;
                }
                let job = self.take_from(id, now, &mut throttled);
                let queue = if lane == DIRECT { &mut self.direct } else { &mut self.groups };
                queue.push_back(id);
                if job.is_some() {
                    return job;
                }
            }
        }
        None
    }

    /// Returns the next recipient of one mailing. `throttled` collects the accounts that must wait.
    fn take_from(&mut self, id: MailingId, now: Instant, throttled: &mut HashSet<AccountId>) -> Option<SendJob> {
        let active = self.active.get_mut(&id)?;
        if active.stopped || active.blocked_until.is_some_and(|until| until > now) {
            return None;
        }
        let account = active.context.mailing.account;
        if throttled.contains(&account) {
            return None;
        }
        if active.ready.is_empty() && active.has_unread() && active.read(&self.store.read(), self.now).is_err() {
            return None;
        }
        if active.ready.is_empty() {
            return None;
        }
        if let Err(wait) = self.buckets.take(account, active.per_second, now) {
            throttled.insert(account);
            self.wake_at(now + wait);
            return None;
        }
        let active = self.active.get_mut(&id)?;
        let (number, recipient) = active.ready.pop_front()?;
        active.in_flight.insert(number);
        active.since_cursor += 1;
        self.in_flight += 1;
        Some(SendJob { context: active.context.clone(), number, recipient })
    }

    /// Removes an ended delivery from the schedule. Returns whether to poll the store.
    pub fn finish(&mut self, report: SendReport, now: Instant) -> bool {
        self.in_flight -= 1;
        let Some(active) = self.active.get_mut(&report.mailing) else { return false };
        active.in_flight.remove(&report.number);
        let account = active.context.mailing.account;
        match report.outcome {
            SendOutcome::Recorded => active.failures = 0,
            SendOutcome::NotSent => self.buckets.give_back(account),
            SendOutcome::Stopped(recipient) => {
                active.ready.push_front((report.number, *recipient));
                active.stopped = true;
                self.buckets.give_back(account);
                return true;
            }
            SendOutcome::TransportFailed(recipient) => {
                active.ready.push_front((report.number, *recipient));
                // Each connection reports the same failure, so only the first report is counted.
                if active.blocked_until.is_none_or(|until| until <= now) {
                    let rest = limits::TRANSPORT_REST_MIN * 2_u32.saturating_pow(active.failures.min(10));
                    let rest = rest.min(limits::TRANSPORT_REST);
                    active.failures += 1;
                    active.blocked_until = Some(now + rest);
                    // The transport has already waited for its servers, so show users now that the mailing is waiting.
                    self.block(report.mailing, rest);
                }
                let active = self.active.get(&report.mailing);
                let until = active.and_then(|active| active.blocked_until).unwrap_or(now);
                self.buckets.give_back(account);
                self.wake_at(until);
            }
        }
        false
    }

    fn block(&mut self, id: MailingId, rest: Duration) {
        self.blocked.push((id, self.now.plus_ms(i64::try_from(rest.as_millis()).unwrap_or(i64::MAX))));
    }

    /// Removes and returns the mailings that cannot be sent now, each with the time until which it waits.
    pub fn blocked(&mut self) -> Vec<(MailingId, Timestamp)> {
        std::mem::take(&mut self.blocked)
    }

    /// Removes and returns the mailings that are stopped or have no recipients left. Also returns, without removing them, mailings whose
    /// cursor is far behind. Each mailing is returned with the old and the new cursor, if its cursor can move; a stopped mailing whose
    /// cursor cannot move is not returned.
    pub fn idle(&mut self) -> Vec<(MailingId, Option<(u32, u32)>)> {
        let mut idle = Vec::new();
        let before = self.active.len();
        self.active.retain(|id, active| {
            let is_done = active.ready.is_empty() && !active.has_unread() && active.in_flight.is_empty();
            let left = active.stopped && active.in_flight.is_empty();
            if is_done || left || active.since_cursor >= limits::CURSOR_MOVED_EVERY {
                let cursor = active.moved_cursor();
                if let Some((_, to)) = cursor {
                    active.cursor = to;
                }
                active.since_cursor = 0;
                // Return a stopped mailing only if its cursor moves: an update without a cursor would wake the loop endlessly.
                if is_done || cursor.is_some() {
                    idle.push((*id, cursor));
                }
            }
            !is_done && !left
        });
        if self.active.len() < before {
            let active = &self.active;
            self.direct.retain(|id| active.contains_key(id));
            self.groups.retain(|id| active.contains_key(id));
        }
        idle
    }

    /// Returns the old and the new cursor of each mailing whose cursor can move.
    pub fn cursors(&self) -> Vec<(MailingId, (u32, u32))> {
        self.active.iter().filter_map(|(id, active)| Some((*id, active.moved_cursor()?))).collect()
    }

    /// Returns how long to wait if no event occurs.
    pub fn pause(&mut self, now: Instant) -> Duration {
        let wake = self.wake.take().map(|at| at.saturating_duration_since(now));
        let due = self.next_due.map(|at| Duration::from_millis(u64::try_from(at.ms_since(self.now)).unwrap_or(0) + 1));
        [wake, due]
            .into_iter()
            .flatten()
            .min()
            .map_or(limits::SEND_QUEUE_POLL_PERIOD, |pause| pause.min(limits::SEND_QUEUE_POLL_PERIOD))
    }
}

impl ActiveMailing {
    fn has_unread(&self) -> bool {
        self.retries || self.unread.is_some()
    }

    /// Reads the next recipients, retries first.
    fn read(&mut self, tx: &ReadTx, now: Timestamp) -> StoreResult<()> {
        if self.retries {
            let id = self.context.mailing.id;
            // Recipients in flight stay in the list of retries until their handoff and are skipped below, so read that many more retries.
            let most = limits::RETRIES_READ_AT_ONCE + self.in_flight.len();
            let due = send_queue::retries(tx, id, now, most)?;
            self.retries = due.len() == most;
            for number in due.into_iter().filter(|number| !self.in_flight.contains(number)) {
                if let Some(recipient) = store::recipient(tx, id, number)? {
                    self.ready.push_back((number, recipient));
                }
            }
        }
        let Some(from) = self.unread else { return Ok(()) };
        let (ready, in_flight) = (&mut self.ready, &self.in_flight);
        let mut unread = None;
        let mut scanned = 0;
        store::visit_counted(
            tx,
            self.context.mailing.id,
            from,
            |counter| counter == Counter::QUEUED,
            |number, recipient| {
                if ready.len() == limits::RECIPIENTS_READ_AT_ONCE || scanned == limits::RECIPIENT_ROWS_SCANNED_MAX {
                    unread = Some(number);
                    return Ok(ControlFlow::Break(()));
                }
                scanned += 1;
                if let Some(recipient) = recipient.filter(|_| !in_flight.contains(&number)) {
                    ready.push_back((number, recipient));
                }
                Ok(ControlFlow::Continue(()))
            },
        )?;
        self.unread = unread;
        Ok(())
    }

    /// Returns the old and the new cursor, if the cursor can move: all deliveries to recipients below the new cursor have ended, and their
    /// results have been submitted.
    fn moved_cursor(&self) -> Option<(u32, u32)> {
        let waiting = self.ready.iter().map(|(number, _)| *number).chain(self.in_flight.iter().copied()).min();
        let to = match (waiting, self.unread) {
            (Some(waiting), Some(unread)) => waiting.min(unread),
            (Some(one), None) | (None, Some(one)) => one,
            // All deliveries have ended and no rows are left to read, so the cursor does not have to move.
            (None, None) => return None,
        };
        (to > self.cursor).then_some((self.cursor, to))
    }
}

/// Returns whether a mailing was admitted. Stores its error in `failed`, unless `failed` already contains an error.
fn note(failed: &mut Option<Failure>, admitted: Result<bool, Failure>) -> bool {
    match admitted {
        Ok(admitted) => admitted,
        Err(failure) => {
            failed.get_or_insert(failure);
            false
        }
    }
}

/// Returns whether a mailing may be sent now.
fn may_continue(mailing: &Mailing, now: Timestamp) -> bool {
    if mailing.plan != Plan::Done {
        return false;
    }
    match mailing.state {
        State::Sending | State::Waiting { reason: WaitReason::Deferred | WaitReason::Transport, .. } => true,
        State::Waiting { reason: WaitReason::Quota, until } => until <= now,
        State::Planning | State::Paused | State::Finished { .. } | State::Cancelled { .. } | State::Failed { .. } => false,
    }
}
