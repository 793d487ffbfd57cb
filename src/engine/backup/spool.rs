//! The spool: the parts of the log that the target does not have yet, as files in the data folder, and what is known about the target.
//!
//! | File | Content |
//! |---|---|
//! | `state.json` | what the target has, and which server wrote it |
//! | `part-NUMBER` | a complete part |
//! | `open` | the records of the part that is being filled |
//!
//! Invariant: the records from the last shipped one to the newest one have no gap. A record that would leave a gap interrupts the spool:
//! the records before the gap are shipped, and no more records are accepted until [`Spool::restart`] starts a new log, which needs a
//! snapshot. The files are not synced for each commit, because that would double the time that a commit takes. After a power cut, records
//! may therefore be missing; the next record then reveals the gap.

use std::collections::VecDeque;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::names::{Epoch, PartNumber};
use super::part::{self, Header, Positions};
use super::{Error, Result};
use crate::base::clock::Timestamp;
use crate::engine::store::commit_log::{self, Record, StoreName};
use crate::engine::store::identity::Installation;
use crate::engine::store::seal::KeyCheck;
use crate::vocab::limits;

const STATE: &str = "state.json";
const OPEN: &str = "open";
const PART: &str = "part-";

/// What a data folder knows about its target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct State {
    pub url: String,
    pub installation: Installation,
    pub key_check: KeyCheck,
    /// The number of times that a server had started with this folder when the state was written.
    pub boots: u64,
    /// The random name by which the target knows this data folder.
    pub holder: String,
    /// The last epoch in which a server with this folder wrote.
    pub epoch: Epoch,
    /// The last part that the target has.
    pub shipped: PartNumber,
    /// The positions after the last part that the target has, or those at the start of a log without parts.
    pub positions: Positions,
    /// The last time when the target was complete, according to this machine's clock.
    pub complete_until: Option<Timestamp>,
}

/// A complete part in the spool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub header: Header,
    pub file: PathBuf,
    pub file_bytes: u64,
}

pub struct Spool {
    folder: PathBuf,
    bytes_max: u64,
    state: Option<State>,
    waiting: VecDeque<Waiting>,
    waiting_bytes: u64,
    open: Option<File>,
    /// The records of the part that is being filled, which are also in the file `open`.
    buffer: Vec<u8>,
    header: Header,
    /// Why the spool accepts no records; `None` if it accepts them.
    interrupted: Option<String>,
}

impl Spool {
    /// Opens the spool in `folder`, and creates the folder if it does not exist. If parts are missing or damaged, all records in the spool
    /// are dropped, and the next snapshot starts a new log.
    pub fn open(folder: &Path, bytes_max: u64) -> Result<Self> {
        let failed = |error: io::Error| {
            Error::Local(format!(
                "the folder {} for backup files waiting to be uploaded cannot be used: {error}; check that the folder is writable \
                 and that the disk has free space",
                folder.display()
            ))
        };
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let state: Option<State> = fs::read(folder.join(STATE)).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let mut spool = Self {
            folder: folder.to_path_buf(),
            bytes_max,
            header: Header::new(1, Positions::default()),
            interrupted: state.is_none().then(|| "this data folder has no record of an earlier backup".to_owned()),
            state,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            open: None,
            buffer: Vec::new(),
        };
        if let Err(reason) = spool.load().map_err(failed)? {
            spool.discard(reason);
        }
        Ok(spool)
    }

    /// Reads the files of the spool. If the files are not consecutive parts of the log, returns why.
    fn load(&mut self) -> io::Result<Result<(), String>> {
        let Some(state) = self.state.clone() else { return Ok(Ok(())) };
        let (mut number, mut positions) = (state.shipped, state.positions);
        let mut files: Vec<(PartNumber, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.extend(name.strip_prefix(PART).and_then(|number| number.parse().ok()).map(|number| (number, path)));
        }
        files.sort();
        for (found, file) in files {
            let content = fs::read(&file)?;
            if found <= state.shipped {
                // The process or the machine stopped after the part was shipped and before its file was deleted.
                fs::remove_file(&file)?;
                continue;
            }
            match part::header(&content) {
                Some(header) if found == number + 1 => {
                    (number, positions) = (found, header.positions);
                    self.wait(Waiting { header, file, file_bytes: content.len() as u64 });
                }
                Some(_) => return Ok(Err(format!("the backup file before {} is missing", file.display()))),
                None => {
                    return Ok(Err(format!("the backup file {} was damaged on the disk before it was uploaded", file.display())));
                }
            }
        }
        self.header = Header::new(number + 1, positions);
        let mut content = Vec::new();
        match File::open(self.folder.join(OPEN)) {
            Ok(mut file) => drop(file.read_to_end(&mut content)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let mut rest = content.as_slice();
        while !rest.is_empty() {
            let before = rest;
            // A record that cannot be read was being written when the process ended.
            let Ok(record) = commit_log::decode(&mut rest) else { break };
            let bytes = &before[..before.len() - rest.len()];
            match self.header.positions.get(record.store) {
                // The process ended after the part was complete and before `open` was emptied.
                Some(known) if record.position <= known => continue,
                Some(known) if record.position != known + 1 => return Ok(Err(missing(&record, known))),
                _ => {}
            }
            self.buffer.extend_from_slice(bytes);
            self.header.note(&record, bytes.len());
        }
        self.write_open()?;
        Ok(Ok(()))
    }

    /// Replaces the content of the file `open` with the buffer. The buffer contains no records that are already in a part.
    fn write_open(&mut self) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(self.folder.join(OPEN))?;
        file.write_all(&self.buffer)?;
        self.open = Some(file);
        Ok(())
    }

    /// Adds a record that continues the log. Any other record completes the current part and interrupts the log.
    pub fn append(&mut self, record: &Record) {
        if self.interrupted.is_some() {
            return;
        }
        if let Some(known) = self.header.positions.get(record.store).filter(|known| record.position != known + 1) {
            self.cut();
            return self.interrupt(missing(record, known));
        }
        let start = self.buffer.len();
        commit_log::encode(record, &mut self.buffer);
        self.header.note(record, self.buffer.len() - start);
        let written = match &mut self.open {
            Some(file) => file.write_all(&self.buffer[start..]),
            None => self.write_open(),
        };
        if let Err(error) = written {
            return self.discard(format!("the spool cannot be written: {error}"));
        }
        if self.buffer.len() >= limits::BACKUP_PART_BYTES {
            self.cut();
        }
        if self.waiting_bytes > self.bytes_max {
            self.discard(format!(
                "too many commits wait for the target: the spool has reached its limit of {} MiB",
                self.bytes_max >> 20
            ));
        }
    }

    /// Completes the part that is being filled, if it has records.
    pub fn cut(&mut self) {
        if self.interrupted.is_some() || self.buffer.is_empty() {
            return;
        }
        let done = self.write_part();
        match done {
            Ok(waiting) => {
                self.header = Header::new(waiting.header.number + 1, waiting.header.positions);
                self.wait(waiting);
                self.buffer.clear();
                self.buffer.shrink_to(limits::BACKUP_PART_BYTES);
                if let Err(error) = self.write_open() {
                    self.discard(format!("the spool cannot be written: {error}"));
                }
            }
            Err(error) => self.discard(error.to_string()),
        }
    }

    fn write_part(&self) -> Result<Waiting> {
        let packed = part::pack(&self.header, &self.buffer)?;
        let file = self.folder.join(format!("{PART}{:010}", self.header.number));
        write_whole(&file, &packed)?;
        Ok(Waiting { header: self.header.clone(), file, file_bytes: packed.len() as u64 })
    }

    /// Accepts no more records until [`Spool::restart`]. Complete parts stay and are shipped.
    fn interrupt(&mut self, reason: String) {
        if self.interrupted.is_none() {
            tracing::warn!(reason, "the commit log of the backup was interrupted; the next snapshot starts a new one");
            self.interrupted = Some(reason);
        }
    }

    /// Interrupts the log like [`Spool::interrupt`], and drops all records.
    pub fn discard(&mut self, reason: String) {
        self.interrupt(reason);
        self.clear();
    }

    /// Discards the log like [`Spool::discard`], and forgets the state, because the target's newest state no longer comes from this folder.
    pub fn forget(&mut self, reason: String) {
        self.discard(reason);
        self.state = None;
        // If the file cannot be removed, the next state that is saved replaces it.
        let _ = fs::remove_file(self.folder.join(STATE));
    }

    fn wait(&mut self, part: Waiting) {
        self.waiting_bytes += part.file_bytes;
        self.waiting.push_back(part);
    }

    fn clear(&mut self) {
        self.waiting_bytes = 0;
        self.waiting.clear();
        // Remove all part files, including those that are not in `waiting` because the state was lost: the next log may reuse their
        // numbers.
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(PART) {
                let _ = fs::remove_file(entry.path());
            }
        }
        self.open = None;
        self.buffer = Vec::new();
        let _ = fs::remove_file(self.folder.join(OPEN));
    }

    /// Starts an empty log in a new epoch, after the positions in `state`. The numbers of parts continue, so that no part replaces another.
    pub fn restart(&mut self, state: State) -> Result<()> {
        self.clear();
        self.header = Header::new(state.shipped + 1, state.positions);
        self.save(state)?;
        self.interrupted = None;
        Ok(())
    }

    /// Saves what is known about the target.
    pub fn save(&mut self, state: State) -> Result<()> {
        let text = serde_json::to_vec(&state).expect("the state can be written as JSON");
        write_whole(&self.folder.join(STATE), &text)?;
        self.state = Some(state);
        Ok(())
    }

    /// Removes the oldest part, which the target now has.
    pub fn shipped(&mut self, number: PartNumber) -> Result<()> {
        let Some(part) = self.waiting.front().filter(|part| part.header.number == number).cloned() else { return Ok(()) };
        if let Some(state) = &self.state {
            self.save(State { shipped: number, positions: part.header.positions, ..state.clone() })?;
        }
        self.waiting.pop_front();
        self.waiting_bytes -= part.file_bytes;
        fs::remove_file(&part.file).map_err(|error| {
            Error::Local(format!("{} cannot be removed: {error}; check the permissions of its folder", part.file.display()))
        })
    }

    pub fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }

    pub fn interruption(&self) -> Option<&str> {
        self.interrupted.as_deref()
    }

    pub fn oldest(&self) -> Option<&Waiting> {
        self.waiting.front()
    }

    /// Returns the complete parts that wait to be shipped, oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter()
    }

    /// Returns the number of the part that is being filled.
    pub fn next_number(&self) -> PartNumber {
        self.header.number
    }

    /// Returns the number of bytes that are waiting to be shipped to the target.
    pub fn bytes(&self) -> u64 {
        self.waiting_bytes + self.buffer.len() as u64
    }

    /// Makes the part that is being filled durable; called when the process ends.
    pub fn sync(&self) {
        if let Some(file) = &self.open
            && let Err(error) = file.sync_all()
        {
            tracing::warn!(%error, "the spool of the backup could not be synced");
        }
    }
}

fn missing(record: &Record, known: u64) -> String {
    let store: StoreName = record.store;
    format!("commits of the {} store between {known} and {} are not in the log", store.word(), record.position)
}

fn write_whole(file: &Path, content: &[u8]) -> Result<()> {
    let aside = file.with_extension("new");
    let write = || {
        let mut out = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
        out.write_all(content)?;
        out.sync_all()?;
        fs::rename(&aside, file)
    };
    write().map_err(|error| {
        Error::Local(format!(
            "{} cannot be written: {error}; check that its folder is writable and that the disk has free space",
            file.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::random::SeededRandom;
    use crate::engine::store::commit_log::overlay_of;
    use crate::engine::store::seal::Seal;

    const BOUND: u64 = 1 << 30;

    fn state() -> State {
        State {
            url: "/backup".into(),
            installation: Installation::new(&SeededRandom::new(1)),
            key_check: Seal::from_key(&[7; 32]).check_value(),
            boots: 1,
            holder: "a".into(),
            epoch: 1,
            shipped: 0,
            positions: Positions::default(),
            complete_until: None,
        }
    }

    fn record(position: u64, bytes: usize) -> Record {
        let value: Vec<u8> = (0..bytes).map(|index| (index * 7 + index / 251 + position as usize) as u8).collect();
        Record {
            store: StoreName::Live,
            position,
            at: Timestamp(1_000 + position as i64),
            batch: Arc::new(overlay_of(b"key", &value)),
        }
    }

    fn opened(folder: &Path) -> Spool {
        Spool::open(folder, BOUND).expect("the spool can be opened")
    }

    fn started(folder: &Path) -> Spool {
        let mut spool = opened(folder);
        assert!(spool.interruption().is_some(), "a new folder has no log");
        spool.restart(state()).expect("the spool can be started");
        spool
    }

    #[test]
    fn records_survive_the_end_of_the_process_and_an_incomplete_one_is_dropped() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let mut spool = started(folder.path());
        for position in 5..8 {
            spool.append(&record(position, 100));
        }
        spool.cut();
        spool.append(&record(8, 100));
        drop(spool);
        let open = folder.path().join(OPEN);
        let mut content = fs::read(&open).expect("the file exists");
        content.extend_from_slice(&content.clone()[..20]);
        fs::write(&open, content).expect("the file can be written");
        let mut spool = opened(folder.path());
        assert_eq!((spool.interruption(), spool.next_number(), spool.header.records), (None, 2, 1));
        spool.append(&record(9, 100));
        spool.cut();
        let waiting: Vec<_> = spool.waiting.iter().map(|part| (part.header.number, part.header.records)).collect();
        assert_eq!(waiting, [(1, 3), (2, 2)]);
        spool.shipped(1).expect("the part can be removed");
        assert_eq!(opened(folder.path()).oldest().map(|part| part.header.number), Some(2));
    }

    #[test]
    fn a_missing_or_repeated_commit_interrupts_the_log_until_a_restart() {
        for position in [6, 8] {
            let folder = tempfile::tempdir().expect("a temporary folder can be created");
            let mut spool = started(folder.path());
            spool.append(&record(6, 10));
            spool.append(&record(position, 10));
            assert!(spool.interruption().is_some_and(|reason| reason.contains("live")), "{position}");
            spool.append(&record(7, 10));
            spool.cut();
            let waiting: Vec<_> = spool.waiting.iter().map(|part| (part.header.number, part.header.records)).collect();
            assert_eq!(waiting, [(1, 1)], "the record before the gap is shipped");
            spool.restart(State { shipped: 4, ..state() }).expect("the spool can be started");
            spool.append(&record(20, 10));
            assert_eq!((spool.interruption(), spool.next_number()), (None, 5));
        }
    }

    #[test]
    fn a_part_that_was_lost_on_the_disk_interrupts_the_log() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let mut spool = started(folder.path());
        for position in 1..4 {
            spool.append(&record(position, 10));
            spool.cut();
        }
        let second = spool.waiting[1].file.clone();
        drop(spool);
        fs::remove_file(second).expect("the file can be removed");
        let mut spool = opened(folder.path());
        assert!(spool.interruption().is_some_and(|reason| reason.contains("is missing")));
        // No part of the old log can be mistaken for a part of the new log.
        spool.restart(state()).expect("the spool can be started");
        let left = fs::read_dir(folder.path()).expect("the folder can be listed").flatten();
        assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(PART)));
    }

    #[test]
    fn a_full_spool_is_dropped_and_uses_no_more_space() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let mut spool = Spool::open(folder.path(), 10_000).expect("the spool can be opened");
        spool.restart(state()).expect("the spool can be started");
        let random: Arc<dyn crate::base::random::Random> = Arc::new(SeededRandom::new(2));
        for position in 1..9 {
            let noise: [u8; 2_000] = random.bytes();
            let batch = Arc::new(overlay_of(b"key", &noise));
            spool.append(&Record { batch, ..record(position, 1) });
            spool.cut();
        }
        assert!(spool.interruption().is_some_and(|reason| reason.contains("too many commits wait for the target")));
        assert_eq!((spool.bytes(), spool.oldest()), (0, None));
    }
}
