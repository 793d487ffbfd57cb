//! The files of images: uploads, which email clients load from this server, and small previews for lists.
//!
//! This file does not depend on what an image is used for or how it is described.

use std::sync::Arc;
use std::time::Duration;

use url::Url;

use crate::base::clock::Timestamp;
use crate::base::secret::sha256;
use crate::engine::api::{Engine, Failure};
use crate::engine::fetch::{Limits, OversizePolicy};
use crate::engine::render::images::ImageFile;
use crate::engine::render::pixels::RenderError;
use crate::engine::store::blobs::{self, Head};
use crate::engine::store::{Result as StoreResult, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::ids::{BlobId, ProjectId};
use crate::vocab::limits::{DRAWN_IMAGE_BYTES_MAX, DRAWN_IMAGE_MS_MAX, PREVIEW_KEPT_MS, UPLOADED_IMAGE_KEPT_MS};

/// The path under which uploaded files are served.
const PATH: &str = "/v1/images/";
/// The expiry time in links to uploaded files: the latest time that a token can contain. A link works until its file is deleted.
const NEVER: Timestamp = Timestamp(253_402_300_799_000);

/// Stores an uploaded file. Uploading the same image to the same project again returns the same file and cancels its scheduled deletion.
pub fn keep(tx: &mut WriteTx<'_>, project: ProjectId, made: &ImageFile) -> BlobId {
    let sum = sha256(&made.bytes);
    let id = derived(&[b"upload", &project.0, &sum]);
    put(tx, id, made, "image", None);
    id
}

/// Schedules the deletion of an upload that was removed from its project. The file is kept for some time, because emails that were already
/// sent show it.
pub fn let_go(tx: &mut WriteTx<'_>, engine: &Engine, url: &str) -> StoreResult<()> {
    match upload(engine, url) {
        Some(file) => blobs::expire(tx, file, tx.now().plus_ms(UPLOADED_IMAGE_KEPT_MS)),
        None => Ok(()),
    }
}

fn put(tx: &mut WriteTx<'_>, id: BlobId, made: &ImageFile, name: &str, expires_at: Option<Timestamp>) {
    let name = format!("{name}.{}", made.format.extension());
    let head = Head { complete: true, bytes: 0, content_type: made.format.content_type().to_owned(), name, expires_at };
    blobs::put_as(tx, id, head, &made.bytes);
}

fn derived(parts: &[&[u8]]) -> BlobId {
    BlobId::from_bytes(sha256(&parts.concat())[..12].try_into().expect("a digest has more bytes"))
}

/// Returns the URL from which email clients load an uploaded file.
pub fn link(engine: &Engine, file: BlobId) -> String {
    let path = format!("{PATH}{file}");
    format!("{}{path}?token={}", engine.base_url(), engine.links.sign(&path, NEVER))
}

/// Returns whether `token` gives access to this upload.
pub fn opens(engine: &Engine, file: BlobId, token: &str) -> bool {
    engine.links.check(&format!("{PATH}{file}"), token, engine.clock.now())
}

/// Returns the ID of the uploaded file that a URL of this server refers to; `None` for other URLs.
pub fn upload(engine: &Engine, url: &str) -> Option<BlobId> {
    let (file, token) = url.strip_prefix(engine.base_url())?.strip_prefix(PATH)?.split_once("?token=")?;
    BlobId::parse(file).filter(|file| opens(engine, *file, token))
}

/// Returns the file of the uploaded image at this URL, without a network request.
pub fn uploaded(engine: &Engine, url: &str) -> Option<Arc<Vec<u8>>> {
    let file = upload(engine, url)?;
    // Search both environments, because the URL does not name the environment. After a brand goes live, both contain the same file.
    engine.environments().iter().find_map(|data| blobs::bytes(&data.store.read(), file).ok().flatten()).map(Arc::new)
}

/// Returns the file of an image: an uploaded file, a recently fetched copy, or a new copy from the image's server.
pub async fn file(engine: &Engine, url: &Url) -> Option<Arc<Vec<u8>>> {
    if let Some(own) = uploaded(engine, url.as_str()) {
        return Some(own);
    }
    if let Some(known) = engine.recent_images.get(url.as_str(), engine.clock.now()) {
        return known;
    }
    let _turn = engine.recent_images.turn().await;
    let total = Duration::from_millis(DRAWN_IMAGE_MS_MAX);
    let limits = Limits { head: total, total, body_bytes: DRAWN_IMAGE_BYTES_MAX, overlong: OversizePolicy::Refuse };
    let accepted = "image/png,image/jpeg,image/gif,image/webp,image/svg+xml;q=0.5";
    let fetched = engine.fetch.get(url, accepted, &limits).await.ok();
    let body = fetched.filter(|fetched| fetched.status.is_success()).map(|fetched| Arc::new(fetched.body));
    engine.recent_images.put(url.as_str(), body.clone(), engine.clock.now());
    body
}

/// Returns the ID of the preview for the image at this URL.
pub fn preview_id(project: ProjectId, url: &str) -> BlobId {
    derived(&[b"preview", &project.0, url.as_bytes()])
}

/// Stores a preview, which expires after [`PREVIEW_KEPT_MS`].
pub fn keep_preview(tx: &mut WriteTx<'_>, id: BlobId, made: &ImageFile) {
    put(tx, id, made, "preview", Some(tx.now().plus_ms(PREVIEW_KEPT_MS)));
}

/// Returns a small version of the image at this URL.
pub async fn preview(engine: &Engine, url: &str) -> Result<ImageFile, Failure> {
    let gone = |reason: &str| Failure::because(Code::NotExportable, format!("The image {reason}."));
    let address: Url = url.parse().map_err(|_| gone("has an invalid URL"))?;
    let bytes = file(engine, &address).await.ok_or_else(|| gone("could not be fetched; check its URL, or try again later"))?;
    engine.pixels.preview_image(&bytes).await.map_err(|fault| match fault {
        RenderError::Image(reason) => gone(&format!("cannot be used: {reason}")),
        other => failure(other),
    })
}

/// Returns the failure to report when a valid image could not be processed.
pub fn failure(fault: RenderError) -> Failure {
    match fault {
        RenderError::Busy => {
            Failure::because(Code::Unavailable, "Too many emails and images are being rendered. Try again in a few seconds.")
                .after_seconds(5)
        }
        other => Failure::internal(other),
    }
}
