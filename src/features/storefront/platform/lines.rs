//! Reads a file line by line while the file is being downloaded. Each line is a JSON object.

use bytes::BytesMut;

use crate::engine::fetch::Download;
use crate::features::connections::PlatformError;
use crate::vocab::limits;

/// Reads a download line by line.
pub struct Lines {
    download: Download,
    rest: BytesMut,
    /// The total size in bytes of the lines returned so far, including line breaks.
    pub read: u64,
}

impl Lines {
    pub fn new(download: Download) -> Self {
        Self { download, rest: BytesMut::new(), read: 0 }
    }

    /// Returns the next line without its line break, or `None` at the end of the file. Also returns a last line that has no line break.
    pub async fn next(&mut self) -> Result<Option<BytesMut>, PlatformError> {
        let mut searched = 0;
        loop {
            if let Some(at) = self.rest[searched..].iter().position(|byte| *byte == b'\n') {
                let mut line = self.rest.split_to(searched + at + 1);
                self.read += line.len() as u64;
                line.truncate(line.len() - 1);
                return Ok(Some(line));
            }
            searched = self.rest.len();
            if searched > limits::STORE_LINE_BYTES_MAX {
                return Err(PlatformError::Malformed(format!(
                    "the export has a line of more than {} bytes",
                    limits::STORE_LINE_BYTES_MAX
                )));
            }
            match self.download.next().await.map_err(|error| PlatformError::Unavailable(error.to_string()))? {
                Some(bytes) => self.rest.extend_from_slice(&bytes),
                None if self.rest.is_empty() => return Ok(None),
                None => {
                    self.read += self.rest.len() as u64;
                    return Ok(Some(std::mem::take(&mut self.rest)));
                }
            }
        }
    }
}
