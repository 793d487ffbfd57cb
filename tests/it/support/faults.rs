//! Simulates faults of the machine for the shipped program: a clock that jumps, and a disk that fails or is full.
//!
//! A small library that is preloaded into the program causes the faults; the machine's C compiler builds it from `faults.c`. If
//! that is not possible, [`Faults::new`] prints the reason, and the tests that need the library end.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::missing;
use super::preload::library;
use super::server::PROGRAM;

/// The size of the block in `faults.c`: first the numbers, then a path.
const NUMBERS: usize = 11;
const KINDS: usize = 3;
const PATH_BYTES: usize = 256;

/// The position of a number in the block.
#[derive(Clone, Copy)]
enum Number {
    ClockOffsetMs = 0,
    Armed = 1,
    Kind = 2,
    FailAt = 3,
    FailMany = 4,
    Error = 5,
    Seen = 6,
    Failed = 9,
    Loaded = 10,
}

/// The kind of call that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Making writes durable.
    Sync = 0,
    /// Writing, extending or truncating a file.
    Write = 1,
    /// Renaming or unlinking a file.
    Name = 2,
}

/// How the call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call does not return: the process is killed before the call does anything.
    Killed = -1,
    /// `EPERM`
    Refused = 1,
    /// `EIO`
    Broken = 5,
    /// `ENOSPC`
    Full = 28,
}

/// The faults of one server's machine.
pub struct Faults {
    block: File,
    place: PathBuf,
    library: PathBuf,
}

impl Faults {
    /// Creates a machine without faults. Returns `None` if faults cannot be simulated.
    pub fn new(folder: &Path) -> Option<Self> {
        let Some(library) = library("faults") else {
            missing("there is no C compiler (cc) for Linux to make the faults with");
            return None;
        };
        let place = folder.join("faults");
        fs::write(&place, vec![0; NUMBERS * 8 + PATH_BYTES]).expect("written");
        let block = File::options().read(true).write(true).open(&place).expect("just made");
        let faults = Self { block, place, library };
        let tried = Command::new(PROGRAM).arg("--version").envs(faults.environment(folder)).output();
        if !tried.is_ok_and(|output| output.status.success()) || faults.number(Number::Loaded as usize) == 0 {
            missing("nothing can be preloaded into the program");
            return None;
        }
        Some(faults)
    }

    /// Returns the environment variables for the program with this data folder.
    pub fn environment(&self, data: &Path) -> Vec<(&'static str, PathBuf)> {
        vec![("LD_PRELOAD", self.library.clone()), ("FAULTS_BLOCK", self.place.clone()), ("FAULTS_FOLDER", data.to_path_buf())]
    }

    /// Sets the offset of the machine's clock.
    pub fn clock_off_by_ms(&self, ms: i64) {
        self.set(Number::ClockOffsetMs, ms);
    }

    /// Starts counting calls, and makes `many` calls of a kind fail, starting with the call number `first`. If `many` is 0, no call
    /// fails.
    pub fn arm(&self, kind: Kind, fault: Fault, first: u64, many: u64) {
        self.disarm();
        for number in (0..KINDS).map(|kind| Number::Seen as usize + kind).chain([Number::Failed as usize]) {
            self.put(number, 0);
        }
        self.set(Number::Kind, kind as i64);
        self.set(Number::Error, fault as i64);
        self.set(Number::FailAt, i64::try_from(first).expect("a small number"));
        self.set(Number::FailMany, i64::try_from(many).unwrap_or(i64::MAX));
        self.set(Number::Armed, 1);
    }

    /// Stops all disk faults.
    pub fn disarm(&self) {
        self.set(Number::Armed, 0);
    }

    /// Returns how many calls of a kind were made since counting started.
    pub fn seen(&self, kind: Kind) -> u64 {
        self.number(Number::Seen as usize + kind as usize)
    }

    /// Returns how many calls failed since counting started.
    pub fn failed(&self) -> u64 {
        self.number(Number::Failed as usize)
    }

    /// Returns the first file in the data folder for which a call failed.
    pub fn failed_path(&self) -> String {
        let mut path = [0; PATH_BYTES];
        self.block.read_exact_at(&mut path, NUMBERS as u64 * 8).expect("the block is whole");
        String::from_utf8_lossy(&path).trim_end_matches('\0').to_owned()
    }

    fn set(&self, number: Number, value: i64) {
        self.put(number as usize, value);
    }

    fn put(&self, place: usize, value: i64) {
        self.block.write_all_at(&value.to_ne_bytes(), place as u64 * 8).expect("the block can be written");
    }

    fn number(&self, place: usize) -> u64 {
        let mut value = [0; 8];
        self.block.read_exact_at(&mut value, place as u64 * 8).expect("the block is whole");
        u64::try_from(i64::from_ne_bytes(value)).unwrap_or(0)
    }
}
