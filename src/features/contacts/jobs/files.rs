//! Files to import: their delimiters, how they are stored, and how their import starts.

use super::{Import, Job, Task, open};
use crate::engine::api::Failure;
use crate::engine::store::{Result as StoreResult, WriteTx, blobs};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, BlobId, ProjectId};
use crate::vocab::limits;

/// The number of bytes of a file that one transaction stores: 2 MiB, so that a file needs only one disk sync for each 2 MiB.
pub const BYTES_PER_WRITE: usize = 8 * blobs::CHUNK_BYTES;

/// Starts storing a file. An incomplete file expires after [`limits::CONTACT_UPLOAD_KEPT_MS`].
pub fn begin(tx: &mut WriteTx<'_>, name: String) -> BlobId {
    let id = BlobId::make(tx.now(), tx.random());
    let expires_at = Some(tx.now().plus_ms(limits::CONTACT_UPLOAD_KEPT_MS));
    blobs::begin(tx, id, blobs::Head { complete: false, bytes: 0, content_type: "text/csv".to_owned(), name, expires_at });
    id
}

/// Stores a part of a file as chunks, the first of which has the number `first`. Returns false if the file has expired.
pub fn put(tx: &mut WriteTx<'_>, id: BlobId, first: u32, whole: &[u8]) -> StoreResult<bool> {
    for (number, chunk) in (first..).zip(whole.chunks(blobs::CHUNK_BYTES)) {
        if !blobs::put_chunk(tx, id, number, chunk.to_vec())? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Starts the import of a file that is stored completely.
pub fn import(
    tx: &mut WriteTx<'_>,
    (account, project): (AccountId, ProjectId),
    import: Import,
    bytes: u64,
) -> Result<Job, Failure> {
    // Remove the file's expiry time: from now on, the file is kept until the job releases it.
    if !blobs::complete(tx, import.file, bytes, None)? {
        return Err(expired());
    }
    open(tx, account, project, Task::Import(import))
}

/// Returns the failure for a file that expired before it was complete.
pub fn expired() -> Failure {
    Failure::because(Code::RequestTimeout, "The upload took more than an hour. Split the file and upload the parts separately.")
}

/// Matches every input that [`delimiter`] accepts.
pub const DELIMITER_PATTERN: &str = r#"^([\x00-\x09\x0b\x0c\x0e-!#-/:-@\[-`{-\x7f]|\\t|tab)?$"#;

/// Parses a delimiter as callers write it: one ASCII character that is not a letter, digit, double quote or line break; `\t` or `tab` for a
/// tab; or an empty string for a comma.
pub fn delimiter(text: &str) -> Option<u8> {
    match text {
        "" => Some(b','),
        "\\t" | "tab" => Some(b'\t'),
        text => match *text.as_bytes() {
            [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !matches!(byte, b'"' | b'\r' | b'\n') => Some(byte),
            _ => None,
        },
    }
}

pub fn wrong_delimiter() -> Failure {
    Failure::field(
        "delimiter",
        "must be one ASCII character, such as a comma, a semicolon, | or \\t; letters, digits, double quotes and line breaks are not allowed",
    )
}
