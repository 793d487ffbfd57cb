//! Sends a stored file in chunks.

use bytes::Bytes;
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};

use super::failure::Failure;
use super::http_types::{Reply, ReplyBody};
use crate::engine::store::{ReadTx, blobs};
use crate::vocab::ids::BlobId;

/// What the client should do with the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// The client should show the file, and may cache it for a day.
    Inline,
    /// The client should save the file; no cache may store it.
    Attachment,
}

/// Returns a reply that sends the file under its stored name; `None` if the file does not exist.
///
/// The name needs no escaping in the header, because this service chooses the file names, which consist of letters, digits, hyphens and
/// dots.
pub fn send(tx: ReadTx, file: BlobId, disposition: Disposition) -> Result<Option<Reply>, Failure> {
    let Some(head) = blobs::head(&tx, file)? else { return Ok(None) };
    let Some(reader) = blobs::Reader::open(tx, file, 0)? else { return Ok(None) };
    let (word, cache) = match disposition {
        Disposition::Inline => ("inline", "private, max-age=86400, immutable"),
        Disposition::Attachment => ("attachment", "private, no-store"),
    };
    let mut headers = HeaderMap::new();
    let mut put = |name: HeaderName, value: &str| -> Result<(), Failure> {
        headers.insert(name, HeaderValue::from_str(value).map_err(Failure::internal)?);
        Ok(())
    };
    put(CONTENT_TYPE, &head.content_type)?;
    put(CONTENT_DISPOSITION, &format!("{word}; filename=\"{}\"", head.name))?;
    put(CONTENT_LENGTH, &head.bytes.to_string())?;
    put(CACHE_CONTROL, cache)?;
    put(HeaderName::from_static("x-content-type-options"), "nosniff")?;
    // An email's HTML, opened from its link, is untrusted content on this service's domain: it must neither run scripts nor submit forms.
    put(
        HeaderName::from_static("content-security-policy"),
        "sandbox; default-src 'none'; img-src * data:; style-src 'unsafe-inline'",
    )?;
    let chunks = stream::unfold(Some(reader), |reader| async move {
        let mut reader = reader?;
        match reader.next_bytes() {
            Ok([]) => None,
            Ok(bytes) => {
                let bytes = Bytes::copy_from_slice(bytes);
                Some((Ok(bytes), Some(reader)))
            }
            Err(error) => Some((Err(std::io::Error::other(error)), None)),
        }
    });
    Ok(Some(Reply { status: StatusCode::OK, headers, body: ReplyBody::Stream(Box::pin(chunks)) }))
}
