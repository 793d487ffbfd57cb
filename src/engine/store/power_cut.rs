//! Tests the store on a disk that loses power, and on a disk that fails: acknowledged commands must be stored, and all other commands must
//! be stored completely or not at all.
//!
//! The disk distinguishes synced data from data that was only written. In a power cut, every write since the last sync is kept, lost or
//! torn at random, sector by sector, in any order. Commands write rows of several tables and are sent in bursts, so that groups form.
//! Commands run in the order in which they are sent. The state after a restart must therefore equal that of a plain map to which the first
//! *n* commands were applied, and these must include all acknowledged commands.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard};

use super::feed::Change;
use super::port::{Order, Overlay, Port, Snapshot, Span};
use super::redb_port::RedbPort;
use super::testing::{CACHE_BYTES, Dice, start};
use super::tx::{Read, Table, WriteTx};
use super::{Error, Store, StoreFile};
use crate::vocab::tables::{AUDIT, BLOBS, CONTACTS, CONTACTS_BY_EMAIL, DatabaseKind, FEED, TableId};

/// The table with one row per command, keyed by the command's number. The rows show how many commands a file contains.
const JOURNAL: Table<u64, Vec<u8>> = Table::new(AUDIT);
/// The tables that commands change at random.
const CHANGED: [TableId; 3] = [CONTACTS, CONTACTS_BY_EMAIL, BLOBS];

type Rows = BTreeMap<(TableId, Vec<u8>), Vec<u8>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// A power cut: no operation succeeds from then on.
    PowerCut,
    /// One write or sync fails, and later ones succeed. The store must no longer trust such a disk.
    OneError,
}

#[derive(Debug)]
enum Unsynced {
    Write(u64, Vec<u8>),
    Length(u64),
}

#[derive(Debug)]
struct DiskState {
    synced: Vec<u8>,
    /// The data that the running process reads: all written data, synced or not.
    seen: Vec<u8>,
    unsynced: Vec<Unsynced>,
    /// The fault, and the number of writes and syncs that still succeed before it.
    before_fault: Option<(u64, Fault)>,
    dead: bool,
    faults: u32,
}

#[derive(Clone, Debug)]
struct Disk(Arc<Mutex<DiskState>>);

fn apply(image: &mut Vec<u8>, offset: u64, data: &[u8]) {
    let start = offset as usize;
    if image.len() < start + data.len() {
        image.resize(start + data.len(), 0);
    }
    image[start..start + data.len()].copy_from_slice(data);
}

impl Disk {
    fn with(image: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(DiskState {
            synced: image.clone(),
            seen: image,
            unsynced: Vec::new(),
            before_fault: None,
            dead: false,
            faults: 0,
        })))
    }

    fn state(&self) -> MutexGuard<'_, DiskState> {
        self.0.lock().expect("no holder of this lock panics")
    }

    fn arm(&self, operations: u64, fault: Fault) {
        self.state().before_fault = Some((operations, fault));
    }

    /// Cuts the power and returns the content of the disk: all data that was synced, and a random part of the other writes.
    fn after_power_cut(&self, dice: &mut Dice) -> Vec<u8> {
        let mut state = self.state();
        state.dead = true;
        let mut image = state.synced.clone();
        let sector = if dice.percent(50) { 512 } else { 4096 };
        let kept_percent = [5, 50, 95][dice.below(3) as usize];
        for change in &state.unsynced {
            match change {
                Unsynced::Length(length) if dice.percent(kept_percent) => image.resize(*length as usize, 0),
                Unsynced::Length(_) => {}
                Unsynced::Write(offset, data) if dice.percent(20) => tear(&mut image, *offset, data, sector, dice),
                Unsynced::Write(offset, data) if dice.percent(kept_percent) => apply(&mut image, *offset, data),
                Unsynced::Write(..) => {}
            }
        }
        image
    }

    /// Ends the process while the machine keeps running, and returns the content of the disk: all written data, synced or not.
    fn after_exit(&self) -> Vec<u8> {
        let mut state = self.state();
        state.dead = true;
        state.seen.clone()
    }
}

/// Applies a random subset of a write's sectors to the disk image.
fn tear(image: &mut Vec<u8>, offset: u64, data: &[u8], sector: u64, dice: &mut Dice) {
    let mut at = 0;
    while at < data.len() {
        let end = (((offset + at as u64) / sector + 1) * sector - offset).min(data.len() as u64) as usize;
        if dice.percent(50) {
            apply(image, offset + at as u64, &data[at..end]);
        }
        at = end;
    }
}

impl DiskState {
    fn alive(&self) -> io::Result<()> {
        if self.dead { Err(io::Error::other("no power")) } else { Ok(()) }
    }

    fn work(&mut self) -> io::Result<()> {
        self.alive()?;
        match &mut self.before_fault {
            Some((0, fault)) => {
                self.dead = *fault == Fault::PowerCut;
                self.before_fault = None;
                self.faults += 1;
                Err(io::Error::other("the disk failed"))
            }
            Some((left, _)) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl redb::StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        let state = self.state();
        state.alive()?;
        Ok(state.seen.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.state();
        state.alive()?;
        let start = offset as usize;
        let bytes = state.seen.get(start..start + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut state = self.state();
        state.work()?;
        state.seen.resize(length as usize, 0);
        state.unsynced.push(Unsynced::Length(length));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.state();
        state.work()?;
        let DiskState { synced, unsynced, .. } = &mut *state;
        for change in unsynced.drain(..) {
            match change {
                Unsynced::Write(offset, data) => apply(synced, offset, &data),
                Unsynced::Length(length) => synced.resize(length as usize, 0),
            }
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        let outcome = state.work();
        // A write that failed may still have reached the disk.
        state.unsynced.push(Unsynced::Write(offset, data.to_vec()));
        outcome?;
        apply(&mut state.seen, offset, data);
        Ok(())
    }
}

/// What one command does. If `fails` is set, the command changes rows and then returns an error.
#[derive(Clone)]
struct Script {
    changes: Vec<(TableId, Vec<u8>, Option<Vec<u8>>)>,
    feeds: bool,
    fails: bool,
}

fn script(dice: &mut Dice) -> Script {
    let changes = (0..1 + dice.below(8))
        .map(|_| {
            let table = CHANGED[dice.below(CHANGED.len() as u64) as usize];
            let key = dice.below(400).to_be_bytes().to_vec();
            let length = match dice.below(40) {
                0 => 20_000,
                1..=9 => 0,
                _ => dice.below(300) as usize,
            };
            let value = (!dice.percent(25)).then(|| dice.bytes(length));
            (table, key, value)
        })
        .collect();
    Script { changes, feeds: dice.percent(50), fails: dice.percent(10) }
}

impl Script {
    fn run(&self, tx: &mut WriteTx<'_>) -> Result<u64, &'static str> {
        for (table, key, value) in &self.changes {
            match value {
                Some(value) => tx.put_bytes(*table, key.clone(), value.clone()),
                None => tx.own.set(*table, key.as_slice().into(), None),
            }
        }
        if self.feeds {
            tx.feed(&Change { scope: [1; 12], first: 1, last: 2, fresh: false });
        }
        let newest = tx.list(JOURNAL, &Span::default(), Order::Backward, 1).map_err(|_| "unreadable")?;
        let number = newest.first().map_or(1, |(number, _)| number + 1);
        tx.put(JOURNAL, &number, &Vec::new());
        if self.fails { Err("refused") } else { Ok(number) }
    }

    fn apply_to(&self, rows: &mut Rows, number: u64) {
        for (table, key, value) in &self.changes {
            match value {
                Some(value) => drop(rows.insert((*table, key.clone()), value.clone())),
                None => drop(rows.remove(&(*table, key.clone()))),
            }
        }
        rows.insert((AUDIT, number.to_be_bytes().to_vec()), Vec::new());
    }
}

/// Returns all rows of the commands' tables, and how many changes the feed has.
fn contents(store: &Store) -> (Rows, u64) {
    let tx = store.read();
    let mut rows = Rows::new();
    for table in CHANGED.into_iter().chain([AUDIT]) {
        tx.visit_bytes(table, &Span::default(), Order::Forward, &mut |key, value| {
            rows.insert((table, key.to_vec()), value.to_vec());
            Ok(ControlFlow::Continue(()))
        })
        .expect("every row can be read");
    }
    let mut feed = 0;
    tx.visit_bytes(FEED, &Span::default(), Order::Forward, &mut |_, _| {
        feed += 1;
        Ok(ControlFlow::Continue(()))
    })
    .expect("the feed can be read");
    (rows, feed)
}

/// The expected state of the file between two faults.
#[derive(Default)]
struct Model {
    rows: Rows,
    commands: u64,
    feed: u64,
}

impl Model {
    fn take(&mut self, script: &Script) {
        self.commands += 1;
        self.feed += u64::from(script.feeds);
        script.apply_to(&mut self.rows, self.commands);
    }

    /// Advances the model to the state of the reopened store. `sent` contains the commands sent since the last call; the first `answered`
    /// of them were acknowledged.
    fn catch_up(&mut self, store: &Store, sent: &[Script], answered: usize, place: &str) {
        let (rows, feed) = contents(store);
        let found = rows.keys().filter(|(table, _)| *table == AUDIT).count() as u64;
        let kept = found
            .checked_sub(self.commands)
            .unwrap_or_else(|| panic!("{place}: commands that were found earlier are missing")) as usize;
        assert!(kept >= answered, "{place}: {answered} commands were acknowledged, but {kept} are stored");
        assert!(kept <= sent.len(), "{place}: {} commands were sent, but {kept} are stored", sent.len());
        sent[..kept].iter().for_each(|script| self.take(script));
        assert!(self.rows == rows, "{place}: the rows are not those of the first {} commands", self.commands);
        assert_eq!((self.feed, self.feed), (feed, store.feed_position()), "{place}: the feed");
    }
}

/// Sends `bursts` bursts of commands, or fewer if the store fails. Returns the commands that should succeed, and how many of
/// them were acknowledged.
fn load(store: &Store, dice: &mut Dice, bursts: u64, place: &str) -> (Vec<Script>, usize) {
    let (mut sent, mut answered) = (Vec::new(), 0);
    for _ in 0..bursts {
        let mut waiting = Vec::new();
        for _ in 0..1 + dice.below(12) {
            let script = script(dice);
            let queued = script.clone();
            let Ok(answer) = store.queue(move |tx| queued.run(tx)) else { return (sent, answered) };
            waiting.push((script.fails, answer));
            if !script.fails {
                sent.push(script);
            }
        }
        let mut lost = false;
        for (fails, answer) in waiting {
            match answer.blocking_recv().expect("every command gets an answer") {
                Ok(Ok(_)) => {
                    assert!(!fails && !lost, "{place}: an acknowledgment after a failure");
                    answered += 1;
                }
                Ok(Err(words)) => assert_eq!((fails, words), (true, "refused"), "{place}"),
                Err(_) => lost = true,
            }
        }
        if lost {
            return (sent, answered);
        }
    }
    (sent, answered)
}

/// An engine that settles after some commits, as after an idle period.
struct Settling(RedbPort, Mutex<Dice>);

impl Port for Settling {
    fn snapshot(&self) -> super::Result<Arc<dyn Snapshot>> {
        self.0.snapshot()
    }

    fn commit(&self, batch: &Overlay) -> super::Result<()> {
        self.0.commit(batch)?;
        if self.1.lock().expect("no holder of this lock panics").percent(25) { self.0.settle() } else { Ok(()) }
    }

    fn settle(&self) -> super::Result<()> {
        self.0.settle()
    }
}

fn try_reopen(disk: &Disk, seed: u64) -> super::Result<Store> {
    let port = RedbPort::on_backend(disk.clone(), DatabaseKind::Environment)?;
    start(Arc::new(Settling(port, Mutex::new(Dice::new(seed)))), DatabaseKind::Environment)
}

fn reopen(disk: &Disk, place: &str) -> Store {
    try_reopen(disk, place.bytes().map(u64::from).sum()).unwrap_or_else(|error| panic!("{place}: {error}"))
}

/// Checks that the startup check does not mistake the state after a power cut for damage, which would keep the service from starting.
fn passes_the_check(image: &[u8], place: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let path = folder.path().join("world.redb");
    std::fs::write(&path, image).expect("the write succeeds");
    drop(StoreFile::open_verified(&path, CACHE_BYTES).unwrap_or_else(|error| panic!("{place}: {error}")));
}

#[test]
fn after_a_power_cut_acknowledged_commands_are_there_and_others_are_all_or_nothing() {
    let (mut cuts_in_work, mut answers) = (0, 0);
    for seed in 0..40 {
        let mut dice = Dice::new(seed);
        let mut model = Model::default();
        let mut disk = Disk::with(Vec::new());
        for cut in 0..8 {
            let place = format!("seed {seed}, cut {cut}");
            let store = reopen(&disk, &place);
            disk.arm(1 + dice.below(120), Fault::PowerCut);
            let bursts = 1 + dice.below(12);
            let (sent, answered) = load(&store, &mut dice, bursts, &place);
            answers += answered;
            let image = disk.after_power_cut(&mut dice);
            cuts_in_work += disk.state().faults;
            store.close();
            passes_the_check(&image, &place);
            disk = Disk::with(image);
            let store = reopen(&disk, &place);
            model.catch_up(&store, &sent, answered, &place);
            // Sometimes the store is closed cleanly before the next power cut.
            if dice.percent(30) {
                store.close();
                disk = Disk::with(disk.after_power_cut(&mut dice));
            } else {
                disk = Disk::with(disk.after_exit());
                store.close();
            }
        }
    }
    println!("{cuts_in_work} of 320 cuts came while the store was writing; {answers} commands were acknowledged");
    assert!(cuts_in_work > 100 && answers > 1_000, "enough cuts come while the store is writing: {cuts_in_work}, {answers}");
}

#[test]
fn a_power_cut_while_the_file_is_opened_or_repaired_leaves_a_file_that_opens() {
    // After an interrupted first start, the file may contain a database without tables. `make` in `redb_port.rs` guarantees at least this
    // state, because redb itself rejects a file if the power was cut while redb created it.
    let bare = Disk::with(Vec::new());
    drop(redb::Database::builder().create_with_backend(bare.clone()).expect("a new image can be created"));
    let bare = bare.after_power_cut(&mut Dice::new(0));
    for seed in 0..60 {
        let mut dice = Dice::new(seed);
        let mut disk = Disk::with(bare.clone());
        let mut model = Model::default();
        for cut in 0..6 {
            let place = format!("seed {seed}, cut {cut}");
            disk.arm(dice.below(40), Fault::PowerCut);
            // Even if the store does not open this time, no acknowledged command may be lost.
            if let Ok(store) = try_reopen(&disk, seed) {
                let bursts = dice.below(4);
                let (sent, answered) = load(&store, &mut dice, bursts, &place);
                let image = disk.after_power_cut(&mut dice);
                store.close();
                passes_the_check(&image, &place);
                disk = Disk::with(image);
                let store = reopen(&disk, &place);
                model.catch_up(&store, &sent, answered, &place);
                let image = disk.after_exit();
                passes_the_check(&image, &place);
                disk = Disk::with(image);
                store.close();
            } else {
                let image = disk.after_power_cut(&mut dice);
                passes_the_check(&image, &place);
                disk = Disk::with(image);
            }
        }
        let store = reopen(&disk, "after the last cut");
        model.catch_up(&store, &[], 0, &format!("seed {seed}, at the end"));
        store.close();
    }
}

#[test]
fn after_a_disk_error_nothing_is_acknowledged_and_the_file_has_only_complete_commands() {
    let mut errors = 0;
    for seed in 0..60 {
        let place = format!("seed {seed}");
        let mut dice = Dice::new(seed);
        let disk = Disk::with(Vec::new());
        let store = reopen(&disk, &place);
        disk.arm(dice.below(60), Fault::OneError);
        let (sent, answered) = load(&store, &mut dice, 400, &place);
        assert_eq!(disk.state().faults, 1, "{place}: the load continues until the disk fails");
        errors += 1;
        let failure = store.failure().borrow().clone();
        assert!(matches!(failure, Some(Error::Io(_))), "{place}: {failure:?}");
        let later = store.write_blocking(|tx| {
            tx.put(JOURNAL, &u64::MAX, &Vec::new());
            Ok::<_, ()>(())
        });
        assert_eq!(later.err(), failure, "{place}: a later write gets the error, though the disk works again");
        let image = if dice.percent(50) { disk.after_power_cut(&mut dice) } else { disk.after_exit() };
        store.close();
        let store = reopen(&Disk::with(image), &place);
        Model::default().catch_up(&store, &sent, answered, &place);
        store.close();
    }
    assert_eq!(errors, 60);
}
