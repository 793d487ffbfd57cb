//! The protocol between the server and its worker processes: one request and one response, each with a JSON head and several parts.
//!
//! ```text
//! "MWRK" · length of the head (u32) · head · number of parts (u32) · for each part: length (u32) · bytes
//! ```

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::images::{self, ImageFile, ImageMeasurements};
use super::super::imported_html::{Change, ImportedHtml};
use super::super::inspect::Inspection;
use super::client_views::{ClientView, ClientViewHead};
use super::sandbox::Confinement;
use super::{Paper, RenderError, Rendering, Screenshot, ScreenshotOptions, Warning};
use crate::engine::clients::report::Shares;

const MAGIC: &[u8; 4] = b"MWRK";

#[derive(Debug, PartialEq)]
pub struct Message<H, P = Vec<u8>> {
    pub head: H,
    pub parts: Vec<P>,
}

/// The head of a request. The parts of the request are the text or file to process, and one file for each of `images`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerRequest {
    pub work: WorkerTask,
    /// The URLs of the images, in the order of their parts.
    pub images: Vec<String>,
    /// The maximum number of image pixels to decode.
    pub pixels: u64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum WorkerTask {
    Shots(ScreenshotOptions),
    Pdf {
        paper: Paper,
        title: String,
    },
    ImageAddresses,
    /// Sanitize imported HTML, which is the first part.
    CleanHtml,
    /// Sanitize a mail file, which is the first part.
    CleanMail,
    /// Edit sanitized HTML, which is the first part.
    Revise(Vec<Change>),
    /// Find the URLs and the problems of an email's HTML, which is the first part.
    Inspect,
    /// Run a task on an image file, which is the first part.
    Image(images::Task),
    /// Report how email clients show an email's HTML, which is the first part. The report covers the clients with these keys, or all
    /// clients if there are none. The second part, if present, is a newer file of support tables.
    Compatibility {
        clients: Vec<String>,
        shares: Shares,
    },
    /// Transform an email's HTML, which is the first part, into what the clients on these devices show. The second part, if present, is a
    /// newer file of support tables.
    ClientViews {
        devices: Vec<String>,
    },
    /// Run the feature task on its input, which is the first part.
    Feature,
    /// Report the worker's confinement.
    Confinement,
}

impl WorkerTask {
    /// Returns whether the task draws text, which may need additional fonts.
    pub fn draws_text(&self) -> bool {
        matches!(self, Self::Shots(_) | Self::Pdf { .. })
    }
}

/// The head of a response.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum WorkerReply {
    /// Screenshots: for each screenshot, one part with the image and one for each of its thumbnails.
    Shots {
        shots: Vec<ScreenshotHead>,
        warnings: Vec<Warning>,
    },
    /// A PDF: one part with the file.
    Pdf {
        warnings: Vec<Warning>,
    },
    ImageAddresses(Vec<String>),
    /// Imported HTML: one part with the HTML, which is omitted from the head.
    ImportedHtml(ImportedHtml),
    Inspection(Inspection),
    /// A report: one part with its JSON.
    Report,
    /// The views of the email in the clients: one part with the HTML of each view.
    ClientViews(Vec<ClientViewHead>),
    /// The result of an image task: one part with the new file, if there is one.
    Image(images::TaskResult),
    /// The result of the feature task: one part with the result.
    Feature,
    Confinement(Confinement),
    Fault(RenderError),
}

/// A screenshot without its image bytes.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct ScreenshotHead {
    width: u32,
    width_px: u32,
    height_px: u32,
    has_thumbnail: bool,
    has_full_thumbnail: bool,
}

impl<H: Serialize, P: AsRef<[u8]>> Message<H, P> {
    /// Returns the message as a sequence of byte slices, without copying the parts.
    pub fn pieces(&self) -> impl Iterator<Item = Cow<'_, [u8]>> {
        let head = serde_json::to_vec(&self.head).expect("a head contains only JSON values");
        let parts = self.parts.iter().map(AsRef::as_ref);
        let start = [MAGIC.as_slice(), &length(&head), &head, &(self.parts.len() as u32).to_le_bytes()].concat();
        let parts = parts.flat_map(|part| [Cow::Owned(length(part).to_vec()), Cow::Borrowed(part)]);
        std::iter::once(Cow::Owned(start)).chain(parts)
    }

    pub fn encode(&self) -> Vec<u8> {
        self.pieces().fold(Vec::new(), |mut out, piece| {
            out.extend_from_slice(&piece);
            out
        })
    }
}

fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).expect("the limits keep a message below 4 GiB").to_le_bytes()
}

impl<H: DeserializeOwned> Message<H> {
    /// Decodes a message from bytes, which must contain nothing else.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let head = serde_json::from_slice(piece(&mut rest)?).ok()?;
        let count = number(&mut rest)?;
        // Each part needs at least four bytes for its length, so a false number of parts cannot cause a large allocation.
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
    pub fn of_screenshots(drawn: Rendering<Vec<Screenshot>>) -> Self {
        let mut parts = Vec::new();
        let mut shots = Vec::new();
        for screenshot in drawn.made {
            let Screenshot { width, width_px, height_px, png, thumbnail, full_thumbnail } = screenshot;
            let (has_thumbnail, has_full_thumbnail) = (thumbnail.is_some(), full_thumbnail.is_some());
            shots.push(ScreenshotHead { width, width_px, height_px, has_thumbnail, has_full_thumbnail });
            parts.push(png);
            parts.extend(thumbnail);
            parts.extend(full_thumbnail);
        }
        Self { head: WorkerReply::Shots { shots, warnings: drawn.warnings }, parts }
    }

    pub fn into_screenshots(self) -> Result<Rendering<Vec<Screenshot>>, RenderError> {
        let WorkerReply::Shots { shots, warnings } = self.head else { return Err(fault(self.head)) };
        let mut parts = self.parts.into_iter();
        let mut part = || parts.next().ok_or_else(malformed);
        let mut made = Vec::new();
        for ScreenshotHead { width, width_px, height_px, has_thumbnail, has_full_thumbnail } in shots {
            let png = part()?;
            let thumbnail = has_thumbnail.then(&mut part).transpose()?;
            let full_thumbnail = has_full_thumbnail.then(&mut part).transpose()?;
            made.push(Screenshot { width, width_px, height_px, png, thumbnail, full_thumbnail });
        }
        Ok(Rendering { made, warnings })
    }

    pub fn into_pdf(self) -> Result<Rendering<Vec<u8>>, RenderError> {
        let WorkerReply::Pdf { warnings } = self.head else { return Err(fault(self.head)) };
        Ok(Rendering { made: self.parts.into_iter().next().ok_or_else(malformed)?, warnings })
    }

    pub fn of_imported_html(mut imported_html: ImportedHtml) -> Self {
        let html = std::mem::take(&mut imported_html.html);
        Self { head: WorkerReply::ImportedHtml(imported_html), parts: vec![html.into_bytes()] }
    }

    pub fn into_imported_html(self) -> Result<ImportedHtml, RenderError> {
        let WorkerReply::ImportedHtml(imported_html) = self.head else { return Err(fault(self.head)) };
        let html = self.parts.into_iter().next().and_then(|html| String::from_utf8(html).ok()).ok_or_else(malformed)?;
        Ok(ImportedHtml { html, ..imported_html })
    }

    pub fn into_inspection(self) -> Result<Inspection, RenderError> {
        match self.head {
            WorkerReply::Inspection(inspection) => Ok(inspection),
            other => Err(fault(other)),
        }
    }

    pub fn into_report(self) -> Result<Vec<u8>, RenderError> {
        match self.head {
            WorkerReply::Report => self.parts.into_iter().next().ok_or_else(malformed),
            other => Err(fault(other)),
        }
    }

    pub fn of_client_views(views: Vec<ClientView>) -> Self {
        let (heads, parts) = views.into_iter().map(|view| (view.head, view.html.into_bytes())).unzip();
        Self { head: WorkerReply::ClientViews(heads), parts }
    }

    pub fn into_client_views(self) -> Result<Vec<ClientView>, RenderError> {
        let WorkerReply::ClientViews(heads) = self.head else { return Err(fault(self.head)) };
        if heads.len() != self.parts.len() {
            return Err(malformed());
        }
        let view = |(head, html)| Ok(ClientView { head, html: String::from_utf8(html).map_err(|_| malformed())? });
        heads.into_iter().zip(self.parts).map(view).collect()
    }

    pub fn into_made(self) -> Result<(ImageFile, Option<ImageMeasurements>), RenderError> {
        let WorkerReply::Image(done) = self.head else { return Err(fault(self.head)) };
        let (bytes, format) = self.parts.into_iter().next().zip(done.format).ok_or_else(malformed)?;
        Ok((ImageFile { bytes, format }, done.measured))
    }

    pub fn into_measured(self) -> Result<ImageMeasurements, RenderError> {
        let WorkerReply::Image(done) = self.head else { return Err(fault(self.head)) };
        done.measured.ok_or_else(malformed)
    }

    pub fn into_feature(self) -> Result<Vec<u8>, RenderError> {
        match self.head {
            WorkerReply::Feature => self.parts.into_iter().next().ok_or_else(malformed),
            other => Err(fault(other)),
        }
    }

    pub fn into_confinement(self) -> Result<Confinement, RenderError> {
        match self.head {
            WorkerReply::Confinement(confinement) => Ok(confinement),
            other => Err(fault(other)),
        }
    }

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

/// Returns the error for an invalid response.
pub fn malformed() -> RenderError {
    RenderError::Unavailable("communication with the rendering process failed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_decoded_as_encoded() {
        let screenshot = Screenshot {
            width: 600,
            width_px: 1200,
            height_px: 9,
            png: vec![1, 2],
            thumbnail: Some(vec![]),
            full_thumbnail: Some(vec![3]),
        };
        let other = Screenshot { thumbnail: None, full_thumbnail: None, ..screenshot.clone() };
        let drawn = Rendering { made: vec![screenshot, other], warnings: vec![Warning::Cut { width: 600 }] };
        let bytes = Message::of_screenshots(drawn.clone()).encode();
        let arrived = Message::<WorkerReply>::decode(&bytes).expect("the message can be read").into_screenshots();
        assert_eq!(arrived, Ok(drawn));
        for end in 0..bytes.len() {
            assert!(Message::<WorkerReply>::decode(&bytes[..end]).is_none(), "{end}");
        }
        assert!(Message::<WorkerReply>::decode(&[&bytes[..], b"x"].concat()).is_none());
    }

    #[test]
    fn a_response_of_another_kind_is_invalid() {
        let answer = Message { head: WorkerReply::Pdf { warnings: vec![] }, parts: vec![] };
        assert_eq!(answer.into_screenshots(), Err(malformed()));
        let answer = Message { head: WorkerReply::Fault(RenderError::Busy), parts: vec![] };
        assert_eq!(answer.into_pdf(), Err(RenderError::Busy));
    }
}
