//! The tests that every engine behind the port must pass. They run on redb in a file, redb in memory, a plain map, and the engine of a
//! cluster's leader with a real database.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::damage::Damage;
use super::port::{Bytes, Order, Overlay, Port, Snapshot, Span, Visitor};
use super::redb_port::RedbPort;
use super::space::Space;
use super::{Result, cluster};
use crate::vocab::tables::{BLOBS, CONTACTS, DatabaseKind, FEED, TABLES, TableId};

/// The size of the page cache: small, so that tests also read from the file.
pub const CACHE_BYTES: usize = 1024 * 1024;

type Rows = Vec<BTreeMap<Box<[u8]>, Box<[u8]>>>;

/// The simplest engine that fulfills the contract of the port, except that its rows are lost when the process ends.
pub struct MemoryPort {
    newest: Mutex<Arc<Rows>>,
    damage: Arc<Damage>,
}

impl MemoryPort {
    pub fn new() -> Self {
        let newest = Mutex::new(Arc::new(vec![BTreeMap::new(); TABLES.len()]));
        Self { newest, damage: Arc::new(Damage::of(Path::new("memory"))) }
    }
}

impl Port for MemoryPort {
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        let rows = self.newest.lock().expect("no holder of this lock panics").clone();
        Ok(Arc::new(MemorySnapshot { rows, damage: self.damage.clone() }))
    }

    fn commit(&self, batch: &Overlay) -> Result<()> {
        let mut newest = self.newest.lock().expect("no holder of this lock panics");
        let rows = Arc::make_mut(&mut newest);
        for (table, changes) in batch.tables() {
            for (key, value) in changes {
                match value {
                    Some(value) => drop(rows[table.0 as usize].insert(key.clone(), value.clone())),
                    None => drop(rows[table.0 as usize].remove(key)),
                }
            }
        }
        Ok(())
    }

    fn settle(&self) -> Result<()> {
        Ok(())
    }
}

struct MemorySnapshot {
    rows: Arc<Rows>,
    damage: Arc<Damage>,
}

impl Snapshot for MemorySnapshot {
    fn get(&self, table: TableId, key: &[u8]) -> Result<Option<Bytes<'_>>> {
        Ok(self.rows[table.0 as usize].get(key).map(|value| Bytes::Borrowed(value)))
    }

    fn visit(&self, table: TableId, span: &Span, order: Order, visitor: &mut Visitor<'_>) -> Result<()> {
        if span.to.as_ref().is_some_and(|to| *to <= span.from) {
            return Ok(());
        }
        let to = span.to.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut rows = self.rows[table.0 as usize].range::<[u8], _>((Bound::Included(span.from.as_slice()), to));
        while let Some((key, value)) = if order == Order::Forward { rows.next() } else { rows.next_back() } {
            if visitor(key, value)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn rows(&self, table: TableId) -> Result<u64> {
        Ok(self.rows[table.0 as usize].len() as u64)
    }

    fn damage(&self) -> &Damage {
        &self.damage
    }
}

/// Runs `check` on an empty engine of every kind. Prints the name of each engine, so that a failed test shows which engine failed.
fn on_every_port(check: fn(&dyn Port)) {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let in_file = RedbPort::open(Space::unlimited(), &folder.path().join("world.redb"), DatabaseKind::Environment, CACHE_BYTES)
        .expect("a new file can be created");
    let in_memory = RedbPort::on_backend(redb::backends::InMemoryBackend::new(), DatabaseKind::Environment)
        .expect("a new image can be created");
    let memory = MemoryPort::new();
    let leader = cluster::tests::empty_leader(folder.path());
    let ports: [(&str, Option<&dyn Port>); 4] = [
        ("redb in a file", Some(&in_file)),
        ("redb in memory", Some(&in_memory)),
        ("a plain map", Some(&memory)),
        ("the leader of a cluster", leader.as_ref().map(|leader| &leader.port as &dyn Port)),
    ];
    for (name, port) in ports.into_iter().filter_map(|(name, port)| Some((name, port?))) {
        println!("the engine under test: {name}");
        check(port);
    }
}

fn put(batch: &mut Overlay, table: TableId, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
    batch.set(table, key.into().into_boxed_slice(), Some(value.into().into_boxed_slice()));
}

fn commit(port: &dyn Port, table: TableId, rows: &[(&str, &str)]) {
    let mut batch = Overlay::new();
    for (key, value) in rows {
        put(&mut batch, table, *key, *value);
    }
    port.commit(&batch).expect("the engine accepts the batch");
}

fn get(snapshot: &dyn Snapshot, table: TableId, key: &[u8]) -> Option<Vec<u8>> {
    snapshot.get(table, key).expect("the data is readable").map(|bytes| bytes.to_vec())
}

fn keys(snapshot: &dyn Snapshot, from: &str, to: Option<&str>, order: Order, limit: usize) -> Vec<String> {
    let span = Span { from: from.into(), to: to.map(Into::into) };
    let mut keys = Vec::new();
    snapshot
        .visit(CONTACTS, &span, order, &mut |key, value| {
            assert_eq!(key, value, "these tests store each key as its own value");
            keys.push(String::from_utf8(key.to_vec()).expect("the stored value is text"));
            Ok(if keys.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })
        .expect("the data is readable");
    keys
}

#[test]
fn a_value_is_found_under_its_key_in_its_table_only() {
    on_every_port(|port| {
        commit(port, CONTACTS, &[("a", "1"), ("b", "2")]);
        let snapshot = port.snapshot().expect("the data is readable");
        assert_eq!(get(&*snapshot, CONTACTS, b"a").as_deref(), Some(b"1".as_slice()));
        assert_eq!(get(&*snapshot, CONTACTS, b"c"), None);
        assert_eq!(get(&*snapshot, CONTACTS, b""), None);
        assert_eq!(get(&*snapshot, FEED, b"a"), None);
    });
}

#[test]
fn a_later_value_replaces_an_earlier_one_and_a_removal_deletes_it() {
    on_every_port(|port| {
        commit(port, CONTACTS, &[("a", "1"), ("b", "1")]);
        commit(port, CONTACTS, &[("a", "2")]);
        let mut batch = Overlay::new();
        batch.set(CONTACTS, b"b".as_slice().into(), None);
        batch.set(CONTACTS, b"never there".as_slice().into(), None);
        port.commit(&batch).expect("removing a missing key is not an error");
        let snapshot = port.snapshot().expect("the data is readable");
        assert_eq!(get(&*snapshot, CONTACTS, b"a").as_deref(), Some(b"2".as_slice()));
        assert_eq!(get(&*snapshot, CONTACTS, b"b"), None);
        let rows = |table| snapshot.rows(table).expect("the data is readable");
        assert_eq!((rows(CONTACTS), rows(FEED)), (1, 0));
    });
}

#[test]
fn a_span_contains_its_first_key_and_not_its_end_in_both_orders() {
    on_every_port(|port| {
        commit(port, CONTACTS, &[("a", "a"), ("b", "b"), ("ba", "ba"), ("c", "c"), ("d", "d")]);
        let snapshot = port.snapshot().expect("the data is readable");
        let snapshot = &*snapshot;
        assert_eq!(keys(snapshot, "b", Some("d"), Order::Forward, 9), ["b", "ba", "c"]);
        assert_eq!(keys(snapshot, "b", Some("d"), Order::Backward, 9), ["c", "ba", "b"]);
        assert_eq!(keys(snapshot, "", None, Order::Forward, 9), ["a", "b", "ba", "c", "d"]);
        assert_eq!(keys(snapshot, "bb", None, Order::Backward, 9), ["d", "c"]);
        assert_eq!(keys(snapshot, "", None, Order::Forward, 2), ["a", "b"], "a visitor that breaks gets no more rows");
        assert_eq!(keys(snapshot, "", None, Order::Backward, 2), ["d", "c"]);
    });
}

#[test]
fn an_empty_or_reversed_span_is_empty_and_not_an_error() {
    on_every_port(|port| {
        commit(port, CONTACTS, &[("a", "a"), ("b", "b"), ("c", "c")]);
        let snapshot = port.snapshot().expect("the data is readable");
        for (from, to) in [("b", "b"), ("c", "a"), ("", ""), ("x", "y")] {
            for order in [Order::Forward, Order::Backward] {
                assert!(keys(&*snapshot, from, Some(to), order, 9).is_empty(), "{from:?} to {to:?}");
            }
        }
    });
}

#[test]
fn an_error_of_the_visitor_ends_the_visit_and_is_returned() {
    on_every_port(|port| {
        commit(port, CONTACTS, &[("a", "a"), ("b", "b")]);
        let snapshot = port.snapshot().expect("the data is readable");
        let mut seen = 0;
        let outcome = snapshot.visit(CONTACTS, &Span::default(), Order::Forward, &mut |_, _| {
            seen += 1;
            Err(super::Error::Busy)
        });
        assert_eq!((outcome, seen), (Err(super::Error::Busy), 1));
    });
}

#[test]
fn values_may_be_empty_or_large_and_keys_may_be_long() {
    on_every_port(|port| {
        let large: Vec<u8> = (0..300 * 1024_u32).map(|index| (index % 251) as u8).collect();
        let long = vec![0xFF; 2_000];
        let mut batch = Overlay::new();
        put(&mut batch, BLOBS, "empty", Vec::new());
        put(&mut batch, BLOBS, "large", large.clone());
        put(&mut batch, BLOBS, long.clone(), "long key");
        port.commit(&batch).expect("the engine accepts the batch");
        let snapshot = port.snapshot().expect("the data is readable");
        assert_eq!(get(&*snapshot, BLOBS, b"empty"), Some(Vec::new()));
        assert_eq!(get(&*snapshot, BLOBS, b"large"), Some(large));
        assert_eq!(get(&*snapshot, BLOBS, &long).as_deref(), Some(b"long key".as_slice()));
    });
}

#[test]
fn settling_changes_nothing() {
    on_every_port(|port| {
        port.settle().expect("an empty engine settles");
        commit(port, CONTACTS, &[("a", "a")]);
        let before = port.snapshot().expect("the data is readable");
        port.settle().expect("the engine settles");
        port.settle().expect("the engine settles again");
        commit(port, CONTACTS, &[("b", "b")]);
        assert_eq!(keys(&*before, "", None, Order::Forward, 9), ["a"]);
        assert_eq!(keys(&*port.snapshot().expect("the data is readable"), "", None, Order::Forward, 9), ["a", "b"]);
    });
}

#[test]
fn a_snapshot_does_not_change_during_later_commits() {
    on_every_port(|port| {
        commit(port, CONTACTS, &[("a", "a"), ("b", "b")]);
        let before = port.snapshot().expect("the data is readable");
        for round in 0..200 {
            let key = format!("n{round:03}");
            commit(port, CONTACTS, &[(&key, &key), ("a", "changed")]);
            let mut batch = Overlay::new();
            batch.set(CONTACTS, b"b".as_slice().into(), None);
            port.commit(&batch).expect("the engine accepts the batch");
        }
        assert_eq!(keys(&*before, "", None, Order::Forward, 999), ["a", "b"]);
        let after = port.snapshot().expect("the data is readable");
        assert_eq!(keys(&*after, "n", None, Order::Forward, 999).len(), 200);
        assert_eq!(get(&*after, CONTACTS, b"b"), None);
    });
}

/// One writer increases the same number in two tables; readers on other threads must never see two different numbers.
#[test]
fn a_commit_is_visible_in_all_its_tables_or_in_none() {
    on_every_port(|port| {
        commit(port, CONTACTS, &[("n", "0")]);
        commit(port, FEED, &[("n", "0")]);
        std::thread::scope(|scope| {
            let readers: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(|| {
                        loop {
                            let snapshot = port.snapshot().expect("the data is readable");
                            let (one, two) = (get(&*snapshot, CONTACTS, b"n"), get(&*snapshot, FEED, b"n"));
                            assert_eq!(one, two);
                            if one.as_deref() == Some(b"100") {
                                break;
                            }
                        }
                    })
                })
                .collect();
            for number in 1..=100 {
                let mut batch = Overlay::new();
                put(&mut batch, CONTACTS, "n", number.to_string());
                put(&mut batch, FEED, "n", number.to_string());
                port.commit(&batch).expect("the engine accepts the batch");
            }
            for reader in readers {
                reader.join().expect("both tables agree");
            }
        });
    });
}
