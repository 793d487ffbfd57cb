//! Files kept as rows: uploads, exports, images. One file to copy, one file to back up.
//!
//! A blob is written chunk by chunk, each chunk durable by itself, and exists for readers once its head says it is complete. Heads
//! carry an expiry, so what an interrupted upload leaves behind is swept away like an export nobody fetched.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::codec::Record;
use super::port::{Order, Span};
use super::tx::{Read, ReadTx, Table, WriteTx};
use super::{Result, port::corrupt};
use crate::base::clock::Timestamp;
use crate::vocab::ids::BlobId;
use crate::vocab::tables;

const HEADS: Table<BlobId, Head> = Table::new(tables::BLOB_HEADS);
const CHUNKS: Table<(BlobId, u32), Vec<u8>> = Table::new(tables::BLOBS);

/// Bytes of one chunk: large enough that rows are few, small enough that a writer's memory stays small.
pub const CHUNK_BYTES: usize = 256 * 1024;
/// Chunks removed in one transaction.
const SWEEP_CHUNKS_MAX: usize = 256;

/// What is known of a blob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// All bytes are there.
    pub complete: bool,
    pub bytes: u64,
    pub content_type: String,
    /// The file name a download gets.
    pub name: String,
    /// When it may be swept away; `None` for never.
    pub expires_at: Option<Timestamp>,
}

impl Record for Head {}

/// Begin a blob. Its head must have an expiry, later than any upload takes: an upload that never ends is swept away then.
pub fn begin(tx: &mut WriteTx<'_>, id: BlobId, head: Head) {
    debug_assert!(head.expires_at.is_some(), "an upload without an expiry could stay behind for ever");
    tx.put(HEADS, &id, &Head { complete: false, bytes: 0, ..head });
}

/// Put chunk `number` (from 0, without gaps) of at most [`CHUNK_BYTES`]. False if the blob was swept away, or never begun: a chunk
/// without a head would never be found again.
pub fn put_chunk(tx: &mut WriteTx<'_>, id: BlobId, number: u32, bytes: Vec<u8>) -> Result<bool> {
    debug_assert!(bytes.len() <= CHUNK_BYTES, "a chunk must fit its bound");
    let begun = tx.has(HEADS, &id)?;
    if begun {
        tx.put(CHUNKS, &(id, number), &bytes);
    }
    Ok(begun)
}

/// Every chunk is there: let readers see the blob. False if it was swept away before.
pub fn complete(tx: &mut WriteTx<'_>, id: BlobId, bytes: u64, expires_at: Option<Timestamp>) -> Result<bool> {
    let Some(head) = tx.get(HEADS, &id)? else { return Ok(false) };
    tx.put(HEADS, &id, &Head { complete: true, bytes, expires_at, ..head });
    Ok(true)
}

/// Let the blob be swept away from `when` on.
pub fn expire(tx: &mut WriteTx<'_>, id: BlobId, when: Timestamp) -> Result<()> {
    if let Some(head) = tx.get(HEADS, &id)? {
        tx.put(HEADS, &id, &Head { expires_at: Some(when), ..head });
    }
    Ok(())
}

/// The head of a complete blob.
pub fn head(tx: &impl Read, id: BlobId) -> Result<Option<Head>> {
    Ok(tx.get(HEADS, &id)?.filter(|head| head.complete))
}

/// Chunk `number` of a blob.
pub fn chunk(tx: &impl Read, id: BlobId, number: u32) -> Result<Option<Vec<u8>>> {
    tx.get(CHUNKS, &(id, number))
}

/// Remove what has expired, a bounded amount; true if there may be more.
pub fn sweep(tx: &mut WriteTx<'_>) -> Result<bool> {
    let now = tx.now();
    let mut due = None;
    tx.visit(HEADS, &Span::default(), Order::Forward, |id, head| {
        if head.expires_at.is_some_and(|at| at <= now) {
            due = Some((id, head));
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let Some((id, head)) = due else { return Ok(false) };
    if tx.delete_span(CHUNKS, &CHUNKS.under(&(id,)), SWEEP_CHUNKS_MAX)? < SWEEP_CHUNKS_MAX {
        tx.delete(HEADS, &id);
    } else if head.complete {
        // Its first chunks are gone: from now on it is not there for readers either.
        tx.put(HEADS, &id, &Head { complete: false, ..head });
    }
    Ok(true)
}

/// Reads a complete blob from one snapshot, from any byte on.
pub struct Reader {
    tx: ReadTx,
    id: BlobId,
    bytes: u64,
    at: u64,
    chunk: Vec<u8>,
    chunk_number: Option<u32>,
}

impl Reader {
    /// A reader that stands at byte `at`; `None` if there is no such blob.
    pub fn open(tx: ReadTx, id: BlobId, at: u64) -> Result<Option<Self>> {
        let Some(head) = head(&tx, id)? else { return Ok(None) };
        Ok(Some(Self { tx, id, bytes: head.bytes, at, chunk: Vec::new(), chunk_number: None }))
    }

    /// The next bytes, at most one chunk; empty at the end.
    pub fn next_bytes(&mut self) -> Result<&[u8]> {
        if self.at >= self.bytes {
            return Ok(&[]);
        }
        let number = (self.at / CHUNK_BYTES as u64) as u32;
        if self.chunk_number != Some(number) {
            self.chunk = chunk(&self.tx, self.id, number)?.ok_or_else(|| corrupt(tables::BLOBS))?;
            self.chunk_number = Some(number);
        }
        let start = (self.at % CHUNK_BYTES as u64) as usize;
        let rest = self.chunk.get(start..).filter(|rest| !rest.is_empty()).ok_or_else(|| corrupt(tables::BLOBS))?;
        // What an upload put beyond the length it declared is not part of the blob.
        let rest = &rest[..rest.len().min((self.bytes - self.at).try_into().unwrap_or(usize::MAX))];
        self.at += rest.len() as u64;
        Ok(rest)
    }
}

impl std::io::Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.next_bytes().map_err(std::io::Error::other)?;
        let count = bytes.len().min(buffer.len());
        buffer[..count].copy_from_slice(&bytes[..count]);
        let unread = (bytes.len() - count) as u64;
        self.at -= unread;
        Ok(count)
    }
}
