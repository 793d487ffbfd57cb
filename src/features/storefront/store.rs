//! The tables of connected stores, and all access to them.

use std::ops::ControlFlow;

use super::keys::open;
use super::model::{CustomerTimes, DataRequest, Store, Sync, SyncStage, WaitingEvent};
use crate::base::clock::Timestamp;
use crate::base::secret::sha256;
use crate::engine::store::seal::{Seal, SecretCount};
use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, StoreId};
use crate::vocab::{limits, tables};

/// Half of a SHA-256 digest. 128 bits are enough to avoid collisions.
type Digest = [u8; 16];
pub type StoreKey = (AccountId, StoreId);

const STORES: Table<StoreKey, Store> = Table::new(tables::STORES);
const SYNCS: Table<StoreKey, Sync> = Table::new(tables::STORE_SYNCS);
const QUEUE: Table<(Timestamp, AccountId, StoreId), ()> = Table::new(tables::STORE_SYNC_QUEUE);
const DELIVERIES: Table<(StoreId, Digest), ()> = Table::new(tables::STORE_DELIVERIES);
const DELIVERY_ORDER: Table<(StoreId, Timestamp, Digest), ()> = Table::new(tables::STORE_DELIVERY_ORDER);
const WAITING: Table<(StoreId, Digest, Digest), WaitingEvent> = Table::new(tables::STORE_WAITING_EVENTS);
const DATA_REQUESTS: Table<(StoreId, Digest), DataRequest> = Table::new(tables::STORE_DATA_REQUESTS);
const CONTACTS: Table<(StoreId, u32), ()> = Table::new(tables::STORE_CONTACTS);
const CUSTOMERS: Table<(StoreId, Digest), CustomerTimes> = Table::new(tables::STORE_CUSTOMERS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[
    RowCheck::of(STORES),
    RowCheck::of(SYNCS),
    RowCheck::of(QUEUE),
    RowCheck::of(DELIVERIES),
    RowCheck::of(DELIVERY_ORDER),
    RowCheck::of(WAITING),
    RowCheck::of(DATA_REQUESTS),
    RowCheck::of(CONTACTS),
    RowCheck::of(CUSTOMERS),
];

fn digest(text: &str) -> Digest {
    *sha256(text.as_bytes()).first_chunk().expect("a SHA-256 digest has 32 bytes")
}

pub fn find(tx: &impl Read, account: AccountId, id: StoreId) -> Result<Option<Store>> {
    tx.get(STORES, &(account, id))
}

/// Returns the connected stores of the account, oldest first.
pub fn all(tx: &impl Read, account: AccountId) -> Result<Vec<Store>> {
    Ok(with_disconnected(tx, account)?.into_iter().filter(|store| store.disconnected_at.is_none()).collect())
}

/// Returns the stores of the account, oldest first, including disconnected ones whose platform can still send privacy requests.
pub fn with_disconnected(tx: &impl Read, account: AccountId) -> Result<Vec<Store>> {
    let max = limits::STORES_MAX + limits::STORES_DISCONNECTED_MAX;
    let rows = tx.list(STORES, &STORES.under(&(account,)), Order::Forward, max)?;
    Ok(rows.into_iter().map(|(_, store)| store).collect())
}

/// Returns all stores with this address, in any account, including disconnected stores.
pub fn at(tx: &impl Read, address: &str) -> Result<Vec<Store>> {
    let mut found = Vec::new();
    tx.visit(STORES, &Span::default(), Order::Forward, |_, store| {
        found.extend(Some(store).filter(|known| known.address == address));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

pub fn save(tx: &mut WriteTx<'_>, store: &Store) {
    tx.put(STORES, &(store.account, store.id), store);
}

pub fn sync(tx: &impl Read, key: StoreKey) -> Result<Option<Sync>> {
    tx.get(SYNCS, &key)
}

/// Stores the progress of a store's imports, and queues the next step for its due time.
pub fn save_sync(tx: &mut WriteTx<'_>, key: StoreKey, sync: &Sync) -> Result<()> {
    if let Some(before) = tx.get(SYNCS, &key)?
        && before.due_at != sync.due_at
    {
        tx.delete(QUEUE, &(before.due_at, key.0, key.1));
    }
    tx.put(SYNCS, &key, sync);
    let place = (sync.due_at, key.0, key.1);
    if !tx.has(QUEUE, &place)? {
        tx.put(QUEUE, &place, &());
    }
    Ok(())
}

/// Returns up to `limit` stores whose next step is due, earliest first.
pub fn due(tx: &impl Read, now: Timestamp, limit: usize) -> Result<Vec<StoreKey>> {
    due_where(tx, now, limit, |_| true)
}

/// Returns up to `limit` stores that are being erased and whose next step is due. Erasing a store sends no requests, so it continues while
/// sending is on hold.
pub fn erasing(tx: &impl Read, now: Timestamp, limit: usize) -> Result<Vec<StoreKey>> {
    due_where(tx, now, limit, |sync| sync.stage == SyncStage::Erasing)
}

fn due_where(tx: &impl Read, now: Timestamp, limit: usize, is_wanted: impl Fn(&Sync) -> bool) -> Result<Vec<StoreKey>> {
    let mut due = Vec::new();
    tx.visit(QUEUE, &Span::default(), Order::Forward, |(due_at, account, id), ()| {
        if due_at > now || due.len() == limit {
            return Ok(ControlFlow::Break(()));
        }
        let key = (account, id);
        due.extend(sync(tx, key)?.is_some_and(|sync| is_wanted(&sync)).then_some(key));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(due)
}

/// Replaces a store with its disconnected version, and deletes the data that is not needed for its platform's privacy requests. If too many
/// disconnected stores are kept, deletes the store that was disconnected first.
pub fn disconnect(tx: &mut WriteTx<'_>, store: &Store) -> Result<()> {
    let (key, now) = ((store.account, store.id), tx.now());
    let mut kept = with_disconnected(tx, store.account)?;
    kept.retain(|known| known.disconnected_at.is_some());
    if kept.len() >= limits::STORES_DISCONNECTED_MAX
        && let Some(first) = kept.iter().min_by_key(|known| known.disconnected_at)
    {
        delete(tx, (first.account, first.id))?;
    }
    save(tx, store);
    let mut sync = sync(tx, key)?.unwrap_or_else(|| Sync::new(now));
    // If an erasure has started, it must be completed.
    if sync.stage != SyncStage::Erasing {
        (sync.stage, sync.due_at) = (SyncStage::Disconnected, now.plus_ms(limits::STORE_DISCONNECTED_KEPT_MS));
    }
    save_sync(tx, key, &sync)?;
    tx.delete_span(WAITING, &WAITING.under(&(store.id,)), limits::STORE_WAITING_EVENTS_MAX)?;
    tx.delete_span(CUSTOMERS, &CUSTOMERS.under(&(store.id,)), limits::STORE_CONTACTS_FORGOTTEN_MAX)?;
    Ok(())
}

/// Deletes a store and all data stored about it, except imported contacts and products.
pub fn delete(tx: &mut WriteTx<'_>, key: StoreKey) -> Result<()> {
    if let Some(sync) = sync(tx, key)? {
        tx.delete(QUEUE, &(sync.due_at, key.0, key.1));
    }
    tx.delete(STORES, &key);
    tx.delete(SYNCS, &key);
    let (_, id) = key;
    let deliveries = limits::STORE_DELIVERIES_MAX as usize + 1;
    tx.delete_span(DELIVERIES, &DELIVERIES.under(&(id,)), deliveries)?;
    tx.delete_span(DELIVERY_ORDER, &DELIVERY_ORDER.under(&(id,)), deliveries)?;
    tx.delete_span(WAITING, &WAITING.under(&(id,)), limits::STORE_WAITING_EVENTS_MAX)?;
    tx.delete_span(DATA_REQUESTS, &DATA_REQUESTS.under(&(id,)), limits::STORE_DATA_REQUESTS_MAX)?;
    tx.delete_span(CONTACTS, &CONTACTS.under(&(id,)), limits::STORE_CONTACTS_FORGOTTEN_MAX)?;
    tx.delete_span(CUSTOMERS, &CUSTOMERS.under(&(id,)), limits::STORE_CONTACTS_FORGOTTEN_MAX)?;
    Ok(())
}

/// Records why a store's keys can no longer be used, unless the keys have been replaced since `used` was read.
pub fn reject(tx: &mut WriteTx<'_>, used: &Store, reason: &str) -> Result<()> {
    let Some(mut store) = find(tx, used.account, used.id)? else { return Ok(()) };
    if store.sealed_keys == used.sealed_keys && store.rejected.as_deref() != Some(reason) {
        store.rejected = Some(reason.to_owned());
        save(tx, &store);
    }
    Ok(())
}

/// Replaces a store's keys, unless they have been replaced since `used` was read. Returns the store as it is stored now.
pub fn renew(tx: &mut WriteTx<'_>, used: &Store, sealed_keys: Vec<u8>) -> Result<Option<Store>> {
    let Some(mut store) = find(tx, used.account, used.id)? else { return Ok(None) };
    if store.sealed_keys == used.sealed_keys {
        store.sealed_keys = sealed_keys;
        save(tx, &store);
    }
    Ok(Some(store))
}

/// Stores a webhook's ID to recognize repeats. Returns whether the webhook is new. Also deletes up to two of the oldest IDs if they have
/// expired or too many are stored.
pub fn remember(tx: &mut WriteTx<'_>, id: StoreId, sync: &mut Sync, delivery: &str) -> Result<bool> {
    let (key, now) = ((id, digest(delivery)), tx.now());
    if tx.has(DELIVERIES, &key)? {
        return Ok(false);
    }
    let kept_from = now.plus_ms(-limits::STORE_DELIVERIES_KEPT_MS);
    // Delete up to two old IDs for each new ID, so that the number of IDs decreases after a burst.
    for ((id, at, digest), ()) in tx.list(DELIVERY_ORDER, &DELIVERY_ORDER.under(&(id,)), Order::Forward, 2)? {
        if at < kept_from || sync.remembered >= limits::STORE_DELIVERIES_MAX {
            tx.delete(DELIVERY_ORDER, &(id, at, digest));
            tx.delete(DELIVERIES, &(id, digest));
            sync.remembered = sync.remembered.saturating_sub(1);
        }
    }
    tx.put(DELIVERIES, &key, &());
    tx.put(DELIVERY_ORDER, &(id, now, key.1), &());
    sync.remembered += 1;
    Ok(true)
}

/// Stores an event until another event of its order arrives. If too many events are waiting, deletes events that are too old to be
/// recorded; returns false if there is still no space.
pub fn put_waiting(tx: &mut WriteTx<'_>, id: StoreId, (order, event_key): (&str, &str), event: String) -> Result<bool> {
    let mut waiting = tx.list(WAITING, &WAITING.under(&(id,)), Order::Forward, limits::STORE_WAITING_EVENTS_MAX)?;
    if waiting.len() >= limits::STORE_WAITING_EVENTS_MAX {
        let kept_from = tx.now().plus_ms(-i64::from(limits::EVENT_KEPT_DAYS) * 24 * 60 * 60 * 1000);
        let (old, rest): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|(_, waiting)| waiting.arrived_at < kept_from);
        for (key, _) in &old {
            tx.delete(WAITING, key);
        }
        waiting = rest;
    }
    if waiting.len() >= limits::STORE_WAITING_EVENTS_MAX {
        return Ok(false);
    }
    let waiting = WaitingEvent { event, arrived_at: tx.now() };
    tx.put(WAITING, &(id, digest(order), digest(event_key)), &waiting);
    Ok(true)
}

/// Removes and returns the events that are waiting for an order.
pub fn take_waiting(tx: &mut WriteTx<'_>, id: StoreId, order: &str) -> Result<Vec<String>> {
    let span = WAITING.under(&(id, digest(order)));
    let rows = tx.list(WAITING, &span, Order::Forward, limits::STORE_WAITING_EVENTS_MAX)?;
    for (key, _) in &rows {
        tx.delete(WAITING, key);
    }
    Ok(rows.into_iter().map(|(_, waiting)| waiting.event).collect())
}

/// Stores a customer's data request. If too many requests are stored, deletes the oldest one, because its deadline is the earliest.
pub fn put_data_request(tx: &mut WriteTx<'_>, id: StoreId, request: &DataRequest) -> Result<()> {
    let stored = tx.list(DATA_REQUESTS, &DATA_REQUESTS.under(&(id,)), Order::Forward, limits::STORE_DATA_REQUESTS_MAX)?;
    if stored.len() >= limits::STORE_DATA_REQUESTS_MAX
        && let Some((oldest, _)) = stored.iter().min_by_key(|(_, request)| request.received_at)
    {
        tx.delete(DATA_REQUESTS, oldest);
    }
    tx.put(DATA_REQUESTS, &(id, digest(&request.external_id)), request);
    Ok(())
}

/// Returns the data requests of a store's customers, newest first.
pub fn data_requests(tx: &impl Read, id: StoreId) -> Result<Vec<DataRequest>> {
    let rows = tx.list(DATA_REQUESTS, &DATA_REQUESTS.under(&(id,)), Order::Forward, limits::STORE_DATA_REQUESTS_MAX)?;
    let mut requests: Vec<DataRequest> = rows.into_iter().map(|(_, request)| request).collect();
    requests.sort_by_key(|request| std::cmp::Reverse(request.received_at));
    Ok(requests)
}

/// Returns when the imported data and consent of the customer with this ID last changed in the store.
pub fn customer_times(tx: &impl Read, id: StoreId, customer: &str) -> Result<CustomerTimes> {
    Ok(tx.get(CUSTOMERS, &(id, digest(customer)))?.unwrap_or_default())
}

pub fn save_customer_times(tx: &mut WriteTx<'_>, id: StoreId, customer: &str, times: &CustomerTimes) {
    tx.put(CUSTOMERS, &(id, digest(customer)), times);
}

pub fn forget_customer(tx: &mut WriteTx<'_>, id: StoreId, customer: &str) {
    tx.delete(CUSTOMERS, &(id, digest(customer)));
}

pub fn note_contact(tx: &mut WriteTx<'_>, id: StoreId, number: u32) {
    tx.put(CONTACTS, &(id, number), &());
}

/// Removes and returns the numbers of up to `limit` contacts that a store added.
pub fn take_contacts(tx: &mut WriteTx<'_>, id: StoreId, limit: usize) -> Result<Vec<u32>> {
    let rows = tx.list(CONTACTS, &CONTACTS.under(&(id,)), Order::Forward, limit)?;
    for (key, ()) in &rows {
        tx.delete(CONTACTS, key);
    }
    Ok(rows.into_iter().map(|((_, number), ())| number).collect())
}

/// Counts the keys of all stores, and the keys that cannot be decrypted with the master key in `seal`.
pub fn sealed(tx: &impl Read, seal: &Seal) -> Result<SecretCount> {
    let mut all = SecretCount::default();
    tx.visit(STORES, &Span::default(), Order::Forward, |_, store| {
        all = all.with(SecretCount::one(open(seal, &store).is_some()));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(all)
}
