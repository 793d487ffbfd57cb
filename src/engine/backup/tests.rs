//! Tests the complete backup, from the commits of three stores to a restore, with a folder as the target. `tests/it/continuous_backup.rs`
//! tests the service with an object store.

mod takeovers;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::capture::Capture;
use super::catalog::{self, Catalog};
use super::names::{PartName, SnapshotName};
use super::restoring::Progress;
use super::shipping::{ContinuousBackup, Parts};
use super::snapshot::{self, Stores};
use super::spool::State;
use super::{Error, Positions, SealedTarget, Target, epochs, names, restoring, retention};
use crate::base::clock::{Clock, ManualClock, SystemClock, Timestamp};
use crate::base::random::{Random, SeededRandom};
use crate::engine::fetch::Fetch;
use crate::engine::settings::{self, DEFAULT};
use crate::engine::store::commit_log::{CommitLog, Logged, Record, StoreName};
use crate::engine::store::identity::Installation;
use crate::engine::store::seal::Seal;
use crate::engine::store::space::Space;
use crate::engine::store::{Error as StoreError, Options, Order, Read, Span, Store, StoreFile, Table, WriteTx};
use crate::engine::tasks::{Stage, Tasks};
use crate::vocab::settings::Settings;
use crate::vocab::tables::{DatabaseKind, META};

/// A table that all three stores have.
const ROWS: Table<String, Vec<u8>> = Table::new(META);
const CACHE_BYTES: usize = 1 << 20;
/// The pause between two reads of a state, and the maximum number of reads: three minutes in total, because a busy machine is slow.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS_MAX: usize = 3_600;

struct Run {
    stores: Stores,
    capture: Arc<Capture>,
    backup: Arc<ContinuousBackup>,
    tasks: Tasks,
}

fn settings() -> Settings {
    let given = [("backup.interval_seconds".to_owned(), "1".to_owned())];
    settings::load(DEFAULT, None, &[], &given).expect("the settings are valid")
}

fn seal() -> Seal {
    Seal::from_key(&[7; 32])
}

fn fetch() -> Arc<Fetch> {
    Arc::new(Fetch::new(&settings()))
}

fn sealed(target: &Path) -> SealedTarget {
    let url = target.display().to_string();
    Target::prepare(&url).expect("the folder can be created");
    let target = Target::open(&url, &settings().backup, &fetch()).expect("the folder can be used");
    SealedTarget::new(target, &seal(), Arc::new(SeededRandom::new(5)))
}

fn open(data: &Path, store: StoreName, log: Arc<dyn CommitLog>) -> Arc<Store> {
    let options = Options { database_kind: store.database_kind(), cache_bytes: CACHE_BYTES };
    let file = data.join(format!("{}.redb", store.word()));
    let sources: (Arc<dyn Clock>, Arc<dyn Random>) = (Arc::new(SystemClock), Arc::new(SeededRandom::new(4)));
    let logged = Some(Logged { store, log });
    Arc::new(Store::open_and(Space::unlimited(), &file, &options, sources, logged, |_| Ok(())).expect("the store opens"))
}

async fn put(store: &Store, key: &str, bytes: usize) {
    let key = key.to_owned();
    let put = move |tx: &mut WriteTx<'_>| {
        tx.put(ROWS, &key, &vec![7; bytes]);
        Ok::<_, StoreError>(())
    };
    store.write(put).await.expect("the store works").expect("the write succeeds");
}

/// Closes a store that no other part of the test uses.
fn close(store: Arc<Store>) {
    Arc::into_inner(store).expect("no one else uses the store").close();
}

/// Waits until the condition holds.
async fn until(is_so: impl AsyncFn() -> bool) {
    for _ in 0..LOOKS_MAX {
        if is_so().await {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
    panic!("the condition does not hold after three minutes");
}

/// Returns a time that differs from the times of the commits before and after it.
async fn moment() -> Timestamp {
    let pause = Duration::from_millis(20);
    tokio::time::sleep(pause).await;
    let now = SystemClock.now();
    tokio::time::sleep(pause).await;
    now
}

impl Run {
    /// Starts a server on the data folder `data`, for the `boots`-th time. `seed` names the machine.
    fn start(data: &Path, target: &Path, boots: u64, seed: u64) -> Self {
        Self::with_key(data, target, (boots, seed), seal())
    }

    fn with_key(data: &Path, target: &Path, start: (u64, u64), seal: Seal) -> Self {
        Self::of(data, target, start, seal, false)
    }

    fn of(data: &Path, target: &Path, (boots, seed): (u64, u64), seal: Seal, is_in_cluster: bool) -> Self {
        let capture = Capture::start(&data.join("backup-spool"), 64 << 20).expect("the spool can be created");
        let stores = StoreName::ALL.map(|store| open(data, store, capture.clone()));
        let backup = Arc::new(ContinuousBackup::new(Parts {
            url: target.display().to_string(),
            settings: settings().backup,
            capture: capture.clone(),
            fetch: fetch(),
            seal: Arc::new(seal),
            clock: Arc::new(SystemClock),
            random: Arc::new(SeededRandom::new(seed * 1_000 + boots)),
            installation: Installation::new(&SeededRandom::new(1)),
            boots,
            host: format!("machine-{seed}"),
            is_in_cluster,
        }));
        let tasks = Tasks::new(tokio::runtime::Handle::current());
        let (running, own, shutdown) = (backup.clone(), stores.clone(), tasks.shutdown());
        tasks.spawn("backup", async move { running.run(&own, shutdown).await });
        Self { stores, capture, backup, tasks }
    }

    async fn put(&self, store: StoreName, key: &str, bytes: usize) {
        let store = StoreName::ALL.into_iter().position(|name| name == store).expect("the store is one of the three");
        put(&self.stores[store], key, bytes).await;
    }

    /// Waits until the backup contains everything committed before this call.
    async fn catch_up(&self) {
        let now = SystemClock.now();
        for _ in 0..LOOKS_MAX {
            if self.backup.status().complete_until.is_some_and(|until| until > now) {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
        panic!("the backup does not catch up: {:?}", self.backup.status());
    }

    /// Stops shipping while the process continues.
    async fn drain(&self) {
        self.tasks.raise(Stage::Draining);
        self.tasks.join(Duration::from_secs(20)).await;
    }

    /// Ends the process without finishing the backup, like a crash.
    async fn crash(self) {
        self.drain().await;
        let Self { stores, capture, backup, .. } = self;
        drop(backup);
        stores.into_iter().for_each(close);
        capture.close();
    }

    async fn stop(self) {
        self.drain().await;
        self.backup.finish().await;
        self.crash().await;
    }
}

fn keys(tx: &impl Read) -> Vec<String> {
    let rows = tx.list(ROWS, &Span::default(), Order::Forward, 9_999).expect("the data is readable");
    rows.into_iter().map(|(key, _)| key).filter(|key| key.starts_with("row")).collect()
}

/// Restores into a new folder; returns the keys of the three stores.
async fn restored(target: &Path, at: Option<Timestamp>) -> Result<[Vec<String>; 3], Error> {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    restoring::restore(&sealed(target), at, folder.path()).await?;
    Ok(restoring::files(folder.path()).map(|file| {
        let file = StoreFile::open_verified(&file, CACHE_BYTES).expect("the restored file is intact");
        keys(&file.read().expect("the file can be read"))
    }))
}

fn folders() -> (tempfile::TempDir, std::path::PathBuf, std::path::PathBuf) {
    let outer = tempfile::tempdir().expect("a temporary folder can be created");
    let (data, target) = (outer.path().join("data"), outer.path().join("target"));
    std::fs::create_dir(&data).expect("the folder can be created");
    (outer, data, target)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_moment_can_be_restored_and_the_log_continues_after_restarts() {
    let (_outer, data, target) = folders();
    let run = Run::start(&data, &target, 1, 1);
    run.put(StoreName::Control, "row 1", 100).await;
    run.catch_up().await;
    let early = moment().await;
    run.put(StoreName::Live, "row 2", 3_000_000).await;
    run.put(StoreName::Test, "row 3", 10).await;
    run.catch_up().await;
    run.put(StoreName::Live, "row 4", 10).await;
    run.stop().await;
    // The next start continues the log, even after a crash.
    let run = Run::start(&data, &target, 2, 1);
    run.put(StoreName::Live, "row 5", 10).await;
    run.crash().await;
    let run = Run::start(&data, &target, 3, 1);
    run.catch_up().await;
    let whole = ["row 2", "row 4", "row 5"].map(str::to_owned).to_vec();
    assert_eq!(restored(&target, None).await, Ok([vec!["row 1".into()], vec!["row 3".into()], whole]));
    assert_eq!(restored(&target, Some(early)).await, Ok([vec!["row 1".into()], vec![], vec![]]));
    let catalog = Catalog::load(&sealed(&target).target).await.expect("the target can be listed");
    assert_eq!(catalog.snapshots.len(), 1, "no restart needed a new snapshot");
    assert_eq!(catalog.epochs.values().map(|start| start.log_since).collect::<Vec<_>>(), [1, 1, 1]);
    run.stop().await;
}

/// The live store was opened without the log, as by an older program or without the backup setting. The log lacks the commits of that time
/// and must not hide this, so a new log starts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_that_are_not_in_the_log_start_a_new_one() {
    let (_outer, data, target) = folders();
    let run = Run::start(&data, &target, 1, 1);
    run.catch_up().await;
    run.stop().await;
    let options = Options { database_kind: DatabaseKind::Environment, cache_bytes: CACHE_BYTES };
    let clock = Arc::new(ManualClock::at(Timestamp(1_000)));
    let plain = Store::open(&data.join("live.redb"), &options, clock, Arc::new(SeededRandom::new(3))).expect("the store opens");
    let put = |tx: &mut WriteTx<'_>| {
        tx.put(ROWS, &"row 1".to_owned(), &vec![1]);
        Ok::<_, StoreError>(())
    };
    plain.write(put).await.expect("the store works").expect("the write succeeds");
    plain.close();
    let run = Run::start(&data, &target, 3, 1);
    run.put(StoreName::Live, "row 2", 10).await;
    run.catch_up().await;
    let [.., live] = restored(&target, None).await.expect("the backup can be restored");
    assert_eq!(live, ["row 1", "row 2"]);
    run.stop().await;
}

/// A log that loses its records, as when a process is killed with records in memory.
struct Lost;

impl CommitLog for Lost {
    fn append(&self, _: Record) {}
}

/// A process that is killed loses the records that are not in the spool yet. Records in the spool are shipped, although the log ends after
/// them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_moments_before_a_lost_record_can_be_restored() {
    let (_outer, data, target) = folders();
    let run = Run::start(&data, &target, 1, 1);
    run.put(StoreName::Live, "row 1", 10).await;
    run.catch_up().await;
    // The server no longer ships, so the next record stays in the spool.
    run.drain().await;
    run.put(StoreName::Live, "row 2", 10).await;
    run.crash().await;
    let before = moment().await;
    let store = open(&data, StoreName::Live, Arc::new(Lost));
    put(&store, "row 3", 10).await;
    close(store);
    let run = Run::start(&data, &target, 2, 1);
    run.put(StoreName::Live, "row 4", 10).await;
    run.catch_up().await;
    let live = async |at| restored(&target, at).await.map(|[.., live]| live);
    assert_eq!(live(Some(before)).await, Ok(vec!["row 1".into(), "row 2".into()]));
    assert_eq!(live(None).await, Ok([1, 2, 3, 4].map(|row| format!("row {row}")).to_vec()));
    let catalog = Catalog::load(&sealed(&target).target).await.expect("the target can be listed");
    assert_eq!(catalog.epochs.values().map(|start| start.log_since).collect::<Vec<_>>(), [1, 1, 3]);
    run.stop().await;
}

/// A restore of a log that lacks its first record would fail, because the snapshot before the log lacks the record too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_record_is_noticed_even_if_it_is_the_first_one_of_its_store_in_the_log() {
    let (_outer, data, target) = folders();
    let run = Run::start(&data, &target, 1, 1);
    run.catch_up().await;
    run.stop().await;
    let store = open(&data, StoreName::Live, Arc::new(Lost));
    put(&store, "row 1", 10).await;
    close(store);
    let run = Run::start(&data, &target, 2, 1);
    run.put(StoreName::Live, "row 2", 10).await;
    run.catch_up().await;
    let [.., live] = restored(&target, None).await.expect("the backup can be restored");
    assert_eq!(live, ["row 1", "row 2"]);
    run.stop().await;
}

/// In an earlier version, a former leader reported everything up to the end of its process as backed up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_has_lost_the_lead_reports_nothing_as_backed_up() {
    let (_outer, data, target) = folders();
    let run = Run::start(&data, &target, 1, 1);
    run.catch_up().await;
    run.drain().await;
    let heartbeat = async || sealed(&target).target.get(&names::heartbeat(1)).await;
    let before = heartbeat().await;
    run.backup.abandon();
    run.backup.finish().await;
    assert_eq!(heartbeat().await, before);
    assert_eq!(sealed(&target).target.get(&names::end(1)).await, Ok(None));
    run.crash().await;
}

/// A snapshot with an interrupted log could have a commit of one store without an earlier commit of another store.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_log_gets_no_snapshot() {
    let (_outer, data, target) = folders();
    let sealed = sealed(&target);
    let capture = Capture::start(&data.join("backup-spool"), 64 << 20).expect("the spool can be created");
    let stores: Stores = StoreName::ALL.map(|store| open(&data, store, capture.clone()));
    capture.discard("on purpose");
    let refused = snapshot::take(&sealed, 1, &capture, &stores, &SystemClock).await;
    assert!(matches!(refused, Err(Error::Interrupted(_))), "{refused:?}");
    assert_eq!(sealed.target.list(names::SNAPSHOTS).await, Ok(Vec::new()));
    stores.into_iter().for_each(close);
    capture.close();
}

/// A restore takes a while, and the server thins the backup in the meantime.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restore_continues_with_an_earlier_snapshot_if_its_own_was_thinned() {
    let (_outer, data, target) = folders();
    let sealed = sealed(&target);
    let run = Run::start(&data, &target, 1, 1);
    run.put(StoreName::Live, "row 1", 10).await;
    run.catch_up().await;
    let first = restoring::plan(&sealed, None).await.expect("there is a snapshot");
    run.backup.want_snapshot();
    until(async || restoring::plan(&sealed, None).await.is_ok_and(|plan| plan.snapshot != first.snapshot)).await;
    run.put(StoreName::Live, "row 2", 10).await;
    run.catch_up().await;
    run.stop().await;
    let plan = restoring::plan(&sealed, None).await.expect("there is a snapshot");
    assert_ne!(plan.snapshot, first.snapshot);
    let restored_from = async |plan| {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        restoring::restore_from(&sealed, plan, folder.path(), &Progress::default()).await
    };
    for object in [plan.snapshot.part(0), plan.snapshot.manifest()] {
        sealed.target.delete(&object).await.expect("the object can be deleted");
        let restored = restored_from(plan.clone()).await;
        match object.ends_with("/manifest") {
            true => assert_eq!(restored.map(|(plan, _)| plan.snapshot), Ok(first.snapshot)),
            false => assert!(matches!(restored, Err(Error::Damaged { .. })), "a missing part is not thinned"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_shipped_while_the_key_is_lost() {
    let (_outer, data, target) = folders();
    let key = data.join("master.key");
    seal().copy_to(&key).expect("the key can be written");
    let run = Run::with_key(&data, &target, (1, 1), Seal::read(&key).expect("the key can be read"));
    run.put(StoreName::Live, "row 1", 10).await;
    run.catch_up().await;
    std::fs::remove_file(&key).expect("the file can be removed");
    until(async || run.backup.status().error.is_some()).await;
    let error = run.backup.status().error.expect("the backup has stopped");
    assert!(matches!(error, Error::KeyLost(_)) && error.to_string().contains("master.key does not exist"), "{error}");
    let shipped = run.backup.status().part_bytes;
    run.put(StoreName::Live, "row 2", 10).await;
    // This pause is longer than both the interval between two parts and the first pause after an error.
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(run.backup.status().part_bytes, shipped);
    seal().copy_to(&key).expect("the key can be written");
    run.catch_up().await;
    assert_eq!(run.backup.status().error, None);
    let [.., live] = restored(&target, None).await.expect("the backup can be restored");
    assert_eq!(live, ["row 1", "row 2"]);
    run.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_renamed_or_missing_object_is_detected() {
    let (_outer, data, target) = folders();
    let run = Run::start(&data, &target, 1, 1);
    run.catch_up().await;
    run.put(StoreName::Live, "row 1", 500).await;
    run.catch_up().await;
    run.put(StoreName::Live, "row 2", 500).await;
    run.catch_up().await;
    run.stop().await;
    let catalog = Catalog::load(&sealed(&target).target).await.expect("the target can be listed");
    let parts: Vec<_> = catalog.parts.iter().map(|part| target.join(part.object())).collect();
    let [.., before, last] = parts.as_slice() else { panic!("there are two parts: {parts:?}") };
    let (whole, other) = (std::fs::read(last).expect("the part exists"), std::fs::read(before).expect("the part exists"));
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    for content in [changed, whole[..whole.len() / 2].to_vec(), other] {
        std::fs::write(last, content).expect("the file can be written");
        assert!(matches!(restored(&target, None).await, Err(Error::Damaged { .. })));
    }
    std::fs::write(last, &whole).expect("the file can be written");
    assert!(restored(&target, None).await.is_ok());
    let gap = std::fs::read(before).expect("the part exists");
    std::fs::remove_file(before).expect("the file can be removed");
    assert!(matches!(restored(&target, None).await, Err(Error::Damaged { .. })), "a gap is not skipped");
    std::fs::write(before, gap).expect("the file can be written");
    let target_of_other_key = SealedTarget::new(
        Target::open(&target.display().to_string(), &settings().backup, &fetch()).expect("the folder can be used"),
        &Seal::from_key(&[8; 32]),
        Arc::new(SeededRandom::new(5)),
    );
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let refused = restoring::restore(&target_of_other_key, None, folder.path()).await;
    assert_eq!(refused.err(), Some(Error::WrongKey));
}

#[tokio::test]
async fn thinning_deletes_old_interrupted_and_superseded_objects_only() {
    let (_outer, _, target) = folders();
    let sealed = sealed(&target);
    let day = |number: i64| Timestamp(number * 86_400_000);
    let own = |epoch, number: u64| SnapshotName { epoch, log_from: number, consistent_at: number - 1, at: day(number as i64) };
    let part = |epoch, number: u64| PartName { epoch, number, from: day(number as i64), to: day(number as i64) };
    let installation = Installation::new(&SeededRandom::new(1));
    for epoch in 1..=2 {
        let holder = epoch.to_string();
        let candidate = epochs::Candidate {
            installation: &installation,
            host: "a",
            state: None,
            waiting: &[],
            holder: &holder,
            heartbeat_seconds: 1,
        };
        epochs::begin(&sealed, &candidate).await.expect("the epoch can be created");
        epochs::end(&sealed.target, epoch).await.expect("the epoch can be ended");
    }
    let interrupted = SnapshotName { at: day(5).plus_ms(1), ..own(2, 5) };
    let put = async |object: String| assert_eq!(sealed.target.create(&object, "x".into()).await, Ok(true));
    for number in 1..=9 {
        put(part(1, number).object()).await;
        put(part(2, number).object()).await;
        put(own(2, number).manifest()).await;
        put(own(2, number).part(0)).await;
    }
    put(interrupted.part(0)).await;
    let given = ["log_days", "daily", "weekly", "monthly"].map(|key| (format!("backup.{key}"), "2".to_owned()));
    let few = settings::load(DEFAULT, None, &[], &given).expect("the settings are valid").backup;
    retention::thin(&sealed.target, &few).await.expect("the target can be thinned");
    let catalog = Catalog::load(&sealed.target).await.expect("the target can be listed");
    let snapshots: Vec<u64> = catalog.snapshots.iter().map(|snapshot| snapshot.log_from).collect();
    // Day 3 (January 4, 1970) is a Sunday and the last day of its week.
    assert_eq!(snapshots, [3, 7, 8, 9]);
    let parts: Vec<(u64, u64)> = catalog.parts.iter().map(|part| (part.epoch, part.number)).collect();
    assert_eq!(parts, [(2, 7), (2, 8), (2, 9)]);
    assert_eq!(catalog.epochs.keys().copied().collect::<Vec<_>>(), [2]);
    assert_eq!(sealed.target.get(&interrupted.part(0)).await, Ok(None));
    assert!(sealed.target.get(&own(2, 3).part(0)).await.is_ok_and(|part| part.is_some()), "parts of kept snapshots stay");
    assert_eq!(retention::thin(&sealed.target, &few).await, Ok(0));
}

/// An object that cannot be read or deleted makes thinning fail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_thinning_is_reported_and_does_not_stop_the_backup() {
    let (_outer, data, target) = folders();
    let run = Run::start(&data, &target, 1, 1);
    run.catch_up().await;
    assert_eq!(run.backup.status().thinning_error, None);
    let created = sealed(&target).target.create(&names::start(0), "damaged".into()).await;
    assert_eq!(created, Ok(true));
    run.backup.want_snapshot();
    until(async || run.backup.status().thinning_error.is_some()).await;
    assert!(matches!(run.backup.status().thinning_error, Some(Error::Damaged { .. })), "{:?}", run.backup.status());
    run.put(StoreName::Live, "row 1", 10).await;
    run.catch_up().await;
    let epochs = sealed(&target).target.list(names::EPOCHS).await.expect("the target can be listed");
    assert!(!epochs.contains(&names::start(2)), "the session continues");
    run.stop().await;
}

/// A server thins the backup while a restore reads the catalog.
#[tokio::test]
async fn an_epoch_that_was_thinned_since_it_was_listed_is_left_out() {
    let (_outer, _, target) = folders();
    let sealed = sealed(&target);
    let installation = Installation::new(&SeededRandom::new(1));
    let candidate = epochs::Candidate {
        installation: &installation,
        host: "a",
        state: None,
        waiting: &[],
        holder: "1",
        heartbeat_seconds: 1,
    };
    let (epoch, start) = epochs::begin(&sealed, &candidate).await.expect("the epoch can be created");
    let starts = catalog::starts(&sealed.target, [epoch, epoch + 1].into()).await;
    assert_eq!(starts, Ok([(epoch, start)].into()));
}

#[test]
fn a_folder_without_its_parent_folder_is_not_created_and_named() {
    let outer = tempfile::tempdir().expect("a temporary folder can be created");
    let (parent, target) = (outer.path().join("disk"), outer.path().join("disk/backup"));
    let refused = Target::prepare(&target.display().to_string()).expect_err("the disk is not mounted").to_string();
    for part in [format!("the folder {} in", target.display()), format!("{} does not exist. Create the folder", parent.display())]
    {
        assert!(refused.contains(&part), "{refused}");
    }
    std::fs::create_dir(&parent).expect("the folder can be created");
    for _ in 0..2 {
        assert_eq!(Target::prepare(&target.display().to_string()), Ok(()));
    }
}

#[tokio::test]
async fn a_target_of_another_installation_is_refused() {
    let (_outer, _, target) = folders();
    let sealed = sealed(&target);
    let candidate = |seed| (Installation::new(&SeededRandom::new(seed)), format!("holder {seed}"));
    for (seed, is_accepted) in [(1, true), (1, true), (2, false)] {
        let (installation, holder) = candidate(seed);
        let candidate = epochs::Candidate {
            installation: &installation,
            host: "a",
            state: None,
            waiting: &[],
            holder: &holder,
            heartbeat_seconds: 1,
        };
        let opened = epochs::begin(&sealed, &candidate).await;
        match is_accepted {
            true => assert!(opened.is_ok(), "{opened:?}"),
            false => assert!(matches!(opened, Err(Error::Foreign { .. })), "{opened:?}"),
        }
    }
    assert!(sealed.target.get(&names::start(3)).await.is_ok_and(|third| third.is_none()));
}
