//! A part: compressed records, which are either consecutive records of the commit log, or the rows of a snapshot as records. Log parts and
//! snapshot parts have the same format, so a restore reads them in the same way.

use serde::{Deserialize, Serialize};

use super::names::{Epoch, PartName, PartNumber};
use super::{Error, Result};
use crate::base::clock::Timestamp;
use crate::engine::store::commit_log::{self, Record, StoreName, Unreadable};
use crate::vocab::limits;

/// The compression level. Higher levels take longer and save little.
const LEVEL: i32 = 3;

/// The position of each store's newest record; `None` if there is no record yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Positions {
    pub control: Option<u64>,
    pub test: Option<u64>,
    pub live: Option<u64>,
}

impl Positions {
    pub fn get(&self, store: StoreName) -> Option<u64> {
        match store {
            StoreName::Control => self.control,
            StoreName::Test => self.test,
            StoreName::Live => self.live,
        }
    }

    pub fn set(&mut self, store: StoreName, position: u64) {
        let slot = match store {
            StoreName::Control => &mut self.control,
            StoreName::Test => &mut self.test,
            StoreName::Live => &mut self.live,
        };
        *slot = Some(position);
    }
}

/// Describes the records of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Header {
    pub number: PartNumber,
    /// The positions of the stores after the part's last record.
    pub positions: Positions,
    pub from: Timestamp,
    pub to: Timestamp,
    pub records: u64,
    /// The number of bytes in the changed keys and values.
    pub changed_bytes: u64,
    /// The size of the records without compression.
    pub bytes: u64,
}

impl Header {
    pub fn new(number: PartNumber, positions: Positions) -> Self {
        let (from, to) = (Timestamp(i64::MAX), Timestamp(i64::MIN));
        Self { number, positions, from, to, records: 0, changed_bytes: 0, bytes: 0 }
    }

    /// Adds a record of `bytes` bytes to the header's counts, times and positions.
    pub fn note(&mut self, record: &Record, bytes: usize) {
        self.positions.set(record.store, record.position);
        (self.from, self.to) = (self.from.min(record.at), self.to.max(record.at));
        self.records += 1;
        self.changed_bytes += record.changed_bytes();
        self.bytes += bytes as u64;
    }

    pub fn name(&self, epoch: Epoch) -> PartName {
        PartName { epoch, number: self.number, from: self.from, to: self.to }
    }
}

/// Writes a part: the length of the header, the header, and the compressed records.
pub fn pack(header: &Header, records: &[u8]) -> Result<Vec<u8>> {
    let head = serde_json::to_vec(header).expect("a header can be written as JSON");
    let body = zstd::bulk::compress(records, LEVEL)
        .map_err(|error| Error::Local(format!("a part of the backup cannot be compressed: {error}; report this bug")))?;
    let length = u32::try_from(head.len()).expect("a header is short");
    Ok([length.to_le_bytes().as_slice(), &head, &body].concat())
}

pub fn header(part: &[u8]) -> Option<Header> {
    serde_json::from_slice(split(part)?.0).ok()
}

/// Reads a part: its header and its records. `object` names the part in errors.
pub fn unpack(object: &str, part: &[u8]) -> Result<(Header, Vec<u8>)> {
    let damaged = |found: &str| Error::Damaged { object: object.to_owned(), found: found.to_owned() };
    let (_, body) = split(part).ok_or_else(|| damaged("the part is too short"))?;
    let header = header(part).ok_or_else(|| damaged("the header of the part cannot be read"))?;
    if header.bytes > limits::BACKUP_OBJECT_BYTES_MAX as u64 {
        return Err(damaged("the records in the part are too large"));
    }
    let records = zstd::bulk::decompress(body, header.bytes as usize).map_err(|_| damaged("the part cannot be decompressed"))?;
    if records.len() as u64 != header.bytes {
        return Err(damaged("the records in the part are incomplete"));
    }
    Ok((header, records))
}

/// Reads the next of a part's records; `None` at the end.
pub fn next_record(object: &str, records: &mut &[u8]) -> Result<Option<Record>> {
    if records.is_empty() {
        return Ok(None);
    }
    commit_log::decode(records).map(Some).map_err(|unreadable| match unreadable {
        Unreadable::Newer => Error::Newer,
        Unreadable::Damaged => Error::Damaged { object: object.to_owned(), found: "a record cannot be read".to_owned() },
    })
}

fn split(part: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = part.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}
