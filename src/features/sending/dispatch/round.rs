//! Whose turn it is: the mailings under way, their next recipients, and what is with deliveries.
//!
//! Invariant: a recipient is with one delivery at most; what was handed out once is not handed out again unless it came back.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::Report;
use super::pace::Pace;
use super::post::{Fate, Job, Post};
use crate::base::clock::Timestamp;
use crate::engine::api::Failure;
use crate::engine::hold::HoldNumber;
use crate::engine::store::{ReadTx, Result as StoreResult, Store};
use crate::features::sending::letter::Stationery;
use crate::features::sending::model::{Counter, DIRECT, Delivery, GROUPS, Mailing, Plan, Recipient, State, Wait};
use crate::features::sending::{store, turns};
use crate::vocab::ids::{AccountId, MailingId};
use crate::vocab::limits;

/// The mailings that are being sent.
pub struct Round {
    store: Arc<Store>,
    slots: usize,
    flying: usize,
    actives: HashMap<MailingId, Active>,
    /// Direct sends in the order they came.
    direct: VecDeque<MailingId>,
    /// Groups, the next one first.
    groups: VecDeque<MailingId>,
    pace: Pace,
    /// When somebody who had to wait may go on.
    wake: Option<Instant>,
    /// Mailings whose way out does not work, and until when.
    held: Vec<(MailingId, Timestamp)>,
    /// What waits for its time makes us look again then.
    next_due: Option<Timestamp>,
    /// The account at which the next look at turns begins, by lane.
    turns_from: [Option<AccountId>; 2],
    /// The mailing at which the next look at those that rest begins.
    rests_from: Option<MailingId>,
    /// Retries further away than there can be any.
    misdated: Vec<(MailingId, u32)>,
    /// What waits for the end of the hold of this number.
    on_hold: turns::Held,
    hold_number: Option<HoldNumber>,
    now: Timestamp,
}

/// One mailing that is being sent.
struct Active {
    stationery: Arc<Stationery>,
    per_second: Option<u64>,
    ready: VecDeque<(u32, Recipient)>,
    /// Some are to be tried again now.
    retries: bool,
    /// From where the ledger is not looked through yet.
    unread: Option<u32>,
    flying: BTreeSet<u32>,
    /// Where the cursor in the ledger stands.
    cursor: u32,
    /// Handed out since the cursor was moved.
    since_cursor: u32,
    /// Not before this.
    rests_until: Option<Instant>,
    /// Failures of the way in a row.
    failures: u32,
    /// The mailing does not go on; whether it does again is seen at the next look.
    stopped: bool,
}

impl Round {
    /// A round of nobody.
    pub fn new(store: Arc<Store>, slots: usize) -> Self {
        Self {
            store,
            slots,
            flying: 0,
            actives: HashMap::new(),
            direct: VecDeque::new(),
            groups: VecDeque::new(),
            pace: Pace::default(),
            wake: None,
            held: Vec::new(),
            next_due: None,
            turns_from: [None; 2],
            rests_from: None,
            misdated: Vec::new(),
            on_hold: turns::Held::new(),
            hold_number: None,
            now: Timestamp(0),
        }
    }

    /// How many recipients are with deliveries.
    pub fn flying(&self) -> usize {
        self.flying
    }

    /// Look at the store: what was taken on, what may go on, and, if `turns` are to be looked at, what is to be tried again.
    pub async fn look(&mut self, post: &Arc<Post>, turns: bool) -> Result<(), Failure> {
        let tx = self.store.read();
        self.now = post.now();
        self.find_held(&tx, post)?;
        // Those that were paused or cancelled stand in no queue that is looked at.
        let known: Vec<MailingId> = self.actives.keys().copied().collect();
        for id in known {
            self.admit(&tx, id, post).await?;
        }
        for lane in [DIRECT, GROUPS] {
            for id in turns::ready(&tx, lane, &self.on_hold, limits::MAILINGS_LOOKED_AT_MAX)? {
                if !self.actives.contains_key(&id) {
                    self.admit(&tx, id, post).await?;
                }
            }
        }
        // Whoever waits for the plan's emails of another day need not any more if the plan has grown, or if a clock was wrong.
        let rests = turns::queued(&tx, turns::RESTS, self.rests_from, limits::RESTS_LOOKED_AT)?;
        self.rests_from = rests.get(limits::RESTS_LOOKED_AT - 1).copied();
        for id in rests {
            if !self.actives.contains_key(&id) {
                self.admit(&tx, id, post).await?;
            }
        }
        // A turn that is further away than there can be any was put there by a clock that was wrong, and may be right by now.
        let horizon = self.now.plus_ms(post.retry_ahead_ms_max());
        if turns || self.next_due.is_some_and(|at| at <= self.now || at > horizon) {
            self.look_at_turns(&tx, post).await?;
        }
        Ok(())
    }

    /// Take up those who go on at this time.
    async fn look_at_turns(&mut self, tx: &ReadTx, post: &Arc<Post>) -> Result<(), Failure> {
        self.next_due = None;
        for (lane, from) in [DIRECT, GROUPS].into_iter().zip(self.turns_from) {
            let horizon = self.now.plus_ms(post.retry_ahead_ms_max());
            let due = turns::due(tx, (lane, from), self.now, horizon, &self.on_hold, |id| self.actives.contains_key(&id))?;
            for id in due.beyond {
                self.find_misdated(tx, id, horizon)?;
            }
            for id in due.mailings {
                if self.admit(tx, id, post).await?
                    && let Some(active) = self.actives.get_mut(&id)
                {
                    active.retries = true;
                }
            }
            let again = (due.rest.is_some() || from.is_some()).then(|| self.now.plus_ms(limits::RETRIES_LOOK_PAUSE_MS));
            self.next_due = [self.next_due, due.next_at, again].into_iter().flatten().min();
            self.turns_from[usize::from(lane)] = due.rest;
        }
        Ok(())
    }

    /// Note what waits for the end of a hold, if there is one. While it lasts, nothing else becomes held.
    fn find_held(&mut self, tx: &ReadTx, post: &Post) -> StoreResult<()> {
        let hold = post.hold();
        let number = hold.as_ref().map(|hold| hold.number);
        if number != self.hold_number {
            self.on_hold = hold.map(|hold| turns::held(tx, &hold)).transpose()?.unwrap_or_default();
            self.hold_number = number;
        }
        Ok(())
    }

    /// Find retries of a mailing that no clock that is right has put there.
    fn find_misdated(&mut self, tx: &ReadTx, id: MailingId, horizon: Timestamp) -> StoreResult<()> {
        for number in turns::retries_beyond(tx, id, horizon, limits::RETRIES_LOOKED_AT_MAX)? {
            let waits = store::recipient(tx, id, number)?.map(|recipient| recipient.delivery);
            // Without a try so far it waits for a time that its mailing names, however far that is.
            if matches!(waits, Some(Delivery::Deferred { attempts: 1.., .. })) {
                self.misdated.push((id, number));
            }
        }
        Ok(())
    }

    /// Retries whose time was written down by a clock that was wrong; told once.
    pub fn misdated(&mut self) -> Vec<(MailingId, u32)> {
        std::mem::take(&mut self.misdated)
    }

    /// Take a mailing into the round if it may be sent; says whether it is in it.
    async fn admit(&mut self, tx: &ReadTx, id: MailingId, post: &Arc<Post>) -> Result<bool, Failure> {
        // Direct sends are short: they are only looked at again when a claim was refused.
        let known = self.actives.get(&id);
        if known.is_some_and(|active| active.stationery.mailing.kind.lane() == DIRECT && !active.stopped) {
            return Ok(true);
        }
        let Some(mailing) = store::by_id(tx, id)? else { return Ok(false) };
        let is_held = post.hold().is_some_and(|hold| hold.holds(mailing.hold_number));
        if is_held || (!may_go_on(&mailing, self.now) && !post.has_room_again(tx, &mailing)?) {
            if let Some(active) = self.actives.get_mut(&id) {
                active.stopped = true;
            }
            return Ok(false);
        }
        if let Some(active) = self.actives.get_mut(&id) {
            active.stopped = false;
            active.per_second = post.per_second(mailing.account);
            return Ok(true);
        }
        let cursor = store::cursor(tx, id)?;
        let lane = mailing.kind.lane();
        let per_second = post.per_second(mailing.account);
        let stationery = match post.stationery(tx, mailing).await {
            Ok(Some(stationery)) => stationery,
            outcome => {
                if let Err(failure) = outcome {
                    let cause = failure.cause.or(failure.detail.map(Into::into)).unwrap_or_default();
                    tracing::error!(mailing = %id, cause, "a mailing could not be prepared");
                }
                // Others go on in the meantime.
                self.wake_at(Instant::now() + limits::TRANSPORT_REST);
                self.hold(id, limits::TRANSPORT_REST);
                return Ok(false);
            }
        };
        let active = Active {
            stationery,
            per_second,
            ready: VecDeque::new(),
            retries: false,
            unread: Some(cursor),
            flying: BTreeSet::new(),
            cursor,
            since_cursor: 0,
            rests_until: None,
            failures: 0,
            stopped: false,
        };
        self.actives.insert(id, active);
        if lane == DIRECT { &mut self.direct } else { &mut self.groups }.push_back(id);
        Ok(true)
    }

    fn wake_at(&mut self, at: Instant) {
        self.wake = Some(self.wake.map_or(at, |known| known.min(at)));
    }

    /// The next recipient that a delivery can take, if there is a slot and somebody's turn has come.
    pub fn next(&mut self, now: Instant, time: Timestamp) -> Option<Job> {
        self.now = time;
        // On an almost full disk no new message starts. Messages in progress are finished and recorded.
        if self.flying >= self.slots || self.store.space().is_low() {
            return None;
        }
        for lane in [DIRECT, GROUPS] {
            let turns = if lane == DIRECT { self.direct.len() } else { self.groups.len() };
            let mut spent = HashSet::new();
            for _ in 0..turns {
                let queue = if lane == DIRECT { &mut self.direct } else { &mut self.groups };
                let Some(id) = queue.pop_front() else { break };
                if !self.actives.contains_key(&id) {
                    continue;
                }
                let job = self.take_from(id, now, &mut spent);
                let queue = if lane == DIRECT { &mut self.direct } else { &mut self.groups };
                queue.push_back(id);
                if job.is_some() {
                    return job;
                }
            }
        }
        None
    }

    /// The next recipient of one mailing. `spent` are accounts that must wait.
    fn take_from(&mut self, id: MailingId, now: Instant, spent: &mut HashSet<AccountId>) -> Option<Job> {
        let active = self.actives.get_mut(&id)?;
        if active.stopped || active.rests_until.is_some_and(|until| until > now) {
            return None;
        }
        let account = active.stationery.mailing.account;
        if spent.contains(&account) {
            return None;
        }
        if active.ready.is_empty() && active.has_unread() && active.read(&self.store.read(), self.now).is_err() {
            // The store is failing: the process is about to end.
            return None;
        }
        if active.ready.is_empty() {
            return None;
        }
        if let Err(wait) = self.pace.take(account, active.per_second, now) {
            spent.insert(account);
            self.wake_at(now + wait);
            return None;
        }
        let active = self.actives.get_mut(&id)?;
        let (number, recipient) = active.ready.pop_front()?;
        active.flying.insert(number);
        active.since_cursor += 1;
        self.flying += 1;
        Some(Job { stationery: active.stationery.clone(), number, recipient })
    }

    /// A delivery has come to its end; says whether the store must be looked at.
    pub fn settle(&mut self, report: Report, now: Instant) -> bool {
        self.flying -= 1;
        let Some(active) = self.actives.get_mut(&report.mailing) else { return false };
        active.flying.remove(&report.number);
        let account = active.stationery.mailing.account;
        match report.fate {
            Fate::Settled => active.failures = 0,
            Fate::NotSent => self.pace.give_back(account),
            Fate::Stopped(recipient) => {
                active.ready.push_front((report.number, *recipient));
                active.stopped = true;
                self.pace.give_back(account);
                return true;
            }
            Fate::WayFailed(recipient) => {
                active.ready.push_front((report.number, *recipient));
                // One connection after the other reports the same trouble: only the first of them counts.
                if active.rests_until.is_none_or(|until| until <= now) {
                    let rest = limits::TRANSPORT_REST_MIN * 2_u32.saturating_pow(active.failures.min(10));
                    let rest = rest.min(limits::TRANSPORT_REST);
                    active.failures += 1;
                    active.rests_until = Some(now + rest);
                    // The transport has waited for its servers before: whoever looks is told.
                    self.hold(report.mailing, rest);
                }
                let active = self.actives.get(&report.mailing);
                let until = active.and_then(|active| active.rests_until).unwrap_or(now);
                self.pace.give_back(account);
                self.wake_at(until);
            }
        }
        false
    }

    fn hold(&mut self, id: MailingId, rest: Duration) {
        self.held.push((id, self.now.plus_ms(i64::try_from(rest.as_millis()).unwrap_or(i64::MAX))));
    }

    /// Mailings whose way out does not work, and until when; told once.
    pub fn held(&mut self) -> Vec<(MailingId, Timestamp)> {
        std::mem::take(&mut self.held)
    }

    /// Mailings of which nothing is left to be handed out, and how their cursors are to be moved; they leave the round.
    /// Others whose cursor has fallen far behind are told too, and stay.
    pub fn idle(&mut self) -> Vec<(MailingId, Option<(u32, u32)>)> {
        let mut told = Vec::new();
        let before = self.actives.len();
        self.actives.retain(|id, active| {
            let is_done = active.ready.is_empty() && !active.has_unread() && active.flying.is_empty();
            let left = active.stopped && active.flying.is_empty();
            if is_done || left || active.since_cursor >= limits::CURSOR_MOVED_EVERY {
                let cursor = active.moved_cursor();
                if let Some((_, to)) = cursor {
                    active.cursor = to;
                }
                active.since_cursor = 0;
                // A stopped one has nothing to tell but its cursor; a tale of nothing would wake us again and again.
                if is_done || cursor.is_some() {
                    told.push((*id, cursor));
                }
            }
            !is_done && !left
        });
        if self.actives.len() < before {
            let actives = &self.actives;
            self.direct.retain(|id| actives.contains_key(id));
            self.groups.retain(|id| actives.contains_key(id));
        }
        told
    }

    /// Where the cursors of all mailings could stand.
    pub fn cursors(&self) -> Vec<(MailingId, (u32, u32))> {
        self.actives.iter().filter_map(|(id, active)| Some((*id, active.moved_cursor()?))).collect()
    }

    /// How long there is nothing to do unless something happens.
    pub fn pause(&mut self, now: Instant) -> Duration {
        let wake = self.wake.take().map(|at| at.saturating_duration_since(now));
        let due = self.next_due.map(|at| Duration::from_millis(u64::try_from(at.ms_since(self.now)).unwrap_or(0) + 1));
        [wake, due].into_iter().flatten().min().map_or(limits::LEDGER_LOOK_PERIOD, |pause| pause.min(limits::LEDGER_LOOK_PERIOD))
    }
}

impl Active {
    fn has_unread(&self) -> bool {
        self.retries || self.unread.is_some()
    }

    /// Read the next recipients: first those that are to be tried again.
    fn read(&mut self, tx: &ReadTx, now: Timestamp) -> StoreResult<()> {
        if self.retries {
            let id = self.stationery.mailing.id;
            // Those under way are listed until their handoff.
            let most = limits::RETRIES_READ_AT_ONCE + self.flying.len();
            let due = turns::retries(tx, id, now, most)?;
            self.retries = due.len() == most;
            for number in due.into_iter().filter(|number| !self.flying.contains(number)) {
                if let Some(recipient) = store::recipient(tx, id, number)? {
                    self.ready.push_back((number, recipient));
                }
            }
        }
        let Some(from) = self.unread else { return Ok(()) };
        let (ready, flying) = (&mut self.ready, &self.flying);
        let mut unread = None;
        let mut looked = 0;
        store::visit_counted(
            tx,
            self.stationery.mailing.id,
            from,
            |counter| counter == Counter::QUEUED,
            |number, recipient| {
                if ready.len() == limits::RECIPIENTS_READ_AT_ONCE || looked == limits::LEDGER_ROWS_LOOKED_AT_MAX {
                    unread = Some(number);
                    return Ok(ControlFlow::Break(()));
                }
                looked += 1;
                if let Some(recipient) = recipient.filter(|_| !flying.contains(&number)) {
                    ready.push_back((number, recipient));
                }
                Ok(ControlFlow::Continue(()))
            },
        )?;
        self.unread = unread;
        Ok(())
    }

    /// From where to where the cursor can be moved: everybody below is handed out, and their outcomes were handed in before this.
    fn moved_cursor(&self) -> Option<(u32, u32)> {
        let waiting = self.ready.iter().map(|(number, _)| *number).chain(self.flying.iter().copied()).min();
        let to = match (waiting, self.unread) {
            (Some(waiting), Some(unread)) => waiting.min(unread),
            (Some(one), None) | (None, Some(one)) => one,
            // Everybody was handed out: the end is beyond all numbers that there are.
            (None, None) => return None,
        };
        (to > self.cursor).then_some((self.cursor, to))
    }
}

/// Whether a mailing may be sent now.
fn may_go_on(mailing: &Mailing, now: Timestamp) -> bool {
    if mailing.plan != Plan::Done {
        return false;
    }
    match mailing.state {
        State::Sending | State::Waiting { reason: Wait::Deferred | Wait::Transport, .. } => true,
        State::Waiting { reason: Wait::Quota, until } => until <= now,
        State::Planning | State::Paused | State::Finished { .. } | State::Cancelled { .. } | State::Failed { .. } => false,
    }
}
