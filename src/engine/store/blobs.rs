//! Files stored as rows, such as uploads, exports and images, so that they are copied and backed up with the other rows.
//!
//! A large blob is written in chunks, each of which is durable on its own. The blob becomes visible to readers when its head is marked as
//! complete. A head can have an expiry, after which a sweep deletes the blob, for example an interrupted upload or an old export.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::Result;
use super::codec::Record;
use super::port::{Order, Span};
use super::row_check::RowCheck;
use super::tx::{Read, ReadTx, Table, WriteTx};
use crate::base::clock::Timestamp;
use crate::vocab::ids::BlobId;
use crate::vocab::tables;

const HEADS: Table<BlobId, Head> = Table::new(tables::BLOB_HEADS);
const CHUNKS: Table<(BlobId, u32), Vec<u8>> = Table::new(tables::BLOBS);

pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(HEADS), RowCheck::of(CHUNKS)];

/// The size of a chunk: large enough that there are few rows, small enough that a writer needs little memory.
pub const CHUNK_BYTES: usize = 256 * 1024;
/// The maximum number of chunks deleted in one transaction.
const SWEEP_CHUNKS_MAX: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Whether all bytes of the blob are stored.
    pub complete: bool,
    pub bytes: u64,
    pub content_type: String,
    /// The file name for downloads.
    pub name: String,
    /// When the blob may be deleted; `None` if never.
    pub expires_at: Option<Timestamp>,
}

impl Record for Head {}

/// Starts a blob. Its head must have an expiry that is later than the end of any running upload, so that the sweep deletes only interrupted
/// uploads.
pub fn begin(tx: &mut WriteTx<'_>, id: BlobId, head: Head) {
    debug_assert!(head.expires_at.is_some(), "an upload without an expiry could stay forever");
    tx.put(HEADS, &id, &Head { complete: false, bytes: 0, ..head });
}

/// Stores chunk `number` (from 0, without gaps) of at most [`CHUNK_BYTES`]. If the blob was deleted or never started, stores nothing and
/// returns false, because a chunk without a head would never be found again.
pub fn put_chunk(tx: &mut WriteTx<'_>, id: BlobId, number: u32, bytes: Vec<u8>) -> Result<bool> {
    debug_assert!(bytes.len() <= CHUNK_BYTES, "a chunk has at most CHUNK_BYTES bytes");
    let exists = tx.has(HEADS, &id)?;
    if exists {
        tx.put(CHUNKS, &(id, number), &bytes);
    }
    Ok(exists)
}

/// Marks the blob as complete, which makes it visible to readers. Returns false if the blob was deleted, or expired before it was complete,
/// because its first chunks may already be deleted.
pub fn complete(tx: &mut WriteTx<'_>, id: BlobId, bytes: u64, expires_at: Option<Timestamp>) -> Result<bool> {
    let Some(head) = tx.get(HEADS, &id)? else { return Ok(false) };
    if !head.complete && head.expires_at.is_some_and(|at| at <= tx.now()) {
        return Ok(false);
    }
    tx.put(HEADS, &id, &Head { complete: true, bytes, expires_at, ..head });
    Ok(true)
}

/// Sets the blob's expiry to `when`. The blob may be deleted at this time or later.
pub fn expire(tx: &mut WriteTx<'_>, id: BlobId, when: Timestamp) -> Result<()> {
    if let Some(head) = tx.get(HEADS, &id)? {
        tx.put(HEADS, &id, &Head { expires_at: Some(when), ..head });
    }
    Ok(())
}

/// Stores `bytes` as a complete blob in one step, for data that is already in memory.
pub fn put(tx: &mut WriteTx<'_>, head: Head, bytes: &[u8]) -> BlobId {
    let id = BlobId::make(tx.now(), tx.random());
    put_as(tx, id, head, bytes);
    id
}

/// Like [`put`], but under an ID that the caller derives from the content.
pub fn put_as(tx: &mut WriteTx<'_>, id: BlobId, head: Head, bytes: &[u8]) {
    for (number, chunk) in bytes.chunks(CHUNK_BYTES).enumerate() {
        tx.put(CHUNKS, &(id, number as u32), &chunk.to_vec());
    }
    tx.put(HEADS, &id, &Head { complete: true, bytes: bytes.len() as u64, ..head });
}

/// Postpones the blob's expiry to `when`, if the expiry is earlier.
pub fn keep_until(tx: &mut WriteTx<'_>, id: BlobId, when: Option<Timestamp>) -> Result<()> {
    if let Some(head) = tx.get(HEADS, &id)?
        && let (Some(expires_at), Some(when)) = (head.expires_at, when)
        && expires_at < when
    {
        tx.put(HEADS, &id, &Head { expires_at: Some(when), ..head });
    }
    Ok(())
}

/// Returns the head of a blob, if the blob is complete.
pub fn head(tx: &impl Read, id: BlobId) -> Result<Option<Head>> {
    Ok(tx.get(HEADS, &id)?.filter(|head| head.complete))
}

/// Returns chunk `number` of a blob.
pub fn chunk(tx: &impl Read, id: BlobId, number: u32) -> Result<Option<Vec<u8>>> {
    tx.get(CHUNKS, &(id, number))
}

/// Returns all bytes of a complete blob, for files that fit into memory.
pub fn bytes(tx: &impl Read, id: BlobId) -> Result<Option<Vec<u8>>> {
    let Some(head) = head(tx, id)? else { return Ok(None) };
    let mut bytes = Vec::new();
    for number in 0.. {
        if bytes.len() as u64 >= head.bytes {
            break;
        }
        bytes.extend(chunk(tx, id, number)?.ok_or_else(|| tx.corrupt(tables::BLOBS))?);
    }
    // Bytes that an upload sent beyond its declared length are not part of the blob.
    bytes.truncate(head.bytes as usize);
    Ok(Some(bytes))
}

/// Deletes one expired blob, or a bounded number of its chunks; returns true if there may be more to delete.
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
        // The first chunks of the blob are deleted, so readers must no longer see the blob.
        tx.put(HEADS, &id, &Head { complete: false, ..head });
    }
    Ok(true)
}

/// Reads a complete blob from one snapshot, starting at any byte.
pub struct Reader {
    tx: ReadTx,
    id: BlobId,
    bytes: u64,
    at: u64,
    chunk: Vec<u8>,
    chunk_number: Option<u32>,
}

impl Reader {
    /// Creates a reader that starts at byte `at`; `None` if there is no complete blob with this ID.
    pub fn open(tx: ReadTx, id: BlobId, at: u64) -> Result<Option<Self>> {
        let Some(head) = head(&tx, id)? else { return Ok(None) };
        Ok(Some(Self { tx, id, bytes: head.bytes, at, chunk: Vec::new(), chunk_number: None }))
    }

    /// Returns the next bytes, at most one chunk; an empty slice at the end.
    pub fn next_bytes(&mut self) -> Result<&[u8]> {
        if self.at >= self.bytes {
            return Ok(&[]);
        }
        let number = (self.at / CHUNK_BYTES as u64) as u32;
        if self.chunk_number != Some(number) {
            self.chunk = chunk(&self.tx, self.id, number)?.ok_or_else(|| self.tx.corrupt(tables::BLOBS))?;
            self.chunk_number = Some(number);
        }
        let start = (self.at % CHUNK_BYTES as u64) as usize;
        let rest = self.chunk.get(start..).filter(|rest| !rest.is_empty()).ok_or_else(|| self.tx.corrupt(tables::BLOBS))?;
        // Bytes that an upload sent beyond its declared length are not part of the blob.
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

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::super::Store;
    use super::super::conformance::MemoryPort;
    use super::super::testing::{scratch, start_at};
    use super::*;
    use crate::base::clock::ManualClock;
    use crate::vocab::tables::DatabaseKind;

    const ID: BlobId = BlobId::from_bytes([5; 12]);

    fn head_until(expires_at: i64) -> Head {
        let expires_at = Some(Timestamp(expires_at));
        Head { complete: false, bytes: 0, content_type: "text/csv".into(), name: "people.csv".into(), expires_at }
    }

    fn upload(store: &Store, id: BlobId, bytes: &[u8]) {
        let exists = store.write_blocking(move |tx| {
            begin(tx, id, head_until(5_000));
            Ok::<_, ()>(())
        });
        assert_eq!(exists, Ok(Ok(())));
        for (number, part) in bytes.chunks(CHUNK_BYTES).enumerate() {
            let part = part.to_vec();
            let kept = store.write_blocking(move |tx| put_chunk(tx, id, number as u32, part)).expect("the write succeeds");
            assert_eq!(kept, Ok(true));
        }
    }

    fn finish(store: &Store, id: BlobId, bytes: usize, expires_at: Option<Timestamp>) -> Result<bool> {
        store.write_blocking(move |tx| complete(tx, id, bytes as u64, expires_at)).expect("the write succeeds")
    }

    fn sweep_all(store: &Store) -> usize {
        (0..100).take_while(|_| store.write_blocking(sweep).expect("the write succeeds").expect("the data is readable")).count()
    }

    fn rows(store: &Store) -> (usize, usize) {
        let tx = store.read();
        let heads = tx.list(HEADS, &Span::default(), Order::Forward, 9_999).expect("the data is readable").len();
        (heads, tx.list(CHUNKS, &Span::default(), Order::Forward, 9_999).expect("the data is readable").len())
    }

    fn sample(length: usize) -> Vec<u8> {
        (0..length).map(|index| (index * 7 + index / 251) as u8).collect()
    }

    #[test]
    fn a_blob_can_be_read_from_any_byte() {
        let (_folder, store) = scratch();
        for length in [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES + 77] {
            let bytes = sample(length);
            upload(&store, ID, &bytes);
            assert_eq!(finish(&store, ID, length, None), Ok(true));
            for at in [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 5, length.saturating_sub(1), length, length + 9] {
                let mut reader =
                    Reader::open(store.read(), ID, at as u64).expect("the data is readable").expect("the blob is complete");
                let mut read = Vec::new();
                reader.read_to_end(&mut read).expect("the data is readable");
                assert!(read == bytes[at.min(length)..], "{length} bytes from byte {at}");
            }
        }
        store.close();
    }

    #[test]
    fn a_reader_keeps_its_blob_while_it_is_deleted() {
        let (_folder, store) = scratch();
        let bytes = sample(2 * CHUNK_BYTES);
        upload(&store, ID, &bytes);
        assert_eq!(finish(&store, ID, bytes.len(), Some(Timestamp(0))), Ok(true));
        let mut reader = Reader::open(store.read(), ID, 0).expect("the data is readable").expect("the blob is complete");
        assert_eq!((sweep_all(&store), rows(&store)), (1, (0, 0)));
        let mut read = Vec::new();
        reader.read_to_end(&mut read).expect("the data is readable");
        assert!(read == bytes);
        store.close();
    }

    #[test]
    fn an_interrupted_upload_is_invisible_and_deleted_when_it_expires() {
        let clock = std::sync::Arc::new(ManualClock::at(Timestamp(1_000)));
        let store =
            start_at(std::sync::Arc::new(MemoryPort::new()), DatabaseKind::Environment, clock.clone()).expect("the store starts");
        upload(&store, ID, &sample(CHUNK_BYTES + 1));
        assert_eq!(head(&store.read(), ID), Ok(None));
        assert!(Reader::open(store.read(), ID, 0).expect("the data is readable").is_none());
        assert_eq!((sweep_all(&store), rows(&store)), (0, (1, 2)), "the upload is kept until it expires");
        clock.advance_ms(4_000);
        assert_eq!((sweep_all(&store), rows(&store)), (1, (0, 0)));
        let late = store.write_blocking(|tx| put_chunk(tx, ID, 2, vec![1])).expect("the write succeeds");
        assert_eq!((late, finish(&store, ID, 9, None)), (Ok(false), Ok(false)), "a late upload gets false");
        assert_eq!(rows(&store), (0, 0));
        store.close();
    }

    // In an earlier version, if an upload expired and the sweep was deleting its chunks, the blob could still be marked as complete. It
    // then lacked its first chunks, and was never deleted.
    #[test]
    fn a_long_upload_that_expired_cannot_be_completed_while_it_is_deleted() {
        let clock = std::sync::Arc::new(ManualClock::at(Timestamp(1_000)));
        let store =
            start_at(std::sync::Arc::new(MemoryPort::new()), DatabaseKind::Environment, clock.clone()).expect("the store starts");
        let chunks = SWEEP_CHUNKS_MAX as u32 + 1;
        let written = store.write_blocking(move |tx| {
            begin(tx, ID, head_until(5_000));
            (0..chunks).try_for_each(|number| put_chunk(tx, ID, number, vec![1]).map(drop))
        });
        assert_eq!(written, Ok(Ok(())));
        clock.advance_ms(4_000);
        assert_eq!(store.write_blocking(sweep), Ok(Ok(true)));
        assert_eq!(rows(&store), (1, 1));
        assert_eq!(finish(&store, ID, chunks as usize, None), Ok(false));
        assert_eq!((sweep_all(&store), rows(&store)), (1, (0, 0)));
        store.close();
    }

    #[test]
    fn a_long_blob_is_deleted_in_steps_and_gone_for_readers_after_the_first() {
        let store = start_at(
            std::sync::Arc::new(MemoryPort::new()),
            DatabaseKind::Environment,
            std::sync::Arc::new(ManualClock::at(Timestamp(1_000))),
        )
        .expect("the store starts");
        let chunks = SWEEP_CHUNKS_MAX as u32 + 1;
        let written = store.write_blocking(move |tx| {
            begin(tx, ID, head_until(5_000));
            for number in 0..chunks {
                put_chunk(tx, ID, number, vec![1])?;
            }
            complete(tx, ID, 1, None)?;
            expire(tx, ID, Timestamp(900))
        });
        assert_eq!(written, Ok(Ok(())));
        assert!(head(&store.read(), ID).expect("the data is readable").is_some());
        assert_eq!(store.write_blocking(sweep), Ok(Ok(true)));
        assert_eq!((head(&store.read(), ID), rows(&store)), (Ok(None), (1, 1)));
        assert_eq!((sweep_all(&store), rows(&store)), (1, (0, 0)));
        store.close();
    }

    #[test]
    fn a_blob_with_a_missing_or_short_chunk_is_an_error_and_never_truncated() {
        let store = start_at(
            std::sync::Arc::new(MemoryPort::new()),
            DatabaseKind::Environment,
            std::sync::Arc::new(ManualClock::at(Timestamp(1_000))),
        )
        .expect("the store starts");
        upload(&store, ID, &sample(10));
        assert_eq!(finish(&store, ID, 11, None), Ok(true));
        let mut reader = Reader::open(store.read(), ID, 0).expect("the data is readable").expect("the blob is complete");
        assert_eq!(reader.next_bytes().map(<[u8]>::len), Ok(10));
        assert_eq!(reader.next_bytes(), Err(store.read().corrupt(tables::BLOBS)));
        assert_eq!(finish(&store, ID, 4, None), Ok(true));
        let mut reader = Reader::open(store.read(), ID, 1).expect("the data is readable").expect("the blob is complete");
        assert_eq!(reader.next_bytes().map(<[u8]>::len), Ok(3), "data beyond the declared length is not part of the blob");
        store.close();
    }
}
