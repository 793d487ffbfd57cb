//! Kills the real process under load at random moments: acknowledged writes must still exist afterward.
//!
//! The test runs its own binary again as a child process that writes to the store from several threads and prints every acknowledgment. The
//! parent process reads the acknowledgments, kills the child, opens the file and compares. The next child continues with the same file.
//! Unlike a power cut, a kill leaves the machine running, but this test covers the real program, file and scheduler.

use std::io::{BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::feed::Change;
use super::port::{Order, Span};
use super::testing::{CACHE_BYTES, Dice, open};
use super::tx::{Read, Table, WriteTx};
use super::{Error, Result, Store, StoreFile};
use crate::vocab::tables::{CONTACT_COUNTS, CONTACTS, CONTACTS_BY_EMAIL, FEED};

const THREADS: u8 = 6;
const KILLS: u64 = 36;
/// The environment variable with the path of the child's file. If it is set, the process is the child.
const FILE_VARIABLE: &str = "MAILMILL_TEST_KILL_FILE";
const NAME: &str = "engine::store::kill_test::after_kill_9_every_acknowledged_write_is_there_and_none_is_partial";

const ROWS: Table<(u8, u32), Vec<u8>> = Table::new(CONTACTS);
/// A table with one row for each row of the main table, under keys in a scattered order.
const INDEX: Table<u64, Vec<u8>> = Table::new(CONTACTS_BY_EMAIL);
const COUNTS: Table<u8, i64> = Table::new(CONTACT_COUNTS);

fn scattered(thread: u8, number: u32) -> u64 {
    Dice::new((u64::from(thread) << 32) | u64::from(number)).below(u64::MAX)
}

/// Runs one command: writes the next row of `thread`, its index row, its count and a change in the feed.
fn add(tx: &mut WriteTx<'_>, thread: u8) -> Result<u32> {
    let number = tx.add(COUNTS, &thread, 1)? as u32;
    let size = if number.is_multiple_of(50) { 30_000 } else { 120 };
    tx.put(ROWS, &(thread, number), &vec![thread; size]);
    tx.put(INDEX, &scattered(thread, number), &vec![thread]);
    tx.feed(&Change { scope: [thread; 12], first: number, last: number, fresh: true });
    Ok(number)
}

/// Runs the child process: writes until killed, and prints each acknowledgment.
fn write_until_killed(path: &Path) {
    let store = open(path).expect("the child opens the file of the previous one");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = &store;
            scope.spawn(move || {
                loop {
                    let number = store
                        .write_blocking(move |tx| add(tx, thread))
                        .expect("the write succeeds")
                        .expect("the data is readable");
                    // Each line is printed with a single write, because short writes to a pipe are atomic.
                    if std::io::stdout().lock().write_all(format!("\nwrote {thread} {number}\n").as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
}

#[expect(clippy::disallowed_methods, reason = "the variable tells the test whether it runs in the child process")]
fn child_file() -> Option<std::path::PathBuf> {
    std::env::var(FILE_VARIABLE).ok().map(Into::into)
}

fn child(path: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this binary has a path"))
        .args(["--exact", NAME, "--nocapture", "--test-threads=1"])
        .env(FILE_VARIABLE, path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this binary can be run")
}

fn answer(line: &str) -> Option<(u8, u32)> {
    let (thread, number) = line.strip_prefix("wrote ")?.split_once(' ')?;
    Some((thread.parse().ok()?, number.parse().ok()?))
}

/// Compares the file with the acknowledgments: `acknowledged` is the newest acknowledged number of each thread, and `kills` is the number
/// of kills since the last comparison.
fn check(store: &Store, acknowledged: &[u32; THREADS as usize], kills: u32, place: &str) -> Result<[u32; THREADS as usize]> {
    let tx = store.read();
    let mut found = [0; THREADS as usize];
    tx.visit(ROWS, &Span::default(), Order::Forward, |(thread, number), value| {
        let newest = &mut found[thread as usize];
        assert_eq!(number, *newest + 1, "{place}: the rows of thread {thread} have a gap");
        assert!(value.iter().all(|byte| *byte == thread), "{place}: row {number} of thread {thread} is damaged");
        assert_eq!(tx.get(INDEX, &scattered(thread, number))?, Some(vec![thread]), "{place}: row {number} has no index row");
        *newest = number;
        Ok(ControlFlow::Continue(()))
    })?;
    let total: u32 = found.iter().sum();
    for (thread, (found, acknowledged)) in (0..).zip(found.iter().zip(acknowledged)) {
        // Each thread waits for the acknowledgment of a command before it sends the next one, so each kill can leave at most one command
        // per thread unacknowledged.
        assert!(
            (*acknowledged..=acknowledged + kills).contains(found),
            "{place}: thread {thread} received the acknowledgment {acknowledged}, but {found} rows exist"
        );
        assert_eq!(tx.get(COUNTS, &thread)?.unwrap_or(0), i64::from(*found), "{place}: the count of thread {thread}");
    }
    let (mut changes, mut index) = (0, 0);
    tx.visit_bytes(FEED, &Span::default(), Order::Forward, &mut |_, _| {
        changes += 1;
        Ok(ControlFlow::Continue(()))
    })?;
    tx.visit_bytes(INDEX.id, &Span::default(), Order::Forward, &mut |_, _| {
        index += 1;
        Ok(ControlFlow::Continue(()))
    })?;
    assert_eq!((changes, index, store.feed_position()), (total, total, u64::from(total)), "{place}: feed and index");
    Ok(found)
}

#[test]
fn after_kill_9_every_acknowledged_write_is_there_and_none_is_partial() -> Result<(), Error> {
    if let Some(path) = child_file() {
        write_until_killed(&path);
        return Ok(());
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let path = folder.path().join("world.redb");
    let mut dice = Dice::new(5);
    let mut there = [0; THREADS as usize];
    let (mut answers, mut unseen) = (0, 0);
    for kill in 0..KILLS {
        let place = format!("kill {kill}");
        let mut child = child(&path);
        let mut acknowledged = there;
        let mut lines = BufReader::new(child.stdout.take().expect("the child's output is piped")).lines();
        // Sometimes the kill comes while the child opens and repairs the file; otherwise it comes while the child writes.
        let mut left = if dice.percent(15) { 0 } else { 1 + dice.below(600) };
        if left == 0 {
            std::thread::sleep(std::time::Duration::from_millis(dice.below(25)));
        }
        let mut hear = |line: &str| {
            if let Some((thread, number)) = answer(line) {
                acknowledged[thread as usize] = number;
                answers += 1;
                left = left.saturating_sub(1);
            }
            left
        };
        while hear("") > 0 {
            hear(&lines.next().expect("the child runs until it is killed").expect("the value is text"));
        }
        child.kill().expect("the child can be killed");
        child.wait().expect("the child can be waited for");
        // Lines that the child printed before it was killed count too. Lines this short enter a pipe atomically.
        for line in lines.map_while(|line| line.ok()) {
            hear(&line);
        }
        unseen += 1;
        there = acknowledged;
        // The startup check must not mistake the state after a kill for damage. If the first child was killed early, there is no file yet.
        if path.exists() {
            drop(StoreFile::open_verified(&path, CACHE_BYTES)?);
        }
        // Sometimes skip the check, so that the next child repairs the file itself, and may be killed during the repair.
        if dice.percent(70) || kill + 1 == KILLS {
            let store = open(&path)?;
            there = check(&store, &acknowledged, unseen, &place)?;
            store.close();
            unseen = 0;
        }
    }
    println!("{KILLS} kills, {answers} acknowledged writes, all found");
    assert!(answers > 1_000, "the kills happen under load: only {answers} answers");
    Ok(())
}
