//! What is said between the server and its worker processes: one order, one answer, each a head in JSON and a number of parts.
//!
//! ```text
//! "MWRK" · length of the head (u32) · head · number of parts (u32) · for each part: length (u32) · bytes
//! ```
//!
//! It knows neither pipes nor processes.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::images::{self, ImageFile, ImageMeasurements};
use super::super::imported_html::{Change, ImportedHtml};
use super::sandbox::Confinement;
use super::{Paper, RenderError, Rendering, Screenshot, ScreenshotOptions, Warning};

const MAGIC: &[u8; 4] = b"MWRK";

/// A message in pieces.
#[derive(Debug, PartialEq)]
pub struct Message<H, P = Vec<u8>> {
    pub head: H,
    pub parts: Vec<P>,
}

/// The head of an order. Its parts are the text to work on, and one file for each of `images`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerRequest {
    pub work: WorkerTask,
    /// Addresses of the images.
    pub images: Vec<String>,
    /// How many pixels of images may be decoded.
    pub pixels: u64,
}

/// What is to be done.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum WorkerTask {
    Shots(ScreenshotOptions),
    Pdf {
        paper: Paper,
        title: String,
    },
    ImageAddresses,
    /// The text is foreign HTML.
    CleanHtml,
    /// The text is a mail file.
    CleanMail,
    /// The text is HTML that was made safe.
    Revise(Vec<Change>),
    /// In place of the text stands the file of an image.
    Image(images::Task),
    /// Tell what confines the worker.
    Confinement,
}

impl WorkerTask {
    /// Whether text is drawn, for which further fonts may be needed.
    pub fn draws_text(&self) -> bool {
        matches!(self, Self::Shots(_) | Self::Pdf { .. })
    }
}

/// The head of an answer.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum WorkerReply {
    /// One part for each picture, and one for each thumbnail after it.
    Shots {
        shots: Vec<ScreenshotHead>,
        warnings: Vec<Warning>,
    },
    /// One part.
    Pdf {
        warnings: Vec<Warning>,
    },
    ImageAddresses(Vec<String>),
    /// One part: the HTML, which is missing in the head.
    ImportedHtml(ImportedHtml),
    /// One part: the file that was made, if one was.
    Image(images::TaskResult),
    Confinement(Confinement),
    Fault(RenderError),
}

/// A picture without its bytes.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct ScreenshotHead {
    width: u32,
    width_px: u32,
    height_px: u32,
    has_thumbnail: bool,
}

impl<H: Serialize, P: AsRef<[u8]>> Message<H, P> {
    /// The message as bytes, in pieces that follow each other; the parts are not copied.
    pub fn pieces(&self) -> impl Iterator<Item = Cow<'_, [u8]>> {
        let head = serde_json::to_vec(&self.head).expect("a head has nothing that JSON cannot say");
        let parts = self.parts.iter().map(AsRef::as_ref);
        let start = [MAGIC.as_slice(), &length(&head), &head, &(self.parts.len() as u32).to_le_bytes()].concat();
        let parts = parts.flat_map(|part| [Cow::Owned(length(part).to_vec()), Cow::Borrowed(part)]);
        std::iter::once(Cow::Owned(start)).chain(parts)
    }

    /// The message as bytes.
    pub fn encode(&self) -> Vec<u8> {
        self.pieces().fold(Vec::new(), |mut out, piece| {
            out.extend_from_slice(&piece);
            out
        })
    }
}

fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).expect("the limits are far below").to_le_bytes()
}

impl<H: DeserializeOwned> Message<H> {
    /// The message that these bytes are, all of them.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let head = serde_json::from_slice(piece(&mut rest)?).ok()?;
        let count = number(&mut rest)?;
        // Each part has at least its length, so a lie about their number asks for no memory.
        let mut parts = Vec::with_capacity(count.min(rest.len() / 4));
        for _ in 0..count {
            parts.push(piece(&mut rest)?.to_vec());
        }
        rest.is_empty().then_some(Self { head, parts })
    }
}

fn number(rest: &mut &[u8]) -> Option<usize> {
    let (number, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    Some(u32::from_le_bytes(*number) as usize)
}

fn piece<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = number(rest)?;
    let (piece, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(piece)
}

impl Message<WorkerReply> {
    /// Pictures, to be sent.
    pub fn of_screenshots(drawn: Rendering<Vec<Screenshot>>) -> Self {
        let mut parts = Vec::new();
        let mut shots = Vec::new();
        for screenshot in drawn.made {
            let Screenshot { width, width_px, height_px, png, thumbnail } = screenshot;
            shots.push(ScreenshotHead { width, width_px, height_px, has_thumbnail: thumbnail.is_some() });
            parts.push(png);
            parts.extend(thumbnail);
        }
        Self { head: WorkerReply::Shots { shots, warnings: drawn.warnings }, parts }
    }

    /// Pictures, as sent by [`Self::of_shots`].
    pub fn into_screenshots(self) -> Result<Rendering<Vec<Screenshot>>, RenderError> {
        let WorkerReply::Shots { shots, warnings } = self.head else { return Err(fault(self.head)) };
        let mut parts = self.parts.into_iter();
        let mut part = || parts.next().ok_or_else(malformed);
        let mut made = Vec::new();
        for ScreenshotHead { width, width_px, height_px, has_thumbnail } in shots {
            let png = part()?;
            let thumbnail = has_thumbnail.then(&mut part).transpose()?;
            made.push(Screenshot { width, width_px, height_px, png, thumbnail });
        }
        Ok(Rendering { made, warnings })
    }

    /// A PDF.
    pub fn into_pdf(self) -> Result<Rendering<Vec<u8>>, RenderError> {
        let WorkerReply::Pdf { warnings } = self.head else { return Err(fault(self.head)) };
        Ok(Rendering { made: self.parts.into_iter().next().ok_or_else(malformed)?, warnings })
    }

    /// A foreign email, to be sent.
    pub fn of_imported_html(mut imported_html: ImportedHtml) -> Self {
        let html = std::mem::take(&mut imported_html.html);
        Self { head: WorkerReply::ImportedHtml(imported_html), parts: vec![html.into_bytes()] }
    }

    /// A foreign email, as sent by [`Self::of_foreign`].
    pub fn into_imported_html(self) -> Result<ImportedHtml, RenderError> {
        let WorkerReply::ImportedHtml(imported_html) = self.head else { return Err(fault(self.head)) };
        let html = self.parts.into_iter().next().and_then(|html| String::from_utf8(html).ok()).ok_or_else(malformed)?;
        Ok(ImportedHtml { html, ..imported_html })
    }

    /// The file of an image, as it was made.
    pub fn into_made(self) -> Result<(ImageFile, Option<ImageMeasurements>), RenderError> {
        let WorkerReply::Image(done) = self.head else { return Err(fault(self.head)) };
        let (bytes, format) = self.parts.into_iter().next().zip(done.format).ok_or_else(malformed)?;
        Ok((ImageFile { bytes, format }, done.measured))
    }

    /// What was measured of an image.
    pub fn into_measured(self) -> Result<ImageMeasurements, RenderError> {
        let WorkerReply::Image(done) = self.head else { return Err(fault(self.head)) };
        done.measured.ok_or_else(malformed)
    }

    /// What confines the worker.
    pub fn into_confinement(self) -> Result<Confinement, RenderError> {
        match self.head {
            WorkerReply::Confinement(confinement) => Ok(confinement),
            other => Err(fault(other)),
        }
    }

    /// Addresses of images.
    pub fn into_image_addresses(self) -> Result<Vec<String>, RenderError> {
        match self.head {
            WorkerReply::ImageAddresses(addresses) => Ok(addresses),
            other => Err(fault(other)),
        }
    }
}

fn fault(answer: WorkerReply) -> RenderError {
    if let WorkerReply::Fault(fault) = answer { fault } else { malformed() }
}

/// What is said of an answer that is none.
pub fn malformed() -> RenderError {
    RenderError::Unavailable("the worker process gave no proper answer".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_arrives() {
        let screenshot = Screenshot { width: 600, width_px: 1200, height_px: 9, png: vec![1, 2], thumbnail: Some(vec![]) };
        let other = Screenshot { thumbnail: None, ..screenshot.clone() };
        let drawn = Rendering { made: vec![screenshot, other], warnings: vec![Warning::Cut { width: 600 }] };
        let bytes = Message::of_screenshots(drawn.clone()).encode();
        let arrived = Message::<WorkerReply>::decode(&bytes).expect("a message").into_screenshots();
        assert_eq!(arrived, Ok(drawn));
        for end in 0..bytes.len() {
            assert!(Message::<WorkerReply>::decode(&bytes[..end]).is_none(), "{end}");
        }
        assert!(Message::<WorkerReply>::decode(&[&bytes[..], b"x"].concat()).is_none());
    }

    #[test]
    fn an_answer_to_something_else_is_no_answer() {
        let answer = Message { head: WorkerReply::Pdf { warnings: vec![] }, parts: vec![] };
        assert_eq!(answer.into_screenshots(), Err(malformed()));
        let answer = Message { head: WorkerReply::Fault(RenderError::Busy), parts: vec![] };
        assert_eq!(answer.into_pdf(), Err(RenderError::Busy));
    }
}
