//! The benefit of group commit, compared with one commit per request on the same store, and with the bare engine.
//!
//! The ratios are printed at the end, so that they do not depend on the machine. `reopen` measures a start after a clean end and after a
//! kill (the copy of an open file is what a kill leaves).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use mailmill::base::clock::SystemClock;
use mailmill::base::random::SystemRandom;
use mailmill::engine::store::feed::Change;
use mailmill::engine::store::{Error, Options, Read, Result, Store, Table, WriteTx};
use mailmill::vocab::ids::ProjectId;
use mailmill::vocab::tables::{CONTACT_COUNTS, CONTACTS, CONTACTS_BY_EMAIL, DatabaseKind};
use redb::ReadableDatabase;
use tokio::task::JoinSet;

const ROWS: Table<(ProjectId, u32), Vec<u8>> = Table::new(CONTACTS);
const BY_EMAIL: Table<(ProjectId, [u8; 16]), u32> = Table::new(CONTACTS_BY_EMAIL);
const COUNTS: Table<(ProjectId, u8), i64> = Table::new(CONTACT_COUNTS);

const PROJECT: ProjectId = ProjectId::from_bytes([7; 12]);
const ROW_BYTES: usize = 220;
const WRITERS: u32 = 64;
const COMMANDS_EACH: u32 = 32;
const BULK_ROWS: u32 = 20_000;
const LARGE_ROWS: u32 = 1_000_000;

/// Scatters a number like a digest does.
fn scattered(number: u32) -> [u8; 16] {
    let word = (u64::from(number) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ (word >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((u128::from(word) << 64) | u128::from(word ^ (word >> 32))).to_be_bytes()
}

/// Writes the same rows as the creation of a contact: its row, its index row at a random position, a count, and a change in the feed.
fn add_contact(tx: &mut WriteTx<'_>, number: u32) -> Result<()> {
    if tx.has(BY_EMAIL, &(PROJECT, scattered(number)))? {
        return Err(Error::Busy);
    }
    tx.put(ROWS, &(PROJECT, number), &vec![number as u8; ROW_BYTES]);
    tx.put(BY_EMAIL, &(PROJECT, scattered(number)), &number);
    tx.add(COUNTS, &(PROJECT, 1), 1)?;
    tx.feed(&Change { scope: PROJECT.0, first: number, last: number, fresh: true });
    Ok(())
}

fn open(path: &Path) -> Store {
    let options = Options { database_kind: DatabaseKind::Environment, cache_bytes: 64 * 1024 * 1024 };
    Store::open(path, &options, Arc::new(SystemClock), Arc::new(SystemRandom::default())).expect("the store opens")
}

struct Bench {
    runtime: tokio::runtime::Runtime,
    store: Arc<Store>,
    next: AtomicU32,
}

impl Bench {
    fn numbers(&self, count: u32) -> u32 {
        self.next.fetch_add(count, Ordering::Relaxed)
    }

    /// Writes with 64 clients, each of which waits for its response before its next command.
    fn many_writers(&self) {
        self.runtime.block_on(async {
            let mut writers = JoinSet::new();
            for _ in 0..WRITERS {
                let (store, first) = (self.store.clone(), self.numbers(COMMANDS_EACH));
                writers.spawn(async move {
                    for number in first..first + COMMANDS_EACH {
                        store.write(move |tx| add_contact(tx, number)).await.expect("written").expect("new");
                    }
                });
            }
            while let Some(outcome) = writers.join_next().await {
                outcome.expect("no writer panics");
            }
        });
    }

    /// Writes the same commands with one commit each.
    fn one_writer(&self, commands: u32) {
        let first = self.numbers(commands);
        self.runtime.block_on(async {
            for number in first..first + commands {
                self.store.write(move |tx| add_contact(tx, number)).await.expect("written").expect("new");
            }
        });
    }

    /// Writes one group of a bulk write: rows in key order, with index rows that the overlay sorts.
    fn bulk(&self) {
        let first = self.numbers(BULK_ROWS);
        let wrote = self.store.write_blocking(move |tx| {
            for number in first..first + BULK_ROWS {
                tx.put(ROWS, &(PROJECT, number), &vec![number as u8; ROW_BYTES]);
                tx.put(BY_EMAIL, &(PROJECT, scattered(number)), &number);
            }
            tx.feed(&Change { scope: PROJECT.0, first, last: first + BULK_ROWS - 1, fresh: true });
            tx.add(COUNTS, &(PROJECT, 1), i64::from(BULK_ROWS))
        });
        wrote.expect("written").expect("readable");
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn timed(mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn rate(count: u32, mut work: impl FnMut()) -> f64 {
    let rounds = 8;
    f64::from(count * rounds) / timed(|| (0..rounds).for_each(|_| work())).as_secs_f64()
}

fn raw(database: &redb::Database, number: u32) {
    let table = redb::TableDefinition::<&[u8], &[u8]>::new("rows");
    let writing = database.begin_write().expect("one writer");
    let mut rows = writing.open_table(table).expect("there");
    rows.insert(number.to_be_bytes().as_slice(), [7; ROW_BYTES].as_slice()).expect("written");
    drop(rows);
    writing.commit().expect("committed");
}

fn writes(criterion: &mut Criterion) {
    let folder = tempfile::tempdir_in(".").expect("a temporary folder on the disk of this folder");
    let database = redb::Database::create(folder.path().join("raw.redb")).expect("made");
    let store = Arc::new(open(&folder.path().join("world.redb")));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    let bench = Bench { runtime, store, next: AtomicU32::new(0) };
    let mut number = 0;
    let mut bare = || {
        number += 1;
        raw(&database, number);
    };

    let mut group = criterion.benchmark_group("write");
    group.sample_size(20);
    group.throughput(Throughput::Elements(1));
    group.bench_function("bare engine, one row per commit", |bencher| bencher.iter(&mut bare));
    group.bench_function("contact, one commit per request", |bencher| bencher.iter(|| bench.one_writer(1)));
    group.throughput(Throughput::Elements(u64::from(WRITERS * COMMANDS_EACH)));
    group.bench_function("contact, 64 writers", |bencher| bencher.iter(|| bench.many_writers()));
    group.throughput(Throughput::Elements(u64::from(BULK_ROWS)));
    group.bench_function("bulk, groups of 20,000 contacts", |bencher| bencher.iter(|| bench.bulk()));
    group.finish();
    assert!(database.begin_read().is_ok());

    let bare = rate(500, || (0..500).for_each(|_| bare()));
    let single = rate(500, || bench.one_writer(500));
    let many = rate(WRITERS * COMMANDS_EACH, || bench.many_writers());
    let bulk = rate(BULK_ROWS, || bench.bulk());
    println!("bare engine {bare:.0}/s; one commit per request {single:.0}/s; 64 writers {many:.0}/s; bulk {bulk:.0}/s");
    println!("64 writers to one commit per request: {:.1}; to the bare engine: {:.1}", many / single, many / bare);
}

fn timed_open(path: &Path) -> Duration {
    let mut store = None;
    let time = timed(|| store = Some(open(path)));
    store.expect("it was opened").close();
    time
}

fn reopen() {
    let folder = tempfile::tempdir_in(".").expect("a temporary folder on the disk of this folder");
    let path = folder.path().join("world.redb");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let bench = Bench { runtime, store: Arc::new(open(&path)), next: AtomicU32::new(0) };
    (0..LARGE_ROWS / BULK_ROWS).for_each(|_| bench.bulk());
    bench.one_writer(100);
    let killed = folder.path().join("killed.redb");
    for round in 0..3 {
        std::fs::copy(&path, &killed).expect("copied");
        let after_kill = timed_open(&killed);
        let clean = timed_open(&killed);
        let megabytes = std::fs::metadata(&killed).expect("there").len() >> 20;
        println!("reopen, round {round}: {megabytes} MiB; after a kill {after_kill:.0?}, after a clean end {clean:.1?}");
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    writes(&mut criterion);
    criterion.final_summary();
    reopen();
}
