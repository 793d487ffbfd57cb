//! Transactions for features: typed tables on a snapshot, with or without uncommitted changes on top.

use std::collections::btree_map;
use std::iter::Peekable;
use std::marker::PhantomData;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use super::codec::Value;
use super::damage::Damage;
use super::key::{Key, PrefixOf, after_prefix};
use super::memo::Memo;
use super::port::{Bytes, Changes, Order, Overlay, Snapshot, Span, Visitor};
use super::{Error, Result};
use crate::base::clock::Timestamp;
use crate::base::random::Random;
use crate::vocab::tables::TableId;

/// A table with typed keys and values. Features declare their tables as constants in the modules that store rows.
pub struct Table<K, V> {
    pub id: TableId,
    types: PhantomData<fn() -> (K, V)>,
}

impl<K, V> Table<K, V> {
    pub const fn new(id: TableId) -> Self {
        Self { id, types: PhantomData }
    }

    /// Returns the span of all keys that start with `prefix`.
    pub fn under<P: PrefixOf<K>>(&self, prefix: &P) -> Span {
        let from = prefix.to_bytes();
        let to = after_prefix(&from);
        Span { from, to }
    }
}

impl<K, V> Clone for Table<K, V> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K, V> Copy for Table<K, V> {}

/// Functions for reading, on a snapshot or inside a write.
pub trait Read {
    fn get_bytes(&self, table: TableId, key: &[u8]) -> Result<Option<Bytes<'_>>>;

    /// Visits every row in `span`, in order, until the visitor returns `Break`.
    fn visit_bytes(&self, table: TableId, span: &Span, order: Order, visitor: &mut Visitor<'_>) -> Result<()>;

    /// Returns the snapshot, if this value reads a snapshot without changes on top. Several threads may share the snapshot.
    fn snapshot(&self) -> Option<&ReadTx> {
        None
    }

    /// Returns what is known about damage to the store's file.
    fn damage(&self) -> &Damage;

    /// Records that a row of `table` cannot be read, and returns the error.
    fn corrupt(&self, table: TableId) -> Error {
        self.damage().in_row(table)
    }

    fn get<K: Key, V: Value>(&self, table: Table<K, V>, key: &K) -> Result<Option<V>> {
        match self.get_bytes(table.id, &key.to_bytes())? {
            Some(bytes) => V::decode(&bytes).map(Some).ok_or_else(|| self.corrupt(table.id)),
            None => Ok(None),
        }
    }

    fn has<K: Key, V: Value>(&self, table: Table<K, V>, key: &K) -> Result<bool> {
        Ok(self.get_bytes(table.id, &key.to_bytes())?.is_some())
    }

    /// Visits every row in `span` as typed keys and values, until the visitor returns `Break`.
    fn visit<K: Key, V: Value>(
        &self,
        table: Table<K, V>,
        span: &Span,
        order: Order,
        mut visitor: impl FnMut(K, V) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.visit_bytes(table.id, span, order, &mut |mut key, value| {
            let key = K::read(&mut key).ok_or_else(|| self.corrupt(table.id))?;
            let value = V::decode(value).ok_or_else(|| self.corrupt(table.id))?;
            visitor(key, value)
        })
    }

    /// Like [`Read::visit`], but skips rows that cannot be decoded and logs them, so that one such row does not stop work on many rows.
    fn visit_readable<K: Key, V: Value>(
        &self,
        table: Table<K, V>,
        span: &Span,
        order: Order,
        mut visitor: impl FnMut(K, V) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.visit_bytes(table.id, span, order, &mut |mut key, value| match K::read(&mut key).zip(V::decode(value)) {
            Some((key, value)) => visitor(key, value),
            None => {
                tracing::error!(error = %self.corrupt(table.id), "a damaged row was skipped");
                Ok(ControlFlow::Continue(()))
            }
        })
    }

    /// Like [`Read::list`], but skips rows that cannot be decoded and logs them.
    fn list_readable<K: Key, V: Value>(
        &self,
        table: Table<K, V>,
        span: &Span,
        order: Order,
        limit: usize,
    ) -> Result<Vec<(K, V)>> {
        let mut rows = Vec::new();
        if limit > 0 {
            self.visit_readable(table, span, order, append_to(&mut rows, limit))?;
        }
        Ok(rows)
    }

    /// Returns up to `limit` rows of `span`.
    fn list<K: Key, V: Value>(&self, table: Table<K, V>, span: &Span, order: Order, limit: usize) -> Result<Vec<(K, V)>> {
        let mut rows = Vec::new();
        if limit > 0 {
            self.visit(table, span, order, append_to(&mut rows, limit))?;
        }
        Ok(rows)
    }
}

/// Returns a visitor that appends rows until `rows` has `limit` rows. `limit` must be at least one.
fn append_to<K, V>(rows: &mut Vec<(K, V)>, limit: usize) -> impl FnMut(K, V) -> Result<ControlFlow<()>> {
    move |key, value| {
        rows.push((key, value));
        Ok(if rows.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }
}

/// An unchanging view of the commit that was the newest when the view was created.
#[derive(Clone)]
pub struct ReadTx {
    pub(super) snapshot: Arc<dyn Snapshot>,
    pub(super) feed_position: u64,
    pub(super) memo: Arc<Memo>,
}

impl ReadTx {
    /// Returns the feed position of this commit: every change up to it is visible here.
    pub fn feed_position(&self) -> u64 {
        self.feed_position
    }

    /// Returns the number of rows in a table, without reading them.
    pub fn rows(&self, table: TableId) -> Result<u64> {
        self.snapshot.rows(table)
    }

    /// Returns the cache of sets that were computed from this and other commits.
    pub fn memo(&self) -> &Memo {
        &self.memo
    }
}

impl Read for ReadTx {
    fn get_bytes(&self, table: TableId, key: &[u8]) -> Result<Option<Bytes<'_>>> {
        self.snapshot.get(table, key)
    }

    fn visit_bytes(&self, table: TableId, span: &Span, order: Order, visitor: &mut Visitor<'_>) -> Result<()> {
        self.snapshot.visit(table, span, order, visitor)
    }

    fn snapshot(&self) -> Option<&ReadTx> {
        Some(self)
    }

    fn damage(&self) -> &Damage {
        self.snapshot.damage()
    }
}

/// The write of one command. It sees its own changes, those of earlier commands in its group, and the newest commit.
///
/// Invariant: a command's changes become part of its group only after the command has succeeded; dropping the overlay `own` discards
/// all of them.
pub struct WriteTx<'g> {
    pub(super) snapshot: &'g Arc<dyn Snapshot>,
    pub(super) group: &'g Overlay,
    pub(super) own: Overlay,
    pub(super) now: Timestamp,
    pub(super) random: &'g Arc<dyn Random>,
    /// The feed position of this command's first change.
    pub(super) feed_first: u64,
    /// The feed position of the next change.
    pub(super) feed_next: u64,
}

impl WriteTx<'_> {
    /// Returns the time of this write, which is not earlier than that of the process's previous write, unless the clock went back by more
    /// than a minute.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    pub fn random(&self) -> &dyn Random {
        self.random.as_ref()
    }

    pub fn put<K: Key, V: Value>(&mut self, table: Table<K, V>, key: &K, value: &V) {
        let mut bytes = Vec::with_capacity(96);
        value.encode(&mut bytes);
        self.put_bytes(table.id, key.to_bytes(), bytes);
    }

    pub fn put_bytes(&mut self, table: TableId, key: Vec<u8>, value: Vec<u8>) {
        self.own.set(table, exact(key), Some(exact(value)));
    }

    pub fn delete<K: Key, V: Value>(&mut self, table: Table<K, V>, key: &K) {
        self.own.set(table.id, key.to_bytes().into_boxed_slice(), None);
    }

    /// Deletes up to `limit` rows in `span`; returns how many were deleted.
    pub fn delete_span<K: Key, V: Value>(&mut self, table: Table<K, V>, span: &Span, limit: usize) -> Result<usize> {
        let mut keys: Vec<Box<[u8]>> = Vec::new();
        self.visit_bytes(table.id, span, Order::Forward, &mut |key, _| {
            if keys.len() == limit {
                return Ok(ControlFlow::Break(()));
            }
            keys.push(key.into());
            Ok(ControlFlow::Continue(()))
        })?;
        let count = keys.len();
        for key in keys {
            self.own.set(table.id, key, None);
        }
        Ok(count)
    }

    /// Adds `delta` to a counter row and returns the new count; a counter of zero has no row.
    pub fn add<K: Key>(&mut self, table: Table<K, i64>, key: &K, delta: i64) -> Result<i64> {
        let count = self.get(table, key)?.unwrap_or(0) + delta;
        if count == 0 {
            self.delete(table, key);
        } else {
            self.put(table, key, &count);
        }
        Ok(count)
    }

    /// Drops all changes that this command has made so far.
    pub fn roll_back(&mut self) {
        self.own = Overlay::new();
        // Reset the position too, because followers of the feed would wait forever for a position without a row.
        self.feed_next = self.feed_first;
    }
}

/// Returns the bytes without spare capacity. They are copied, not shrunk, because shrinking fragments memory, especially in groups of bulk
/// writes.
fn exact(bytes: Vec<u8>) -> Box<[u8]> {
    if bytes.len() == bytes.capacity() { bytes.into_boxed_slice() } else { bytes.as_slice().into() }
}

impl Read for WriteTx<'_> {
    fn get_bytes(&self, table: TableId, key: &[u8]) -> Result<Option<Bytes<'_>>> {
        if let Some(change) = self.own.get(table, key).or_else(|| self.group.get(table, key)) {
            return Ok(change.map(Bytes::Borrowed));
        }
        self.snapshot.get(table, key)
    }

    fn visit_bytes(&self, table: TableId, span: &Span, order: Order, visitor: &mut Visitor<'_>) -> Result<()> {
        let mut layers = Layers::new(self.own.table(table), self.group.table(table), span, order);
        let mut broken = false;
        self.snapshot.visit(table, span, order, &mut |key, value| {
            // First visit the keys of the layers that come before this key, then this key itself, unless a layer changes it.
            while let Some((layer_key, change)) = layers.next_up_to(key, order) {
                let flow = match change {
                    Some(value) => visitor(layer_key, value)?,
                    None => ControlFlow::Continue(()),
                };
                if flow.is_break() {
                    broken = true;
                    return Ok(ControlFlow::Break(()));
                }
                if layer_key == key {
                    return Ok(ControlFlow::Continue(()));
                }
            }
            let flow = visitor(key, value)?;
            broken = flow.is_break();
            Ok(flow)
        })?;
        while !broken && let Some((key, change)) = layers.next(order) {
            if let Some(value) = change {
                broken = visitor(key, value)?.is_break();
            }
        }
        Ok(())
    }

    fn damage(&self) -> &Damage {
        self.snapshot.damage()
    }
}

/// Both overlays of a write as one sorted sequence; the changes of the upper overlay replace those of the lower one.
struct Layers<'a> {
    upper: Peekable<Run<'a>>,
    lower: Peekable<Run<'a>>,
}

type Entry<'a> = (&'a [u8], Option<&'a [u8]>);

impl<'a> Layers<'a> {
    fn new(upper: Option<&'a Changes>, lower: Option<&'a Changes>, span: &Span, order: Order) -> Self {
        Self { upper: Run::new(upper, span, order).peekable(), lower: Run::new(lower, span, order).peekable() }
    }

    /// Returns the next entry, if its key is at or before `limit`.
    fn next_up_to(&mut self, limit: &[u8], order: Order) -> Option<Entry<'a>> {
        let due = |entry: Option<&Entry<'a>>| entry.is_some_and(|(key, _)| !precedes(limit, key, order));
        if due(self.upper.peek()) || due(self.lower.peek()) { self.next(order) } else { None }
    }

    fn next(&mut self, order: Order) -> Option<Entry<'a>> {
        match (self.upper.peek(), self.lower.peek()) {
            (Some((upper, _)), Some((lower, _))) if upper == lower => {
                self.lower.next();
                self.upper.next()
            }
            (Some((upper, _)), Some((lower, _))) if precedes(lower, upper, order) => self.lower.next(),
            (Some(_), _) => self.upper.next(),
            (None, _) => self.lower.next(),
        }
    }
}

fn precedes(a: &[u8], b: &[u8], order: Order) -> bool {
    match order {
        Order::Forward => a < b,
        Order::Backward => a > b,
    }
}

type ChangesInside<'a> = btree_map::Range<'a, Box<[u8]>, Option<Box<[u8]>>>;

/// The changes of one overlay inside a span, in either order.
struct Run<'a> {
    range: Option<ChangesInside<'a>>,
    order: Order,
}

impl<'a> Run<'a> {
    fn new(changes: Option<&'a Changes>, span: &Span, order: Order) -> Self {
        let empty = span.to.as_deref().is_some_and(|to| to <= span.from.as_slice());
        let to = span.to.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let range =
            changes.filter(|_| !empty).map(|changes| changes.range::<[u8], _>((Bound::Included(span.from.as_slice()), to)));
        Self { range, order }
    }
}

impl<'a> Iterator for Run<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let range = self.range.as_mut()?;
        let (key, value) = match self.order {
            Order::Forward => range.next(),
            Order::Backward => range.next_back(),
        }?;
        Some((key, value.as_deref()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::conformance::MemoryPort;
    use super::super::port::Port;
    use super::*;
    use crate::base::random::SeededRandom;
    use crate::vocab::tables::{CONTACT_COUNTS, CONTACTS};

    type Layer = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

    const COUNTS: Table<u8, i64> = Table::new(CONTACT_COUNTS);

    fn overlay(layer: &Layer) -> Overlay {
        let mut overlay = Overlay::new();
        for (key, value) in layer {
            overlay.set(CONTACTS, key.as_slice().into(), value.as_deref().map(Into::into));
        }
        overlay
    }

    /// Runs `check` on a write whose three layers are `snapshot`, `group` and `own`.
    fn over<T>(snapshot: &Layer, group: &Layer, own: &Layer, check: impl FnOnce(WriteTx<'_>) -> T) -> T {
        let port = MemoryPort::new();
        port.commit(&overlay(snapshot)).expect("the memory port accepts the batch");
        let random: Arc<dyn Random> = Arc::new(SeededRandom::new(1));
        let (snapshot, group, own) = (port.snapshot().expect("the data is readable"), overlay(group), overlay(own));
        let (now, random) = (Timestamp(0), &random);
        check(WriteTx { snapshot: &snapshot, group: &group, own, now, random, feed_first: 1, feed_next: 1 })
    }

    fn seen(tx: &impl Read, span: &Span, order: Order, limit: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut rows = Vec::new();
        tx.visit_bytes(CONTACTS, span, order, &mut |key, value| {
            rows.push((key.to_vec(), value.to_vec()));
            Ok(if rows.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })
        .expect("memory can be read");
        rows
    }

    /// Generates keys from a small set, so that the layers often disagree; some keys are prefixes of others.
    fn key() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(0..4_u8, 0..3)
    }

    fn layer() -> impl Strategy<Value = Layer> {
        prop::collection::btree_map(key(), prop::option::of(prop::collection::vec(any::<u8>(), 0..2)), 0..16)
    }

    proptest! {
        #[test]
        fn a_write_reads_its_layers_as_one_table(
            snapshot in layer(), group in layer(), own in layer(),
            from in key(), to in prop::option::of(key()), forward: bool, limit in 1..20_usize,
        ) {
            let mut whole = BTreeMap::new();
            for (key, value) in snapshot.iter().chain(&group).chain(&own) {
                match value {
                    Some(value) => drop(whole.insert(key.clone(), value.clone())),
                    None => drop(whole.remove(key)),
                }
            }
            let order = if forward { Order::Forward } else { Order::Backward };
            let inside = |key: &Vec<u8>| *key >= from && to.as_ref().is_none_or(|to| key < to);
            let mut expected: Vec<_> = whole.clone().into_iter().filter(|(key, _)| inside(key)).collect();
            if !forward {
                expected.reverse();
            }
            expected.truncate(limit);
            let span = Span { from: from.clone(), to: to.clone() };
            over(&snapshot, &group, &own, |mut tx| {
                prop_assert_eq!(seen(&tx, &span, order, limit), expected);
                for key in snapshot.keys().chain(group.keys()).chain(own.keys()) {
                    let found = tx.get_bytes(CONTACTS, key).expect("the data is readable").map(|bytes| bytes.to_vec());
                    prop_assert_eq!(found.as_ref(), whole.get(key));
                }
                let table: Table<Vec4, Vec<u8>> = Table::new(CONTACTS);
                let removed = tx.delete_span(table, &span, limit).expect("the data is readable");
                let left: Vec<_> = whole.into_iter().filter(|(key, _)| inside(key)).skip(removed).collect();
                prop_assert!(removed == limit || left.is_empty());
                prop_assert_eq!(seen(&tx, &span, Order::Forward, usize::MAX), left);
                Ok(())
            })?;
        }
    }

    /// A key type for a table that this test reads only as bytes.
    struct Vec4;
    impl Key for Vec4 {
        fn write(&self, _: &mut Vec<u8>) {}
        fn read(_: &mut &[u8]) -> Option<Self> {
            Some(Self)
        }
    }

    #[test]
    fn an_error_of_the_visitor_is_returned_from_every_layer() {
        let row = |key: u8| Layer::from([(vec![key], Some(vec![]))]);
        for broken in 1..=3_u8 {
            let outcome = over(&row(1), &row(2), &row(3), |tx| {
                tx.visit_bytes(CONTACTS, &Span::default(), Order::Forward, &mut |key, _| {
                    if key == [broken] { Err(Error::Busy) } else { Ok(ControlFlow::Continue(())) }
                })
            });
            assert_eq!(outcome, Err(Error::Busy), "the row of layer {broken}");
        }
    }

    #[test]
    fn a_counter_at_zero_has_no_row() {
        let none = Layer::new();
        over(&none, &none, &none, |mut tx| {
            assert_eq!(tx.add(COUNTS, &1, 5), Ok(5));
            assert_eq!(tx.add(COUNTS, &1, -2), Ok(3));
            assert_eq!(tx.get(COUNTS, &1), Ok(Some(3)));
            assert_eq!(tx.add(COUNTS, &1, -3), Ok(0));
            assert_eq!(tx.has(COUNTS, &1), Ok(false));
        });
    }

    #[test]
    fn a_row_of_the_wrong_type_is_reported_with_its_table() {
        let bad = Layer::from([(vec![1], Some(vec![1, 2, 3]))]);
        let none = Layer::new();
        over(&bad, &none, &none, |tx| {
            let table: Table<u8, i64> = Table::new(CONTACTS);
            assert_eq!(tx.get(table, &1), Err(tx.corrupt(CONTACTS)));
            assert_eq!(tx.list(table, &Span::default(), Order::Forward, 9), Err(tx.corrupt(CONTACTS)));
            assert_eq!(tx.list(table, &Span::default(), Order::Forward, 0), Ok(vec![]));
        });
    }
}
