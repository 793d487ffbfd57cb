//! The send queues: mailings with work to do, retries, and the times at which mailings continue automatically.
//!
//! Mailings that may not be sent now are in separate queues. The time at which a mailing may continue is stored in one row under its
//! account, so that a poll reads only mailings that are due, and a few of those that are blocked.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

use crate::base::clock::Timestamp;
use crate::engine::hold::OnHold;
use crate::engine::store::key::{Key, after_prefix};
use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::features::sending::model::{DIRECT, GROUPS, Mailing, Plan, State, WaitReason};
use crate::features::sending::store;
use crate::vocab::ids::{AccountId, MailingId};
use crate::vocab::{limits, tables};

const QUEUE: Table<(u8, MailingId), ()> = Table::new(tables::MAILING_QUEUE);
/// The scheduled retries of each mailing, earliest first.
const RETRIES: Table<(MailingId, Timestamp, u32), ()> = Table::new(tables::RECIPIENT_RETRIES);
/// The mailings that continue at a later time, by queue and account, earliest first.
const TURNS: Table<(u8, AccountId, Timestamp, MailingId), ()> = Table::new(tables::MAILING_TURNS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(QUEUE), RowCheck::of(RETRIES), RowCheck::of(TURNS)];

/// The queue of mailings whose audience is being planned, and of canceled or failed mailings whose waiting recipients must still be
/// skipped.
pub const PLANNING: u8 = 2;
/// The queue of mailings that may not be sent now. Recovery also searches this queue for handoffs of earlier processes.
pub const BLOCKED: u8 = 3;
/// All queues that can contain a mailing.
pub const LANES: [u8; 4] = [DIRECT, GROUPS, PLANNING, BLOCKED];

/// The mailings that are waiting for the end of a hold. They do not count toward limits, so they do not block other mailings.
pub type Held = HashSet<MailingId>;

/// Returns every mailing that may be waiting for the end of this hold.
pub fn held(tx: &impl Read, hold: &OnHold) -> Result<Held> {
    let mut held = Held::new();
    let mut collect = |id| {
        if store::by_id(tx, id)?.is_some_and(|mailing| hold.holds(mailing.hold_number)) {
            held.insert(id);
        }
        Ok(ControlFlow::Continue(()))
    };
    for lane in LANES {
        tx.visit(QUEUE, &QUEUE.under(&(lane,)), Order::Forward, |(_, id), ()| collect(id))?;
    }
    for lane in [DIRECT, GROUPS] {
        tx.visit(TURNS, &TURNS.under(&(lane,)), Order::Forward, |(_, _, _, id), ()| collect(id))?;
    }
    Ok(held)
}

/// Returns up to `limit` mailings in a queue that are not held, oldest first.
pub fn ready(tx: &impl Read, lane: u8, held: &Held, limit: usize) -> Result<Vec<MailingId>> {
    let mut ready = Vec::new();
    tx.visit(QUEUE, &QUEUE.under(&(lane,)), Order::Forward, |(_, id), ()| {
        ready.extend(Some(id).filter(|id| !held.contains(id)));
        Ok(if ready.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(ready)
}

/// Returns up to `limit` mailings in a queue, oldest first, starting at `from`.
pub fn queued(tx: &impl Read, lane: u8, from: Option<MailingId>, limit: usize) -> Result<Vec<MailingId>> {
    let mut span = QUEUE.under(&(lane,));
    if let Some(from) = from {
        span.from = (lane, from).to_bytes();
    }
    Ok(tx.list(QUEUE, &span, Order::Forward, limit)?.into_iter().map(|((_, id), ())| id).collect())
}

/// Returns up to `limit` mailings, in any state, that still have recipients to process.
pub fn under_way(tx: &impl Read, limit: usize) -> Result<Vec<MailingId>> {
    let mut found = BTreeSet::new();
    for lane in LANES {
        found.extend(queued(tx, lane, None, limit)?);
    }
    // A mailing whose remaining recipients are all deferred is in no queue, but has a row in `TURNS`.
    for lane in [DIRECT, GROUPS] {
        let turns = tx.list(TURNS, &TURNS.under(&(lane,)), Order::Forward, limit)?;
        found.extend(turns.into_iter().map(|((_, _, _, id), ())| id));
    }
    Ok(found.into_iter().take(limit).collect())
}

/// Adds a mailing that can be sent immediately to its queue. This makes the scheduler poll again.
pub fn enqueue(tx: &mut WriteTx<'_>, mailing: &Mailing) {
    tx.put(QUEUE, &(mailing.kind.lane(), mailing.id), &());
}

/// Removes a mailing from its queue, because it has no work left, or none before its next turn.
pub fn dequeue(tx: &mut WriteTx<'_>, id: MailingId) -> Result<()> {
    put_in(tx, id, None)
}

/// Moves a mailing to the queue for its state, and updates when it continues.
pub fn requeue(tx: &mut WriteTx<'_>, mailing: &Mailing) -> Result<()> {
    match &mailing.state {
        State::Planning | State::Cancelled { .. } | State::Failed { .. } => put_in(tx, mailing.id, Some(PLANNING))?,
        State::Paused if mailing.plan != Plan::Done => put_in(tx, mailing.id, Some(PLANNING))?,
        State::Paused | State::Waiting { reason: WaitReason::Quota | WaitReason::Transport, .. } => {
            put_in(tx, mailing.id, Some(BLOCKED))?
        }
        State::Sending => put_in(tx, mailing.id, Some(mailing.kind.lane()))?,
        State::Finished { .. } => put_in(tx, mailing.id, None)?,
        // The recipient writer adds the mailing to its queue when it claims a retry, and removes it when no retry is in flight.
        State::Waiting { reason: WaitReason::Deferred, .. } => {}
    }
    let at = match mailing.state {
        _ if mailing.plan != Plan::Done => None,
        State::Sending | State::Waiting { reason: WaitReason::Deferred, .. } => first_retry(tx, mailing.id)?,
        State::Waiting { reason: WaitReason::Quota | WaitReason::Transport, until } => Some(until),
        State::Planning | State::Paused | State::Finished { .. } | State::Cancelled { .. } | State::Failed { .. } => None,
    };
    set_turn(tx, mailing, at)
}

fn put_in(tx: &mut WriteTx<'_>, id: MailingId, wanted: Option<u8>) -> Result<()> {
    for lane in LANES {
        let is_there = tx.has(QUEUE, &(lane, id))?;
        match (is_there, wanted == Some(lane)) {
            (false, true) => tx.put(QUEUE, &(lane, id), &()),
            (true, false) => tx.delete(QUEUE, &(lane, id)),
            (true, true) | (false, false) => {}
        }
    }
    Ok(())
}

fn set_turn(tx: &mut WriteTx<'_>, mailing: &Mailing, at: Option<Timestamp>) -> Result<()> {
    let known = store::turn(tx, mailing.id)?;
    if known == at {
        return Ok(());
    }
    let key = |at| (mailing.kind.lane(), mailing.account, at, mailing.id);
    if let Some(known) = known {
        tx.delete(TURNS, &key(known));
    }
    if let Some(at) = at {
        tx.put(TURNS, &key(at), &());
    }
    store::set_turn(tx, mailing.id, at);
    Ok(())
}

fn first_retry(tx: &impl Read, id: MailingId) -> Result<Option<Timestamp>> {
    let first = tx.list(RETRIES, &RETRIES.under(&(id,)), Order::Forward, 1)?;
    Ok(first.first().map(|((_, at, _), ())| *at))
}

/// Returns whether the time of the next retry determines when the mailing continues.
fn follows_retries(mailing: &Mailing) -> bool {
    mailing.plan == Plan::Done && matches!(mailing.state, State::Sending | State::Waiting { reason: WaitReason::Deferred, .. })
}

/// Schedules a recipient's retry. If it is the mailing's earliest retry, the mailing continues at that time.
pub fn put_retry(tx: &mut WriteTx<'_>, mailing: &Mailing, at: Timestamp, number: u32) -> Result<()> {
    note_retry(tx, mailing.id, at, number);
    let is_earlier = |known: Option<Timestamp>| known.is_none_or(|known| at < known);
    if follows_retries(mailing) && is_earlier(store::turn(tx, mailing.id)?) {
        set_turn(tx, mailing, Some(at))?;
    }
    Ok(())
}

/// Stores a recipient's retry without updating when the mailing continues. [`requeue`] does that later.
pub fn note_retry(tx: &mut WriteTx<'_>, id: MailingId, at: Timestamp, number: u32) {
    tx.put(RETRIES, &(id, at, number), &());
}

pub fn drop_retry(tx: &mut WriteTx<'_>, mailing: &Mailing, at: Timestamp, number: u32) -> Result<()> {
    tx.delete(RETRIES, &(mailing.id, at, number));
    if follows_retries(mailing) && store::turn(tx, mailing.id)? == Some(at) {
        let first = first_retry(tx, mailing.id)?;
        set_turn(tx, mailing, first)?;
    }
    Ok(())
}

/// Returns up to `limit` recipients of a mailing whose retry is due at `now`, earliest first.
pub fn retries(tx: &impl Read, id: MailingId, now: Timestamp, limit: usize) -> Result<Vec<u32>> {
    let mut span = RETRIES.under(&(id,));
    span.to = Some((id, now.plus_ms(1), 0_u32).to_bytes());
    Ok(tx.list(RETRIES, &span, Order::Forward, limit)?.into_iter().map(|((_, _, number), ())| number).collect())
}

/// Returns up to `limit` recipients of a mailing whose retry is after `horizon`, earliest first.
pub fn retries_beyond(tx: &impl Read, id: MailingId, horizon: Timestamp, limit: usize) -> Result<Vec<u32>> {
    let mut span = RETRIES.under(&(id,));
    span.from = (id, horizon.plus_ms(1), 0_u32).to_bytes();
    Ok(tx.list(RETRIES, &span, Order::Forward, limit)?.into_iter().map(|((_, _, number), ())| number).collect())
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// The due mailings, ordered by time within each account.
    pub mailings: Vec<MailingId>,
    /// Mailings whose turn is after the horizon, a limited number per account.
    pub beyond: Vec<MailingId>,
    /// When the next mailing is due.
    pub next_at: Option<Timestamp>,
    /// The account at which the next poll starts, if this poll did not reach all accounts.
    pub rest: Option<AccountId>,
}

/// Returns the mailings in a queue that are due at `now` and not held, and the mailings whose turn is after `horizon`. Reads a limited
/// number of mailings per account, starting at the account `from`. Mailings for which `known` returns true do not count toward this limit.
pub fn due(
    tx: &impl Read,
    (lane, from): (u8, Option<AccountId>),
    now: Timestamp,
    horizon: Timestamp,
    held: &Held,
    known: impl Fn(MailingId) -> bool,
) -> Result<Due> {
    let mut due = Due::default();
    let mut span = TURNS.under(&(lane,));
    if let Some(from) = from {
        span.from = (lane, from).to_bytes();
    }
    for _ in 0..limits::ACCOUNTS_SCANNED_MAX {
        let Some(((_, account, first, _), ())) = tx.list(TURNS, &span, Order::Forward, 1)?.pop() else { return Ok(due) };
        if due.mailings.len() >= limits::MAILINGS_SCANNED_MAX {
            due.rest = Some(account);
            return Ok(due);
        }
        let next = if first > now { Some(first) } else { take_due(tx, (lane, account), now, held, &known, &mut due.mailings)? };
        due.next_at = [due.next_at, next].into_iter().flatten().min();
        let mut after = TURNS.under(&(lane, account));
        after.from = (lane, account, horizon.plus_ms(1)).to_bytes();
        let beyond = tx.list(TURNS, &after, Order::Forward, limits::DUE_MAILINGS_PER_ACCOUNT)?;
        due.beyond.extend(beyond.into_iter().map(|((_, _, _, id), ())| id));
        span.from = after_prefix(&(lane, account).to_bytes()).unwrap_or_default();
    }
    due.rest = tx.list(TURNS, &span, Order::Forward, 1)?.first().map(|((_, account, _, _), ())| *account);
    Ok(due)
}

/// Adds the due mailings of one account to `found`. Returns the account's next turn after `now` or, if more mailings may be due, the time
/// of the next poll.
fn take_due(
    tx: &impl Read,
    (lane, account): (u8, AccountId),
    now: Timestamp,
    held: &Held,
    known: impl Fn(MailingId) -> bool,
    found: &mut Vec<MailingId>,
) -> Result<Option<Timestamp>> {
    let mut span = TURNS.under(&(lane, account));
    let later = (lane, account, now.plus_ms(1)).to_bytes();
    let (mut scanned, mut new, mut enough) = (0, 0, false);
    span.to = Some(later.clone());
    tx.visit(TURNS, &span, Order::Forward, |(_, _, _, id), ()| {
        if held.contains(&id) {
            return Ok(ControlFlow::Continue(()));
        }
        scanned += 1;
        new += usize::from(!known(id));
        found.push(id);
        enough = new == limits::DUE_MAILINGS_PER_ACCOUNT || scanned == limits::MAILINGS_SCANNED_MAX;
        Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    if enough {
        // The account may have more mailings that are due.
        return Ok(Some(now.plus_ms(limits::RETRIES_POLL_PAUSE_MS)));
    }
    let after = Span { from: later, to: TURNS.under(&(lane, account)).to };
    Ok(tx.list(TURNS, &after, Order::Forward, 1)?.first().map(|((_, _, at, _), ())| *at))
}

/// Returns whether no retry is stored.
#[cfg(test)]
pub fn is_empty(tx: &impl Read) -> Result<bool> {
    Ok(tx.list(RETRIES, &Span::default(), Order::Forward, 1).is_ok_and(|rows| rows.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::hold::Cause;
    use crate::features::sending::model::{Audience, MailingKind, Policy, Sender, Tracking};
    use crate::features::sending::recipients;
    use crate::testing::{START, TestApp};

    fn mailing(account: u8, id: u16, state: State) -> Mailing {
        let mut bytes = [0; 12];
        bytes[..2].copy_from_slice(&id.to_be_bytes());
        Mailing {
            id: MailingId::from_bytes(bytes),
            account: AccountId::from_bytes([account; 12]),
            project: None,
            kind: MailingKind::Batch,
            state,
            plan: Plan::Done,
            from: Sender { address: "a@example.com".into(), name: None, reply_to: None },
            conversation: None,
            translations: Vec::new(),
            audience: Audience::Everyone,
            transactional: false,
            topic: None,
            local: None,
            variables: "{}".into(),
            tracking: Tracking::default(),
            utm: None,
            unknown: Policy::Hold,
            hold_number: 0,
            created_at: START,
            updated_at: START,
        }
    }

    fn write(app: &TestApp, write: impl FnOnce(&mut WriteTx<'_>) -> Result<()> + Send + 'static) {
        app.data().store.write_blocking(write).expect("the store can be written").expect("the store can be read");
    }

    fn due_groups(app: &TestApp, now: Timestamp) -> Due {
        due(&app.read(), (GROUPS, None), now, now.plus_ms(limits::RETRY_AHEAD_MS_MAX), &Held::new(), |_| false)
            .expect("the store can be read")
    }

    /// Regression test: 5,000 retries of a paused mailing blocked all other mailings.
    #[test]
    fn retries_of_a_blocked_mailing_do_not_block_others() {
        let app = TestApp::new();
        let resting = [State::Paused, State::Cancelled { at: START }];
        write(&app, move |tx| {
            for (number, state) in (0..).zip(resting) {
                let mailing = mailing(1, number, state);
                for recipient in 0..5_000 {
                    put_retry(tx, &mailing, START, recipient)?;
                }
                requeue(tx, &mailing)?;
            }
            let quota = mailing(1, 2, State::Waiting { reason: WaitReason::Quota, until: START.plus_ms(500) });
            put_retry(tx, &quota, START, 0)?;
            requeue(tx, &quota)?;
            let other = mailing(1, 3, State::Sending);
            put_retry(tx, &other, START.plus_ms(10), 7)?;
            put_retry(tx, &other, START.plus_ms(90), 8)?;
            requeue(tx, &other)
        });
        let id = |number| mailing(1, number, State::Sending).id;
        assert_eq!(due_groups(&app, START), Due { next_at: Some(START.plus_ms(10)), ..Due::default() });
        let later = due_groups(&app, START.plus_ms(10));
        assert_eq!((later.mailings, later.next_at), (vec![id(3)], Some(START.plus_ms(500))));
        assert_eq!(retries(&app.read(), id(3), START.plus_ms(10), 9).expect("the store can be read"), [7]);
        assert_eq!(due_groups(&app, START.plus_ms(500)).mailings, [id(3), id(2)]);
        write(&app, move |tx| requeue(tx, &mailing(1, 0, State::Sending)));
        assert_eq!(due_groups(&app, START).mailings, [id(0)], "the resumed mailing is due");
        assert_eq!(queued(&app.read(), BLOCKED, None, 9).expect("the store can be read"), [id(2)]);
        assert_eq!(queued(&app.read(), GROUPS, None, 9).expect("the store can be read"), [id(0), id(3)]);
    }

    #[test]
    fn an_account_with_many_due_mailings_does_not_block_others_and_gets_more_on_each_poll() {
        let app = TestApp::new();
        let many = u16::try_from(limits::MAILINGS_SCANNED_MAX).expect("the number is small");
        write(&app, move |tx| {
            for number in 0..many {
                put_retry(tx, &mailing(1, number, State::Sending), START, 0)?;
            }
            put_retry(tx, &mailing(2, many, State::Sending), START, 0)
        });
        let first = due_groups(&app, START);
        assert_eq!(first.mailings.len(), limits::DUE_MAILINGS_PER_ACCOUNT + 1);
        assert!(first.mailings.contains(&mailing(2, many, State::Sending).id));
        let known = first.mailings.clone();
        let second = due(&app.read(), (GROUPS, None), START, START.plus_ms(limits::RETRY_AHEAD_MS_MAX), &Held::new(), |id| {
            known.contains(&id)
        })
        .expect("the store can be read");
        assert_eq!(second.mailings.len(), 2 * limits::DUE_MAILINGS_PER_ACCOUNT + 1);
        assert_eq!(second.next_at, Some(START.plus_ms(limits::RETRIES_POLL_PAUSE_MS)), "more retries are due");
    }

    #[test]
    fn mailings_on_hold_are_not_sent_and_do_not_block_new_ones() {
        let app = TestApp::new();
        let many = u16::try_from(2 * limits::MAILINGS_SCANNED_MAX).expect("the number is small");
        let new = move |number| Mailing { hold_number: 1, ..mailing(1, number, State::Sending) };
        write(&app, move |tx| {
            for number in 0..many {
                let old = mailing(1, number, State::Sending);
                enqueue(tx, &old);
                recipients::save(tx, &old)?;
                put_retry(tx, &old, START, 0)?;
            }
            for number in [many, many + 1] {
                recipients::save(tx, &new(number))?;
                enqueue(tx, &new(number));
                put_retry(tx, &new(number), START.plus_ms(1), 0)?;
            }
            Ok(())
        });
        let tx = app.read();
        let hold = OnHold { since: START, number: 1, cause: Cause::Copied { sign: String::new() } };
        let held = held(&tx, &hold).expect("the store can be read");
        let later = START.plus_ms(1);
        let due = |held: &Held| due(&tx, (GROUPS, None), later, later, held, |_| false).expect("the store can be read").mailings;
        let found = |held: &Held| ready(&tx, GROUPS, held, limits::MAILINGS_SCANNED_MAX).expect("the store can be read");
        let expected = [new(many).id, new(many + 1).id];
        assert_eq!((held.len(), due(&held), found(&held)), (usize::from(many), expected.to_vec(), expected.to_vec()));
        // After the hold, the oldest mailings come first.
        assert!(!due(&Held::new()).contains(&expected[0]) && !found(&Held::new()).contains(&expected[0]));
    }

    #[test]
    fn a_mailings_turn_is_its_first_retry() {
        let app = TestApp::new();
        write(&app, |tx| {
            let sending = mailing(1, 1, State::Sending);
            for (at, number) in [(30, 3), (10, 1), (10, 2), (20, 4)] {
                put_retry(tx, &sending, START.plus_ms(at), number)?;
            }
            for (gone, at, number, turn) in [(1, 10, 1, Some(10)), (2, 10, 2, Some(20)), (3, 30, 3, Some(20)), (4, 20, 4, None)] {
                drop_retry(tx, &sending, START.plus_ms(at), number)?;
                assert_eq!(store::turn(tx, sending.id)?, turn.map(|turn| START.plus_ms(turn)), "after {gone}");
            }
            assert!(is_empty(tx)?);
            Ok(())
        });
    }
}
