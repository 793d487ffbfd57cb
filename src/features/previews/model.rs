//! Previews and their renderings, as stored.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::base::secret::sha256;
use crate::engine::clients::devices::Device;
use crate::engine::clients::profile::Tier;
use crate::engine::clients::transform::{Cut, Note};
use crate::engine::store::Record;
use crate::vocab::ids::{BlobId, DrawingId, EmailId, PreviewId};

/// The version of the code that transforms and draws emails. A change to this code that changes the pictures must also change this number;
/// otherwise, old renderings would be reused.
const DRAWING_VERSION: u32 = 2;

/// The digest of the values that determine a rendering, except the email's images.
pub type ContentDigest = [u8; 32];

/// The rendering engine and the digest of the HTML and CSS support tables. Both affect the pictures.
#[derive(Clone, Copy, Debug)]
pub struct DrawnWith {
    pub engine: &'static str,
    pub tables: [u8; 32],
}

/// Returns the digest of the values that determine the picture of an email on a device. `text` is the text part, if known.
pub fn digest(html: &str, text: Option<&str>, device: &Device, with: DrawnWith) -> ContentDigest {
    let DrawnWith { engine, tables } = with;
    let version = format!("{DRAWING_VERSION} {} {engine} {}", env!("CARGO_PKG_VERSION"), device.key);
    let content = if device.is_text { text.unwrap_or(html) } else { html };
    let parts = [tables.as_slice(), &sha256(version.as_bytes()), &[u8::from(text.is_some())], content.as_bytes()];
    sha256(&parts.concat())
}

/// A preview: an email on a list of devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Preview {
    pub id: PreviewId,
    pub name: Option<String>,
    pub subject: String,
    /// The stored email, if the preview shows one.
    pub email: Option<EmailId>,
    /// The email's content; stored only while devices are waiting.
    pub source: Option<BlobId>,
    pub devices: Vec<PreviewDevice>,
    /// The total size, in bytes, of the files created for this preview.
    pub bytes: u64,
    /// The number of attempts to draw the preview.
    pub attempts: u8,
    pub created_at: Timestamp,
    pub finished_at: Option<Timestamp>,
    pub expires_at: Timestamp,
}

impl Record for Preview {}

/// One device of a preview and its rendering.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PreviewDevice {
    pub key: String,
    pub drawing: DrawingId,
    /// Whether the rendering was already finished when the preview was created.
    pub cached: bool,
}

/// The email of a preview, as the worker reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    pub html: String,
    /// The text part of a stored email. If absent, the text is derived from the HTML.
    pub text: Option<String>,
}

/// The rendering of an email on a device. Several previews of the same content can use one rendering.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drawing {
    pub digest: ContentDigest,
    /// The number of previews that use the rendering.
    pub uses: u32,
    pub state: DrawingState,
}

impl Record for Drawing {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DrawingState {
    Waiting,
    Drawn(Box<Picture>),
    /// Why rendering failed, worded for users.
    Failed(String),
}

impl DrawingState {
    pub fn is_waiting(&self) -> bool {
        matches!(self, Self::Waiting)
    }
}

/// A finished rendering.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    pub engine: String,
    pub tier: Tier,
    pub data_version: String,
    pub cuts: Vec<Cut>,
    pub notes: Vec<Note>,
    pub width: u32,
    pub height: u32,
    pub screenshot: BlobId,
    pub thumbnail: BlobId,
    pub full_thumbnail: BlobId,
    /// The total size of the screenshot and its two thumbnails, in bytes.
    pub bytes: u64,
    pub milliseconds: u32,
    pub drawn_at: Timestamp,
    /// Whether all images could be loaded. Later previews use a finished rendering only if this is true.
    pub is_complete: bool,
}
