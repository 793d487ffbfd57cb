//! The tables of webhooks, and all access to them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::ControlFlow;

use super::Upkeep;
use super::model::{
    AttemptOutcome, Breaker, Day, Delivery, DeliveryStatus, End, EndpointState, Redelivery, Webhook, first_delivery,
};
use super::signature::Signer;
use crate::base::clock::Timestamp;
use crate::base::day;
use crate::engine::outbox;
use crate::engine::store::key::{Key, after_prefix};
use crate::engine::store::seal::{Seal, SecretCount};
use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, DeliveryId, EventId, WebhookId};
use crate::vocab::limits;
use crate::vocab::tables;

/// The account of a webhook, and the webhook's ID.
pub type WebhookKey = (AccountId, WebhookId);
/// The key of a row in `DUE`: the delivery to process, and when to process it.
pub type Due = (AccountId, WebhookId, Timestamp, DeliveryId);

const WEBHOOKS: Table<WebhookKey, Webhook> = Table::new(tables::WEBHOOKS);
const STATES: Table<WebhookKey, EndpointState> = Table::new(tables::WEBHOOK_STANDINGS);
const DELIVERIES: Table<(WebhookId, DeliveryId), Delivery> = Table::new(tables::WEBHOOK_DELIVERIES);
/// The deliveries to process, by time. Invariant: a pending delivery has exactly one row in this table, under the time at which it is
/// due.
const DUE: Table<Due, ()> = Table::new(tables::WEBHOOK_DUE);
const REMOVALS: Table<WebhookKey, ()> = Table::new(tables::WEBHOOK_REMOVALS);
const REDELIVERIES: Table<(u8, AccountId, WebhookId), Redelivery> = Table::new(tables::WEBHOOK_REDELIVERIES);
const DAYS: Table<(AccountId, u32), Day> = Table::new(tables::WEBHOOK_DAYS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[
    RowCheck::of(WEBHOOKS),
    RowCheck::of(STATES),
    RowCheck::of(DELIVERIES),
    RowCheck::of(DUE),
    RowCheck::of(REMOVALS),
    RowCheck::of(REDELIVERIES),
    RowCheck::of(DAYS),
];

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// The note of a delivery that waited longer than events are kept.
pub const FORGOTTEN: &str = "The event is no longer stored.";
/// The value in the keys of [`REDELIVERIES`] that marks active redeliveries.
const UNDER_WAY: u8 = 0;
const COMPLETED: u8 = 1;

pub fn find(tx: &impl Read, account: AccountId, id: WebhookId) -> Result<Option<Webhook>> {
    tx.get(WEBHOOKS, &(account, id))
}

/// Returns every webhook of the account, oldest first.
pub fn all(tx: &impl Read, account: AccountId) -> Result<Vec<Webhook>> {
    let rows = tx.list(WEBHOOKS, &WEBHOOKS.under(&(account,)), Order::Forward, limits::WEBHOOKS_MAX)?;
    Ok(rows.into_iter().map(|(_, webhook)| webhook).collect())
}

/// Counts the secrets of all webhooks, and the secrets that cannot be decrypted with the master key in `seal`.
pub fn sealed(tx: &impl Read, seal: &Seal) -> Result<SecretCount> {
    let mut all = SecretCount::default();
    tx.visit(WEBHOOKS, &Span::default(), Order::Forward, |(account, id), webhook| {
        all = all.with(SecretCount::one(Signer::open(seal, account, id, &webhook.sealed_secret).is_some()));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(all)
}

/// Stores a webhook; `before` is its previous state.
pub fn save(tx: &mut WriteTx<'_>, before: Option<&Webhook>, webhook: &Webhook) -> Result<()> {
    if let Some(before) = before {
        add_interest(tx, before, -1)?;
    }
    add_interest(tx, webhook, 1)?;
    tx.put(WEBHOOKS, &(webhook.account, webhook.id), webhook);
    Ok(())
}

/// Deletes a webhook. Its other rows are deleted later in steps: see [`clear`].
pub fn delete(tx: &mut WriteTx<'_>, webhook: &Webhook) -> Result<()> {
    add_interest(tx, webhook, -1)?;
    let key = (webhook.account, webhook.id);
    tx.delete(WEBHOOKS, &key);
    tx.delete(STATES, &key);
    for state in [UNDER_WAY, COMPLETED] {
        tx.delete(REDELIVERIES, &(state, webhook.account, webhook.id));
    }
    tx.put(REMOVALS, &key, &());
    Ok(())
}

fn add_interest(tx: &mut WriteTx<'_>, webhook: &Webhook, delta: i64) -> Result<()> {
    for kind in webhook.interests() {
        outbox::add_interest(tx, webhook.account, kind, webhook.active, delta)?;
    }
    Ok(())
}

/// Deletes up to `limit` rows per table of one deleted webhook. Returns true if there may be more.
pub fn clear(tx: &mut WriteTx<'_>, limit: usize) -> Result<bool> {
    let Some(((account, id), ())) = tx.list(REMOVALS, &Span::default(), Order::Forward, 1)?.pop() else { return Ok(false) };
    let due = tx.delete_span(DUE, &DUE.under(&(account, id)), limit)?;
    let deliveries = tx.delete_span(DELIVERIES, &DELIVERIES.under(&(id,)), limit)?;
    if due < limit && deliveries < limit {
        // Attempts that ended after the deletion may have stored the webhook's state again.
        tx.delete(STATES, &(account, id));
        tx.delete(REMOVALS, &(account, id));
    }
    Ok(true)
}

/// Returns whether rows of deleted webhooks still exist.
pub fn is_untidy(tx: &impl Read) -> Result<bool> {
    Ok(!tx.list(REMOVALS, &Span::default(), Order::Forward, 1)?.is_empty())
}

pub fn state(tx: &impl Read, (account, id): WebhookKey) -> Result<EndpointState> {
    Ok(tx.get(STATES, &(account, id))?.unwrap_or_default())
}

/// Resets an endpoint's pauses and failures.
pub fn forgive(tx: &mut WriteTx<'_>, key: WebhookKey) -> Result<()> {
    let mut state = state(tx, key)?;
    state.health = Default::default();
    tx.put(STATES, &key, &state);
    Ok(())
}

pub fn delivery(tx: &impl Read, webhook: WebhookId, id: DeliveryId) -> Result<Option<Delivery>> {
    tx.get(DELIVERIES, &(webhook, id))
}

/// Returns a webhook's deliveries, newest first, after skipping `offset` deliveries. If a status is given, searches only the newest
/// [`limits::WEBHOOK_DELIVERIES_SCANNED_MAX`] deliveries.
pub fn deliveries(
    tx: &impl Read,
    webhook: WebhookId,
    status: Option<DeliveryStatus>,
    offset: usize,
    limit: usize,
) -> Result<Vec<Delivery>> {
    let whole = DELIVERIES.under(&(webhook,));
    let Some(status) = status else {
        let Some(span) = after_skipping(tx, whole, offset)? else { return Ok(Vec::new()) };
        return Ok(tx.list(DELIVERIES, &span, Order::Backward, limit)?.into_iter().map(|(_, delivery)| delivery).collect());
    };
    let (mut found, mut skipped, mut scanned) = (Vec::new(), 0, 0);
    tx.visit(DELIVERIES, &whole, Order::Backward, |_, delivery| {
        scanned += 1;
        if delivery.status == status {
            if skipped < offset {
                skipped += 1;
            } else {
                found.push(delivery);
            }
        }
        let enough = found.len() >= limit || scanned >= limits::WEBHOOK_DELIVERIES_SCANNED_MAX;
        Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(found)
}

/// Returns the span without its last `count` rows, or `None` if no rows remain. Skips rows without decoding them, so that the last page of
/// a long list is also fast.
fn after_skipping(tx: &impl Read, span: Span, count: usize) -> Result<Option<Span>> {
    if count == 0 {
        return Ok(Some(span));
    }
    let (mut skipped, mut last) = (0, None);
    tx.visit_bytes(DELIVERIES.id, &span, Order::Backward, &mut |key, _| {
        skipped += 1;
        if skipped < count {
            return Ok(ControlFlow::Continue(()));
        }
        last = Some(key.to_vec());
        Ok(ControlFlow::Break(()))
    })?;
    // The end of a span is exclusive, so the span ends before the row `last`, which is the last one to skip.
    Ok(last.map(|last| Span { to: Some(last), ..span }))
}

/// Returns all deliveries of an event to a webhook: the first delivery, then the redeliveries, newest first.
pub fn deliveries_of(tx: &impl Read, webhook: WebhookId, event: EventId) -> Result<Vec<Delivery>> {
    let Some(first) = delivery(tx, webhook, first_delivery(webhook, event))? else { return Ok(Vec::new()) };
    let mut next = first.linked;
    let mut all = vec![first];
    while let Some(id) = next.filter(|_| all.len() <= limits::WEBHOOK_REPEATS_MAX) {
        let Some(repeat) = delivery(tx, webhook, id)? else { break };
        next = repeat.linked;
        all.push(repeat);
    }
    Ok(all)
}

/// Returns up to `limit` endpoints after `after` that have pending deliveries, with their earliest due times.
pub fn lanes(tx: &impl Read, after: Option<WebhookKey>, limit: usize) -> Result<Vec<(WebhookKey, Timestamp)>> {
    let mut lanes = Vec::new();
    let mut from = after.and_then(|after| after_prefix(&after.to_bytes())).unwrap_or_default();
    while lanes.len() < limit {
        let first = tx.list(DUE, &Span { from, to: None }, Order::Forward, 1)?.pop();
        let Some(((account, webhook, at, _), ())) = first else { break };
        lanes.push(((account, webhook), at));
        match after_prefix(&(account, webhook).to_bytes()) {
            Some(next) => from = next,
            None => break,
        }
    }
    Ok(lanes)
}

/// Returns up to `limit` rows of one endpoint whose due times are within `from..=to`.
pub fn due(tx: &impl Read, (account, webhook): WebhookKey, (from, to): (Timestamp, Timestamp), limit: usize) -> Result<Vec<Due>> {
    let span = Span { from: (account, webhook, from).to_bytes(), to: Some((account, webhook, to.plus_ms(1)).to_bytes()) };
    Ok(tx.list(DUE, &span, Order::Forward, limit)?.into_iter().map(|(due, ())| due).collect())
}

/// Removes a row whose delivery was deleted, is no longer pending or is due at a different time.
pub fn not_due(tx: &mut WriteTx<'_>, due: &Due) {
    tx.delete(DUE, due);
}

/// Deletes deliveries that ended longer ago than the retention period, ends deliveries whose event is no longer stored, and reschedules
/// deliveries whose due time was stored while the clock was wrong. Processes at most `limit` deliveries in total. Returns true if there may
/// be more. A pending delivery ends before it can be deleted, so that users can see the result.
pub fn sweep(tx: &mut WriteTx<'_>, upkeep: Upkeep, limit: usize) -> Result<bool> {
    let mut webhooks: Vec<WebhookKey> = Vec::new();
    tx.visit(WEBHOOKS, &Span::default(), Order::Forward, |key, _| {
        webhooks.push(key);
        Ok(ControlFlow::Continue(()))
    })?;
    let mut done = 0;
    let mut writer = DeliveryWriter::open(tx);
    for key in webhooks {
        done += writer.end_overdue(key, limit - done)?;
        done += writer.reschedule_distant(key, upkeep.due_within_ms, limit - done)?;
        done += writer.forget_old(key.1, upkeep.kept_ms, limit - done)?;
        if done == limit {
            break;
        }
    }
    writer.close();
    Ok(done == limit)
}

/// Returns a webhook's active redelivery or, if there is none, its last redelivery.
pub fn redelivery(tx: &impl Read, (account, webhook): WebhookKey) -> Result<Option<Redelivery>> {
    match tx.get(REDELIVERIES, &(UNDER_WAY, account, webhook))? {
        Some(under_way) => Ok(Some(under_way)),
        None => tx.get(REDELIVERIES, &(COMPLETED, account, webhook)),
    }
}

/// Returns the first active redelivery after `after`.
pub fn next_redelivery(tx: &impl Read, after: Option<WebhookKey>) -> Result<Option<(WebhookKey, Redelivery)>> {
    let whole = REDELIVERIES.under(&(UNDER_WAY,));
    let from = after.and_then(|(account, webhook)| after_prefix(&(UNDER_WAY, account, webhook).to_bytes())).unwrap_or(whole.from);
    let row = tx.list(REDELIVERIES, &Span { from, to: whole.to }, Order::Forward, 1)?.pop();
    Ok(row.map(|((_, account, webhook), redelivery)| ((account, webhook), redelivery)))
}

pub fn save_redelivery(tx: &mut WriteTx<'_>, (account, webhook): WebhookKey, redelivery: &Redelivery) {
    let (state, other) = if redelivery.completed_at.is_some() { (COMPLETED, UNDER_WAY) } else { (UNDER_WAY, COMPLETED) };
    tx.delete(REDELIVERIES, &(other, account, webhook));
    tx.put(REDELIVERIES, &(state, account, webhook), redelivery);
}

/// Returns the statistics of the last `count` days up to `now`, excluding days on which no delivery or attempt ended.
pub fn days(tx: &impl Read, account: AccountId, now: Timestamp, count: u32) -> Result<Vec<(Timestamp, Day)>> {
    let today = day::of(now);
    let span = Span { from: (account, today.saturating_sub(count - 1)).to_bytes(), to: Some((account, today + 1).to_bytes()) };
    let rows = tx.list(DAYS, &span, Order::Forward, count as usize)?;
    Ok(rows.into_iter().map(|((_, day), counts)| (Timestamp(i64::from(day) * DAY_MS), counts)).collect())
}

/// Writes deliveries, with their index rows and counts. Each count is written once per transaction.
pub struct DeliveryWriter<'b, 't> {
    pub tx: &'b mut WriteTx<'t>,
    states: BTreeMap<WebhookKey, EndpointState>,
    days: BTreeMap<(AccountId, u32), Day>,
    made: u64,
}

impl<'b, 't> DeliveryWriter<'b, 't> {
    pub fn open(tx: &'b mut WriteTx<'t>) -> Self {
        Self { tx, states: BTreeMap::new(), days: BTreeMap::new(), made: 0 }
    }

    /// Returns a webhook's counters, which the caller may change; [`DeliveryWriter::close`] writes them.
    pub fn state(&mut self, key: WebhookKey) -> Result<&mut EndpointState> {
        Ok(match self.states.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(state(self.tx, key)?),
        })
    }

    pub fn made(&self) -> u64 {
        self.made
    }

    /// Stores a delivery; `before` is its previous state.
    pub fn put(&mut self, before: Option<&Delivery>, delivery: &Delivery) -> Result<()> {
        let due = |delivery: &Delivery| delivery.due_at.map(|at| (delivery.account, delivery.webhook, at, delivery.id));
        let (old, new) = (before.and_then(due), due(delivery));
        if old != new {
            if let Some(old) = old {
                self.tx.delete(DUE, &old);
            }
            if let Some(new) = new {
                self.tx.put(DUE, &new, &());
            }
        }
        self.tx.put(DELIVERIES, &(delivery.webhook, delivery.id), delivery);
        self.made += u64::from(before.is_none());
        let (was, is) = (before.map(|before| before.status), delivery.status);
        if was == Some(is) {
            return Ok(());
        }
        let key = (delivery.account, delivery.webhook);
        let state = self.state(key)?;
        state.kept[is as usize] += 1;
        if let Some(was) = was {
            state.kept[was as usize] = state.kept[was as usize].saturating_sub(1);
        }
        match is {
            DeliveryStatus::Success => state.successes += 1,
            DeliveryStatus::Failed => state.failures += 1,
            DeliveryStatus::Pending | DeliveryStatus::Cancelled => return Ok(()),
        }
        let day = self.day(delivery.account)?;
        match is {
            DeliveryStatus::Success => day.successes += 1,
            _ => day.failures += 1,
        }
        Ok(())
    }

    fn day(&mut self, account: AccountId) -> Result<&mut Day> {
        let key = (account, day::of(self.tx.now()));
        Ok(match self.days.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let known = self.tx.get(DAYS, &key)?;
                if known.is_none() {
                    // This is the day's first row for the account, so also delete the account's rows that are too old for the statistics.
                    let first_told = key.1.saturating_sub(limits::WEBHOOK_STATS_DAYS - 1);
                    let span = Span { to: Some((key.0, first_told).to_bytes()), ..DAYS.under(&(key.0,)) };
                    self.tx.delete_span(DAYS, &span, limits::SWEEP_ROWS)?;
                }
                new.insert(known.unwrap_or_default())
            }
        })
    }

    /// Adds an ended attempt to the webhook's counters, its endpoint's health and the day's statistics.
    pub fn add_attempt(&mut self, key: WebhookKey, end: &End, verdict: AttemptOutcome, breaker: &Breaker) -> Result<()> {
        let state = self.state(key)?;
        state.attempts += 1;
        state.last_triggered_at = state.last_triggered_at.max(Some(end.at));
        if end.status_code.is_some() {
            state.answers += 1;
            state.answer_ms += u64::from(end.duration_ms);
        }
        state.health.note(verdict, breaker, end.at);
        self.day(key.0)?.attempts += 1;
        Ok(())
    }

    /// Ends up to `limit` deliveries that have been due for longer than events are kept, for example because their endpoint was
    /// paused for days.
    fn end_overdue(&mut self, key: WebhookKey, limit: usize) -> Result<usize> {
        let now = self.tx.now();
        // Events are deleted by the time in their IDs, which has a precision of one second, so an event can be stored for up to a second
        // longer.
        let overdue = due(self.tx, key, (Timestamp(0), now.plus_ms(-limits::OUTBOX_KEPT_MS - 1_000)), limit)?;
        for row in &overdue {
            match delivery(self.tx, key.1, row.3)?.filter(|delivery| delivery.due_at == Some(row.2)) {
                Some(before) => {
                    let mut delivery = before.clone();
                    delivery.stop(DeliveryStatus::Failed, FORGOTTEN, now);
                    self.put(Some(&before), &delivery)?;
                }
                None => not_due(self.tx, row),
            }
        }
        Ok(overdue.len())
    }

    /// Makes up to `limit` deliveries due immediately if their due times are later than any pause allows. Such times were stored while the
    /// clock was wrong.
    fn reschedule_distant(&mut self, (account, webhook): WebhookKey, due_within_ms: i64, limit: usize) -> Result<usize> {
        let now = self.tx.now();
        let from = (account, webhook, now.plus_ms(due_within_ms)).to_bytes();
        let far = self.tx.list(DUE, &Span { from, ..DUE.under(&(account, webhook)) }, Order::Forward, limit)?;
        for (row, ()) in &far {
            match delivery(self.tx, webhook, row.3)?.filter(|delivery| delivery.due_at == Some(row.2)) {
                Some(before) => self.put(Some(&before), &Delivery { due_at: Some(now), ..before.clone() })?,
                None => not_due(self.tx, row),
            }
        }
        Ok(far.len())
    }

    /// Deletes up to `limit` deliveries that ended longer ago than the retention period. Reads at most `limit` rows.
    fn forget_old(&mut self, webhook: WebhookId, kept_ms: i64, limit: usize) -> Result<usize> {
        let oldest_kept = self.tx.now().plus_ms(-kept_ms);
        // A delivery's ID starts with a time in seconds: the time of the event or, for a redelivery, of the delivery's creation. This time
        // is never later than the delivery's creation.
        let span = Span { to: Some((webhook, DeliveryId::first_of(oldest_kept)).to_bytes()), ..DELIVERIES.under(&(webhook,)) };
        let rows = self.tx.list(DELIVERIES, &span, Order::Forward, limit)?;
        let mut forgotten = 0;
        for (_, delivery) in rows {
            // An old ID is not sufficient: a delivery that waited for a long time, or that was recently created for an old event, also has
            // an old ID.
            if delivery.ended_at.is_some_and(|at| at < oldest_kept) {
                self.forget(&delivery)?;
                forgotten += 1;
            }
        }
        Ok(forgotten)
    }

    fn forget(&mut self, delivery: &Delivery) -> Result<()> {
        self.tx.delete(DELIVERIES, &(delivery.webhook, delivery.id));
        let state = self.state((delivery.account, delivery.webhook))?;
        let kept = &mut state.kept[delivery.status as usize];
        *kept = kept.saturating_sub(1);
        Ok(())
    }

    /// Writes the counts to the store.
    pub fn close(self) {
        let Self { tx, states, days, .. } = self;
        for (key, state) in &states {
            tx.put(STATES, key, state);
        }
        for (key, day) in &days {
            tx.put(DAYS, key, day);
        }
    }
}
