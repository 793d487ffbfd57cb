//! Tests of the cluster with a real PostgreSQL server: which nodes can append, which data followers have, and which errors nodes detect.

mod conflicts;
mod exports;
mod hosts;
mod joining;
mod loss;
mod resigning;
mod shards;
mod tls;
mod upgrades;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;

use super::database::{Database, Link};
use super::lease::{self, Candidate, Epoch};
use super::replicated_port::{ReplicatedPort, Shared};
use super::shared_log::{Appended, SharedLog, pack};
use super::turn::SharedTurn;
use super::*;
use crate::base::clock::{Clock, ManualClock, SystemClock, Timestamp};
use crate::base::random::SystemRandom;
use crate::engine::store::backup::read_rows;
use crate::engine::store::commit_log::{self, overlay_of};
use crate::engine::store::conformance::CACHE_BYTES;
use crate::engine::store::identity::{Identity, Installation, set_identity};
use crate::engine::store::redb_port::RedbPort;
use crate::engine::store::seal::Seal;
use crate::engine::store::space::Space;
use crate::engine::store::testing::Dice;
use crate::engine::store::{Options as StoreOptions, Read, Store, StoreFile, Table};
use crate::testing::postgres::Postgres;
use crate::vocab::limits;
use crate::vocab::tables::{CONTACT_COUNTS, CONTACTS, TAGS};

const ROWS: Table<u32, Vec<u8>> = Table::new(CONTACTS);
const TAG_ROWS: Table<u32, Vec<u8>> = Table::new(TAGS);
const COUNT: Table<u8, i64> = Table::new(CONTACT_COUNTS);
/// The duration of the lease: long enough that a process keeps the lease even if it gets no CPU time for some seconds.
const LEASE: Duration = Duration::from_secs(6);

/// The statement that starts an empty log.
const FIRST: &str = "INSERT INTO mailmill_snapshot (log, seq, part, body, complete) VALUES ('live', 0, 0, '', true)";

/// Returns the database server. If PostgreSQL is not installed, prints a note and returns `None`.
fn server() -> Option<&'static Postgres> {
    let server = Postgres::shared();
    if server.is_none() {
        eprintln!("\n*** NOT TESTED: there is no PostgreSQL (Debian: postgresql) ***\n");
    }
    server
}

fn shared_of(url: &str) -> (Shared, Runtime) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let database = Database::new(url, None, runtime.handle().clone()).expect("the URL is valid");
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let (turn, random) = (SharedTurn::new(clock.clone()), Arc::new(SystemRandom::default()));
    (Shared { database, turn, runtime: runtime.handle().clone(), clock, random, backup: Arc::default() }, runtime)
}

/// The engine of a leader with an empty file and an empty log.
pub struct EmptyLeader {
    pub port: ReplicatedPort,
    _runtime: Runtime,
}

/// Returns the engine of a leader, for the tests that every engine must pass; `None` if there is no database.
pub fn empty_leader(folder: &Path) -> Option<EmptyLeader> {
    let url = server()?.database();
    let (shared, runtime) = shared_of(&url);
    let epoch = runtime.block_on(async {
        let mut link = Link::new(shared.database.clone());
        schema::create(&mut link).await.expect("the tables can be created");
        link.define(FIRST).await.expect("the log can start");
        acquire(&mut link, "leader", Duration::from_secs(3_600)).await
    });
    let kind = StoreName::Live.database_kind();
    let local = RedbPort::open(Space::unlimited(), &folder.join("leader.redb"), kind, CACHE_BYTES).expect("a new file");
    let port = ReplicatedPort::new(StoreName::Live, local, &shared).expect("the file is empty");
    port.lead(Some(epoch));
    Some(EmptyLeader { port, _runtime: runtime })
}

async fn acquire(link: &mut Link, process: &str, time: Duration) -> Epoch {
    let candidate = Candidate { process: process.into(), node: process.into(), address: "127.0.0.1:1".into() };
    let after = lease::read(link).await.expect("the database works").epoch;
    lease::acquire(link, &candidate, time, after).await.expect("the database works").expect("the lease is free")
}

/// A cluster in its own database. The folder contains the files that were imported, and a folder for each node.
struct Cluster {
    url: String,
    folder: tempfile::TempDir,
}

impl Cluster {
    /// Creates an installation with some rows and imports it.
    fn init(server: &Postgres) -> Self {
        Self::init_at(server.database())
    }

    fn init_at(url: String) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let random = SystemRandom::default();
        let (installation, seal) = (Installation::new(&random), Seal::new(&random));
        let files = StoreName::ALL.map(|store| {
            let path = folder.path().join(format!("{}.redb", store.word()));
            let options = StoreOptions { database_kind: store.database_kind(), cache_bytes: CACHE_BYTES };
            let new =
                Store::open(&path, &options, Arc::new(SystemClock), Arc::new(SystemRandom::default())).expect("a new store");
            let identity = Identity::new(&installation, store.word(), &seal);
            let written = new.write_blocking(move |tx| {
                set_identity(tx, &identity);
                Ok::<_, ()>(())
            });
            written.expect("the store works").expect("the write succeeds");
            new.close();
            StoreFile::open(Space::unlimited(), &path, CACHE_BYTES).expect("the file opens")
        });
        let (shared, runtime) = shared_of(&url);
        runtime.block_on(import(&shared.database, &files)).expect("an empty database accepts the installation");
        let again = runtime.block_on(import(&shared.database, &files)).expect_err("the cluster exists");
        assert_eq!(again, Error::Initialized { installation: installation.name().to_owned() });
        Self { url, folder }
    }

    /// Starts the first node of a new cluster. The node leads, and has committed a row.
    fn led(server: &Postgres) -> (Self, Node) {
        let cluster = Self::init(server);
        let one = cluster.node("one");
        one.lead();
        one.put(1).expect("the leader accepts writes");
        (cluster, one)
    }

    /// Like [`Cluster::led`], but also starts a second node, which follows the first.
    fn led_and_followed(server: &Postgres) -> (Self, Node, Node) {
        let (cluster, one) = Self::led(server);
        let two = cluster.node("two");
        two.follow("one");
        (cluster, one, two)
    }

    fn node(&self, name: &str) -> Node {
        self.try_node(name).expect("the node starts")
    }

    /// Connects a process that has no stores yet.
    fn connect(&self, name: &str) -> Result<(Arc<Member>, Schema)> {
        let (database, address) = (self.url.clone(), format!("{name}:1"));
        let options = Options { database, authorities: None, node: name.into(), address, lease: LEASE };
        Member::connect(options, Arc::new(SystemClock), Arc::new(SystemRandom::default()))
    }

    fn try_node(&self, name: &str) -> Result<Node> {
        let (member, schema) = self.connect(name)?;
        let folder = self.folder.path().join(name);
        std::fs::create_dir_all(&folder).expect("the folder can be created");
        let open = |store: StoreName| {
            let path: PathBuf = folder.join(format!("{}.redb", store.word()));
            let port = prepare(member.shared(), &schema, store, &path, &Space::unlimited(), CACHE_BYTES)?;
            Ok::<_, Error>(Store::replicated(Space::unlimited(), &path, port, Arc::new(SystemRandom::default()))?)
        };
        let [control, test, live] = StoreName::ALL;
        let stores = [open(control)?, open(test)?, open(live)?];
        member.start();
        Ok(Node { member, stores: Some(stores) })
    }
}

struct Node {
    member: Arc<Member>,
    stores: Option<[Store; 3]>,
}

impl Node {
    fn live(&self) -> &Store {
        &self.stores.as_ref().expect("the node runs")[2]
    }

    fn wait(&self, what: &str, is_so: impl Fn(&Member) -> bool) {
        let started = SystemClock.monotonic();
        while !is_so(&self.member) {
            assert!(SystemClock.monotonic().ms_since(started) < 120_000, "{}: {what}", self.member.node());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn lead(&self) {
        self.wait("leads", |member| matches!(*member.role().borrow(), Role::Leader { .. }));
    }

    fn follow(&self, leader: &str) {
        self.wait("follows", |member| member.leader().is_some_and(|holder| holder.node == leader));
    }

    fn put(&self, row: u32) -> crate::engine::store::Result<()> {
        let put = move |tx: &mut crate::engine::store::WriteTx<'_>| {
            tx.put(ROWS, &row, &vec![7; 20]);
            tx.add(COUNT, &0, 1)
        };
        self.live().write_blocking(put).map(|written| {
            written.expect("the data is readable");
        })
    }

    fn reach(&self, other: &Node) {
        let wanted = other.member.positions();
        self.wait("has every commit", |member| member.positions() == wanted);
    }

    fn stop(mut self) {
        self.member.stop();
        for store in self.stores.take().expect("the node runs") {
            store.close();
        }
        self.member.close();
    }
}

fn rows(store: &Store) -> crate::engine::store::backup::Digests {
    read_rows(&store.read(), store.database_kind(), 1 << 20, |_| true).expect("the data is readable")
}

fn assert_equal(nodes: &[&Node]) {
    for node in &nodes[1..] {
        node.reach(nodes[0]);
        for (own, other) in node.stores.iter().flatten().zip(nodes[0].stores.iter().flatten()) {
            assert_eq!(rows(own), rows(other), "{} and {}", node.member.node(), nodes[0].member.node());
        }
    }
}

#[test]
fn followers_have_the_rows_of_the_leader_and_a_handover_takes_less_than_a_second() {
    let Some(server) = server() else { return };
    let cluster = Cluster::init(server);
    let one = cluster.node("one");
    one.lead();
    let two = cluster.node("two");
    two.follow("one");
    assert_eq!(two.put(1), Err(crate::engine::store::Error::NotLeader), "only the leader accepts writes");
    let mut dice = Dice::new(3);
    for round in 0..200 {
        let (row, size, removes) = (dice.below(50) as u32, dice.below(3_000) as usize, dice.percent(30));
        let change = move |tx: &mut crate::engine::store::WriteTx<'_>| {
            if removes {
                tx.delete(TAG_ROWS, &row);
            } else {
                tx.put(TAG_ROWS, &row, &vec![round as u8; size]);
            }
            Ok::<_, ()>(())
        };
        one.live().write_blocking(change).expect("the leader accepts writes").expect("the change succeeds");
    }
    assert_equal(&[&one, &two]);
    let started = SystemClock.monotonic();
    one.shared_runtime(|member| async move { member.resign().await });
    two.lead();
    let took = SystemClock.monotonic().ms_since(started);
    assert!(took < 1_000, "the handover took {took} ms");
    two.put(2).expect("the new leader accepts writes");
    assert_eq!(one.put(3), Err(crate::engine::store::Error::NotLeader));
    one.follow("two");
    assert_equal(&[&two, &one]);
    // A new node starts with an empty folder, and then the leader ends without handing over its role.
    let three = cluster.node("three");
    assert_equal(&[&two, &three]);
    two.stop();
    three.wait("one of the others leads", |_| {
        [&one, &three].iter().any(|node| matches!(*node.member.role().borrow(), Role::Leader { .. }))
    });
    let (leader, other) = if one.live().follows() { (&three, &one) } else { (&one, &three) };
    leader.put(4).expect("the new leader accepts writes");
    assert_equal(&[leader, other]);
    assert_eq!(leader.live().read().get(COUNT, &0), Ok(Some(2)));
    one.stop();
    three.stop();
}

impl Node {
    fn shared_runtime<F: Future<Output = ()> + Send + 'static>(&self, work: impl FnOnce(Arc<Member>) -> F) {
        self.member.shared().runtime.block_on(work(self.member.clone()));
    }
}

/// Appends a record with one row at position `at`, as a process that leads in `epoch` would.
fn append(log: &mut SharedLog, runtime: &Runtime, (at, epoch): (u64, Epoch), value: &[u8]) -> Result<Appended> {
    let mut encoded = Vec::new();
    commit_log::encode_changes((StoreName::Live, at, Timestamp(1)), &overlay_of(b"row", value), &mut encoded);
    let body = pack(&encoded)?;
    runtime.block_on(log.append(at, epoch, &body, || true))
}

#[test]
fn only_the_holder_of_the_lease_appends_and_only_at_the_end_of_the_log() {
    let Some(server) = server() else { return };
    let cluster = Cluster::init(server);
    let (shared, runtime) = shared_of(&cluster.url);
    let mut link = Link::new(shared.database.clone());
    let mut log = SharedLog::new(StoreName::Live, shared.database.clone());
    let first = runtime.block_on(acquire(&mut link, "first", Duration::from_millis(50)));
    assert_eq!(append(&mut log, &runtime, (1, first), b"a"), Ok(Appended::Done));
    assert_eq!(append(&mut log, &runtime, (1, first), b"a"), Ok(Appended::Done), "the outcome of a repeated append is found out");
    assert_eq!(append(&mut log, &runtime, (1, first), b"b"), Ok(Appended::Fenced), "the position is taken");
    let gap = append(&mut log, &runtime, (3, first), b"c");
    assert_eq!(gap, Err(Error::Lost { store: StoreName::Live, own: 2, newest: 1 }), "there is no gap");
    std::thread::sleep(Duration::from_millis(100));
    let second = runtime.block_on(acquire(&mut link, "second", Duration::from_secs(60)));
    assert_eq!(second, first + 1);
    assert_eq!(append(&mut log, &runtime, (2, first), b"d"), Ok(Appended::Fenced), "the lease was taken");
    assert!(!runtime.block_on(lease::renew(&mut link, "first", first, LEASE)).expect("the database works"));
    assert_eq!(append(&mut log, &runtime, (2, second), b"e"), Ok(Appended::Done));
    let third = Candidate { process: "third".into(), node: String::new(), address: String::new() };
    let taken = runtime.block_on(lease::acquire(&mut link, &third, LEASE, second));
    assert_eq!(taken, Ok(None), "a valid lease is not taken");
    server.query(&cluster.url, "UPDATE mailmill_lease SET expires = now() - INTERVAL '1 second'");
    let taken = runtime.block_on(lease::acquire(&mut link, &third, LEASE, first));
    assert_eq!(taken, Ok(None), "a lease that has changed since it was read is not taken");
}

/// A process that takes the lease waits for the appends that are running, and later appends see the new lease. So no append of an earlier
/// leader is accepted after the new leader has read the log and before its first commit.
#[test]
fn appends_of_an_earlier_leader_end_before_the_next_lease_begins() {
    let Some(server) = server() else { return };
    let cluster = Cluster::init(server);
    let runtime = shared_of(&cluster.url).1;
    let mut violations = 0;
    for unchecked in [false, true] {
        for round in 0..30_u64 {
            let (shared, _own) = shared_of(&cluster.url);
            let mut link = Link::new(shared.database.clone());
            let newest = runtime.block_on(SharedLog::new(StoreName::Live, shared.database.clone()).newest()).expect("readable");
            let epoch = runtime.block_on(acquire(&mut link, "old", Duration::from_millis(20)));
            let database = shared.database.clone();
            let appending = std::thread::scope(|scope| {
                let old = scope.spawn(|| {
                    let own = shared_of(&cluster.url);
                    let mut log = SharedLog::new(StoreName::Live, own.0.database.clone());
                    log.set_unchecked(unchecked);
                    let mut accepted = Vec::new();
                    for at in newest + 1..newest + 200 {
                        match append(&mut log, &own.1, (at, epoch), &at.to_le_bytes()) {
                            Ok(Appended::Done) => accepted.push(at),
                            _ => break,
                        }
                    }
                    accepted
                });
                std::thread::sleep(Duration::from_millis(25 + round % 7));
                let mut log = SharedLog::new(StoreName::Live, database);
                runtime.block_on(acquire(&mut link, "new", Duration::from_millis(1)));
                let seen = runtime.block_on(log.newest()).expect("the log is readable");
                let accepted = old.join().expect("the old leader ends");
                accepted.last().is_some_and(|last| *last > seen)
            });
            match unchecked {
                false => assert!(!appending, "round {round}: an append was accepted after the next leader had read the log"),
                true => violations += u32::from(appending),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    assert!(violations > 0, "the test finds appends without the check of the epoch");
}

#[test]
fn a_node_with_a_different_secret_is_refused_until_all_nodes_have_stopped_for_a_minute() {
    let Some(server) = server() else { return };
    let cluster = Cluster::init(server);
    let (shared, runtime) = shared_of(&cluster.url);
    let mut link = Link::new(shared.database.clone());
    let mut check = |own: &str| runtime.block_on(schema::check_secret(&mut link, own));
    assert_eq!(check("a"), Ok(()), "the first node sets the secret");
    assert_eq!(check("a"), Ok(()));
    let refused = |checked: Result<()>| matches!(checked, Err(Error::Settings(text)) if text.starts_with("cluster.secret"));
    assert!(refused(check("b")));
    server.query(&cluster.url, "UPDATE mailmill_lease SET expires = now() - INTERVAL '61 seconds'");
    assert_eq!(check("b"), Ok(()), "the cluster has a new secret");
    assert!(refused(check("a")), "a second change has to wait again");
}

#[test]
fn snapshots_truncate_the_log_and_a_node_that_is_too_far_behind_starts_again_from_one() {
    let Some(server) = server() else { return };
    let (cluster, one) = Cluster::led(server);
    let two = cluster.node("two");
    assert_equal(&[&one, &two]);
    two.stop();
    for round in 0..3 {
        for row in 0..20 {
            one.put(100 * round + row).expect("the leader accepts writes");
        }
        let (store, shared) = (one.live().read(), one.member.shared().clone());
        let taken = shared.runtime.block_on(async {
            let mut link = Link::new(shared.database.clone());
            let position = snapshots::take(&mut link, StoreName::Live, store).await?;
            // Make the records old enough to be deleted by the truncation.
            link.define("UPDATE mailmill_log SET at = at - INTERVAL '1 hour'").await?;
            snapshots::truncate(&mut link, StoreName::Live).await?;
            Ok::<_, Error>(position)
        });
        taken.expect("the snapshot can be taken");
    }
    let status = one
        .member
        .shared()
        .runtime
        .block_on(snapshots::status(&mut Link::new(one.member.shared().database.clone()), StoreName::Live));
    let status = status.expect("the status can be read");
    assert_eq!(status.snapshots.len(), 2, "{status:?}");
    assert!(status.records <= 21, "{status:?}");
    one.put(999).expect("the leader accepts writes after the truncation");
    let two = cluster.node("two");
    assert_equal(&[&one, &two]);
    // Export the state of the cluster to a folder.
    let out = tempfile::tempdir().expect("a temporary folder");
    let shared = one.member.shared().clone();
    let exported = shared.runtime.block_on(export(&shared.database, |store| out.path().join(format!("{}.redb", store.word()))));
    assert!(exported.expect("the export succeeds") > 60);
    let file = StoreFile::open(Space::unlimited(), &out.path().join("live.redb"), CACHE_BYTES).expect("the file opens");
    let exported = read_rows(&file.read().expect("readable"), StoreName::Live.database_kind(), 1 << 20, |_| true);
    let (exported, own) = (exported.expect("readable"), rows(one.live()));
    assert!(exported["contacts"] == own["contacts"] && exported.keys().eq(own.keys()), "{exported:?}");
    one.stop();
    two.stop();
}

#[test]
fn a_leader_without_its_database_stops_before_its_lease_ends_and_finds_out_the_outcome_later() {
    let Some(server) = Postgres::start() else { return };
    let (_cluster, one) = Cluster::led(&server);
    server.stop();
    let stopped = SystemClock.monotonic();
    std::thread::scope(|scope| {
        let unknown = scope.spawn(|| one.put(2));
        one.wait("stops leading", |member| !matches!(*member.role().borrow(), Role::Leader { .. }));
        let took = SystemClock.monotonic().ms_since(stopped);
        assert!(took <= LEASE.as_millis() as i64, "{took} ms");
        assert_eq!(one.put(3), Err(crate::engine::store::Error::NotLeader));
        assert_eq!(one.live().read().get(COUNT, &0), Ok(Some(1)), "the commit with an unknown outcome is not visible");
        server.resume();
        let outcome = unknown.join().expect("the writer answers");
        one.lead();
        let count = 1 + i64::from(outcome.is_ok());
        assert_eq!(one.live().read().get(COUNT, &0), Ok(Some(count)), "{outcome:?}");
        one.put(4).expect("the leader accepts writes again");
    });
    one.stop();
}

#[test]
fn a_follower_without_the_database_counts_on_a_leader_only_until_the_lease_ends() {
    let Some(server) = Postgres::start() else { return };
    let (_cluster, one, two) = Cluster::led_and_followed(&server);
    assert!(two.member.has_leader());
    server.stop();
    two.wait("knows no leader", |member| !member.has_leader());
    assert!(two.member.leader().is_some_and(|holder| holder.node == "one"), "requests can still be forwarded to its address");
    server.resume();
    one.stop();
    two.stop();
}

#[test]
fn a_wrong_clock_is_measured_against_the_database() {
    let Some(server) = server() else { return };
    let (shared, runtime) = shared_of(&server.database());
    let mut link = Link::new(shared.database.clone());
    let mut offset = |clock: &dyn Clock| runtime.block_on(lease::clock_offset_ms(&mut link, clock)).expect("the database works");
    assert!(offset(&SystemClock).abs() < limits::CLUSTER_CLOCK_MS_MAX);
    let hour = 60 * 60 * 1_000;
    let ahead = offset(&ManualClock::at(SystemClock.now().plus_ms(hour)));
    assert!((ahead - hour).abs() < limits::CLUSTER_CLOCK_MS_MAX, "{ahead}");
}

#[test]
fn settings_and_foreign_folders_are_refused_with_a_reason() {
    let Some(server) = server() else { return };
    let connect = |url: &str, authorities: Option<PathBuf>| {
        let options = Options { database: url.into(), authorities, node: "n".into(), address: "n:1".into(), lease: LEASE };
        Member::connect(options, Arc::new(SystemClock), Arc::new(SystemRandom::default())).err().expect("it is refused")
    };
    assert!(matches!(connect("mysql://x", None), Error::Settings(_)));
    assert!(
        matches!(connect("postgres://db/x", Some("/nowhere.pem".into())), Error::Settings(reason) if reason.contains("/nowhere.pem"))
    );
    assert_eq!(connect(&server.database(), None), Error::NotInitialized);
    let secure = server.database().replace("disable", "require");
    assert!(matches!(connect(&secure, None), Error::Database(_)), "a server without TLS is refused");
    let (ours, other) = (Cluster::init(server), Cluster::init(server));
    std::fs::create_dir(ours.folder.path().join("one")).expect("a folder");
    std::fs::copy(other.folder.path().join("live.redb"), ours.folder.path().join("one/live.redb")).expect("a copy");
    assert!(matches!(ours.try_node("one").err(), Some(Error::Foreign { file }) if file.ends_with("live.redb")));
}
