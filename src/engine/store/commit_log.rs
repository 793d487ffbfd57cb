//! The commit log: one record for each commit of a store, in order.
//!
//! A record contains the changes that the writer made durable together, with a position and a time. Positions order the log: they count the
//! commits of a store without gaps. Each commit also stores its own position in a row, so a missing or repeated record is detected. The
//! time of a record may be wrong, because a clock can be wrong. It is used only to find the record for a point in time. Records refer to
//! stores and tables by name and contain keys and values as bytes, so that other versions of the program and other engines can read them.

use std::sync::Arc;

use super::Result;
use super::identity;
use super::key::Key;
use super::port::Overlay;
use super::tx::{Read, Table};
use crate::base::clock::Timestamp;
use crate::vocab::tables::{self, DatabaseKind, TABLES, TableId};

const META: Table<String, Vec<u8>> = Table::new(tables::META);
/// The key in [`META`] under which every store keeps the position of its newest logged commit.
const POSITION: &str = "log position";

/// A store whose commits are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoreName {
    Control,
    Test,
    Live,
}

impl StoreName {
    pub const ALL: [Self; 3] = [Self::Control, Self::Test, Self::Live];

    pub fn word(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Test => "test",
            Self::Live => "live",
        }
    }

    pub fn database_kind(self) -> DatabaseKind {
        match self {
            Self::Control => DatabaseKind::Control,
            Self::Test | Self::Live => DatabaseKind::Environment,
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.word() == word)
    }
}

/// One commit of a store.
#[derive(Clone)]
pub struct Record {
    pub store: StoreName,
    /// The number of the commit in its store, starting at 1.
    pub position: u64,
    /// The time of the commit according to the machine's clock.
    pub at: Timestamp,
    pub batch: Arc<Overlay>,
}

impl Record {
    /// Returns the total size of the changed keys and values in bytes.
    pub fn changed_bytes(&self) -> u64 {
        let sizes = self.batch.tables().flat_map(|(_, changes)| changes.iter());
        sizes.map(|(key, value)| (key.len() + value.as_ref().map_or(0, |value| value.len())) as u64).sum()
    }
}

/// Receives the records of a store's commits.
pub trait CommitLog: Send + Sync + 'static {
    /// Accepts the record of a commit that is durable. The writer waits for this call, so the call must not wait for a network.
    fn append(&self, record: Record);
}

/// The log that receives the commits of one store.
#[derive(Clone)]
pub struct Logged {
    pub store: StoreName,
    pub log: Arc<dyn CommitLog>,
}

/// Returns the position of the newest logged commit; 0 if no commit was logged.
pub fn position(tx: &impl Read) -> Result<u64> {
    let Some(bytes) = tx.get(META, &POSITION.to_owned())? else { return Ok(0) };
    bytes.try_into().map(u64::from_le_bytes).map_err(|_| tx.corrupt(tables::META))
}

/// Adds the position of a commit to its changes.
pub(super) fn set_position(batch: &mut Overlay, position: u64) {
    batch.set(tables::META, POSITION.to_owned().to_bytes().into(), Some(position.to_le_bytes().as_slice().into()));
}

/// The random IDs that link a record of a shared log to its predecessor. The record's own commit stores them in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The random ID of the record.
    pub own: [u8; 16],
    /// The ID of the previous record.
    pub before: [u8; 16],
}

/// The key in [`META`] under which every store of a cluster keeps the [`Links`] of its newest record.
const LINKS: &str = "log links";

/// Returns the links of the newest record; `None` in a store that is not part of a cluster.
pub fn links(tx: &impl Read) -> Result<Option<Links>> {
    let Some(bytes) = tx.get(META, &LINKS.to_owned())? else { return Ok(None) };
    Links::read(&bytes).map(Some).ok_or_else(|| tx.corrupt(tables::META))
}

impl Links {
    fn read(bytes: &[u8]) -> Option<Self> {
        let (own, before) = bytes.split_first_chunk::<16>()?;
        Some(Self { own: *own, before: before.try_into().ok()? })
    }

    /// Returns the links that a batch sets, if it sets any.
    pub fn of(batch: &Overlay) -> Option<Self> {
        Self::read(batch.get(tables::META, &LINKS.to_owned().to_bytes())??)
    }

    /// Removes the links of a store that leaves its cluster.
    pub(super) fn remove(batch: &mut Overlay) {
        batch.set(tables::META, LINKS.to_owned().to_bytes().into(), None);
    }

    /// Adds the links to the changes of a commit.
    pub(super) fn set(self, batch: &mut Overlay) {
        let value = [self.own, self.before].concat();
        batch.set(tables::META, LINKS.to_owned().to_bytes().into(), Some(value.into()));
    }
}

/// Appends the record to `out`. Its length and a checksum come first, so that an incomplete record at the end of a file is detected.
pub fn encode(record: &Record, out: &mut Vec<u8>) {
    encode_changes((record.store, record.position, record.at), &record.batch, out);
}

/// Like [`encode`], but borrows the changes.
pub(super) fn encode_changes((store, position, at): (StoreName, u64, Timestamp), batch: &Overlay, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 8]);
    put_bytes(out, store.word().as_bytes());
    put_number(out, position);
    out.extend_from_slice(&at.0.to_le_bytes());
    for (table, changes) in batch.tables() {
        put_bytes(out, table.info().name.as_bytes());
        put_number(out, changes.len() as u64);
        for (key, value) in changes {
            put_bytes(out, key);
            match value {
                // Stores the length plus one, so that zero can mark a removal.
                Some(value) => {
                    put_number(out, value.len() as u64 + 1);
                    out.extend_from_slice(value);
                }
                None => put_number(out, 0),
            }
        }
    }
    let body = &out[start + 8..];
    let (length, sum) = (u32::try_from(body.len()).expect("a group is far smaller than 4 GiB"), crc32fast::hash(body));
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    out[start + 4..start + 8].copy_from_slice(&sum.to_le_bytes());
}

/// Why bytes cannot be read as a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The record is incomplete or damaged.
    Damaged,
    /// The record belongs to a store or changes a table that this program does not know: a newer program wrote it.
    Newer,
}

/// Reads the record at the start of `bytes` and moves `bytes` past it.
pub fn decode(bytes: &mut &[u8]) -> Result<Record, Unreadable> {
    let damaged = || Unreadable::Damaged;
    let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(damaged)?;
    let (sum, rest) = rest.split_first_chunk::<4>().ok_or_else(damaged)?;
    let (mut body, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(damaged)?;
    if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
        return Err(Unreadable::Damaged);
    }
    *bytes = rest;
    let store = std::str::from_utf8(take_bytes(&mut body).ok_or_else(damaged)?).ok().and_then(StoreName::parse);
    let position = take_number(&mut body).ok_or_else(damaged)?;
    let (at, mut body) = body.split_first_chunk::<8>().ok_or_else(damaged)?;
    let mut batch = Overlay::new();
    while !body.is_empty() {
        let name = take_bytes(&mut body).ok_or_else(damaged)?;
        let table = TABLES.iter().find(|info| info.name.as_bytes() == name).ok_or(Unreadable::Newer)?.id;
        take_changes(&mut body, table, &mut batch).ok_or_else(damaged)?;
    }
    let at = Timestamp(i64::from_le_bytes(*at));
    Ok(Record { store: store.ok_or(Unreadable::Newer)?, position, at, batch: Arc::new(batch) })
}

/// Reads the changes of one table. Skips rows that belong only to the data folder in which they were written.
fn take_changes(body: &mut &[u8], table: TableId, batch: &mut Overlay) -> Option<()> {
    for _ in 0..take_number(body)? {
        let key = take_bytes(body)?;
        let value = match take_number(body)? {
            0 => None,
            length => {
                let (value, rest) = body.split_at_checked(usize::try_from(length - 1).ok()?)?;
                *body = rest;
                Some(value.into())
            }
        };
        if !identity::stays_behind(table, key) {
            batch.set(table, key.into(), value);
        }
    }
    Some(())
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Writes a number seven bits at a time, lowest bits first, so that small numbers, such as most lengths, take up one byte.
fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take_bytes<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = usize::try_from(take_number(bytes)?).ok()?;
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Returns changes that set one row, for tests of the log.
#[cfg(test)]
pub fn overlay_of(key: &[u8], value: &[u8]) -> Overlay {
    let mut batch = Overlay::new();
    batch.set(tables::META, key.into(), Some(value.into()));
    batch
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::super::testing::{Dice, scratch};
    use super::super::{Error, Options, Store};
    use super::*;
    use crate::base::clock::ManualClock;
    use crate::base::random::SeededRandom;
    use crate::vocab::tables::{CONTACTS, TAGS};

    const ROWS: Table<u32, Vec<u8>> = Table::new(CONTACTS);

    #[derive(Default)]
    struct MemoryLog(Mutex<Vec<Record>>);

    impl CommitLog for MemoryLog {
        fn append(&self, record: Record) {
            self.0.lock().expect("no holder of this lock panics").push(record);
        }
    }

    fn changes(batch: &Overlay) -> Vec<(TableId, Vec<u8>, Option<Vec<u8>>)> {
        let rows = |(table, changes): (TableId, &super::super::port::Changes)| -> Vec<_> {
            changes.iter().map(|(key, value)| (table, key.to_vec(), value.as_ref().map(|value| value.to_vec()))).collect()
        };
        batch.tables().flat_map(rows).collect()
    }

    fn random_record(dice: &mut Dice) -> Record {
        let mut batch = Overlay::new();
        for _ in 0..dice.below(20) {
            let table = if dice.percent(50) { CONTACTS } else { TAGS };
            let (key, value) = (dice.below(40) as usize, dice.below(300) as usize);
            let value = dice.percent(70).then(|| dice.bytes(value).into());
            batch.set(table, dice.bytes(key).into(), value);
        }
        let store = StoreName::ALL[dice.below(3) as usize];
        Record { store, position: dice.below(1 << 40), at: Timestamp(-5 + dice.below(1 << 42) as i64), batch: Arc::new(batch) }
    }

    #[test]
    fn records_are_read_as_they_were_written_and_damage_to_any_byte_is_detected() {
        let mut dice = Dice::new(20);
        for _ in 0..200 {
            let records = [random_record(&mut dice), random_record(&mut dice)];
            let mut bytes = Vec::new();
            records.iter().for_each(|record| encode(record, &mut bytes));
            let mut rest = bytes.as_slice();
            for record in &records {
                let read = decode(&mut rest).expect("the record is complete");
                assert_eq!((read.store, read.position, read.at), (record.store, record.position, record.at));
                assert!(changes(&read.batch) == changes(&record.batch));
            }
            assert!(rest.is_empty());
            let at = dice.below(bytes.len() as u64) as usize;
            assert!(decode(&mut &bytes[..at.min(7)]).is_err(), "an incomplete record is not read");
            bytes[at] ^= 1 + dice.below(255) as u8;
            let mut rest = bytes.as_slice();
            let read: Vec<_> = std::iter::from_fn(|| (!rest.is_empty()).then(|| decode(&mut rest))).take(2).collect();
            assert!(read.iter().any(|read| read.is_err()), "byte {at} was changed");
        }
    }

    #[test]
    fn a_table_of_a_newer_program_is_not_mistaken_for_damage() {
        let mut body = Vec::new();
        put_bytes(&mut body, b"live");
        put_number(&mut body, 300);
        body.extend_from_slice(&[0; 8]);
        put_bytes(&mut body, b"a table of the future");
        let mut bytes = (body.len() as u32).to_le_bytes().to_vec();
        bytes.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
        bytes.extend_from_slice(&body);
        assert_eq!(decode(&mut bytes.as_slice()).err(), Some(Unreadable::Newer));
    }

    #[test]
    fn every_commit_of_a_logged_store_is_one_record_and_the_positions_survive_a_restart() {
        let (folder, plain) = scratch();
        plain.close();
        let path = folder.path().join("world.redb");
        let log = Arc::new(MemoryLog::default());
        let open = || {
            let options = Options { database_kind: DatabaseKind::Environment, cache_bytes: 1 << 20 };
            let ambient: (Arc<dyn crate::base::clock::Clock>, Arc<dyn crate::base::random::Random>) =
                (Arc::new(ManualClock::at(Timestamp(5_000))), Arc::new(SeededRandom::new(7)));
            let logged = Logged { store: StoreName::Live, log: log.clone() };
            Store::open_and(super::super::space::Space::unlimited(), &path, &options, ambient, Some(logged), |_| Ok(()))
                .expect("the store opens")
        };
        for round in 0..2_u32 {
            let store = open();
            for row in 0..3 {
                let put = move |tx: &mut super::super::WriteTx<'_>| {
                    tx.put(ROWS, &(round * 3 + row), &vec![7; 10]);
                    Ok::<_, Error>(())
                };
                store.write_blocking(put).expect("the store works").expect("the write succeeds");
            }
            let written = u64::from(round + 1) * 3;
            assert_eq!(position(&store.read()), Ok(written));
            store.close();
        }
        let records = log.0.lock().expect("no holder of this lock panics");
        let positions: Vec<u64> = records.iter().map(|record| record.position).collect();
        assert_eq!(positions, [1, 2, 3, 4, 5, 6]);
        assert!(records.iter().all(|record| record.store == StoreName::Live && record.at == Timestamp(5_000)));
        assert!(records.iter().all(|record| record.batch.table(CONTACTS).is_some_and(|rows| rows.len() == 1)));
    }
}
