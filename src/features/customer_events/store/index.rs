//! The indexes of customer events: by contact, and by deduplication key (`dedupeKey`).
//!
//! The rows of these indexes are at random positions in large tables. If each request wrote them directly, the store would have to copy a
//! page many times larger than the row for nearly every row. A request therefore appends its index entries by contact as one row (a pending
//! batch) and, if it has many keys, its sorted keys as another row (a run). A worker moves the rows of many requests into the indexes
//! together, so that one page copy serves many rows. Readers combine the indexes with the pending rows.
//!
//! Invariants: an event's entry is never both pending and in the indexes. The backlog has a maximum size; when it is full, requests write
//! to the indexes directly.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use super::external_ids::{self, Digest};
use crate::base::clock::Timestamp;
use crate::base::period::Period;
use crate::engine::store::key::Key;
use crate::engine::store::sorted_run::lower_bound;
use crate::engine::store::{Order, Read, Record, Result, RowCheck, Span, Table, WriteTx};
use crate::vocab::ids::{EventId, ProjectId};
use crate::vocab::{limits, tables};

const BY_CONTACT: Table<(ProjectId, u32, Timestamp, EventId), u32> = Table::new(tables::CUSTOMER_EVENTS_BY_CONTACT);
const KEYS: Table<(ProjectId, Digest), UsedKey> = Table::new(tables::CUSTOMER_EVENT_KEYS);
/// The pending batches, keyed by the number of the request's first event.
const BACKLOG: Table<(ProjectId, u64), PendingBatch> = Table::new(tables::CUSTOMER_EVENT_BACKLOG);
/// The runs, keyed by the number of the request's first event. A run is the concatenation of sorted entries, each of which is the hash of a
/// key and the ID of the event that used it.
const RUNS: Table<(ProjectId, u64), Vec<u8>> = Table::new(tables::CUSTOMER_EVENT_KEY_RUNS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(BY_CONTACT), RowCheck::of(KEYS), RowCheck::of(BACKLOG), RowCheck::of(RUNS)];

/// The size in bytes of one run entry: a hash and an ID.
const RUN_ENTRY: usize = 28;

/// The ID of the event that used a `dedupeKey`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct UsedKey {
    event: EventId,
}

impl Record for UsedKey {}

/// An index entry for a contact's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The number of the event's contact.
    pub contact: u32,
    pub occurred_at: Timestamp,
    pub event: EventId,
    /// The number of the event's name.
    pub name: u32,
    /// An order that this event assigns to the contact.
    pub order: Option<Digest>,
}

/// The entries of one request that have not been merged into the index by contact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PendingBatch(Vec<Entry>);

impl Record for PendingBatch {}

/// The position of an event in the list of its contact's events.
pub type Place = (Timestamp, EventId);

/// Adds the events of one request and the keys that they use. `first` is the number of the first event.
pub fn add(
    tx: &mut WriteTx<'_>,
    (project, first): (ProjectId, u64),
    entries: Vec<Entry>,
    mut keys: Vec<(Digest, EventId)>,
) -> Result<()> {
    let oldest = oldest_pending(tx, project)?.unwrap_or(first);
    let is_full = first.saturating_sub(oldest) >= limits::EVENTS_WAITING_MAX;
    if is_full || keys.len() < limits::EVENT_KEY_RUN_MIN {
        for (digest, event) in &keys {
            tx.put(KEYS, &(project, *digest), &UsedKey { event: *event });
        }
    } else {
        keys.sort_unstable();
        let mut run = Vec::with_capacity(keys.len() * RUN_ENTRY);
        for (digest, event) in &keys {
            run.extend_from_slice(digest);
            run.extend_from_slice(&event.0);
        }
        tx.put(RUNS, &(project, first), &run);
    }
    if is_full {
        entries.iter().for_each(|entry| put(tx, project, entry));
    } else {
        tx.put(BACKLOG, &(project, first), &PendingBatch(entries));
    }
    Ok(())
}

fn put(tx: &mut WriteTx<'_>, project: ProjectId, entry: &Entry) {
    let Entry { contact, occurred_at, event, name, order } = *entry;
    tx.put(BY_CONTACT, &(project, contact, occurred_at, event), &name);
    if let Some(order) = order {
        external_ids::note_order(tx, project, order, contact);
    }
}

fn oldest_pending(tx: &impl Read, project: ProjectId) -> Result<Option<u64>> {
    let mut oldest = None;
    tx.visit_bytes(BACKLOG.id, &BACKLOG.under(&(project,)), Order::Forward, &mut |mut key, _| {
        oldest = <(ProjectId, u64)>::read(&mut key).map(|(_, first)| first);
        Ok(ControlFlow::Break(()))
    })?;
    Ok(oldest)
}

/// Returns the events that used these keys. `digests` must be sorted, because each run is searched only forward.
pub fn used(tx: &impl Read, project: ProjectId, digests: &[Digest]) -> Result<Vec<Option<EventId>>> {
    let mut found = Vec::with_capacity(digests.len());
    for digest in digests {
        found.push(tx.get(KEYS, &(project, *digest))?.map(|used| used.event));
    }
    tx.visit_bytes(RUNS.id, &RUNS.under(&(project,)), Order::Forward, &mut |_, run| {
        let mut rest = run;
        for (digest, event) in digests.iter().zip(&mut found) {
            rest = &rest[lower_bound::<RUN_ENTRY>(rest, digest) * RUN_ENTRY..];
            if event.is_none() && rest.starts_with(digest) {
                *event = Some(run_entry(rest).1);
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

fn run_entry(bytes: &[u8]) -> (Digest, EventId) {
    let (digest, event) = bytes[..RUN_ENTRY].split_at(16);
    let event = EventId::from_bytes(event.try_into().expect("twelve bytes are left"));
    (digest.try_into().expect("sixteen bytes were taken"), event)
}

/// Releases the key of a deleted event whose key has already been merged into the index.
pub fn release(tx: &mut WriteTx<'_>, project: ProjectId, digest: Digest) {
    tx.delete(KEYS, &(project, digest));
}

/// Calls `each` for every pending entry in a project.
fn visit_pending(tx: &impl Read, project: ProjectId, mut each: impl FnMut(&Entry)) -> Result<()> {
    tx.visit(BACKLOG, &BACKLOG.under(&(project,)), Order::Forward, |_, PendingBatch(entries)| {
        entries.iter().for_each(&mut each);
        Ok(ControlFlow::Continue(()))
    })
}

/// Returns up to `limit` events of a contact before the given position, newest first by time of occurrence.
pub fn of(tx: &impl Read, project: ProjectId, contact: u32, before: Option<Place>, limit: usize) -> Result<Vec<Place>> {
    let mut span = BY_CONTACT.under(&(project, contact));
    if let Some((at, event)) = before {
        span.to = Some((project, contact, at, event).to_bytes());
    }
    let rows = tx.list(BY_CONTACT, &span, Order::Backward, limit)?;
    let mut places: Vec<Place> = rows.into_iter().map(|((_, _, at, event), _)| (at, event)).collect();
    visit_pending(tx, project, |entry| {
        let place = (entry.occurred_at, entry.event);
        if entry.contact == contact && before.is_none_or(|before| place < before) {
            places.push(place);
        }
    })?;
    places.sort_unstable_by(|left, right| right.cmp(left));
    places.truncate(limit);
    Ok(places)
}

/// Returns whether the index contains an event of this contact with this name in a period. Ignores pending events.
pub fn has(tx: &impl Read, project: ProjectId, contact: u32, name: u32, period: Period) -> Result<bool> {
    let place = |at: Timestamp| (project, contact, Timestamp(at.0.max(0))).to_bytes();
    let span = Span { from: place(period.from), to: Some(place(period.to)) };
    let mut found = false;
    tx.visit(BY_CONTACT, &span, Order::Forward, |_, of: u32| {
        found = of == name;
        Ok(if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(found)
}

/// Returns the contacts that have a pending event with this name in a period.
pub fn pending_contacts(tx: &impl Read, project: ProjectId, name: u32, period: Period) -> Result<RoaringBitmap> {
    let mut who = RoaringBitmap::new();
    visit_pending(tx, project, |entry| {
        if entry.name == name && period.contains(entry.occurred_at) {
            who.insert(entry.contact);
        }
    })?;
    Ok(who)
}

/// Returns the hashes of the orders that pending events assign to a contact.
pub fn pending_orders(tx: &impl Read, project: ProjectId, contact: u32) -> Result<BTreeSet<Digest>> {
    let mut orders = BTreeSet::new();
    visit_pending(tx, project, |entry| orders.extend(entry.order.filter(|_| entry.contact == contact)))?;
    Ok(orders)
}

/// Returns whether any entry or key in any project is waiting to be merged into the indexes.
pub fn is_behind(tx: &impl Read) -> Result<bool> {
    let mut pending = false;
    for table in [BACKLOG.id, RUNS.id] {
        tx.visit_bytes(table, &Span::default(), Order::Forward, &mut |_, _| {
            pending = true;
            Ok(ControlFlow::Break(()))
        })?;
    }
    Ok(pending)
}

/// Merges the pending entries of about `limit` events, oldest first, into the indexes; returns whether more may be pending.
pub fn merge_backlog(tx: &mut WriteTx<'_>, limit: usize) -> Result<bool> {
    let (mut batches, mut events) = (Vec::new(), 0);
    tx.visit(BACKLOG, &Span::default(), Order::Forward, |key, PendingBatch(entries)| {
        events += entries.len();
        batches.push((key, entries));
        Ok(if events < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    for (key, entries) in &batches {
        entries.iter().for_each(|entry| put(tx, key.0, entry));
        tx.delete(BACKLOG, key);
    }
    let (mut runs, mut keys) = (Vec::new(), 0);
    tx.visit(RUNS, &Span::default(), Order::Forward, |key, run| {
        keys += run.len() / RUN_ENTRY;
        runs.push((key, run));
        Ok(if keys < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    for (key, run) in &runs {
        for (digest, event) in run.chunks_exact(RUN_ENTRY).map(run_entry) {
            tx.put(KEYS, &(key.0, digest), &UsedKey { event });
        }
        tx.delete(RUNS, key);
    }
    Ok(events >= limit || keys >= limit)
}

/// Merges the pending entries of some contacts in a project. Must be called before the index rows of these contacts are changed.
pub fn merge_backlog_of(tx: &mut WriteTx<'_>, project: ProjectId, contacts: &RoaringBitmap) -> Result<()> {
    let mut batches = Vec::new();
    tx.visit(BACKLOG, &BACKLOG.under(&(project,)), Order::Forward, |key, PendingBatch(entries)| {
        if entries.iter().any(|entry| contacts.contains(entry.contact)) {
            batches.push((key, entries));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    for (key, entries) in batches {
        let (theirs, others): (Vec<Entry>, Vec<Entry>) = entries.into_iter().partition(|entry| contacts.contains(entry.contact));
        theirs.iter().for_each(|entry| put(tx, project, entry));
        if others.is_empty() { tx.delete(BACKLOG, &key) } else { tx.put(BACKLOG, &key, &PendingBatch(others)) }
    }
    Ok(())
}

/// Returns the positions of up to `limit` of a contact's events from the index by contact. The contact's pending entries must have been
/// merged before.
pub fn rows_of(tx: &impl Read, project: ProjectId, contact: u32, limit: usize) -> Result<Vec<Place>> {
    let rows = tx.list(BY_CONTACT, &BY_CONTACT.under(&(project, contact)), Order::Forward, limit)?;
    Ok(rows.into_iter().map(|((_, _, at, event), _)| (at, event)).collect())
}

/// Removes an event from the index by contact.
pub fn remove(tx: &mut WriteTx<'_>, project: ProjectId, contact: u32, (at, event): Place) {
    tx.delete(BY_CONTACT, &(project, contact, at, event));
}
